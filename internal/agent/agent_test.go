package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// events returns a sequence of the events, stamped, and then err if it is not nil.
func events(err error, list ...agent.Event) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		stamp := agent.NewStamper(func() time.Time { return time.Unix(0, 0).UTC() }, 1)
		for _, e := range list {
			if !yield(stamp.Stamp(e, e.Header().Parent), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func usage(prompt, completion int) agent.Usage {
	return agent.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}
}

func cost(usd float64) *float64 { return &usd }

func TestCollectFoldsATurn(t *testing.T) {
	sub := agent.Header{Parent: "call-2"}
	got, err := agent.Collect(events(nil,
		agent.ThinkingDelta{Text: "let me "}, agent.ThinkingDelta{Text: "see"},
		agent.TextDelta{Text: "I will look."},
		agent.ModelCall{Provider: "p", Model: "m", Usage: usage(10, 2), CostUSD: cost(0.5)},
		agent.ToolCallStarted{CallID: "call-1", Name: "kb_search", Arguments: json.RawMessage(`{"query":"x"}`)},
		agent.ToolCallStarted{CallID: "call-2", Name: "expert", Arguments: json.RawMessage(`{}`)},
		agent.TextDelta{Head: sub, Text: "not mine"},
		agent.ModelCall{Head: sub, Provider: "p", Model: "child", Usage: usage(3, 1), CostUSD: cost(0.25)},
		agent.ToolCallFinished{CallID: "call-2", Name: "expert", Result: agent.ToolResult{IsError: true}, Err: "boom"},
		agent.ToolCallFinished{CallID: "call-1", Name: "kb_search", Result: agent.ToolResult{
			Parts:    []agent.Part{{Kind: agent.PartText, Text: "found"}},
			Passages: []agent.Passage{{Text: "found", Source: "a.md", Score: 1}},
		}},
		agent.Notice{Code: agent.NoticeRetry, Text: "again"},
		agent.TextDelta{Text: "The "}, agent.TextDelta{Text: "answer."},
		agent.ModelCall{Provider: "p", Model: "m", Usage: usage(20, 5), CostUSD: cost(0.25)},
		agent.TurnFinished{Response: "The answer.", StopReason: agent.StopEnd},
	))
	if err != nil {
		t.Fatal(err)
	}
	if got.Response != "The answer." || got.Thinking != "let me see" || got.NumTurns != 2 || got.Model != "m" {
		t.Errorf("response %q, thinking %q, turns %d, model %q", got.Response, got.Thinking, got.NumTurns, got.Model)
	}
	if want := usage(33, 8); got.Usage != want {
		t.Errorf("usage = %+v, want the sum over all model calls, sub-agents included: %+v", got.Usage, want)
	}
	if got.CostUSD == nil || *got.CostUSD != 1 {
		t.Errorf("cost = %v, want 1", got.CostUSD)
	}
	if len(got.ToolCalls) != 2 || got.ToolCalls[0].CallID != "call-1" {
		t.Errorf("tool calls = %+v", got.ToolCalls)
	}
	if len(got.ToolResults) != 2 || got.ToolResults[1].CallID != "call-2" || !got.ToolResults[1].IsError || got.ToolResults[0].Passages[0].Source != "a.md" {
		t.Errorf("tool results = %+v, want them in the order of the calls", got.ToolResults)
	}
	if len(got.Notices) != 1 {
		t.Errorf("notices = %+v", got.Notices)
	}
}

func TestCollectKeepsThePartialTextBesideTheError(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name string
		list []agent.Event
		want string
	}{
		{"nothing", nil, ""},
		{"a response under way", []agent.Event{agent.TextDelta{Text: "half an "}, agent.TextDelta{Text: "ans"}}, "half an ans"},
		{"after a response that ended", []agent.Event{agent.TextDelta{Text: "first"}, agent.ModelCall{}}, "first"},
		{"in a second response", []agent.Event{agent.TextDelta{Text: "first"}, agent.ModelCall{}, agent.TextDelta{Text: "sec"}}, "sec"},
		{"after a silent response", []agent.Event{agent.TextDelta{Text: "first"}, agent.ModelCall{}, agent.ModelCall{}}, "first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := agent.Collect(events(boom, tt.list...))
			if !errors.Is(err, boom) || got.Response != tt.want {
				t.Errorf("got %q, %v; want %q beside the error", got.Response, err, tt.want)
			}
		})
	}
}

func TestCollectRefusesATurnWithoutAnEnd(t *testing.T) {
	if _, err := agent.Collect(events(nil, agent.TextDelta{Text: "x"})); !errors.Is(err, agent.ErrNoEnd) {
		t.Errorf("err = %v, want ErrNoEnd", err)
	}
}

func TestCostIsUnknownWhenAnyPriceIs(t *testing.T) {
	got, err := agent.Collect(events(nil,
		agent.ModelCall{CostUSD: cost(1)}, agent.ModelCall{}, agent.ModelCall{CostUSD: cost(1)},
		agent.TurnFinished{StopReason: agent.StopEnd}))
	if err != nil || got.CostUSD != nil {
		t.Errorf("cost = %v, %v; want unknown", got.CostUSD, err)
	}
}

func TestResultNames(t *testing.T) {
	data, err := json.Marshal(must(agent.Collect(events(nil, agent.TurnFinished{Response: "x", StopReason: agent.StopEnd}))))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		`"response":"x"`, `"tool_calls":[]`, `"tool_results":[]`, `"num_turns":0`, `"is_error":false`,
		`"token_usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`,
	} {
		if !strings.Contains(string(data), key) {
			t.Errorf("%s is not in %s", key, data)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestEventsSurviveJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	stamp := agent.NewStamper(func() time.Time { return at }, 3)
	for _, e := range []agent.Event{
		agent.TextDelta{Text: "a \"quoted\" <b>"},
		agent.ThinkingDelta{Text: "hm"},
		agent.ToolCallStarted{CallID: "c", Name: "n", Arguments: json.RawMessage(`{"a":1}`)},
		agent.ToolCallFinished{CallID: "c", Name: "n", Result: agent.TextResult("r"), Err: "e", Start: at, End: at},
		agent.ModelCall{Provider: "p", Model: "m", Usage: usage(1, 2), CostUSD: cost(0.1), Start: at, End: at},
		agent.Notice{Code: agent.NoticeWaiting, Text: "t"},
		agent.TurnFinished{Response: "r", Structured: json.RawMessage(`[1]`), StopReason: agent.StopMaxTurns, IsError: true, Reason: "why"},
	} {
		e = stamp.Stamp(e, "parent")
		data, err := agent.MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(data), `{"schema":"holodeck.event/v1","type":"`+e.Type()+`"`) {
			t.Errorf("form of %s: %s", e.Type(), data)
		}
		back, err := agent.UnmarshalEvent(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, e) {
			t.Errorf("%s came back as %+v, want %+v", e.Type(), back, e)
		}
	}
	if h := stamp.Stamp(agent.Notice{}, "").Header(); h.Seq != 8 || h.Turn != 3 {
		t.Errorf("header = %+v, want the eighth event of turn 3", h)
	}
}

func TestUnmarshalEventRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, in := range []string{
		``, `[]`, `{}`, `{"schema":"holodeck.event/v2","type":"notice"}`, `{"schema":"holodeck.event/v1","type":"other"}`,
		`{"schema":"holodeck.event/v1","type":"notice","text":1}`,
	} {
		if e, err := agent.UnmarshalEvent([]byte(in)); err == nil {
			t.Errorf("%s was read as %+v", in, e)
		}
	}
}

func FuzzUnmarshalEvent(f *testing.F) {
	f.Add([]byte(`{"schema":"holodeck.event/v1","type":"text_delta","seq":1,"text":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := agent.UnmarshalEvent(data)
		if err != nil {
			return
		}
		if _, err := agent.MarshalEvent(e); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}

func TestLimitsOnlyTighten(t *testing.T) {
	file := agent.Limits{MaxTurns: 5, TurnTimeout: time.Minute}
	got := file.Tighten(agent.Limits{MaxTurns: 9, MaxCostUSD: 1, TurnTimeout: time.Second})
	if want := (agent.Limits{MaxTurns: 5, MaxCostUSD: 1, TurnTimeout: time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSystemEnvIsSafeForConcurrentUse(t *testing.T) {
	env := agent.SystemEnv(slog.New(slog.NewTextHandler(io.Discard, nil)))
	var (
		mu  sync.Mutex
		ids = map[string]bool{}
		wg  sync.WaitGroup
	)
	for range 50 {
		wg.Go(func() {
			_ = env.Rand.IntN(10)
			id := env.NewID()
			mu.Lock()
			defer mu.Unlock()
			ids[id] = true
		})
	}
	wg.Wait()
	if len(ids) != 50 {
		t.Errorf("%d different ids of 50", len(ids))
	}
}

// closing is a backend whose only session counts how often it is closed.
type closing struct {
	agent.Backend
	agent.Session
	seq    iter.Seq2[agent.Event, error]
	closed int
}

func (c *closing) NewSession(context.Context, agent.SessionOptions) (agent.Session, error) {
	return c, nil
}
func (c *closing) Send(context.Context, agent.Message) iter.Seq2[agent.Event, error] { return c.seq }
func (c *closing) Close() error                                                      { c.closed++; return nil }

func TestRunOnceClosesItsSession(t *testing.T) {
	boom := errors.New("boom")
	for _, seq := range []iter.Seq2[agent.Event, error]{
		events(nil, agent.TurnFinished{Response: "r", StopReason: agent.StopEnd}),
		events(boom, agent.TextDelta{Text: "part"}),
	} {
		c := &closing{seq: seq}
		r, err := agent.RunOnce(t.Context(), c, agent.Text("hi"))
		if c.closed != 1 {
			t.Errorf("closed %d times", c.closed)
		}
		if r.Response == "" || (err != nil && !errors.Is(err, boom)) {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

func TestErrorsUnwrap(t *testing.T) {
	cause := context.DeadlineExceeded
	for _, err := range []error{
		&agent.BackendInitError{Backend: "b", Err: cause}, &agent.BackendSessionError{Backend: "b", Err: cause},
		&agent.BackendTimeoutError{Backend: "b", What: "model call", Err: cause}, &agent.ToolError{Tool: "t", Err: cause},
	} {
		if !errors.Is(err, cause) {
			t.Errorf("%T does not wrap its cause", err)
		}
		if !strings.Contains(err.Error(), "b") && !strings.Contains(err.Error(), "t") {
			t.Errorf("%T does not name its origin: %s", err, err)
		}
	}
}
