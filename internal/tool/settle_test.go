package tool

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
)

// paying is a function tool that says what it ran with.
type paying struct{}

func (paying) Definition() agent.Definition {
	return agent.Definition{Name: "pay", Source: "function", Schema: json.RawMessage(`{
		"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
			"amount": {"type": "number"}, "currency": {"type": "string", "default": "USD"}, "memo": {"type": "string", "default": null}
		}}`)}
}

func (paying) Call(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult(string(args)), nil
}

// payer returns the set of an agent with one tool, pay, and what else more says.
func payer(t *testing.T, more string) *Set {
	t.Helper()
	dir := t.TempDir()
	text := "name: a\ninstructions: {inline: x}\nmodel: {provider: offline, name: x}\n" +
		"tools: [{type: function, name: pay, description: Pays., command: [wc]}]\n" + more
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	env := agent.Env{Now: agent.SystemEnv(nil).Now, Log: slog.New(slog.DiscardHandler)}
	s := newSet(env, a)
	t.Cleanup(func() { _ = s.Close() })
	var err error
	if s.hooks, err = hook.Open(a, hook.Options{Now: env.Now, Log: env.Log, Redactor: a.Redactor}); err != nil {
		t.Fatal(err)
	}
	if err := s.begin([]part{partOf(a.Tools[0], opened{tools: []agent.Tool{paying{}}})}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPermissionsAndHooksDecideAboutWhatRuns(t *testing.T) {
	const modify = "hooks: [{event: PreToolUse, tool: pay, action: modify, transform: {currency: EUR, amount: 5000}}]\n"
	for _, tt := range []struct{ name, yaml, args, want string }{
		{"a default is put in", "", `{"amount":1}`, `{"amount":1,"currency":"USD"}`},
		{"what is given stays", "", `{"currency":"CHF", "amount":1.50}`, `{"currency":"CHF", "amount":1.50}`},
		{"a default is denied", "permissions: {disallowed_tools: ['pay(currency=USD)']}", `{"amount":1}`,
			`Error: pay may not be called: permissions.disallowed_tools has "pay(currency=USD)"`},
		{"a default is allowed", "permissions: {allowed_tools: ['pay(currency=USD)']}", `{"amount":1}`, `{"amount":1,"currency":"USD"}`},
		{"a hook sees a default", "hooks: [{event: PreToolUse, arguments: {currency: USD}, action: reject, message: Not in dollars.}]", `{"amount":1}`,
			`Error: pay was rejected: Not in dollars.`},
		{"a hook takes away what has a default", "hooks: [{event: PreToolUse, action: modify, transform: {currency: null}}]\npermissions: {disallowed_tools: ['pay(currency=USD)']}",
			`{"amount":1,"currency":"EUR"}`, `Error: pay may not be called: permissions.disallowed_tools has "pay(currency=USD)"`},
		{"a modified call is denied", modify + "permissions: {disallowed_tools: ['pay(amount=????*)']}", `{"amount":1}`,
			`Error: pay may not be called: permissions.disallowed_tools has "pay(amount=????*)"`},
		{"a modified call is not among the allowed", modify + "permissions: {allowed_tools: ['pay(currency=USD)']}", `{"amount":1}`,
			`Error: pay may not be called: permissions.allowed_tools does not have it with these arguments`},
		{"a modified call is asked about", modify + "permissions: {ask: ['pay(amount=5000)']}", `{"amount":1}`,
			`Error: pay may not be called without a person's consent (permissions.ask has "pay(amount=5000)"), and nobody can be asked here`},
		{"a name that stands twice", "permissions: {disallowed_tools: ['pay(amount=9)']}", `{"amount":9,"amount":1}`,
			`Error: the arguments of pay have "amount" twice; give it once`},
		{"a name that stands twice further in", "", `{"amount":9,"currency":[{"a":1},{"a":1,"b":{"\u0061":[],"a":{}}}]}`,
			`Error: the arguments of pay have "a" twice; give it once`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := payer(t, tt.yaml).Call(t.Context(), Call{Name: "pay", Arguments: json.RawMessage(tt.args)})
			if got.Result.Text() != tt.want || got.Arguments != nil && !strings.Contains(tt.yaml, "modify") {
				t.Errorf("got  %s\nwant %s", got.Result.Text(), tt.want)
			}
		})
	}
}

func TestConsentIsToWhatRuns(t *testing.T) {
	s := payer(t, "permissions: {ask: [pay]}\nhooks: [{event: PreToolUse, action: modify, transform: {amount: 5000}}]\n")
	person := &consent{}
	got := s.Call(t.Context(), Call{Name: "pay", Arguments: json.RawMessage(`{"amount":1}`), Approver: person})
	const want = `{"amount":5000,"currency":"USD"}`
	if got.Result.Text() != want || len(person.asked) != 1 || string(person.asked[0].Arguments) != want {
		t.Errorf("ran with %s, asked %+v", got.Result.Text(), person.asked)
	}
	if string(got.Arguments) != want {
		t.Errorf("it is told to have run with %s", got.Arguments)
	}
	if args, agreed, err := s.Admit(t.Context(), Call{Name: "pay", Arguments: json.RawMessage(`{"amount":1}`), Approver: person}); err != nil || !agreed ||
		string(args) != `{"amount":5000}` || string(person.asked[1].Arguments) != `{"amount":5000}` {
		t.Errorf("a tool of the runtime ran with %s, %v, %v, asked %+v", args, agreed, err, person.asked)
	}
}

func FuzzTwice(f *testing.F) {
	f.Add(`{"a":1,"a":2}`)
	f.Add(`[{"a":{"b":[]},"b":"a"},{"a":1}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		again, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := twice(again); ok {
			t.Errorf("%q stands once in %s", name, again)
		}
	})
}
