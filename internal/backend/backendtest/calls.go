package backendtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func testParallelCalls(t *testing.T, open Open) {
	// Each call ends only when it is told to, and the second is told first: were
	// the calls not side by side, the test would not end.
	gates := map[string]chan struct{}{"one": make(chan struct{}), "two": make(chan struct{})}
	entered := make(chan string, 2)
	gated := fakeTool{"lookup", func(ctx context.Context, query string) (agent.ToolResult, error) {
		entered <- query
		select {
		case <-gates[query]:
			return agent.TextResult("found " + query), nil
		case <-ctx.Done():
			return agent.ToolResult{}, ctx.Err()
		}
	}}
	_, c := start(t, open, rules(
		after("found one", text("Both are there."), usage(20, 4)),
		when("go", text("Looking. "), call("a", "lookup", `{"query":"one"}`), call("b", "lookup", `{"query":"two"}`), usage(10, 5)),
	), Options{Tools: []agent.Tool{gated}})

	go func() {
		<-entered
		<-entered
		close(gates["two"])
	}()
	var (
		events []agent.Event
		ended  []string
	)
	for e, err := range c.Send(t.Context(), agent.Text("go")) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		f, ok := e.(agent.ToolCallFinished)
		if !ok {
			continue
		}
		if ended = append(ended, f.CallID); f.CallID == "b" {
			close(gates["one"])
		}
	}
	checkTurn(t, events, nil)
	wantKinds(t, events,
		"model_call", "tool_call_started", "tool_call_started", "tool_call_finished", "tool_call_finished",
		"model_call", "turn_finished")
	r, err := agent.Collect(replay(events))
	if err != nil {
		t.Fatal(err)
	}
	if r.Response != "Both are there." || r.NumTurns != 2 {
		t.Errorf("the answer is %q after %d responses", r.Response, r.NumTurns)
	}
	if want := (agent.Usage{Prompt: 30, Completion: 9, Total: 39}); r.Usage != want {
		t.Errorf("usage is %+v, want the sum %+v", r.Usage, want)
	}
	if len(r.ToolCalls) != 2 || r.ToolCalls[0].CallID != "a" || r.ToolCalls[1].CallID != "b" {
		t.Fatalf("the calls are %+v, want a and b in the model's order", r.ToolCalls)
	}
	if !slices.Equal(ended, []string{"b", "a"}) {
		t.Errorf("the calls ended as %v in the events, want b and then a, as they did", ended)
	}
	if len(r.ToolResults) != 2 || r.ToolResults[0].CallID != "a" || r.ToolResults[1].CallID != "b" {
		t.Fatalf("the results are %+v, want a and b in the order of the calls", r.ToolResults)
	}
	for _, tr := range r.ToolResults {
		if want := map[string]string{"a": "found one", "b": "found two"}[tr.CallID]; tr.Result != want || tr.IsError {
			t.Errorf("call %s returned %q (error: %t), want %q", tr.CallID, tr.Result, tr.IsError, want)
		}
	}
	if got := string(r.ToolCalls[0].Arguments); got != `{"query":"one"}` {
		t.Errorf("the arguments are %s", got)
	}
}

// replay yields events again.
func replay(events []agent.Event) func(func(agent.Event, error) bool) {
	return func(yield func(agent.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func testCallsInEveryRound(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(1, 1, call("", "lookup", `{"query":"one"}`), usage(1, 1)),
		in(1, 2, call("", "order", `{"query":"two"}`), usage(1, 1)),
		after("found two", text("done"), usage(1, 1)),
	), Options{Tools: []agent.Tool{echo("lookup"), echo("order")}})
	r := c.expect("go", "done")
	if r.NumTurns != 3 || r.Usage.Total != 6 || len(r.ToolCalls) != 2 {
		t.Errorf("the result is %+v", r)
	}
}

func testRepeatedCallIDs(t *testing.T, open Open) {
	// checkTurn finds ids that are not a call's own.
	_, c := start(t, open, rules(
		in(1, 1, call("same", "lookup", `{"query":"one"}`), call("same", "lookup", `{"query":"two"}`)),
		in(1, 2, call("same", "lookup", `{"query":"three"}`)),
		in(1, 3, text("done")),
	), Options{Tools: []agent.Tool{echo("lookup")}})
	if r := c.expect("go", "done"); len(r.ToolResults) != 3 {
		t.Errorf("the results are %+v", r.ToolResults)
	}
}

func testToolError(t *testing.T, open Open) {
	broken := fakeTool{"lookup", func(context.Context, string) (agent.ToolResult, error) {
		return agent.ToolResult{}, errors.New("the index is on fire")
	}}
	_, c := start(t, open, rules(
		after("the index is on fire", text("I cannot look that up.")),
		when("go", call("a", "lookup", `{"query":"one"}`)),
	), Options{Tools: []agent.Tool{broken}})
	r, events, err := c.turn(t.Context(), "go")
	if err != nil || r.Response != "I cannot look that up." || r.IsError {
		t.Errorf("the turn gave %+v, %v", r, err)
	}
	for _, e := range events {
		if f, ok := e.(agent.ToolCallFinished); ok && (!strings.Contains(f.Err, "the index is on fire") || !f.Result.IsError) {
			t.Errorf("the call finished with %+v", f)
		}
	}
}

func (w Wire) testUnknownTool(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		// What the model is told names the tools there are.
		after(cmp.Or(w.NoTool, "lookup"), text("Sorry.")),
		when("go", call("a", "lokup", `{"query":"one"}`)),
	), Options{Tools: []agent.Tool{echo("lookup"), echo("order")}})
	r := c.expect("go", "Sorry.")
	if len(r.ToolResults) != 1 || !r.ToolResults[0].IsError {
		t.Errorf("the results are %+v", r.ToolResults)
	}
}

func (w Wire) testBadArguments(t *testing.T, open Open) {
	called := false
	strict := fakeTool{"lookup", func(context.Context, string) (agent.ToolResult, error) {
		called = true
		return agent.TextResult("found"), nil
	}}
	tests := map[string]string{
		"not JSON":         `{"query": `,
		"not an object":    `["one"]`,
		"wrong type":       `{"query": 5}`,
		"missing argument": `{}`,
		"unknown argument": `{"query": "one", "depth": 3}`,
	}
	if w.ObjectCalls {
		delete(tests, "not an object")
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			_, c := start(t, open, rules(
				in(1, 2, text("Sorry.")),
				when("go", call("a", "lookup", args)),
			), Options{Tools: []agent.Tool{strict}})
			r := c.expect("go", "Sorry.")
			if len(r.ToolResults) != 1 || !r.ToolResults[0].IsError || called {
				t.Errorf("the results are %+v; the tool was called: %t", r.ToolResults, called)
			}
		})
	}
}

func (w Wire) testClientTools(t *testing.T, open Open) {
	b := openBackend(t, open, rules(
		after("found one", text("done")),
		after(cmp.Or(w.NoTool, "no tool"), text("no such tool")),
		when("", call("a", "mine", `{"query":"one"}`)),
	), Options{Tools: []agent.Tool{echo("lookup")}})
	if !b.Capabilities().ClientTools {
		_, err := b.NewSession(t.Context(), agent.SessionOptions{Tools: []agent.Tool{echo("mine")}})
		if !isSessionError(err) {
			t.Errorf("the backend takes no tools of its caller, and NewSession gave %v", err)
		}
		return
	}
	mine := newSession(t, b, agent.SessionOptions{Tools: []agent.Tool{echo("mine")}})
	mine.expect("go", "done")
	newSession(t, b, agent.SessionOptions{}).expect("go", "no such tool")
	if _, err := b.NewSession(t.Context(), agent.SessionOptions{Tools: []agent.Tool{echo("lookup")}}); !isSessionError(err) {
		t.Errorf("a tool named like one of the agent's gave %v", err)
	}
}

func testMaxTurns(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		when("next", text("fine")),
		in(1, 1, text("First."), call("", "lookup", `{"query":"one"}`)),
		in(1, 2, text("Second."), call("", "lookup", `{"query":"two"}`)),
	), Options{Tools: []agent.Tool{echo("lookup")}, MaxTurns: 2})
	r, events, err := c.turn(t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	if !r.IsError || r.StopReason != agent.StopMaxTurns || r.Response != "Second." || r.NumTurns != 2 {
		t.Errorf("the result is %+v", r)
	}
	if !strings.Contains(r.ErrorReason, "2") {
		t.Errorf("the reason does not name the limit: %s", r.ErrorReason)
	}
	if !slices.ContainsFunc(events, func(e agent.Event) bool {
		f, ok := e.(agent.ToolCallFinished)
		return ok && f.Result.Text() == "found one"
	}) {
		t.Error("the calls before the limit were not run")
	}
	c.expect("next", "fine")
}

func testTighterMaxTurns(t *testing.T, open Open) {
	b := openBackend(t, open, rules(
		when("", text("Again."), call("", "lookup", `{"query":"one"}`)),
	), Options{Tools: []agent.Tool{echo("lookup")}, MaxTurns: 3})
	for limit, want := range map[int]int{0: 3, 1: 1, 5: 3} {
		c := newSession(t, b, agent.SessionOptions{Limits: agent.Limits{MaxTurns: limit}})
		if r := c.say("go"); r.NumTurns != want || r.StopReason != agent.StopMaxTurns {
			t.Errorf("with a limit of the session of %d there were %d responses (%s), want %d", limit, r.NumTurns, r.StopReason, want)
		}
	}
}
