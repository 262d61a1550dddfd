package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// TestMain makes the test program the program of hooks, too: with the name of a
// behaviour as its only argument it behaves so.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(behave(os.Args[1]))
	}
	os.Exit(m.Run())
}

// behave is what a program of a hook does.
func behave(how string) int {
	report, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 9
	}
	switch how {
	case "keep":
		if err := os.WriteFile("kept.json", report, 0o600); err != nil {
			return 9
		}
	case "variable":
		fmt.Printf(`{"reject": %q}`, os.Getenv("WHY"))
	case "fail":
		fmt.Fprintln(os.Stderr, "the ledger is closed")
		return 3
	case "hang":
		<-time.After(time.Hour)
	case "flood":
		fmt.Print(strings.Repeat("x", worker.MaxResult+1))
	case "reject and fail", "reject and hang":
		fmt.Print(`{"reject": "the ledger is closed"}`)
		if how == "reject and hang" {
			<-time.After(time.Hour)
		}
		return 3
	case "transform and fail":
		fmt.Print(`{"transform": {"amount": 1}}`)
		return 3
	case "half":
		fmt.Print(`{"reject": "no`)
	case "garbage":
		fmt.Print(`{"verdict": "maybe"}`)
	case "words":
		fmt.Print("all is well")
	}
	return 0
}

// bench is an agent's hooks under test, and what they wrote to the log.
type bench struct {
	*hook.Hooks
	dir string
	log *bytes.Buffer
}

// open opens the hooks of an agent file with these, and the files beside it.
func open(t *testing.T, hooks string, files map[string]string) bench {
	t.Helper()
	b := bench{dir: t.TempDir(), log: &bytes.Buffer{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := "name: desk\ninstructions: {inline: x}\nmodel: {provider: offline, name: x}\nhooks:\n" + strings.ReplaceAll(hooks, "SELF", self)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("agent.yaml", text)
	for name, text := range files {
		write(name, text)
	}
	a, problems := config.Load(filepath.Join(b.dir, "agent.yaml"), config.Options{})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	log := slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	pool := worker.New(worker.Options{Dir: b.dir})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	now := func() time.Time { return time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC) }
	if b.Hooks, err = hook.Open(a, hook.Options{Now: now, Log: log, Code: pool, Redactor: a.Redactor}); err != nil {
		t.Fatal(err)
	}
	return b
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// logged returns the log with the folder of the agent taken out of it.
func (b bench) logged() string {
	return strings.ReplaceAll(b.log.String(), b.dir+string(filepath.Separator), "")
}

// pay is a call of a tool.
func pay(args string) hook.Call {
	return hook.Call{
		Report: hook.Report{Session: "s", Turn: 2, Tool: "pay", CallID: "c1", Arguments: json.RawMessage(args)},
		Names:  []string{"pay"}, Ordinal: 1,
	}
}

func TestBeforeACall(t *testing.T) {
	const stars = `
def hook(event):
    a = event["arguments"]
    if a["to"] == "bert":
        return {"reject": "bert left"}
    if a["to"] == "silent":
        return {"reject": ""}
    if a["to"] == "anna":
        return {"transform": {"to": "Anna", "memo": None}}
def kind(event):
    return {"reject": True}
def other(event):
    return {"reject": event["tool"] + " of " + event["event"] + " in " + event["agent"]}
`
	for _, tt := range []struct {
		name, hooks, args string
		want              string // the arguments, or else
		err               string
	}{
		{"no hook for it", "  - {event: PreToolUse, tool: other, action: reject}\n  - {event: PostToolUse, action: log}", `{"a":1}`, `{"a":1}`, ""},
		{"reject", "  - {event: PreToolUse, action: reject}", `{}`, "", "pay was rejected: a hook of the agent does not allow it"},
		{"reject with a message", "  - {event: PreToolUse, tool: 'p*', action: reject, message: Ask the manager.}", `{}`, "", "pay was rejected: Ask the manager."},
		{"reject of some arguments", "  - {event: PreToolUse, arguments: {amount: '????*'}, action: reject}", `{"amount":999}`, `{"amount":999}`, ""},
		{"reject of these arguments", "  - {event: PreToolUse, arguments: {amount: '????*'}, action: reject}", `{"amount":1000}`, "", "pay was rejected: a hook of the agent does not allow it"},
		{"modify", "  - {event: PreToolUse, action: modify, transform: {to: {name: B, x: null}, n: [1], gone: null}}", `{"to":{"name":"A","x":1,"y":12345678901234567890},"gone":1}`, `{"n":[1],"to":{"name":"B","y":12345678901234567890}}`, ""},
		{"modify without arguments", "  - {event: PreToolUse, action: modify, transform: {a: 1}}", ``, `{"a":1}`, ""},
		{"modify of what is no object", "  - {event: PreToolUse, action: modify, transform: {a: 1}}", `"a`, "", "pay was rejected: a hook of the agent could not change its arguments: they are not a JSON object"},
		{"in the order of the file", "  - {event: PreToolUse, action: modify, transform: {a: 2}}\n  - {event: PreToolUse, arguments: {a: '2'}, action: reject, message: It is 2.}\n  - {event: PreToolUse, action: reject, message: later}", `{"a":1}`, "", "pay was rejected: It is 2."},
		{"a script that has nothing to say", "  - {event: PreToolUse, action: script, script: g.star}", `{"to":"carl"}`, `{"to":"carl"}`, ""},
		{"a script that rejects", "  - {event: PreToolUse, action: script, script: g.star}", `{"to":"bert"}`, "", "pay was rejected: bert left"},
		{"a script that does not say why", "  - {event: PreToolUse, action: script, script: g.star}", `{"to":"silent"}`, "", "pay was rejected: a hook of the agent does not allow it"},
		{"a script that modifies", "  - {event: PreToolUse, action: script, script: g.star}", `{"to":"anna","memo":"x"}`, `{"to":"Anna"}`, ""},
		{"another function", "  - {event: PreToolUse, action: script, script: g.star, function: other}", `{}`, "", "pay was rejected: pay of PreToolUse in desk"},
		{"a script that fails", "  - {event: PreToolUse, action: script, script: g.star}", `{"too":"x"}`, `{"too":"x"}`, ""},
		{"a script that fails closed", "  - {event: PreToolUse, action: script, script: g.star, on_failure: reject}", `{"too":"x"}`, "", "pay was rejected: a hook of the agent failed, and no call is made without it: "},
		{"a program that has nothing to say", "  - {event: PreToolUse, action: script, command: [SELF, quiet]}", `{}`, `{}`, ""},
		{"a program's words decide nothing", "  - {event: PreToolUse, action: script, command: [SELF, words], on_failure: reject}", `{}`, `{}`, ""},
		{"a program's variables", "  - {event: PreToolUse, action: script, command: [SELF, variable], env: {WHY: not on Sundays}}", `{}`, "", "pay was rejected: not on Sundays"},
		{"a program that fails", "  - {event: PreToolUse, action: script, command: [SELF, fail]}", `{}`, `{}`, ""},
		{"a program that fails closed", "  - {event: PreToolUse, action: script, command: [SELF, fail], on_failure: reject}", `{}`, "", "ended with exit status 3: the ledger is closed"},
		{"a program that hangs", "  - {event: PreToolUse, action: script, command: [SELF, hang], timeout: 0.2}", `{}`, `{}`, ""},
		{"a program that hangs, closed", "  - {event: PreToolUse, action: script, command: [SELF, hang], timeout: 0.2, on_failure: reject}", `{}`, "", "it took longer than 200ms (hooks[0].timeout)"},
		{"a program that floods", "  - {event: PreToolUse, action: script, command: [SELF, flood], on_failure: reject}", `{}`, "", "no call is made without it"},
		{"a program that answers garbage", "  - {event: PreToolUse, action: script, command: [SELF, garbage]}", `{}`, "", "its answer is neither"},
		{"a program that answers the half", "  - {event: PreToolUse, action: script, command: [SELF, half]}", `{}`, "", "its answer is neither"},
		{"a script that answers with another kind", "  - {event: PreToolUse, action: script, script: g.star, function: kind}", `{}`, "", "its answer is neither"},
		{"a program that rejects and fails", "  - {event: PreToolUse, action: script, command: [SELF, reject and fail]}", `{}`, "", "pay was rejected: the ledger is closed"},
		{"a program that rejects and hangs", "  - {event: PreToolUse, action: script, command: [SELF, reject and hang], timeout: 0.2}", `{}`, "", "pay was rejected: the ledger is closed"},
		{"a program that modifies and fails", "  - {event: PreToolUse, action: script, command: [SELF, transform and fail]}", `{}`, "", "ended with exit status 3"},
		{"garbage, closed", "  - {event: PreToolUse, action: script, command: [SELF, garbage], on_failure: reject}", `{}`, "", `its answer is neither {"reject": "why"} nor {"transform": {…}}: {"verdict": "maybe"}`},
		{"a program that is not there", "  - {event: PreToolUse, action: script, command: [no-such-program-here], on_failure: reject}", `{}`, "", "no-such-program-here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := open(t, tt.hooks, map[string]string{"g.star": stars})
			got, err := b.Before(t.Context(), pay(tt.args))
			switch {
			case tt.err == "" && err != nil:
				t.Errorf("rejected: %v", err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("got %s, %v; want %q", got, err, tt.err)
			case string(got) != tt.want:
				t.Errorf("the arguments are %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAFailingHookIsLogged(t *testing.T) {
	b := open(t, "  - {event: PreToolUse, action: script, command: [SELF, fail]}\n  - {event: Stop, action: script, command: [SELF, fail]}", nil)
	if _, err := b.Before(t.Context(), pay(`{}`)); err != nil {
		t.Fatal(err)
	}
	b.Tell(t.Context(), hook.Report{Event: config.HookStop})
	for _, want := range []string{
		`level=WARN msg="a hook failed" hook=agent.yaml:5:5 event=PreToolUse action=script error=`,
		`level=WARN msg="a hook failed" hook=agent.yaml:6:5 event=Stop action=script error=`, "the ledger is closed",
	} {
		if !strings.Contains(b.logged(), want) {
			t.Errorf("log:\n%swant %q in it", b.logged(), want)
		}
	}
}

func TestLog(t *testing.T) {
	b := open(t, `  - {event: PreToolUse, action: log}
  - {event: PostToolUse, action: log, level: debug, message: paid}
  - {event: PostToolUseFailure, action: log, level: error}
  - {event: Stop, action: log, level: warn}
`, nil)
	call := pay(`{"to": "sk-abcdefghijklmnopqrstuvwxyz0123456789"}`)
	if _, err := b.Before(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	b.After(t.Context(), call)
	call.Error = "no money"
	b.After(t.Context(), call)
	b.Tell(t.Context(), hook.Report{Event: config.HookStop, Session: "s", StopReason: "max_turns", Reason: "too many"})
	b.Tell(t.Context(), hook.Report{Event: config.HookSessionStart, Session: "s"}) // no hook is for it
	lines := strings.Split(strings.TrimSpace(b.logged()), "\n")
	if len(lines) != 4 || strings.Contains(b.logged(), "abcdefghijklmnop") {
		t.Fatalf("log:\n%s", b.logged())
	}
	for i, want := range []string{
		"level=INFO msg=hook event=PreToolUse session=s tool=pay call=c1 arguments=",
		"level=DEBUG msg=paid event=PostToolUse", "level=ERROR msg=hook event=PostToolUseFailure", "level=WARN msg=hook event=Stop session=s stop_reason=max_turns reason=\"too many\"",
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %s, want %q in it", i+1, lines[i], want)
		}
	}
	if !strings.Contains(lines[2], `error="no money"`) {
		t.Errorf("the failure is logged as %s", lines[2])
	}
}

func TestNotify(t *testing.T) {
	type request struct {
		body                map[string]any
		header, contentType string
	}
	got := make(chan request, 1)
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s with %v", r.Method, err)
		}
		got <- request{body, r.Header.Get("X-Desk"), r.Header.Get("Content-Type")}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	b := open(t, fmt.Sprintf("  - {event: PostToolUse, action: notify, url: '%s/hook?k=1', headers: {X-Desk: seven}, message: paid}\n"+
		"  - {event: PreToolUse, action: notify, url: '%[1]s/before', on_failure: reject}\n", server.URL), nil)
	call := pay(`{"to":"anna"}`)
	call.Result = "done"
	b.After(t.Context(), call)
	r := <-got
	want := map[string]any{
		"event": "PostToolUse", "agent": "desk", "time": "2026-12-01T09:00:00Z", "session": "s", "turn": 2.0, "message": "paid",
		"tool": "pay", "call_id": "c1", "arguments": map[string]any{"to": "anna"}, "result": "done",
	}
	if fmt.Sprint(r.body) != fmt.Sprint(want) || r.header != "seven" || r.contentType != "application/json" {
		t.Errorf("posted %v with %q as %q\nwant %v", r.body, r.header, r.contentType, want)
	}
	if b.logged() != "" {
		t.Errorf("log: %s", b.logged())
	}
	if _, err := b.Before(t.Context(), call); err != nil {
		t.Error(err)
	}
	<-got
	for _, status = range []int{http.StatusFound, http.StatusInternalServerError} {
		if _, err := b.Before(t.Context(), call); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("status %d: %v", status, err)
		}
		<-got
	}
}

func TestNotifyIsBounded(t *testing.T) {
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the request is seen
		<-r.Context().Done()
	}))
	defer server.Close()
	b := open(t, fmt.Sprintf("  - {event: PostToolUse, action: notify, url: %q, timeout: 0.1}\n", server.URL), nil)
	b.After(t.Context(), pay(`{}`))
	<-asked
	if !strings.Contains(b.logged(), "it took longer than 100ms (hooks[0].timeout)") {
		t.Errorf("log: %s", b.logged())
	}
}

func TestAScriptHasTheReport(t *testing.T) {
	b := open(t, "  - {event: Stop, action: script, command: [SELF, keep]}\n", nil)
	b.Tell(t.Context(), hook.Report{Event: config.HookStop, Session: "s", Turn: 1, Mode: "test", User: "ann", Response: "Yes.", StopReason: "end"})
	kept, err := os.ReadFile(filepath.Join(b.dir, "kept.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"event":"Stop","agent":"desk","time":"2026-12-01T09:00:00Z","session":"s","turn":1,"mode":"test","user":"ann","response":"Yes.","stop_reason":"end"}`
	if string(kept) != want {
		t.Errorf("the program got %s\nwant %s", kept, want)
	}
}

func TestACancelledCallDoesNotWaitForItsHooks(t *testing.T) {
	b := open(t, "  - {event: PreToolUse, action: script, command: [SELF, hang], timeout: 600}\n  - {event: PostToolUse, action: script, command: [SELF, hang], timeout: 600}\n", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Before(ctx, pay(`{}`)); err == nil {
		t.Error("the call is made")
	}
	b.After(ctx, pay(`{}`))
}

func TestNoHooks(t *testing.T) {
	var none *hook.Hooks
	if none.Concern(config.HookStop) {
		t.Error("there are some")
	}
	if got, err := none.Before(t.Context(), pay(`{"a":1}`)); err != nil || string(got) != `{"a":1}` {
		t.Errorf("got %s, %v", got, err)
	}
	none.After(t.Context(), pay(`{}`))
	none.Tell(t.Context(), hook.Report{})
}

// BenchmarkBefore is what three hooks that stay inside cost a call.
func BenchmarkBefore(b *testing.B) {
	a := &config.Agent{Name: "desk", Hooks: []config.Hook{
		{Event: config.HookPreToolUse, Arguments: map[string]string{"amount": "????*"}, Action: config.HookReject},
		{Event: config.HookPreToolUse, Action: config.HookModify, Transform: map[string]any{"memo": "x"}},
		{Event: config.HookPreToolUse, Arguments: map[string]string{"to": "b*"}, Action: config.HookReject},
	}}
	h, err := hook.Open(a, hook.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	call := pay(`{"amount": 20, "to": "anna"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Before(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
