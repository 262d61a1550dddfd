package testrun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// stock plays a turn that looks up the color it is asked for.
func stock(_ context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
	color := strings.Fields(said)[2]
	return calls(color+" yes", "stock", fmt.Sprintf(`{"color": %q}`, color)), nil
}

// told returns what a turn says of its checks, one a line.
func told(t runs.Turn) string {
	var lines []string
	for _, c := range t.ToolChecks {
		lines = append(lines, fmt.Sprintf("%s: %v %d %s", c.Title(), c.Matched, c.Call, c.Reason))
	}
	return strings.Join(append(lines, t.Errors...), "\n")
}

func TestRulesOnToolCalls(t *testing.T) {
	made := calls("done", "find", `{"q": 1}`, "refund", `{}`, "find", `{"q": 2}`)
	for _, tt := range []struct {
		name, keys string
		want       runs.Status
		says       string
	}{
		{"forbidden and not called", "forbidden_tools: [delete]", runs.Passed, "forbidden tool delete: true -1 "},
		{"forbidden and called", "forbidden_tools: [delete, refund]", runs.Failed, "forbidden tool refund: false 1 it was called (call 2, refund)"},
		{"few enough", "max_calls: 3", runs.Passed, "max_calls 3: true -1 "},
		{"too many", "max_calls: 1", runs.Failed, "max_calls 1: false 1 3 were made, the first beyond it refund"},
		{"none allowed", "max_calls: 0", runs.Failed, "max_calls 0: false 0 3 were made, the first beyond it find"},
		{"in order", "tool_order: subsequence, expected_tools: [find, refund]", runs.Passed, "tool_order subsequence: true -1 "},
		{"out of order", "tool_order: subsequence, expected_tools: [refund, {name: find, args: {q: 1}}]", runs.Failed, "tool_order subsequence: false -1 find (number 2) was not called after those before it; the calls were find, refund, find"},
		{"order does not matter", "tool_order: none, expected_tools: [refund, {name: find, args: {q: 1}}]", runs.Passed, "expected tool find: true 0 "},
		{"these and no others", "tool_order: strict, expected_tools: [find, refund, find]", runs.Passed, "tool_order strict: true"},
		{"others", "tool_order: strict, expected_tools: [find, refund]", runs.Failed, "call 3, find, comes after all that are expected"},
		{"at most", "expected_tools: [{name: find, max: 1}]", runs.Failed, "expected tool find: false 0 at most 1 call, got 2"},
		{"an argument that differs", "expected_tools: [{name: find, args: {q: {approx: 5, abs: 1}}}]", runs.Failed, "call 3, find: argument q is 2, want about 5 (3 away, at most 1)"},
		{"a status", "expected_tools: [{name: find, status: error}]", runs.Failed, "it did not fail, want status error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := load(t, "  - {input: a, "+tt.keys+"}\n")
			_, rec := run(t, a, &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) { return made, nil }})
			c := rec.only(t)
			if c.Status != tt.want || !strings.Contains(told(c.Turns[0]), tt.says) {
				t.Errorf("%s:\n%s\nwant %s: %s", c.Status, told(c.Turns[0]), tt.want, tt.says)
			}
		})
	}
}

func TestStatusLooksAtHowACallEnded(t *testing.T) {
	a := load(t, "  - {input: a, expected_tools: [{name: find, status: error}]}\n")
	_, rec := run(t, a, &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) {
		return append([]agent.Event{
			agent.ToolCallStarted{CallID: "1", Name: "find", Arguments: json.RawMessage(`{}`)},
			agent.ToolCallFinished{CallID: "1", Name: "find", Err: "out of reach"},
		}, reply("no")...), nil
	}})
	if c := rec.only(t); c.Status != runs.Passed {
		t.Errorf("%s: %s", c.Status, told(c.Turns[0]))
	}
}

func TestRulesOverTheTurnsOfACase(t *testing.T) {
	const conversation = `
  - max_calls: 3
    forbidden_tools: [delete]
    tool_order: subsequence
    turns:
      - {input: one, expected_tools: [a, b]}
      - {input: two, expected_tools: [b, a], max_calls: %d, forbidden_tools: [%s]}
      - {input: three, expected_tools: [b, a], tool_order: none}
`
	turns := []string{"a b", "b a", "a b"}
	b := &fake{turn: func(_ context.Context, _ *session, turn int, _ string) ([]agent.Event, error) {
		var made []string
		for _, name := range strings.Fields(turns[turn-1]) {
			made = append(made, name, `{}`)
		}
		return calls("done", made...), nil
	}}
	_, rec := run(t, load(t, fmt.Sprintf(conversation, 1, "b")), b)
	c := rec.only(t)
	for i, want := range []string{
		"expected tool a: true 0 \nexpected tool b: true 1 \ntool_order subsequence: true -1 \nforbidden tool delete: true -1 ",
		"expected tool b: true 0 \nexpected tool a: true 1 \ntool_order subsequence: true -1 \nforbidden tool delete: true -1 \n" +
			"forbidden tool b: false 0 it was called (call 1, b)\nmax_calls 1: false 1 2 were made, the first beyond it a\nmax_calls 3: false 1 4 were made, the first beyond it a",
		"expected tool b: true 1 \nexpected tool a: true 0 \nforbidden tool delete: true -1 ",
	} {
		if got := told(c.Turns[i]); got != want {
			t.Errorf("turn %d:\n%s\nwant\n%s", i+1, got, want)
		}
	}

	// The bound of the case is checked once, at its end, when it is kept.
	_, rec = run(t, load(t, strings.Replace(fmt.Sprintf(conversation, 2, "x"), "max_calls: 3", "max_calls: 6", 1)), b)
	c = rec.only(t)
	if c.Status != runs.Passed || strings.Contains(told(c.Turns[1]), "max_calls 6") || !strings.Contains(told(c.Turns[2]), "max_calls 6: true") {
		t.Errorf("%s:\n%s\n%s", c.Status, told(c.Turns[1]), told(c.Turns[2]))
	}
}

func TestTimeoutOfACase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := suite(nil, config.TestCase{TimeoutS: new(2.5), Turns: []config.Turn{{Input: "a"}, {Input: "b"}, {Input: "c"}}}, ask("d", ""))
		a.Execution.ParallelTestCases = 1
		start := time.Now()
		_, rec := run(t, a, &fake{turn: func(ctx context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
			select {
			case <-time.After(2 * time.Second):
				return reply(said), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
		c := rec.at(t, 0, 2)
		if c.Turns[0].Status != runs.Unchecked || c.Turns[1].Status != runs.Failed || c.Turns[2].Status != runs.NotRun || c.Status != runs.Failed {
			t.Errorf("turns ended %s, %s, %s", c.Turns[0].Status, c.Turns[1].Status, c.Turns[2].Status)
		}
		if got, want := told(c.Turns[1]), "timeout: the case took longer than 2.5 seconds (timeout_s)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := told(c.Turns[2]), "not run: the time of the case was over (timeout_s: 2.5)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if d := rec.at(t, 1, 2); d.Status != runs.Unchecked {
			t.Errorf("the case beside it ended %s", d.Status)
		}
		if took := time.Since(start); took != 4500*time.Millisecond {
			t.Errorf("it took %s, want 4.5s", took)
		}
	})
}

func TestCostOfACase(t *testing.T) {
	for _, tt := range []struct {
		name string
		cost *float64 // of each turn
		want []runs.Status
		says string
	}{
		{"within", new(0.01), []runs.Status{runs.Unchecked, runs.Unchecked, runs.Unchecked}, ""},
		{"beyond", new(0.02), []runs.Status{runs.Unchecked, runs.Failed, runs.NotRun}, "the model calls cost 0.04 USD, more than max_cost_usd, 0.03"},
		{"not known", nil, []runs.Status{runs.Failed, runs.NotRun, runs.NotRun}, "max_cost_usd cannot be kept, since the price of the model is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var limit atomic.Value
			b := &fake{turn: func(_ context.Context, s *session, _ int, said string) ([]agent.Event, error) {
				limit.Store(s.options.Limits.MaxCostUSD)
				return []agent.Event{
					agent.ModelCall{Provider: "fake", Model: "m", Usage: agent.Usage{Prompt: 1, Total: 1}, CostUSD: tt.cost},
					agent.TurnFinished{Response: said, StopReason: agent.StopEnd},
				}, nil
			}}
			_, rec := run(t, suite(nil, config.TestCase{MaxCostUSD: new(0.03), Turns: []config.Turn{{Input: "a"}, {Input: "b"}, {Input: "c"}}}), b)
			c := rec.only(t)
			var all string
			for i, want := range tt.want {
				all += told(c.Turns[i])
				if c.Turns[i].Status != want {
					t.Errorf("turn %d ended %s, want %s", i+1, c.Turns[i].Status, want)
				}
			}
			if !strings.Contains(all, tt.says) {
				t.Errorf("got %q, want %q", all, tt.says)
			}
			if limit.Load() != 0.03 {
				t.Errorf("the runtime was told of a limit of %v, want 0.03", limit.Load())
			}
		})
	}
}

func TestFailFast(t *testing.T) {
	equality := []config.Metric{metric("equality")}
	cases := []config.TestCase{ask("a", "a"), ask("b", "wrong"), ask("c", "c"), ask("d", "d")}
	for _, failFast := range []bool{true, false} {
		a := suite(equality, cases...)
		a.Execution.ParallelTestCases = 1
		rec := new(recorder)
		opts := rec.options()
		opts.FailFast = failFast
		s, err := testrun.Run(context.Background(), testEnv(), a, answers(func(said string) string { return said }), opts)
		if err != nil {
			t.Fatal(err)
		}
		want := 4
		if failFast {
			want = 2
		}
		// One more may have been under way.
		if got := len(rec.results); got < want || failFast && got > want+1 || s.Total != 4 || (s.Stopped != "") != failFast {
			t.Errorf("fail fast %v: %d results, %+v", failFast, got, s)
		}
	}
}

func TestFailFastWaitsForThePassRule(t *testing.T) {
	var n atomic.Int32
	b := answers(func(string) string { return fmt.Sprint(n.Add(1)) })
	a := load(t, `
  - {input: a, ground_truth: "2", repeat: 3, pass_rule: any, evaluations: [{metric: equality}]}
  - {input: b, ground_truth: x, repeat: 2, evaluations: [{metric: equality}]}
  - {input: c, repeat: 9}
`)
	a.Execution.ParallelTestCases = 1
	s, err := testrun.Run(context.Background(), testEnv(), a, b, testrun.Options{FailFast: true})
	if err != nil || s.Passed != 1 || s.Failed != 1 || s.Attempts.Finished() > 6 || s.Stopped == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestRepeatsAreAttemptsInSessionsOfTheirOwn(t *testing.T) {
	var n atomic.Int32
	b := answers(func(string) string { return fmt.Sprint(n.Add(1) % 2) })
	a := load(t, `
  - {name: Coin, input: a, ground_truth: "1", repeat: 4, pass_rule: "rate>=0.5", evaluations: [{metric: equality}]}
`)
	a.Execution.ParallelTestCases = 1
	s, rec := run(t, a, b)
	if s.Passed != 1 || s.Attempts.Passed != 2 || s.Attempts.Failed != 2 || s.Repeats.Flaky() != 1 || b.sessions.Load() != 4 {
		t.Errorf("%+v in %d sessions", s, b.sessions.Load())
	}
	for i, c := range rec.results {
		if c.Attempt != i+1 || c.Repeats != 4 || c.PassRule != "rate>=0.5" || c.Index != 0 {
			t.Errorf("attempt %d is %d of %d under %q", i+1, c.Attempt, c.Repeats, c.PassRule)
		}
	}
	if got, want := strings.Join(rec.started, ", "), "Coin (1 of 4), Coin (2 of 4), Coin (3 of 4), Coin (4 of 4)"; got != want {
		t.Errorf("progress was told of %s, want %s", got, want)
	}
}

func TestEveryAttemptHasASessionNameOfItsOwn(t *testing.T) {
	var names []string
	b := &fake{turn: func(_ context.Context, s *session, _ int, said string) ([]agent.Event, error) {
		names = append(names, s.options.ID)
		return reply(said), nil
	}}
	a := load(t, "  - {input: a}\n  - {input: b, repeat: 2}\n")
	a.Execution.ParallelTestCases = 1
	run(t, a, b)
	if got, want := strings.Join(names, " "), "case-1 case-2 case-2-2"; got != want {
		t.Errorf("sessions are %s, want %s", got, want)
	}
}

func TestTurnsAreJudgedWhileTheConversationGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which ends a test that waits for itself
		sent := make(chan struct{})
		env := testEnv()
		env.Scopes = func(name string) agent.Env {
			scoped := env
			if name == "turn 1 metric 1" { // the metric asks for the time, and gets it once turn 3 was sent
				scoped.Now = func() time.Time { <-sent; return time.Now() }
			}
			return scoped
		}
		equality := []config.Metric{metric("equality")}
		a := suite(equality, config.TestCase{Turns: []config.Turn{{Input: "a", GroundTruth: new("a")}, {Input: "b"}, {Input: "c"}}})
		b := &fake{turn: func(_ context.Context, _ *session, turn int, said string) ([]agent.Event, error) {
			if turn == 3 {
				close(sent)
			}
			return reply(said), nil
		}}
		s, err := testrun.Run(context.Background(), env, a, b, testrun.Options{})
		if err != nil || s.Passed != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestACaseOfAThousandTurns(t *testing.T) {
	tc := config.TestCase{}
	for i := range 1000 {
		tc.Turns = append(tc.Turns, config.Turn{Input: fmt.Sprint(i), GroundTruth: new(fmt.Sprint(i))})
	}
	_, rec := run(t, suite([]config.Metric{metric("equality"), metric("contains")}, tc), answers(func(said string) string { return said }))
	c := rec.only(t)
	if c.Status != runs.Passed || len(c.Turns) != 1000 || c.Turns[999].Answer != "999" || len(c.Turns[500].Metrics) != 2 {
		t.Errorf("%s after %d turns", c.Status, len(c.Turns))
	}
}

func TestTwoCasesWithOneNameAreTwoResults(t *testing.T) {
	a := load(t, "  - {name: A, input: a, ground_truth: a, evaluations: [{metric: equality}]}\n  - {name: A, input: b, ground_truth: x, evaluations: [{metric: equality}]}\n")
	s, rec := run(t, a, answers(func(said string) string { return said }))
	if s.Passed != 1 || s.Failed != 1 || rec.results[0].ID != "A" || rec.results[1].ID != "A#2" {
		t.Errorf("%+v: %s, %s", s, rec.results[0].ID, rec.results[1].ID)
	}
}

func TestRetrievalContextIsInTheResult(t *testing.T) {
	_, rec := run(t, load(t, "  - {input: a, retrieval_context: [x, y]}\n"), answers(func(said string) string { return said }))
	if got := rec.only(t).Turns[0].RetrievalContext; len(got) != 2 || got[1] != "y" {
		t.Errorf("got %q", got)
	}
}

func TestMeasuresOfATurn(t *testing.T) {
	a := load(t, `
  - input: a
    evaluations:
      - {metric: tokens, max: 5}
      - {metric: cost, max: 1}
      - {metric: latency, max: 60000}
`)
	_, rec := run(t, a, &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) {
		return []agent.Event{
			agent.ModelCall{Provider: "fake", Model: "m", Usage: agent.Usage{Prompt: 3, Completion: 2, Total: 5}, CostUSD: new(0.5)},
			agent.TurnFinished{Response: "x", StopReason: agent.StopEnd},
		}, nil
	}})
	for _, m := range rec.only(t).Turns[0].Metrics {
		if m.Status != runs.MetricPass || !m.Counts {
			t.Errorf("%s: %s, %s", m.Name, m.Status, m.Reason)
		}
	}
}
