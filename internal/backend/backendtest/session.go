package backendtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// threeTurns answers by the number of the turn, which the model sees in the
// history it is given.
func threeTurns() script.Script {
	return rules(in(1, 0, text("first")), in(2, 0, text("second")), in(3, 0, text("third")))
}

func testMemory(t *testing.T, open Open) {
	_, c := start(t, open, threeTurns(), Options{})
	c.expect("a", "first")
	c.expect("b", "second")
	c.expect("c", "third")
}

func testIsolation(t *testing.T, open Open) {
	s := threeTurns()
	s.Rules = append([]script.Rule{{When: script.When{User: "once"}, Times: 1, Steps: []script.Step{text("once")}}}, s.Rules...)
	b, one := start(t, open, s, Options{})
	two := newSession(t, b, agent.SessionOptions{})
	one.expect("a", "first")
	one.expect("once", "once")
	two.expect("b", "first") // a server tells conversations apart by how they begin
	two.expect("once", "once")
	one.expect("once", "third")
	r, err := agent.RunOnce(t.Context(), b, agent.Text("a"))
	if err != nil || r.Response != "first" {
		t.Errorf("RunOnce gave %q, %v", r.Response, err)
	}
}

func testSerialisedSends(t *testing.T, open Open) {
	h := newHeld()
	_, c := start(t, open, rules(
		after("found", text("first")),
		in(1, 0, call("", "hold", `{"query":"x"}`)),
		in(2, 0, text("second")),
	), Options{Tools: []agent.Tool{h.tool("hold")}})
	type outcome struct {
		result agent.Result
		turn   int
		err    error
	}
	send := func(to chan<- outcome) {
		var (
			f agent.Folder
			o outcome
		)
		for e, err := range c.Send(t.Context(), agent.Text("go")) {
			if err != nil {
				o.err = err
				break
			}
			o.turn = e.Header().Turn
			f.Add(e)
		}
		o.result = f.Result()
		to <- o
	}
	first, second := make(chan outcome, 1), make(chan outcome, 1)
	go send(first)
	<-h.entered // the first turn is under way
	go send(second)
	select {
	case o := <-second:
		t.Errorf("the second turn ended before the first: %+v", o)
	default:
	}
	close(h.release)
	for i, ch := range []chan outcome{first, second} {
		o := <-ch
		want := []string{"first", "second"}[i]
		if o.err != nil || o.result.Response != want || o.turn != i+1 {
			t.Errorf("send %d gave %q in turn %d, %v; want %q in turn %d", i+1, o.result.Response, o.turn, o.err, want, i+1)
		}
	}
}

func (w Wire) testWaitingSend(t *testing.T, open Open) {
	h := newHeld()
	_, c := start(t, open, rules(
		after("found", text("first")),
		in(1, 0, call("", "hold", `{"query":"x"}`)),
		in(2, 0, text("second")),
	), Options{Tools: []agent.Tool{h.tool("hold")}})
	first := make(chan error, 1)
	go func() {
		_, err := agent.Collect(c.Send(t.Context(), agent.Text("go")))
		first <- err
	}()
	<-h.entered
	ctx, cancel := context.WithTimeout(t.Context(), w.short())
	defer cancel()
	if _, _, err := c.turn(ctx, "impatient"); !isTimeout(err) {
		t.Errorf("waiting for a turn until the deadline gave %v", err)
	}
	close(h.release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	c.expect("go", "second") // what was never begun is not remembered
}

func testBreakAfterFirstEvent(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(1, 0, text("one "), text("two "), script.Step{Block: true}),
		in(2, 0, text("second")),
	), Options{})
	for range c.Send(t.Context(), agent.Text("go")) {
		break
	}
	c.expect("again", "second")
}

func testBreakDuringCalls(t *testing.T, open Open) {
	h := newHeld()
	_, c := start(t, open, rules(
		in(1, 0, call("", "hold", `{"query":"x"}`), call("", "lookup", `{"query":"x"}`)),
		in(2, 0, text("second")),
	), Options{Tools: []agent.Tool{h.tool("hold"), echo("lookup")}})
	for e, err := range c.Send(t.Context(), agent.Text("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.ToolCallFinished); ok {
			break // the other call is still held
		}
	}
	c.expect("again", "second")
}

func testCancelModelCall(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(1, 0, text("partial"), script.Step{Block: true}),
		in(2, 0, text("second")),
	), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		f    agent.Folder
		last error
	)
	for e, err := range c.Send(ctx, agent.Text("go")) {
		if last = err; err == nil {
			f.Add(e)
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || isTimeout(last) || isSessionError(last) {
		t.Errorf("a cancelled turn ended in %v, want context.Canceled itself", last)
	}
	if got := f.Result().Response; got != "partial" {
		t.Errorf("the partial text is %q", got)
	}
	c.expect("again", "second")
}

func testCancelTool(t *testing.T, open Open) {
	h := newHeld()
	_, c := start(t, open, rules(
		in(1, 0, call("", "hold", `{"query":"x"}`), call("", "hold", `{"query":"y"}`)),
		in(2, 0, text("second")),
	), Options{Tools: []agent.Tool{h.tool("hold")}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-h.entered
		<-h.entered
		cancel()
	}()
	// checkTurn finds calls without an end.
	_, _, err := c.turn(ctx, "go")
	if !errors.Is(err, context.Canceled) || isSessionError(err) {
		t.Errorf("a cancelled turn ended in %v, want context.Canceled itself", err)
	}
	c.expect("again", "second")
}

func testFailedModelCall(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(2, 0, text("second")),
		after("found", text("partial"), script.Step{Error: &script.Error{Status: 400, Message: "the prompt is too rude"}}),
		in(1, 0, call("", "lookup", `{"query":"x"}`)),
	), Options{Tools: []agent.Tool{echo("lookup")}})
	r, _, err := c.turn(t.Context(), "go")
	if !isSessionError(err) || !strings.Contains(err.Error(), "too rude") {
		t.Errorf("a failed model call gave %v", err)
	}
	if r.Response != "partial" || len(r.ToolResults) != 1 {
		t.Errorf("beside the error stands %+v", r)
	}
	c.expect("again", "second")
}

func (w Wire) testModelDeadline(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(1, 0, text("partial"), script.Step{Block: true}),
		in(2, 0, text("second")),
	), Options{ModelTimeout: w.short()})
	r, _, err := c.turn(t.Context(), "go")
	if !isTimeout(err) || r.Response != "partial" {
		t.Errorf("a model call that never ends gave %q, %v", r.Response, err)
	}
	c.expect("again", "second")
}

func (w Wire) testTurnDeadline(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(1, 0, call("", "hold", `{"query":"x"}`)),
		in(2, 0, text("second")),
	), Options{Tools: []agent.Tool{newHeld().tool("hold")}, TurnTimeout: w.short()})
	if _, _, err := c.turn(t.Context(), "go"); !isTimeout(err) {
		t.Errorf("a turn that never ends gave %v", err)
	}
	c.expect("again", "second")
}

func (w Wire) testCallersDeadline(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		in(1, 0, text("partial"), script.Step{Block: true}),
		in(2, 0, text("second")),
	), Options{})
	ctx, cancel := context.WithTimeout(t.Context(), w.short())
	defer cancel()
	if r, _, err := c.turn(ctx, "go"); !isTimeout(err) || r.Response != "partial" {
		t.Errorf("a caller's deadline gave %q, %v", r.Response, err)
	}
	c.expect("again", "second")
}

func isTimeout(err error) bool {
	_, ok := errors.AsType[*agent.BackendTimeoutError](err)
	return ok && errors.Is(err, context.DeadlineExceeded)
}

func testSessionIDs(t *testing.T, open Open) {
	b, c := start(t, open, threeTurns(), Options{})
	other := newSession(t, b, agent.SessionOptions{})
	if c.ID() == "" || c.ID() == other.ID() {
		t.Errorf("two sessions have the ids %q and %q", c.ID(), other.ID())
	}
	if got := newSession(t, b, agent.SessionOptions{ID: "mine"}).ID(); got != "mine" {
		t.Errorf("a session that was named mine is called %q", got)
	}
}

func (w Wire) testSnapshotAndResume(t *testing.T, open Open) {
	s := rules(
		after("found", text("first")),
		in(1, 0, call("", "lookup", `{"query":"x"}`)),
		in(2, 0, text("second")), in(3, 0, text("third")),
	)
	b, c := start(t, open, s, Options{Tools: []agent.Tool{echo("lookup")}})
	if !b.Capabilities().Snapshot {
		if _, err := c.Snapshot(t.Context()); !isSessionError(err) {
			t.Errorf("the backend takes no snapshots, and Snapshot gave %v", err)
		}
		return
	}
	c.expect("a", "first")
	snap, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.expect("b", "second")

	again := openBackend(t, open, s, Options{Tools: []agent.Tool{echo("lookup")}})
	resumed := newSession(t, again, agent.SessionOptions{Resume: snap})
	_, events, err := resumed.turn(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if got := events[0].Header().Turn; got != 2 {
		t.Errorf("the turn after a resumed one is number %d", got)
	}
	resumed.expect("c", "third")
	twice, err := resumed.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !w.Names && len(twice) <= len(snap) {
		t.Error("a later snapshot does not hold more")
	}
}

func testForeignSnapshot(t *testing.T, open Open) {
	b, c := start(t, open, threeTurns(), Options{})
	if !b.Capabilities().Snapshot {
		return
	}
	c.expect("a", "first")
	snap, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(snap, &fields); err != nil {
		t.Fatal(err)
	}
	with := func(key, value string) json.RawMessage {
		changed := map[string]json.RawMessage{}
		for k, v := range fields {
			changed[k] = v
		}
		changed[key] = json.RawMessage(value)
		data, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, data := range map[string]json.RawMessage{
		"not JSON":        json.RawMessage("{"),
		"nothing of ours": json.RawMessage("{}"),
		"another schema":  with("schema", `"holodeck.snapshot/v99"`),
		"another backend": with("backend", `"another"`),
	} {
		if _, err := b.NewSession(t.Context(), agent.SessionOptions{Resume: data}); !isSessionError(err) {
			t.Errorf("%s: resuming gave %v", name, err)
		}
	}
}

func testCloseTwice(t *testing.T, open Open) {
	b, c := start(t, open, threeTurns(), Options{})
	c.expect("a", "first")
	for range 2 {
		if err := c.Close(); err != nil {
			t.Errorf("close session: %v", err)
		}
	}
	if _, _, err := c.turn(t.Context(), "late"); !isSessionError(err) {
		t.Errorf("a turn after Close gave %v", err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Errorf("close backend: %v", err)
		}
	}
	if _, err := b.NewSession(t.Context(), agent.SessionOptions{}); !isSessionError(err) {
		t.Errorf("a session of a closed backend gave %v", err)
	}
}

func testCloseDuringTurn(t *testing.T, open Open) {
	h := newHeld()
	_, c := start(t, open, rules(in(1, 0, call("", "hold", `{"query":"x"}`))), Options{Tools: []agent.Tool{h.tool("hold")}})
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.turn(context.Background(), "go")
		ended <- err
	}()
	<-h.entered
	if err := c.Close(); err != nil {
		t.Errorf("close session: %v", err)
	}
	if err := <-ended; !isSessionError(err) {
		t.Errorf("a turn whose session was closed ended in %v", err)
	}
}

func testCloseBackend(t *testing.T, open Open) {
	h := newHeld()
	b, one := start(t, open, rules(
		in(1, 0, call("", "hold", `{"query":"x"}`)),
	), Options{Tools: []agent.Tool{h.tool("hold")}})
	two := newSession(t, b, agent.SessionOptions{})
	ended := make(chan error, 2)
	for _, c := range []conversation{one, two} {
		go func() {
			_, _, err := c.turn(context.Background(), "go")
			ended <- err
		}()
	}
	<-h.entered
	<-h.entered
	if err := b.Close(); err != nil {
		t.Errorf("close backend: %v", err)
	}
	for range 2 {
		if err := <-ended; !isSessionError(err) {
			t.Errorf("a turn whose backend was closed ended in %v", err)
		}
	}
}
