package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// taped is a tool that does what its func does.
type taped struct {
	name string
	do   func(ctx context.Context) (agent.ToolResult, error)
}

func (t taped) Definition() agent.Definition {
	return agent.Definition{Name: t.name, Description: "A tool.", Schema: json.RawMessage(`{"type": "object"}`)}
}

func (t taped) Call(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
	return t.do(ctx)
}

// recordedSet returns a set of tools that are recorded.
func recordedSet(t *testing.T, env agent.Env, r *cassette.Recorder, redactor *secret.Redactor, tools ...taped) *Set {
	t.Helper()
	s := newSet(env, &config.Agent{Redactor: redactor})
	s.recorder = r
	var members []member
	for _, tool := range tools {
		members = append(members, member{tool: tool, name: tool.name, where: tool.name, bound: bound{limit: time.Minute}})
	}
	if err := s.begin([]part{{members: members}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAReplayGivesWhatTheToolsGave(t *testing.T) {
	dir := t.TempDir()
	redactor := secret.NewRedactor([]string{"canary-canary"})
	rec, err := cassette.Record(dir, cassette.About{}, redactor)
	if err != nil {
		t.Fatal(err)
	}
	env := agent.SystemEnv(slog.New(slog.DiscardHandler))
	tools := []taped{
		{"ok", func(context.Context) (agent.ToolResult, error) {
			r := agent.TextResult("found canary-canary")
			r.Passages = []agent.Passage{{Text: "found", Source: "a.md", Score: 0.123456789012345}}
			r.Structured = json.RawMessage(`{"a":"canary-canary","z":1}`)
			return r, nil
		}},
		{"fails", func(context.Context) (agent.ToolResult, error) {
			return agent.ToolResult{}, errors.New("gone: canary-canary")
		}},
		{"panics", func(context.Context) (agent.ToolResult, error) { panic("boom") }},
	}
	// calls makes the calls of a run, each with the clock of its scope.
	calls := func(s *Set, env agent.Env) (all []agent.ToolCallFinished) {
		for i, name := range []string{"ok", "fails", "panics", "unknown", "ok"} {
			arguments := json.RawMessage(`{"b": 1, "a": "canary-canary"}`)
			if i == 4 {
				arguments = json.RawMessage(`[]`) // refused before it reaches the tool
			}
			all = append(all, s.Call(t.Context(), Call{
				ID: fmt.Sprint(i), Name: name, Arguments: arguments, Session: "s", Turn: 1, Ordinal: i + 1,
				Now: env.Scope("s").Scope(fmt.Sprint("tool ", i)).Now,
			}))
		}
		return all
	}
	taping := rec.Env(env)
	want := calls(recordedSet(t, taping, rec, redactor, tools...), taping)
	if _, err := rec.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p, err := cassette.Replay(dir, redactor)
		if err != nil {
			t.Fatal(err)
		}
		a := &config.Agent{Redactor: redactor}
		for _, tool := range tools {
			a.Tools = append(a.Tools, &config.FunctionTool{ToolBase: config.ToolBase{Name: tool.name}})
		}
		s, err := Open(t.Context(), env, a, Options{Player: p})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(s.Definitions()), len(tools); got != want {
			t.Errorf("%d definitions, want %d", got, want)
		}
		got := calls(s, p.Env(env))
		if !reflect.DeepEqual(asJSON(t, got), asJSON(t, want)) {
			t.Errorf("got  %s\nwant %s", asJSON(t, got), asJSON(t, want))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestACallThatWasNotRecordedIsNamed(t *testing.T) {
	dir := t.TempDir()
	rec, err := cassette.Record(dir, cassette.About{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ok := taped{"ok", func(context.Context) (agent.ToolResult, error) { return agent.TextResult("found"), nil }}
	call := func(s *Set, query string, ordinal int) agent.ToolCallFinished {
		return s.Call(t.Context(), Call{Name: "ok", Arguments: json.RawMessage(`{"query": "` + query + `"}`), Session: "s", Turn: 1, Ordinal: ordinal})
	}
	env := agent.SystemEnv(slog.New(slog.DiscardHandler))
	call(recordedSet(t, env, rec, nil, ok), "lamp", 1)
	if _, err := rec.Commit(); err != nil {
		t.Fatal(err)
	}
	open := func() *Set {
		p, err := cassette.Replay(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), env, &config.Agent{Tools: []config.Tool{&config.FunctionTool{ToolBase: config.ToolBase{Name: "ok"}}}}, Options{Player: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	if got := call(open(), "desk", 1).Err; !strings.Contains(got, `tool call 1 of turn 1 of session s is not the recorded one: arguments.query is now "desk", and was "lamp"`) {
		t.Errorf("another argument: %q", got)
	}
	if got := call(open(), "lamp", 2).Err; !strings.Contains(got, "has no tool call 2 of turn 1 of session s") {
		t.Errorf("another call: %q", got)
	}
	p, err := cassette.Replay(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), env, &config.Agent{Tools: []config.Tool{&config.FunctionTool{ToolBase: config.ToolBase{Name: "new"}}}}, Options{Player: p})
	if missing, ok := errors.AsType[*agent.ToolError](err); !ok || missing.Tool != "new" || !strings.Contains(err.Error(), "does not have it") {
		t.Errorf("a tool that was not there: %v", err)
	}
}

func TestATurnThatRanOutDuringACallDoesSoAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		rec, err := cassette.Record(dir, cassette.About{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		slow := taped{"slow", func(ctx context.Context) (agent.ToolResult, error) {
			<-ctx.Done()
			return agent.ToolResult{}, ctx.Err()
		}}
		s := recordedSet(t, agent.SystemEnv(slog.New(slog.DiscardHandler)), rec, nil, slow)
		over := &agent.BackendTimeoutError{Backend: "b", What: "turn (limit 1s)", Err: context.DeadlineExceeded}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, over)
		defer cancel()
		c := Call{Name: "slow", Arguments: json.RawMessage(`{}`), Session: "s", Turn: 1, Ordinal: 1}
		s.Call(ctx, c)
		// A call that its person gave up is not recorded.
		gone, leave := context.WithCancel(t.Context())
		leave()
		c.Ordinal = 2
		s.Call(gone, c)
		if _, err := rec.Commit(); err != nil {
			t.Fatal(err)
		}
	})
	p, err := cassette.Replay(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ended error
	c := Call{Name: "slow", Arguments: json.RawMessage(`{}`), Session: "s", Turn: 1, Ordinal: 1, EndTurn: func(err error) { ended = err }}
	if _, err := played(p, nil)(nil)(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the turn ran out of time") {
		t.Errorf("the call: %v", err)
	}
	if timeout, ok := errors.AsType[*agent.BackendTimeoutError](ended); !ok || timeout.What != "turn (limit 1s)" {
		t.Errorf("the turn ended in %v", ended)
	}
}
