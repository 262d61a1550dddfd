package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// waiting is a tool of the caller's that answers after a while.
type waiting struct {
	name  string
	while time.Duration
	calls *atomic.Int32
}

func (w waiting) Definition() agent.Definition {
	return agent.Definition{Name: w.name, Description: "Waits.", Schema: json.RawMessage(`{"type": "object"}`)}
}

func (w waiting) Call(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
	w.calls.Add(1)
	select {
	case <-time.After(w.while):
		return agent.TextResult(w.name + " is back"), nil
	case <-ctx.Done():
		return agent.ToolResult{}, ctx.Err()
	}
}

// converse opens an agent, recorded or replayed, holds the conversation, and
// returns every event and error of it.
func converse(t *testing.T, runtime string, env agent.Env, r *cassette.Recorder, p *cassette.Player) string {
	t.Helper()
	a := load(t, `
backend: `+runtime+`
google_adk: {streaming_mode: sse}
model:
  provider: offline
  name: scripted
  script:
    - when: {user: hang}
      do: [{text: Well}, {block: true}]
    - when: {user: search, round: 1}
      do:
        - call: {name: slow, args: {}}
        - call: {name: quick, args: {z: 1, a: 2}}
        - call: {name: stuck, args: {}}
    - when: {user: late}
      do: [{call: {name: stuck, args: {}}}]
    - do: [{thinking: Hm.}, {text: "Done, "}, {delay_ms: 30}, {text: all of it.}]
`)
	a.Execution.LLMTimeout, a.Execution.TurnTimeout = 3, 5
	set, err := tool.Open(t.Context(), env, a, tool.Options{Recorder: r, Player: p})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), env, a, set, llm.Open(env, llm.Options{Recorder: r, Player: p}), Options{Recorder: r, Player: p})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	s, err := b.NewSession(t.Context(), agent.SessionOptions{ID: "s", Tools: []agent.Tool{
		waiting{"slow", 300 * time.Millisecond, &calls}, waiting{"quick", 100 * time.Millisecond, &calls}, waiting{"stuck", 4 * time.Second, &calls},
	}})
	if err != nil {
		t.Fatal(err)
	}
	told := tell(t, s, "hang on", "search it", "be late, be late", "and now?")
	if err := errors.Join(s.Close(), b.Close(), set.Close()); err != nil {
		t.Error(err)
	}
	if n := calls.Load(); p != nil && n > 0 {
		t.Errorf("%d tools were called in a replay", n)
	}
	return told
}

// tell asks questions, and returns every event and error of the turns.
func tell(t *testing.T, s agent.Session, questions ...string) string {
	t.Helper()
	var all strings.Builder
	for _, question := range questions {
		for e, err := range s.Send(t.Context(), agent.Text(question)) {
			if err != nil {
				passed := errors.As(err, new(*agent.BackendTimeoutError))
				fmt.Fprintf(&all, "%v (deadline: %t)\n", err, passed)
				continue
			}
			line, err := agent.MarshalEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s\n", line)
		}
	}
	return all.String()
}

func TestAConversationReplaysToTheByte(t *testing.T) {
	eachRuntime(t, func(t *testing.T, r runtime) {
		dir := filepath.Join(t.TempDir(), "tape")
		var recorded string
		synctest.Test(t, func(t *testing.T) {
			rec, err := cassette.Record(dir, cassette.About{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			recorded = converse(t, r.name, rec.Env(testEnv()), rec, nil)
			if _, err := rec.Commit(); err != nil {
				t.Fatal(err)
			}
		})
		for _, want := range []string{"(deadline: true)", "quick is back", "Done, "} {
			if !strings.Contains(recorded, want) {
				t.Fatalf("the conversation has no %q:\n%s", want, recorded)
			}
		}
		for range 2 {
			p, err := cassette.Replay(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if got := converse(t, r.name, p.Env(testEnv()), nil, p); got != recorded {
				t.Errorf("got\n%s\nwant\n%s", got, recorded)
			}
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("the replay waited: it took %s", took)
			}
		}
	})
}

// choose opens an agent that filters its tools, recorded or replayed, asks it
// two questions, and returns what happened.
func choose(t *testing.T, env agent.Env, section string, r *cassette.Recorder, p *cassette.Player) string {
	t.Helper()
	a := load(t, "model: {provider: offline, name: x, script: [{do: [{text: Hello.}]}]}\ntool_filtering: {"+section+"}\n")
	set, err := tool.Open(t.Context(), env, a, tool.Options{Recorder: r, Player: p})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), env, a, set, llm.Open(env, llm.Options{Recorder: r, Player: p}), Options{Recorder: r, Player: p})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	s, err := b.NewSession(t.Context(), agent.SessionOptions{ID: "s", Tools: []agent.Tool{
		waiting{"quick", 0, &calls}, waiting{"slow", 0, &calls},
	}})
	if err != nil {
		t.Fatal(err)
	}
	told := tell(t, s, "be quick", "be slow")
	if err := errors.Join(s.Close(), b.Close(), set.Close()); err != nil {
		t.Error(err)
	}
	return told
}

func TestWhichToolsATurnOffersIsReplayed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	r, err := cassette.Record(dir, cassette.About{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	recorded := choose(t, r.Env(testEnv()), "enabled: true, similarity_threshold: 0.1", r, nil)
	if _, err := r.Commit(); err != nil {
		t.Fatal(err)
	}
	tape, err := os.ReadFile(filepath.Join(dir, "s.jsonl"))
	if err != nil || !strings.Contains(string(tape), `"tools":["quick"]`) || !strings.Contains(string(tape), `"tools":["slow"]`) {
		t.Fatalf("the record does not say which tools were offered: %s, %v", tape, err)
	}
	p, err := cassette.Replay(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	// What would be chosen now is not asked, or the model would be offered others.
	if got := choose(t, p.Env(testEnv()), "enabled: true, similarity_threshold: 1", nil, p); got != recorded {
		t.Errorf("got\n%s\nwant\n%s", got, recorded)
	}
}
