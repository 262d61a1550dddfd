package backendtest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

func testText(t *testing.T, open Open) {
	b, c := start(t, open, rules(when("hi", text("Hello, "), text("world."), usage(7, 3))), Options{})
	r, events, err := c.turn(t.Context(), "hi there")
	if err != nil {
		t.Fatal(err)
	}
	if r.Response != "Hello, world." || r.StopReason != agent.StopEnd || r.IsError {
		t.Errorf("the result is %+v", r)
	}
	if want := (agent.Usage{Prompt: 7, Completion: 3, Total: 10}); r.Usage != want || r.NumTurns != 1 {
		t.Errorf("usage is %+v in %d responses, want %+v in 1", r.Usage, r.NumTurns, want)
	}
	deltas := 0
	for _, e := range events {
		if _, ok := e.(agent.TextDelta); ok {
			deltas++
		}
	}
	if b.Capabilities().Streaming && deltas < 2 {
		t.Errorf("the backend says that it streams, and the answer came in %d delta", deltas)
	}
	if b.Capabilities().Cost && r.CostUSD == nil {
		t.Error("the backend says that it knows the cost, and the result has none")
	}
	wantKinds(t, events, "model_call", "turn_finished")
}

func testThinking(t *testing.T, open Open) {
	b, c := start(t, open, rules(
		when("hi", script.Step{Thinking: "Let me "}, script.Step{Thinking: "think."}, text("Hello.")),
	), Options{})
	r := c.expect("hi", "Hello.")
	want := ""
	if b.Capabilities().Thinking {
		want = "Let me think."
	}
	if r.Thinking != want {
		t.Errorf("thinking is %q, want %q", r.Thinking, want)
	}
}

func testHeaders(t *testing.T, open Open) {
	_, c := start(t, open, rules(when("", text("ok"))), Options{})
	for turn := 1; turn <= 3; turn++ {
		_, events, err := c.turn(t.Context(), "hi")
		if err != nil {
			t.Fatal(err)
		}
		if got := events[0].Header().Turn; got != turn {
			t.Errorf("the events of turn %d say %d", turn, got)
		}
	}
}

func testOneRange(t *testing.T, open Open) {
	_, c := start(t, open, rules(in(1, 1, text("first")), in(2, 1, text("second"))), Options{})
	never := c.Send(t.Context(), agent.Text("never ranged over"))
	_ = never
	seq := c.Send(t.Context(), agent.Text("once"))
	if r, err := agent.Collect(seq); err != nil || r.Response != "first" {
		t.Errorf("the first turn gave %q, %v", r.Response, err)
	}
	if _, err := agent.Collect(seq); !isSessionError(err) {
		t.Errorf("ranging a second time gave %v", err)
	}
	c.expect("again", "second")
}

func (w Wire) testFinishReasons(t *testing.T, open Open) {
	tests := map[string]struct {
		finish  string
		stop    agent.StopReason
		isError bool
	}{
		"cut":     {script.FinishLength, agent.StopMaxTokens, false},
		"refused": {script.FinishRefusal, agent.StopRefusal, true},
		"blocked": {script.FinishContentFilter, agent.StopBlocked, true},
	}
	if w.NoRefusal {
		delete(tests, "refused")
	}
	if w.NoFilter {
		delete(tests, "blocked")
	}
	if w.Resumes {
		delete(tests, "cut")
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, c := start(t, open, rules(
				when("go", text("as far as"), script.Step{Finish: tt.finish}),
				when("next", text("fine")),
			), Options{})
			r := c.say("go")
			if r.StopReason != tt.stop || r.IsError != tt.isError || r.Response != "as far as" {
				t.Errorf("the result is %+v", r)
			}
			c.expect("next", "fine")
		})
	}
}

// testEmptyAnswers holds that nobody takes a response without words for an answer.
func (w Wire) testEmptyAnswers(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		when("go", script.Step{Finish: script.FinishStop}),
		when("cut", script.Step{Finish: script.FinishLength}),
		when("next", text("fine")),
	), Options{})
	want := map[string]agent.StopReason{"go": agent.StopEmpty, "cut": agent.StopMaxTokens}
	if w.Resumes {
		delete(want, "cut")
	}
	for message, stop := range want {
		if r := c.say(message); r.StopReason != stop || !r.IsError || r.ErrorReason == "" || r.Response != "" {
			t.Errorf("%s: the result is %+v", message, r)
		}
	}
	c.expect("next", "fine")
}

func testContextOverflow(t *testing.T, open Open) {
	_, c := start(t, open, rules(
		when("go on", script.Step{Error: &script.Error{Status: 400, Message: "the prompt exceeds the context length of the model"}}),
		when("next", text("fine")),
	), Options{})
	r := c.say("go on")
	if r.StopReason != agent.StopContextOverflow || !r.IsError || r.NumTurns != 1 {
		t.Errorf("the result is %+v", r)
	}
	c.expect("next", "fine")
}

const citySchema = `{"type":"object","properties":{"city":{"type":"string"},"people":{"type":"integer"}},"required":["city","people"],"additionalProperties":false}`

// structured skips nothing: a backend that cannot obey a schema has no promise
// to keep here.
func structured(t *testing.T, open Open, s script.Script, o Options) (conversation, bool) {
	t.Helper()
	o.Schema = json.RawMessage(citySchema)
	b, c := start(t, open, s, o)
	return c, b.Capabilities().StructuredOutput
}

func testStructuredOutput(t *testing.T, open Open) {
	const answer = `{"city": "Oslo", "people": 700000}`
	c, able := structured(t, open, rules(when("", text(`{"city": "Oslo", `), text(`"people": 700000}`))), Options{})
	if !able {
		return
	}
	r := c.expect("where", answer)
	var got struct {
		City   string
		People int
	}
	if err := json.Unmarshal(r.Structured, &got); err != nil || got.City != "Oslo" || got.People != 700000 {
		t.Errorf("the value is %s, %v", r.Structured, err)
	}
}

func testStructuredOutputRepaired(t *testing.T, open Open) {
	c, able := structured(t, open, rules(
		in(1, 1, text(`{"city": "Oslo"}`)),
		in(1, 2, text(`{"city": "Oslo", "people": 7}`)),
		in(2, 1, text(`{"city": "Bergen", "people": 3}`)),
	), Options{})
	if !able {
		return
	}
	r := c.expect("where", `{"city": "Oslo", "people": 7}`)
	if r.NumTurns != 2 || r.StopReason != agent.StopEnd || len(r.Structured) == 0 {
		t.Errorf("the result is %+v", r)
	}
	// The request to repair is no turn of a person's.
	c.expect("and then", `{"city": "Bergen", "people": 3}`)
}

func testStructuredOutputRefused(t *testing.T, open Open) {
	c, able := structured(t, open, rules(
		when("next", text(`{"city": "Bergen", "people": 3}`)),
		in(1, 1, text("Oslo, I think.")),
		in(1, 0, text(`{"city": 5, "people": 7}`)), // however often it is asked
	), Options{})
	if !able {
		return
	}
	r := c.say("where")
	if !r.IsError || r.StopReason != agent.StopSchema || r.Response != `{"city": 5, "people": 7}` || r.Structured != nil {
		t.Errorf("the result is %+v", r)
	}
	if !strings.Contains(r.ErrorReason, "city") {
		t.Errorf("the reason does not say what is wrong: %s", r.ErrorReason)
	}
	c.expect("next", `{"city": "Bergen", "people": 3}`)
}

func testEmptyMessage(t *testing.T, open Open) {
	_, c := start(t, open, rules(in(1, 1, text("fine"))), Options{})
	for _, m := range []agent.Message{{}, agent.Text(""), agent.Text(" \n")} {
		if _, err := agent.Collect(c.Send(t.Context(), m)); !isSessionError(err) {
			t.Errorf("an empty message gave %v", err)
		}
	}
	c.expect("hi", "fine")
}

func isSessionError(err error) bool {
	_, ok := errors.AsType[*agent.BackendSessionError](err)
	return ok
}
