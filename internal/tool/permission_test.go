package tool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// load loads an agent with two search tools and what else more says.
func load(t *testing.T, more string) *config.Agent {
	t.Helper()
	dir := t.TempDir()
	const head = `
name: test
instructions: {inline: Help.}
tools:
  - {type: vectorstore, name: docs, description: documents, source: a.md}
  - {type: vectorstore, name: orders, description: orders, source: a.md, timeout: 0.05}
`
	for name, text := range map[string]string{"agent.yaml": head + more, "a.md": "Text."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir, Environ: []string{"OPENAI_API_KEY=x"}})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	return a
}

const (
	offlineModel = "model: {provider: offline, name: x}\n"
	openAIModel  = "model: {provider: openai, name: x}\n"
)

// answering is a tool that takes anything and answers with a text.
type answering struct{ name, text string }

func (a answering) Definition() agent.Definition {
	return agent.Definition{Name: a.name, Schema: json.RawMessage(`{"type": "object"}`)}
}

func (a answering) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult(a.text), nil
}

// setOf returns a set with stand-ins for the tools of an agent.
func setOf(t *testing.T, a *config.Agent) *Set {
	t.Helper()
	s := newSet(agent.Env{Now: agent.SystemEnv(nil).Now, Log: slog.New(slog.DiscardHandler)}, a)
	t.Cleanup(func() { _ = s.Close() })
	var parts []part
	for _, c := range a.Tools {
		parts = append(parts, partOf(c, opened{tools: []agent.Tool{answering{c.Base().Name + "_search", "found"}}}))
	}
	if err := s.begin(parts); err != nil {
		t.Fatal(err)
	}
	return s
}

// consent answers every request with one error, or with none.
type consent struct {
	err   error
	asked []agent.ApprovalRequest
}

func (c *consent) Approve(_ context.Context, req agent.ApprovalRequest) error {
	c.asked = append(c.asked, req)
	return c.err
}

func TestPermissions(t *testing.T) {
	const found = ""
	for _, tt := range []struct{ name, yaml, docs, orders string }{
		{"nothing said", offlineModel, found, found},
		{"denied", offlineModel + "permissions: {disallowed_tools: [orders_search]}", found,
			`orders_search may not be called: permissions.disallowed_tools has "orders_search"`},
		{"denied by a wildcard", offlineModel + "permissions: {disallowed_tools: ['o*_search']}", found,
			`orders_search may not be called: permissions.disallowed_tools has "o*_search"`},
		{"denied by the name in the file", offlineModel + "permissions: {disallowed_tools: [orders]}", found,
			`orders_search may not be called: permissions.disallowed_tools has "orders"`},
		{"allowed by the name in the file", offlineModel + "permissions: {allowed_tools: [docs]}", found,
			`orders_search may not be called: permissions.allowed_tools does not have it`},
		{"asked for by the name in the file", offlineModel + "permissions: {ask: [docs]}",
			`docs_search may not be called without a person's consent (permissions.ask has "docs"), and nobody can be asked here`, found},
		{"only some allowed", offlineModel + "permissions: {allowed_tools: ['docs*']}", found,
			`orders_search may not be called: permissions.allowed_tools does not have it`},
		{"none allowed", offlineModel + "permissions: {allowed_tools: []}",
			`docs_search may not be called: permissions.allowed_tools does not have it`,
			`orders_search may not be called: permissions.allowed_tools does not have it`},
		{"deny wins over ask and allow", offlineModel + "permissions: {disallowed_tools: ['*'], ask: ['*'], allowed_tools: ['*']}",
			`docs_search may not be called: permissions.disallowed_tools has "*"`, `orders_search may not be called: permissions.disallowed_tools has "*"`},
		{"ask wins over allow, and nobody is there", offlineModel + "permissions: {ask: [docs_search], allowed_tools: ['*']}",
			`docs_search may not be called without a person's consent (permissions.ask has "docs_search"), and nobody can be asked here`, found},
		{"openai section, by the name in the file", openAIModel + "openai: {disallowed_tools: [orders]}", found,
			`orders_search may not be called: openai.disallowed_tools has "orders"`},
		{"openai permissions", openAIModel + "openai: {permissions: {allowed_tools: [docs], disallowed_tools: [orders_search]}}", found,
			`orders_search may not be called: openai.permissions.disallowed_tools has "orders_search"`},
		{"openai permissions allow alone", openAIModel + "openai: {permissions: {allowed_tools: [docs]}}", found,
			`orders_search may not be called: openai.permissions.allowed_tools does not have it`},
		{"claude section", offlineModel + "backend: claude\nclaude: {disallowed_tools: [Bash, orders]}", found,
			`orders_search may not be called: claude.disallowed_tools has "orders"`},
		{"claude section, by the name of the CLI", offlineModel + "backend: claude\nclaude: {disallowed_tools: [mcp__holodeck_tools__orders_search, mcp__docs_search]}",
			`docs_search may not be called: claude.disallowed_tools has "docs_search"`,
			`orders_search may not be called: claude.disallowed_tools has "orders_search"`},
		{"claude section forbids nothing by what it allows", offlineModel + "backend: claude\nclaude: {allowed_tools: [WebFetch]}", found, found},
		{"claude section of another runtime", offlineModel + "claude: {disallowed_tools: [orders]}", found, found},
		{"openai section of another provider", offlineModel + "openai: {disallowed_tools: [orders]}", found, found},
		{"openai section of another runtime", openAIModel + "backend: semantic_kernel\nopenai: {disallowed_tools: [orders]}", found, found},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := setOf(t, load(t, tt.yaml))
			offered := map[string]bool{}
			for _, d := range s.Definitions() {
				offered[d.Name] = true
			}
			for name, want := range map[string]string{"docs_search": tt.docs, "orders_search": tt.orders} {
				// Arguments that do not fit: permission comes before the schema.
				got := s.Call(t.Context(), Call{Name: name, Arguments: json.RawMessage(`{}`)})
				if got.Err != want {
					t.Errorf("%s: Err = %q, want %q", name, got.Err, want)
				}
				if refused := strings.HasPrefix(want, name+" may not be called: "); offered[name] == refused {
					t.Errorf("%s is offered: %v", name, offered[name])
				}
			}
		})
	}
}

func TestPermissionsOfCallsByTheirArguments(t *testing.T) {
	const nobody = `, and nobody can be asked here`
	s := setOf(t, load(t, offlineModel+`permissions:
  disallowed_tools: ["docs(query=*secret*)"]
  ask: ["orders(query=*all*)"]
  allowed_tools: [docs, "orders(query=order *)"]
`))
	if n := len(s.Definitions()); n != 2 {
		t.Errorf("%d tools are offered: one that may be called with some arguments is", n)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"docs_search", `{"query": "opening hours"}`, ""},
		{"docs_search", `{"query": "the secret/recipe"}`, `docs_search may not be called: permissions.disallowed_tools has "docs(query=*secret*)"`},
		{"docs_search", ``, ""},
		{"orders_search", `{"query": "order 7"}`, ""},
		{"orders_search", `{"query": "orders"}`, `orders_search may not be called: permissions.allowed_tools does not have it with these arguments`},
		{"orders_search", `{"query": "order all"}`, `orders_search may not be called without a person's consent (permissions.ask has "orders(query=*all*)")` + nobody},
		{"orders_search", `not JSON`, `orders_search may not be called: permissions.allowed_tools does not have it with these arguments`},
	} {
		if got := s.Call(t.Context(), Call{Name: tt.tool, Arguments: json.RawMessage(tt.args)}); got.Err != tt.want {
			t.Errorf("%s%s: Err = %q, want %q", tt.tool, tt.args, got.Err, tt.want)
		}
	}
}

func TestOfflineKeepsWhatTheFileDenies(t *testing.T) {
	a := load(t, openAIModel+"openai: {disallowed_tools: [orders]}")
	a.Offline, a.Model.Provider = true, config.ProviderOffline
	got := setOf(t, a).Call(t.Context(), Call{Name: "orders_search"})
	if got.Err == "" {
		t.Error("a denied tool ran")
	}
}

func TestAskingAPerson(t *testing.T) {
	s := setOf(t, load(t, offlineModel+"permissions: {ask: ['*']}"))
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"yes", nil, ""},
		{"no", errors.New("not on a Sunday"), "docs_search was not allowed: not on a Sunday"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &consent{err: tt.err}
			got := s.Call(t.Context(), Call{ID: "c7", Name: "docs_search", Arguments: json.RawMessage(`{"query": "x"}`), Approver: c})
			if got.Err != tt.want {
				t.Errorf("Err = %q, want %q", got.Err, tt.want)
			}
			if len(c.asked) != 1 || c.asked[0].Tool != "docs_search" || c.asked[0].CallID != "c7" ||
				string(c.asked[0].Arguments) != `{"query": "x"}` || c.asked[0].Reason != `permissions.ask has "*"` {
				t.Errorf("asked %+v", c.asked)
			}
		})
	}
}

func TestTheFilesTimeoutBoundsACall(t *testing.T) {
	a := load(t, offlineModel)
	s := newSet(agent.Env{Now: agent.SystemEnv(nil).Now, Log: slog.New(slog.DiscardHandler)}, a)
	defer s.Close()
	if err := s.begin([]part{partOf(a.Tools[1], opened{tools: []agent.Tool{waiting{}}})}); err != nil {
		t.Fatal(err)
	}
	got := s.Call(t.Context(), Call{Name: "orders_search", Arguments: json.RawMessage(`{}`)})
	if want := "orders_search did not answer within 50ms, the bound of tools[1].timeout; ask it for less, or raise the bound"; got.Err != want {
		t.Errorf("Err = %q, want %q", got.Err, want)
	}
}

// waiting is a tool that answers when it is cancelled.
type waiting struct{}

func (waiting) Definition() agent.Definition {
	return agent.Definition{Name: "orders_search", Schema: json.RawMessage(`{}`)}
}

func (waiting) Call(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
	<-ctx.Done()
	return agent.ToolResult{}, ctx.Err()
}

func TestSecretsLeaveNoTool(t *testing.T) {
	const password = "hunter2-hunter2"
	a := load(t, offlineModel)
	a.Redactor = secret.NewRedactor([]string{password})
	kept := agent.ToolResult{
		Parts:      []agent.Part{{Kind: agent.PartText, Text: "pw " + password}, {Kind: agent.PartImage, Name: password, Data: []byte(password)}},
		Passages:   []agent.Passage{{ID: password, Text: "is " + password, Source: "https://x:" + password + "@h/", Metadata: map[string]string{"k": password}}},
		Structured: json.RawMessage(`{"b": 1.50, "a": ["` + password + `"]}`),
	}
	for _, tt := range []struct {
		name string
		tool agent.Tool
		args string
	}{
		{"result", returning{kept, nil}, `{}`},
		{"error", returning{err: errors.New("cannot log in with " + password)}, `{}`},
		{"arguments", returning{}, `{"query": "` + password + `", "x": 1}`},
		{"arguments that are cut where they are quoted", returning{}, `"` + strings.Repeat("x", 110) + password + `"`},
		{"structured that is not JSON", returning{agent.ToolResult{Structured: json.RawMessage("{" + password)}, nil}, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSet(agent.Env{Now: agent.SystemEnv(nil).Now, Log: slog.New(slog.DiscardHandler)}, a)
			defer s.Close()
			if err := s.begin([]part{partOf(a.Tools[0], opened{tools: []agent.Tool{tt.tool}})}); err != nil {
				t.Fatal(err)
			}
			got := s.Call(t.Context(), Call{Name: "docs_search", Arguments: json.RawMessage(tt.args)})
			for i := range got.Result.Parts {
				got.Result.Parts[i].Data = nil // bytes of an image stay as they are
			}
			printed, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(printed), password[:9]) {
				t.Errorf("the password is in %s", printed)
			}
			if !strings.Contains(string(printed), secret.Mask) {
				t.Errorf("nothing was masked in %s", printed)
			}
		})
	}
	if kept.Parts[0].Text != "pw "+password || kept.Passages[0].Metadata["k"] != password {
		t.Error("redaction changed what the tool keeps")
	}
}

func TestAStructuredResultWithoutSecretsKeepsItsBytes(t *testing.T) {
	a := load(t, offlineModel)
	s := newSet(agent.Env{Now: agent.SystemEnv(nil).Now, Log: slog.New(slog.DiscardHandler)}, a)
	defer s.Close()
	const raw = `{"b": 1.50, "a": 12345678901234567890}`
	tool := returning{agent.ToolResult{Structured: json.RawMessage(raw)}, nil}
	if err := s.begin([]part{partOf(a.Tools[0], opened{tools: []agent.Tool{tool}})}); err != nil {
		t.Fatal(err)
	}
	if got := s.Call(t.Context(), Call{Name: "docs_search"}); string(got.Result.Structured) != raw {
		t.Errorf("got %s", got.Result.Structured)
	}
}

// returning is a tool that returns what it was given.
type returning struct {
	result agent.ToolResult
	err    error
}

func (returning) Definition() agent.Definition {
	return agent.Definition{Name: "docs_search", Schema: json.RawMessage(`{"type": "object", "properties": {"query": {"enum": ["a"]}}, "additionalProperties": false}`)}
}

func (r returning) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return r.result, r.err
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		{"nothing to say", offlineModel + "permissions: {disallowed_tools: ['docs_*']}", ""},
		{"names in the file", offlineModel + "permissions: {disallowed_tools: [docs, orders]}", ""},
		{"a pattern near a name", offlineModel + "permissions: {disallowed_tools: [docs_search, order]}",
			`agent.yaml:8:33: warning: permissions.disallowed_tools[1]: "order" matches none of the agent's tools (did you mean "orders"?)`},
		{"a pattern without effect", offlineModel + "permissions: {disallowed_tools: [docs_search, 'delete_*']}",
			`agent.yaml:8:33: warning: permissions.disallowed_tools[1]: "delete_*" matches none of the agent's tools (they are docs_search, orders_search)`},
		{"hooks", offlineModel + "hooks: [{event: PreToolUse, tool: docs, action: log}, {event: PostToolUse, tool: 'o*', action: log}]", ""},
		{"a hook for no tool", offlineModel + "hooks: [{event: PreToolUse, tool: order, action: reject}]",
			`agent.yaml:8:35: warning: hooks[0].tool: "order" matches none of the agent's tools (did you mean "orders"?)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Check(load(t, tt.yaml)) {
				p.Pos.File = filepath.Base(p.Pos.File)
				got = append(got, p.String())
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}
