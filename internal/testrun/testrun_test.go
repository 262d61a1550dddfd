package testrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// metric returns a standard metric with default settings.
func metric(name config.StandardName) *config.StandardMetric {
	return &config.StandardMetric{
		MetricBase:        config.MetricBase{Type: config.MetricStandard, Enabled: true, OnMissing: "fail", OnError: "fail"},
		Metric:            name,
		AbsoluteTolerance: 1e-6,
	}
}

// suite returns an agent with those cases, each of which has the metrics.
func suite(metrics []config.Metric, cases ...config.TestCase) *config.Agent {
	a := &config.Agent{Name: "demo", TestCases: config.NewCases(cases...)}
	if metrics != nil {
		a.Evaluations = &config.Evaluations{Metrics: metrics}
	}
	return a
}

// ask returns a case of one input; truth may be empty.
func ask(input, truth string) config.TestCase {
	c := config.TestCase{Input: &input}
	if truth != "" {
		c.GroundTruth = &truth
	}
	return c
}

// recorder keeps what a run hands on.
type recorder struct {
	started  []string
	finished []int
	results  []*runs.Case
}

func (r *recorder) CaseStarted(_ int, title string)  { r.started = append(r.started, title) }
func (r *recorder) CaseFinished(_ int, c *runs.Case) { r.finished = append(r.finished, c.Index) }
func (r *recorder) result(c *runs.Case) error        { r.results = append(r.results, c); return nil }
func (r *recorder) options() testrun.Options         { return testrun.Options{Progress: r, Results: r.result} }
func (r *recorder) only(t *testing.T) *runs.Case     { t.Helper(); return r.at(t, 0, 1) }
func (r *recorder) at(t *testing.T, i, n int) *runs.Case {
	t.Helper()
	if len(r.results) != n {
		t.Fatalf("got %d results, want %d", len(r.results), n)
	}
	return r.results[i]
}

// run runs the cases of a and fails the test when the run ends in an error.
func run(t *testing.T, a *config.Agent, b agent.Backend) (runs.Summary, *recorder) {
	t.Helper()
	rec := new(recorder)
	s, err := testrun.Run(context.Background(), testEnv(), a, b, rec.options())
	if err != nil {
		t.Fatal(err)
	}
	return s, rec
}

func TestVerdicts(t *testing.T) {
	equality := []config.Metric{metric("equality")}
	expectTool := func(c config.TestCase, names ...string) config.TestCase {
		c.ExpectedTools = []config.ExpectedTool{}
		for _, n := range names {
			c.ExpectedTools = append(c.ExpectedTools, config.ExpectedTool{Name: n, Bare: true, Count: 1})
		}
		return c
	}
	allowEmpty := func(c config.TestCase) config.TestCase { c.AllowEmpty = true; return c }
	for _, tt := range []struct {
		name    string
		metrics []config.Metric
		tc      config.TestCase
		events  []agent.Event
		want    runs.Status
		says    string // part of the turn's errors or reasons
	}{
		{"right answer", equality, ask("2+2?", "4"), reply("4"), runs.Passed, ""},
		{"wrong answer", equality, ask("2+2?", "4"), reply("5"), runs.Failed, `expected "4", got "5"`},
		{"no ground truth", equality, ask("2+2?", ""), reply("4"), runs.Unchecked, "the case has no ground_truth"},
		{"no metric", nil, ask("2+2?", "4"), reply("4"), runs.Unchecked, ""},
		{"expected tool", nil, expectTool(ask("x", ""), "kb"), calls("y", "kb_search", `{}`), runs.Passed, ""},
		{"missing tool", nil, expectTool(ask("x", ""), "kb"), calls("y", "web_search", `{}`), runs.Failed, "it was not called; called: web_search"},
		{"no tool expected of none", nil, expectTool(ask("x", "")), reply("y"), runs.Unchecked, ""},
		{"right answer and missing tool", equality, expectTool(ask("x", "y"), "kb"), reply("y"), runs.Failed, "no tool was"},
		{"error result", nil, ask("x", ""), []agent.Event{agent.TurnFinished{Response: "part", IsError: true, StopReason: agent.StopMaxTurns, Reason: "20 rounds"}}, runs.Failed, "the turn ended early (max_turns): 20 rounds"},
		{"trap T07: empty answer", nil, ask("x", ""), reply(" "), runs.Failed, "the answer is empty"},
		{"trap T07: empty answer with a metric", equality, ask("x", "y"), reply(""), runs.Failed, "the answer is empty"},
		{"empty answer that is allowed", equality, allowEmpty(ask("x", "y")), reply(""), runs.Unchecked, "as the case allows"},
		{"empty answer of a turn that says so", nil, ask("x", ""), []agent.Event{agent.TurnFinished{Response: "Looking.", IsError: true, StopReason: agent.StopEmpty, Reason: "no words"}}, runs.Failed, "the answer is empty; a case that"},
		{"one that is allowed", equality, allowEmpty(ask("x", "y")), []agent.Event{agent.TurnFinished{Response: "Looking.", IsError: true, StopReason: agent.StopEmpty, Reason: "no words"}}, runs.Unchecked, "as the case allows"},
		{"empty text beside a structured answer", nil, ask("x", ""), []agent.Event{agent.TurnFinished{Structured: json.RawMessage(`{"a":1}`), StopReason: agent.StopEnd}}, runs.Unchecked, ""},
		{"trap T08: a metric that cannot be computed", []config.Metric{&config.RAGMetric{MetricBase: metric("").MetricBase, MetricType: "answer_relevancy", Threshold: 0.5}}, ask("x", ""), reply("y"), runs.Failed, "cannot compute answer_relevancy yet"},
		{"trap T06: a disabled metric", []config.Metric{&config.StandardMetric{MetricBase: config.MetricBase{Type: config.MetricStandard}, Metric: "equality"}}, ask("x", "y"), reply("z"), runs.Unchecked, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) { return tt.events, nil }}
			s, rec := run(t, suite(tt.metrics, tt.tc), b)
			c := rec.only(t)
			if c.Status != tt.want {
				t.Errorf("status %s, want %s: %+v", c.Status, tt.want, c.Turns)
			}
			if said := fmt.Sprint(c.Turns[0].Errors, c.Turns[0].Metrics, c.Turns[0].ToolChecks); !strings.Contains(said, tt.says) {
				t.Errorf("%q is not among %s", tt.says, said)
			}
			if s.Finished() != 1 || s.Failed == 1 != (tt.want == runs.Failed) || s.Unchecked == 1 != (tt.want == runs.Unchecked) {
				t.Errorf("summary %+v", s)
			}
			if b.closed.Load() != 1 {
				t.Errorf("the session was closed %d times", b.closed.Load())
			}
		})
	}
}

func TestOfflineJudgesDoNotCount(t *testing.T) {
	judge := &config.GEvalMetric{MetricBase: metric("").MetricBase, Title: "Tone"}
	a := suite([]config.Metric{judge, metric("equality")}, ask("x", "y"), ask("x", ""))
	a.Offline = true
	s, rec := run(t, a, answers(func(string) string { return "y" }))
	if rec.at(t, 0, 2).Status != runs.Passed || rec.at(t, 1, 2).Status != runs.Unchecked {
		t.Errorf("got %s and %s, want passed and unchecked", rec.results[0].Status, rec.results[1].Status)
	}
	if len(s.Metrics) != 2 || s.Metrics[0].Skipped != 2 || !strings.Contains(s.Metrics[0].SkipReason, "--offline") {
		t.Errorf("the summary does not tell what was skipped: %+v", s.Metrics)
	}
}

func TestTrapT05MetricsOfOneNameKeepTheirSettings(t *testing.T) {
	loose, exact := metric("numeric"), metric("numeric")
	loose.AbsoluteTolerance = 1
	_, rec := run(t, suite([]config.Metric{loose, exact}, ask("x", "10")), answers(func(string) string { return "10.5" }))
	got := rec.only(t).Turns[0].Metrics
	if got[0].Status != runs.MetricPass || got[1].Status != runs.MetricFail {
		t.Errorf("got %s and %s, want pass and fail", got[0].Status, got[1].Status)
	}
}

func TestTrapT11AMetricThatEndsInAnErrorFailsItsCaseOnly(t *testing.T) {
	a := suite([]config.Metric{metric("numeric")}, ask("x", "a lot"), ask("x", "42"))
	s, rec := run(t, a, answers(func(string) string { return "42" }))
	broken, fine := rec.at(t, 0, 2), rec.at(t, 1, 2)
	if broken.Status != runs.Failed || broken.Turns[0].Answer != "42" || fine.Status != runs.Passed {
		t.Errorf("got %+v and %+v", broken, fine)
	}
	if s.Failed != 1 || s.MetricErrors != 1 {
		t.Errorf("summary %+v, want one case that failed for an error of its metric alone", s)
	}
}

func TestMetricListsOfTurnCaseAndAgent(t *testing.T) {
	tc := config.TestCase{
		Evaluations: []config.Metric{metric("contains")},
		Turns: []config.Turn{
			{Input: "own", GroundTruth: new("a"), Evaluations: []config.Metric{metric("numeric")}},
			{Input: "of the case", GroundTruth: new("a")},
			{Input: "empty inherits", GroundTruth: new("a"), Evaluations: []config.Metric{}},
		},
	}
	plain := ask("of the agent", "a")
	plain.Evaluations = []config.Metric{}
	_, rec := run(t, suite([]config.Metric{metric("equality")}, tc, plain), answers(func(string) string { return "a" }))
	var got []string
	for _, c := range rec.results {
		for _, turn := range c.Turns {
			got = append(got, turn.Metrics[0].Name)
		}
	}
	if want := []string{"numeric", "contains", "contains", "equality"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAConversationIsOneSessionWithItsTurnsInOrder(t *testing.T) {
	b := &fake{turn: func(_ context.Context, s *session, _ int, _ string) ([]agent.Event, error) {
		return reply(strings.Join(s.heard, ",")), nil
	}}
	tc := config.TestCase{Turns: []config.Turn{
		{Input: "a", GroundTruth: new("a")}, {Input: "b"}, {Input: "c", GroundTruth: new("a,b,c")},
	}}
	_, rec := run(t, suite([]config.Metric{metric("equality")}, tc), b)
	c := rec.only(t)
	if c.Status != runs.Passed || !c.Conversation || b.sessions.Load() != 1 {
		t.Errorf("status %s in %d sessions: %+v", c.Status, b.sessions.Load(), c.Turns)
	}
	if got := []runs.Status{c.Turns[0].Status, c.Turns[1].Status, c.Turns[2].Status}; !slices.Equal(got, []runs.Status{runs.Passed, runs.Unchecked, runs.Passed}) {
		t.Errorf("turns %v", got)
	}
	if u := c.Usage(); u == nil || u.Total != 15 {
		t.Errorf("usage %+v, want 15 tokens in all", u)
	}
}

func TestAFailedTurnDoesNotEndTheConversation(t *testing.T) {
	broken := &agent.BackendSessionError{Backend: "fake", Err: errors.New("broken pipe")}
	late := &agent.BackendTimeoutError{Backend: "fake", What: "model call after 1s", Err: context.DeadlineExceeded}
	for _, tt := range []struct {
		name string
		errs []error // of each turn
		want []runs.Status
	}{
		{"one failure", []error{nil, broken, nil}, []runs.Status{runs.Unchecked, runs.Failed, runs.Unchecked}},
		{"two in a row", []error{broken, broken, nil, nil}, []runs.Status{runs.Failed, runs.Failed, runs.NotRun, runs.NotRun}},
		{"two apart", []error{broken, nil, broken, nil}, []runs.Status{runs.Failed, runs.Unchecked, runs.Failed, runs.Unchecked}},
		{"timeouts are not the runtime's failures", []error{late, late, nil}, []runs.Status{runs.Failed, runs.Failed, runs.Unchecked}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tc := config.TestCase{}
			for range tt.errs {
				tc.Turns = append(tc.Turns, config.Turn{Input: "x"})
			}
			b := &fake{turn: func(_ context.Context, _ *session, turn int, _ string) ([]agent.Event, error) {
				if err := tt.errs[turn-1]; err != nil {
					return []agent.Event{agent.TextDelta{Text: "so far"}}, err
				}
				return reply("y"), nil
			}}
			_, rec := run(t, suite(nil, tc), b)
			c := rec.only(t)
			var got []runs.Status
			for _, turn := range c.Turns {
				got = append(got, turn.Status)
				if turn.Status == runs.NotRun && len(turn.Errors) != 1 {
					t.Errorf("a turn that was not run does not say why: %+v", turn)
				}
			}
			if !slices.Equal(got, tt.want) || c.Status != runs.Failed {
				t.Errorf("case %s, turns %v; want failed, %v", c.Status, got, tt.want)
			}
			if first := slices.IndexFunc(tt.errs, func(err error) bool { return err != nil }); c.Turns[first].Answer != "so far" {
				t.Errorf("the partial answer is lost: %+v", c.Turns[first])
			}
		})
	}
}

func TestASessionThatCannotBeOpenedFailsItsCaseOnly(t *testing.T) {
	var opened atomic.Int32
	b := answers(func(string) string { return "y" })
	b.open = func() error {
		if opened.Add(1) == 1 {
			return errors.New("no room")
		}
		return nil
	}
	a := suite(nil, ask("x", ""), ask("x", ""))
	a.Execution.ParallelTestCases = 1
	s, rec := run(t, a, b)
	c := rec.at(t, 0, 2)
	if c.Status != runs.Failed || !strings.Contains(c.Turns[0].Errors[0], "no room") || s.Failed != 1 || s.Unchecked != 1 {
		t.Errorf("got %+v and %+v", c, s)
	}
}

func TestAnAgentThatCannotBeOpenedEndsTheRun(t *testing.T) {
	cause := &agent.BackendInitError{Backend: "fake", Err: errors.New("no such binary")}
	b := answers(func(string) string { return "y" })
	b.open = func() error { return cause }
	rec := new(recorder)
	s, err := testrun.Run(context.Background(), testEnv(), suite(nil, ask("x", ""), ask("x", "")), b, rec.options())
	if !errors.Is(err, cause) || s.Finished() != 0 || len(rec.results) != 0 {
		t.Errorf("got %v, %+v; want the error and no result", err, s)
	}
}

func TestTrapT17EveryTurnHasADeadline(t *testing.T) {
	// This runtime knows no deadline of its own.
	hangs := func() *fake {
		return &fake{turn: func(ctx context.Context, _ *session, _ int, _ string) ([]agent.Event, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
	}
	single := ask("x", "")
	multi := config.TestCase{Turns: []config.Turn{{Input: "x"}, {Input: "y"}}}
	synctest.Test(t, func(t *testing.T) {
		a := suite(nil, single, multi)
		a.Execution.TurnTimeout = 30
		a.Execution.ParallelTestCases = 2
		start := time.Now()
		_, rec := run(t, a, hangs())
		if took := time.Since(start); took > 65*time.Second {
			t.Errorf("took %s, want two deadlines of 30 s one after the other", took)
		}
		for _, c := range rec.results {
			for _, turn := range c.Turns {
				if turn.Status != runs.Failed || !strings.Contains(turn.Errors[0], "timeout: the turn took longer than 30s (execution.turn_timeout)") {
					t.Errorf("case %d: %+v", c.Index, turn)
				}
			}
		}
	})
}

func TestTimesAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) {
			time.Sleep(3 * time.Second) // of the bubble's own clock
			return calls("y", "a", `{}`, "b", `{"q":1}`), nil
		}}
		s, rec := run(t, suite(nil, ask("x", ""), ask("x", ""), ask("x", "")), b)
		c := rec.at(t, 0, 3)
		if c.Turns[0].AgentTime != 3*time.Second || c.Elapsed != 3*time.Second {
			t.Errorf("turn %s, case %s; want 3 s", c.Turns[0].AgentTime, c.Elapsed)
		}
		if s.Elapsed != 9*time.Second || s.AgentTime != 9*time.Second { // one at a time here
			t.Errorf("run %s, agent %s; want 9 s", s.Elapsed, s.AgentTime)
		}
		want := []runs.ToolCall{
			{Name: "a", CallID: "0", Arguments: json.RawMessage(`{}`), Result: "result 0", Elapsed: 20 * time.Millisecond},
			{Name: "b", CallID: "1", Arguments: json.RawMessage(`{"q":1}`), Result: "result 1", Elapsed: 20 * time.Millisecond},
		}
		if !reflect.DeepEqual(c.Turns[0].ToolCalls, want) {
			t.Errorf("got %+v, want each call with its own result", c.Turns[0].ToolCalls)
		}
	})
}

// Results keep the order of the file and progress that of finishing, and the
// cases truly run at once.
func TestOrderUnderParallelism(t *testing.T) {
	const n = 6
	var cases []config.TestCase
	for i := range n {
		cases = append(cases, ask(fmt.Sprint(i), ""))
	}
	a := suite(nil, cases...)
	a.Execution.ParallelTestCases = n
	synctest.Test(t, func(t *testing.T) {
		b := &fake{turn: func(_ context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
			time.Sleep(time.Duration('9'-said[0]) * time.Second) // the last is the quickest
			return reply(said), nil
		}}
		start := time.Now()
		_, rec := run(t, a, b)
		if took := time.Since(start); took != 9*time.Second {
			t.Errorf("took %s, want as long as the slowest", took)
		}
		if want := []int{5, 4, 3, 2, 1, 0}; !slices.Equal(rec.finished, want) {
			t.Errorf("finished in the order %v, want %v", rec.finished, want)
		}
		for i, c := range rec.results {
			if c.Index != i || c.Turns[0].Answer != fmt.Sprint(i) {
				t.Errorf("result %d is case %d", i, c.Index)
			}
		}
		if len(rec.started) != n || rec.started[0] != "0" {
			t.Errorf("started %v", rec.started)
		}
	})
}

func TestParallelOption(t *testing.T) {
	for _, tt := range []struct{ file, flag, want int }{{0, 0, 1}, {3, 0, 3}, {3, 2, 2}, {1, 99, 8}} {
		var cases []config.TestCase
		for range 8 {
			cases = append(cases, ask("x", ""))
		}
		a := suite(nil, cases...)
		a.Execution.ParallelTestCases = tt.file
		var mu sync.Mutex
		running, most := 0, 0
		synctest.Test(t, func(t *testing.T) {
			b := &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return reply("y"), nil
			}}
			if _, err := testrun.Run(context.Background(), testEnv(), a, b, testrun.Options{Parallel: tt.flag}); err != nil {
				t.Fatal(err)
			}
		})
		if most != tt.want {
			t.Errorf("file %d, flag %d: %d cases at once, want %d", tt.file, tt.flag, most, tt.want)
		}
	}
}

// What finished behind a slow case is held, and so the run must not get too far
// ahead of it.
func TestTheRunDoesNotGetTooFarAhead(t *testing.T) {
	const n = 1000
	var cases []config.TestCase
	for i := range n {
		cases = append(cases, ask(fmt.Sprint(i), ""))
	}
	a := suite(nil, cases...)
	a.Execution.ParallelTestCases = 4
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := &fake{turn: func(_ context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
			if said == "0" {
				<-release
			}
			return reply("y"), nil
		}}
		var started atomic.Int32
		done := make(chan runs.Summary)
		go func() {
			s, err := testrun.Run(context.Background(), testEnv(), a, b, testrun.Options{Progress: &counter{started: &started}})
			if err != nil {
				t.Error(err)
			}
			done <- s
		}()
		synctest.Wait()
		if got := started.Load(); got < 4 || got > 300 {
			t.Errorf("%d cases started behind the one that hangs", got)
		}
		close(release)
		if s := <-done; s.Finished() != n {
			t.Errorf("%d cases finished, want %d", s.Finished(), n)
		}
	})
}

// counter counts cases that start.
type counter struct{ started *atomic.Int32 }

func (c *counter) CaseStarted(int, string)      { c.started.Add(1) }
func (c *counter) CaseFinished(int, *runs.Case) {}

func TestNoCases(t *testing.T) {
	s, rec := run(t, suite(nil), answers(func(string) string { return "y" }))
	if s.Total != 0 || s.Finished() != 0 || len(rec.results) != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestCancellingKeepsWhatFinished(t *testing.T) {
	cause := errors.New("interrupted by a person")
	var cases []config.TestCase
	for i := range 20 {
		cases = append(cases, ask(fmt.Sprint(i), ""))
	}
	a := suite(nil, cases...)
	a.Execution.ParallelTestCases = 3
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		b := &fake{turn: func(ctx context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
			if said == "0" || said == "5" || said == "6" {
				<-ctx.Done() // under way when the run is cancelled
				return nil, ctx.Err()
			}
			return reply("y"), nil
		}}
		go func() {
			synctest.Wait()
			cancel(cause)
		}()
		rec := new(recorder)
		s, err := testrun.Run(ctx, testEnv(), a, b, rec.options())
		if !errors.Is(err, cause) {
			t.Errorf("got %v, want the cause", err)
		}
		var kept []int
		for _, c := range rec.results {
			kept = append(kept, c.Index)
		}
		if want := []int{1, 2, 3, 4}; !slices.Equal(kept, want) {
			t.Errorf("kept %v, want %v", kept, want)
		}
		if s.Total != 20 || s.Finished() != 4 || b.sessions.Load() != b.closed.Load() {
			t.Errorf("summary %+v, %d sessions, %d closed", s, b.sessions.Load(), b.closed.Load())
		}
	})
}

func TestACancelledRunStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := answers(func(string) string { return "y" })
	s, err := testrun.Run(ctx, testEnv(), suite(nil, ask("x", "")), b, testrun.Options{})
	if !errors.Is(err, context.Canceled) || s.Finished() != 0 || b.sessions.Load() != 0 {
		t.Errorf("got %+v, %v after %d sessions", s, err, b.sessions.Load())
	}
}

func TestResultsThatCannotBeTakenEndTheRun(t *testing.T) {
	full := errors.New("disk full")
	var cases []config.TestCase
	for range 50 {
		cases = append(cases, ask("x", ""))
	}
	taken := 0
	s, err := testrun.Run(context.Background(), testEnv(), suite(nil, cases...), answers(func(string) string { return "y" }), testrun.Options{
		Parallel: 2,
		Results: func(*runs.Case) error {
			if taken++; taken == 3 {
				return full
			}
			return nil
		},
	})
	if !errors.Is(err, full) || taken != 3 || s.Finished() == 50 {
		t.Errorf("got %v after %d results and %d cases", err, taken, s.Finished())
	}
}

func TestSecretsAreMaskedInResults(t *testing.T) {
	const canary = "canary-secret-value"
	tc := ask("tell "+canary, canary+" it is")
	tc.Name = new("about " + canary)
	tc.ExpectedTools = []config.ExpectedTool{{Name: "kb", Args: map[string]any{"q": canary}}}
	a := suite([]config.Metric{metric("equality")}, tc)
	a.Redactor = secret.NewRedactor([]string{canary})
	b := &fake{turn: func(context.Context, *session, int, string) ([]agent.Event, error) {
		return calls("it is "+canary, "kb_search", `{"q": "no `+canary+`"}`), errors.New("bad key " + canary)
	}}
	_, rec := run(t, a, b)
	shown, err := json.Marshal(rec.only(t))
	if err != nil {
		t.Fatal(err)
	}
	if all := string(shown) + fmt.Sprint(rec.started); strings.Contains(all, canary) || !strings.Contains(all, secret.Mask) {
		t.Errorf("the secret is shown: %s", all)
	}
	if *tc.GroundTruth != canary+" it is" || tc.ExpectedTools[0].Args["q"] != canary {
		t.Error("masking changed the agent file's own values")
	}
}

// The title of a case without a name is the beginning of its input: a secret at
// the cut is masked all the same.
func TestASecretIsMaskedBeforeATitleIsCut(t *testing.T) {
	const canary = "canary-0123456789-abcdefghij"
	for before := range 70 {
		a := suite([]config.Metric{metric("equality")}, ask(strings.Repeat("a", before)+canary, "x"))
		a.Redactor = secret.NewRedactor([]string{canary})
		_, rec := run(t, a, answers(func(said string) string { return said }))
		written, err := json.Marshal(rec.results)
		if err != nil {
			t.Fatal(err)
		}
		if seen := string(written) + strings.Join(rec.started, "\n"); strings.Contains(seen, canary[:4]) {
			t.Fatalf("%d characters before the secret: %s", before, seen)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir()) // a path that no file mentions is relative to the working folder
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("notes.md", "\ufeff# Notes\n")
	write("prices.csv", "a,b\n1,2\n")
	write("binary.txt", "a\x00b")
	write("large.txt", strings.Repeat("x", testrun.MaxFileSize+1))
	file := func(path string, kind config.FileType) config.FileInput {
		return config.FileInput{Path: &path, Type: kind}
	}
	for _, tt := range []struct {
		name  string
		files []config.FileInput
		says  string // part of the error; empty when the files are read
	}{
		{"text and csv", []config.FileInput{file("notes.md", "text"), file("prices.csv", "csv")}, ""},
		{"missing", []config.FileInput{file("none.txt", "text")}, "none.txt"},
		{"a folder", []config.FileInput{file(".", "text")}, "is not a file"},
		{"binary", []config.FileInput{file("binary.txt", "text")}, "binary.txt is binary, not text"},
		{"too large", []config.FileInput{file("large.txt", "text")}, "larger than 10 MiB"},
		{"no image", []config.FileInput{file("notes.md", "image")}, "notes.md is not an image; give a PNG"},
		{"no PDF", []config.FileInput{file("notes.md", "pdf")}, "notes.md is not a PDF"},
		{"word that is none", []config.FileInput{file("notes.md", "word")}, "notes.md is damaged, or no Office file"},
		{"neither path nor url", []config.FileInput{{Type: "text"}}, "a file has neither path nor url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tc := ask("Sum it up.", "")
			tc.Files = tt.files
			a := suite(nil, tc)
			var heard string
			b := answers(func(said string) string { heard = said; return "y" })
			_, rec := run(t, a, b)
			c := rec.only(t)
			if tt.says == "" {
				if want := "File: notes.md\n# Notes\n\n\nFile: prices.csv\na,b\n1,2\n\n\nSum it up."; heard != want {
					t.Errorf("the agent heard %q, want %q", heard, want)
				}
				if c.Status == runs.Failed || len(c.Turns[0].Files) != 2 || c.Turns[0].Input != "Sum it up." {
					t.Errorf("got %+v", c.Turns[0])
				}
				return
			}
			if heard != "" || c.Status != runs.Failed || !strings.Contains(strings.Join(c.Turns[0].Errors, "\n"), tt.says) {
				t.Errorf("the agent heard %q; %s: %q, want an error with %q", heard, c.Status, c.Turns[0].Errors, tt.says)
			}
		})
	}
}

func TestImagesAndPDFsAreShownToTheModel(t *testing.T) {
	t.Chdir(t.TempDir())
	picture, paper := "\x89PNG\r\n\x1a\n1", "%PDF-1.7\n"
	for name, content := range map[string]string{"a.png": picture, "b.pdf": paper, "c.txt": "words"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tc := ask("What is this?", "")
	tc.Files = []config.FileInput{
		{Path: new("a.png"), Type: "image"}, {Path: new("b.pdf"), Type: "pdf"}, {Path: new("c.txt"), Type: "text"},
	}
	var got []agent.Part
	b := &fake{can: agent.Capabilities{Images: true, Documents: true}, turn: func(_ context.Context, s *session, _ int, _ string) ([]agent.Event, error) {
		got = s.parts
		return reply("y"), nil
	}}
	_, rec := run(t, suite(nil, tc), b)
	want := []agent.Part{
		{Kind: agent.PartImage, Name: "a.png", MIME: "image/png", Data: []byte(picture)},
		{Kind: agent.PartDocument, Name: "b.pdf", MIME: "application/pdf", Data: []byte(paper)},
		{Kind: agent.PartText, Text: "File: c.txt\nwords\n\nWhat is this?"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the agent was shown %+v, want %+v", got, want)
	}
	if c := rec.only(t); c.Turns[0].Files[0].Size != int64(len(picture)) || c.Turns[0].Input != "What is this?" {
		t.Errorf("the result holds %+v", c.Turns[0])
	}
}

func TestCheckFindsWhatARunCannotDo(t *testing.T) {
	a := suite(nil, config.TestCase{Turns: []config.Turn{{
		Input:         "x",
		ExpectedTools: []config.ExpectedTool{{Name: "kb", Args: map[string]any{"q": map[string]any{"regex": "("}}}},
	}}})
	problems := testrun.Check(a)
	if len(problems) != 1 || problems[0].Severity != config.SeverityError || !strings.Contains(problems[0].Text, "argument q") {
		t.Errorf("got %v", problems)
	}
}

// A regex that Check would have refused fails its check and nothing else.
func TestABadMatcherFailsItsCheck(t *testing.T) {
	tc := ask("x", "")
	tc.ExpectedTools = []config.ExpectedTool{{Name: "kb", Args: map[string]any{"q": map[string]any{"regex": "("}}}}
	_, rec := run(t, suite(nil, tc), answers(func(string) string { return "y" }))
	if c := rec.only(t); c.Status != runs.Failed || c.Turns[0].ToolChecks[0].Reason == "" {
		t.Errorf("got %+v", c)
	}
}
