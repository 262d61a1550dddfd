package backendtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// delegate is a tool that has models at work for it.
type delegate struct {
	fakeTool
	work func(ctx context.Context, query string, b agent.Behalf) (agent.ToolResult, error)
}

// Delegate implements agent.Delegate.
func (d delegate) Delegate(ctx context.Context, args json.RawMessage, b agent.Behalf) (agent.ToolResult, error) {
	var in struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return agent.ToolResult{}, err
	}
	return d.work(ctx, in.Query, b)
}

// Basis implements agent.Delegate.
func (delegate) Basis() any { return nil }

func testDelegates(t *testing.T, open Open) {
	behalves := make(chan agent.Behalf, 2)
	busy := delegate{fakeTool{name: "lookup"}, func(_ context.Context, query string, b agent.Behalf) (agent.ToolResult, error) {
		behalves <- b
		err := errors.Join(
			b.Emit(b.CallID, agent.TextDelta{Text: "Inside of " + query}),
			b.Emit(b.CallID, agent.ModelCall{Provider: "p", Model: "m", Usage: agent.Usage{Prompt: 1, Completion: 2, Total: 3}}),
		)
		return agent.TextResult("found " + query), err
	}}
	_, c := start(t, open, rules(
		after("found one", text("Both are there."), usage(20, 4)),
		when("go", text("Looking. "), call("a", "lookup", `{"query":"one"}`), call("b", "lookup", `{"query":"two"}`), usage(10, 5)),
	), Options{Tools: []agent.Tool{busy}, MaxTurns: 9})
	r, events, err := c.turn(t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	if r.Response != "Both are there." || r.NumTurns != 2 {
		t.Errorf("the answer is %q after %d responses of the main agent", r.Response, r.NumTurns)
	}
	if want := (agent.Usage{Prompt: 32, Completion: 13, Total: 45}); r.Usage != want {
		t.Errorf("usage is %+v, want %+v: what goes on inside of calls counts", r.Usage, want)
	}
	inside, ended := map[string][]string{}, map[string]bool{}
	for _, e := range events {
		if f, ok := e.(agent.ToolCallFinished); ok {
			ended[f.CallID] = true
		}
		if parent := e.Header().Parent; parent != "" {
			if ended[parent] {
				t.Errorf("%s comes after the end of call %s", e.Type(), parent)
			}
			inside[parent] = append(inside[parent], e.Type())
		}
	}
	for _, id := range []string{"a", "b"} {
		if !slices.Equal(inside[id], []string{"text_delta", "model_call"}) {
			t.Errorf("inside of call %s were %v", id, inside[id])
		}
	}
	var sessions []string
	for range 2 {
		b := <-behalves
		sessions = append(sessions, b.Session)
		if b.Limits.MaxTurns != 9 || b.Mode != agent.ModeTest {
			t.Errorf("the call works on behalf of %+v", b)
		}
	}
	slices.Sort(sessions)
	if want := []string{fmt.Sprintf("%s/lookup 1.1", c.ID()), fmt.Sprintf("%s/lookup 1.2", c.ID())}; !slices.Equal(sessions, want) {
		t.Errorf("the work has the sessions %q, want %q", sessions, want)
	}
}

// testCancelDelegate cancels a turn that is told of a call without end.
func testCancelDelegate(t *testing.T, open Open) {
	stopped := make(chan error, 1)
	endless := delegate{fakeTool{name: "lookup"}, func(_ context.Context, _ string, b agent.Behalf) (agent.ToolResult, error) {
		for {
			if err := b.Emit(b.CallID, agent.TextDelta{Text: "And on. "}); err != nil {
				stopped <- err
				return agent.ToolResult{}, err
			}
		}
	}}
	_, c := start(t, open, rules(
		when("hello", text("I am here.")),
		when("go", call("a", "lookup", `{"query":"x"}`)),
	), Options{Tools: []agent.Tool{endless}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var failed error
	for e, err := range c.Send(ctx, agent.Text("go")) {
		if failed = err; err != nil {
			break
		}
		if e.Header().Parent == "a" {
			if n++; n == 3 {
				cancel()
			}
		}
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("the turn ended in %v", failed)
	}
	if err := <-stopped; err == nil {
		t.Error("nobody told the call that the turn is over")
	}
	c.expect("hello", "I am here.")
}
