package backendtest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// Options is what a test needs of a backend beside the script its model plays.
type Options struct {
	Tools  []agent.Tool
	Schema json.RawMessage // response_format
	// MaxTurns bounds the model responses of a turn; 0 is the runtime's default.
	MaxTurns int
	// ModelTimeout and TurnTimeout bound a model call and a turn; 0 is no bound.
	ModelTimeout, TurnTimeout time.Duration
}

// Open opens a backend whose model plays s. The suite closes it.
type Open func(t *testing.T, s script.Script, o Options) agent.Backend

// Wire says what the API between a runtime and its model has no word for. The
// zero Wire has a word for everything.
type Wire struct {
	NoRefusal bool // a refusal is not told from an answer
	NoFilter  bool // nor is an answer that a filter blocked
	// UniqueCalls needs ids of calls that are each call's own: one that comes again
	// is lost before the runtime hears of it.
	UniqueCalls bool
	// ObjectCalls hands on what a model gives a tool as it is, and a provider takes
	// objects alone.
	ObjectCalls bool
	// NoTool is in what a model is told that calls a tool that is not there. Empty
	// means that the runtime tells it, with the names of those there are.
	NoTool string
	// Resumes goes on with answers that were cut, unasked.
	Resumes bool
	// Names says that a snapshot names a conversation, which is kept elsewhere.
	Names bool
	// Slack is what a model call that ends at once may take; 0 means little.
	Slack time.Duration
}

// short is a deadline that is certain to pass where what it bounds waits for ever.
func (w Wire) short() time.Duration { return cmp.Or(w.Slack, 250*time.Millisecond) }

// Run holds a runtime against the contract.
func Run(t *testing.T, open Open) {
	t.Helper()
	RunOver(t, Wire{}, open)
}

// RunOver holds a runtime against the contract whose model is reached over wire.
func RunOver(t *testing.T, wire Wire, open Open) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"Text", testText},
		{"Thinking", testThinking},
		{"Headers", testHeaders},
		{"OneRange", testOneRange},
		{"ParallelCalls", testParallelCalls},
		{"CallsInEveryRound", testCallsInEveryRound},
		{"Delegates", testDelegates},
		{"CancelDelegate", testCancelDelegate},
		{"RepeatedCallIDs", testRepeatedCallIDs},
		{"Memory", testMemory},
		{"Isolation", testIsolation},
		{"SerialisedSends", testSerialisedSends},
		{"WaitingSend", wire.testWaitingSend},
		{"BreakAfterFirstEvent", testBreakAfterFirstEvent},
		{"BreakDuringCalls", testBreakDuringCalls},
		{"CancelModelCall", testCancelModelCall},
		{"CancelTool", testCancelTool},
		{"FailedModelCall", testFailedModelCall},
		{"ModelDeadline", wire.testModelDeadline},
		{"TurnDeadline", wire.testTurnDeadline},
		{"CallersDeadline", wire.testCallersDeadline},
		{"MaxTurns", testMaxTurns},
		{"TighterMaxTurns", testTighterMaxTurns},
		{"FinishReasons", wire.testFinishReasons},
		{"EmptyAnswers", wire.testEmptyAnswers},
		{"ContextOverflow", testContextOverflow},
		{"ToolError", testToolError},
		{"UnknownTool", wire.testUnknownTool},
		{"BadArguments", wire.testBadArguments},
		{"ClientTools", wire.testClientTools},
		{"StructuredOutput", testStructuredOutput},
		{"StructuredOutputRepaired", testStructuredOutputRepaired},
		{"StructuredOutputRefused", testStructuredOutputRefused},
		{"EmptyMessage", testEmptyMessage},
		{"SessionIDs", testSessionIDs},
		{"SnapshotAndResume", wire.testSnapshotAndResume},
		{"ForeignSnapshot", testForeignSnapshot},
		{"CloseTwice", testCloseTwice},
		{"CloseDuringTurn", testCloseDuringTurn},
		{"CloseBackend", testCloseBackend},
	}
	for _, tt := range tests {
		if tt.name == "RepeatedCallIDs" && wire.UniqueCalls {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			// Registered first, so that it runs after everything was closed.
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			tt.run(t, open)
		})
	}
}

// conversation is a session under test.
type conversation struct {
	agent.Session
	t *testing.T
}

// start opens a backend and a session of it, both closed when the test ends.
func start(t *testing.T, open Open, s script.Script, o Options) (agent.Backend, conversation) {
	t.Helper()
	b := openBackend(t, open, s, o)
	return b, newSession(t, b, agent.SessionOptions{Mode: agent.ModeTest})
}

func openBackend(t *testing.T, open Open, s script.Script, o Options) agent.Backend {
	t.Helper()
	b := open(t, s, o)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close backend: %v", err)
		}
	})
	return b
}

func newSession(t *testing.T, b agent.Backend, o agent.SessionOptions) conversation {
	t.Helper()
	s, err := b.NewSession(t.Context(), o)
	if err != nil {
		t.Fatalf("new session: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close session: %v", err)
		}
	})
	return conversation{s, t}
}

// say runs a turn that must not end in an error.
func (c conversation) say(text string) agent.Result {
	c.t.Helper()
	r, _, err := c.turn(c.t.Context(), text)
	if err != nil {
		c.t.Fatalf("turn %q: %v", text, err)
	}
	return r
}

// expect runs a turn that must answer with want.
func (c conversation) expect(text, want string) agent.Result {
	c.t.Helper()
	r := c.say(text)
	if r.IsError || r.Response != want {
		c.t.Errorf("to %q the answer is %q (error: %q), want %q", text, r.Response, r.ErrorReason, want)
	}
	return r
}

// turn runs a turn and holds its events against what every turn promises.
func (c conversation) turn(ctx context.Context, text string) (agent.Result, []agent.Event, error) {
	c.t.Helper()
	var (
		folder agent.Folder
		events []agent.Event
		failed error
	)
	for e, err := range c.Send(ctx, agent.Text(text)) {
		switch {
		case failed != nil:
			c.t.Errorf("after the error %v came %v, %v", failed, e, err)
		case err != nil:
			failed = err
		default:
			events = append(events, e)
			folder.Add(e)
		}
	}
	checkTurn(c.t, events, failed)
	return folder.Result(), events, failed
}

// checkTurn fails the test where events break what every turn promises.
func checkTurn(t *testing.T, events []agent.Event, failed error) {
	t.Helper()
	var (
		open     = map[string]string{} // name by call id
		ids      = map[string]bool{}
		deltas   string // of the response under way, or of the last
		response bool   // a response is under way
	)
	for i, e := range events {
		if h := e.Header(); h.Seq != i+1 || h.Time.IsZero() || h.Turn < 1 || h.Turn != events[0].Header().Turn {
			t.Errorf("event %d, %T, has the header %+v", i+1, e, h)
		}
		if _, isCall := e.(agent.ToolCallFinished); !isCall && e.Header().Parent != "" {
			continue // what a sub-agent says is no part of the answer
		}
		switch e := e.(type) {
		case agent.TextDelta:
			if !response {
				deltas = ""
			}
			response = true
			deltas += e.Text
		case agent.ThinkingDelta:
			if !response {
				deltas = ""
			}
			response = true
		case agent.ModelCall:
			if !response {
				deltas = ""
			}
			response = false
			if e.Provider == "" || e.Model == "" {
				t.Errorf("the model call names provider %q and model %q", e.Provider, e.Model)
			}
			if e.End.Before(e.Start) {
				t.Errorf("the model call ends before it starts")
			}
		case agent.ToolCallStarted:
			if e.CallID == "" || ids[e.CallID] {
				t.Errorf("the call of %s has the id %q, which is not its own", e.Name, e.CallID)
			}
			if response {
				t.Errorf("the call of %s starts before its ModelCall", e.Name)
			}
			ids[e.CallID] = true
			open[e.CallID] = e.Name
		case agent.ToolCallFinished:
			if open[e.CallID] != e.Name {
				t.Errorf("call %q of %s finishes, and was not started", e.CallID, e.Name)
			}
			if e.End.Before(e.Start) {
				t.Errorf("the call of %s ends before it starts", e.Name)
			}
			delete(open, e.CallID)
		case agent.TurnFinished:
			if i != len(events)-1 || failed != nil {
				t.Errorf("TurnFinished is event %d of %d, and the error is %v", i+1, len(events), failed)
			}
			if !e.IsError && e.Response != deltas {
				t.Errorf("the response is %q, and its deltas add up to %q", e.Response, deltas)
			}
			if e.StopReason == "" || e.IsError != (e.Reason != "") {
				t.Errorf("the turn finished with %+v", e)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("these calls never finished: %v", open)
	}
	if failed == nil && (len(events) == 0 || events[len(events)-1].Type() != agent.TurnFinished{}.Type()) {
		t.Error("the turn ended without TurnFinished and without an error")
	}
}

// rules makes a script.
func rules(r ...script.Rule) script.Script { return script.Script{Rules: r} }

// when makes a rule for a user message.
func when(user string, steps ...script.Step) script.Rule {
	return script.Rule{When: script.When{User: user}, Steps: steps}
}

// in makes a rule for the numbered turn and the numbered model call of it.
func in(turn, round int, steps ...script.Step) script.Rule {
	return script.Rule{When: script.When{Turn: turn, Round: round}, Steps: steps}
}

// after makes a rule for a model call that follows such a tool result.
func after(result string, steps ...script.Step) script.Rule {
	return script.Rule{When: script.When{Result: result}, Steps: steps}
}

func text(s string) script.Step { return script.Step{Text: s} }

func call(id, name, args string) script.Step {
	return script.Step{Call: &script.Call{ID: id, Name: name, Args: args}}
}

func usage(prompt, completion int) script.Step {
	return script.Step{Usage: &agent.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}}
}

// fakeTool is a tool of the suite.
type fakeTool struct {
	name string
	call func(ctx context.Context, args string) (agent.ToolResult, error)
}

// Definition implements agent.Tool.
func (f fakeTool) Definition() agent.Definition {
	return agent.Definition{
		Name: f.name, Description: "A tool of the test suite.",
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`),
	}
}

// Call implements agent.Tool.
func (f fakeTool) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	var a struct{ Query string }
	if err := json.Unmarshal(args, &a); err != nil {
		return agent.ToolResult{}, err
	}
	return f.call(ctx, a.Query)
}

// echo is a tool that returns what it was asked.
func echo(name string) agent.Tool {
	return fakeTool{name, func(_ context.Context, query string) (agent.ToolResult, error) {
		return agent.TextResult("found " + query), nil
	}}
}

// held is a tool whose calls stay until they are let go.
type held struct {
	entered chan string // the query of each call that has begun
	release chan struct{}
}

func newHeld() *held {
	return &held{entered: make(chan string, 16), release: make(chan struct{})}
}

func (h *held) tool(name string) agent.Tool {
	return fakeTool{name, func(ctx context.Context, query string) (agent.ToolResult, error) {
		h.entered <- query
		select {
		case <-h.release:
			return agent.TextResult("found " + query), nil
		case <-ctx.Done():
			return agent.ToolResult{}, ctx.Err()
		}
	}}
}

// kinds returns the types of events, deltas left out.
func kinds(events []agent.Event) []string {
	var list []string
	for _, e := range events {
		switch e.(type) {
		case agent.TextDelta, agent.ThinkingDelta:
		default:
			list = append(list, e.Type())
		}
	}
	return list
}

func wantKinds(t *testing.T, events []agent.Event, want ...string) {
	t.Helper()
	if got := kinds(events); !slices.Equal(got, want) {
		t.Errorf("the events are %v, want %v", got, want)
	}
}
