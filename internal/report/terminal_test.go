package report_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cases are one that passes, one that fails for every reason there is, a
// conversation that fails and one that was not checked.
func cases() []*runs.Case {
	return []*runs.Case{
		{
			Index: 0, Name: "Opening hours", Status: runs.Passed, Elapsed: 12 * time.Millisecond,
			Turns: []runs.Turn{{
				Input: "When are you open?", Answer: "At nine.", Status: runs.Passed,
				ToolCalls:  []runs.ToolCall{{Name: "kb_search"}},
				ToolChecks: []runs.ToolCheck{{Expected: config.ExpectedTool{Name: "kb"}, Matched: true}},
				Metrics: []runs.Metric{
					{Name: "contains", Status: runs.MetricPass, Counts: true, Score: new(1.0), Threshold: new(0.5)},
					{Name: "Tone", Status: runs.MetricSkipped, Reason: "it needs a judge, which --offline has not"},
				},
				Usage: &agent.Usage{Prompt: 30, Completion: 4, Total: 34}, CostUSD: new(0.0125),
			}},
		},
		{
			Index: 1, Name: "Refund", Status: runs.Failed, Elapsed: 2410 * time.Millisecond,
			Turns: []runs.Turn{{
				Input: "Can I\nreturn it?", Answer: "Ask \x1b[31mus\x1b[0m.", Status: runs.Failed,
				Errors:     []string{"the turn ended early (max_turns): 20 rounds"},
				ToolCalls:  []runs.ToolCall{{Name: "kb_search"}, {Name: "orders", Err: "no such order"}},
				ToolChecks: []runs.ToolCheck{{Expected: config.ExpectedTool{Name: "refund"}, Reason: "it was not called; called: kb_search, orders"}},
				Metrics: []runs.Metric{
					{Name: "contains", Status: runs.MetricFail, Counts: true, Score: new(0.0), Reason: `"30 days" is not in the answer`},
					{Name: "numeric", Status: runs.MetricError, Counts: true, Reason: "ground_truth is not a number"},
					{Name: "equality", Status: runs.MetricNotApplicable, Reason: "the case has no ground_truth"},
				},
			}},
		},
		{
			Index: 2, Status: runs.Failed, Conversation: true,
			Turns: []runs.Turn{
				{Input: "Hello", Answer: "Hi", Status: runs.Unchecked},
				{Input: "And now?", Status: runs.NotRun, Errors: []string{"not run: the runtime failed in the two turns before"}},
			},
		},
		{Index: 3, Status: runs.Unchecked, Turns: []runs.Turn{{Input: "Anything else?", Answer: "No.", Status: runs.Unchecked}}},
	}
}

// printed returns what a run of those cases prints. The cases finish in another
// order than they stand in the file.
func printed(t *testing.T, opts report.Options, list ...*runs.Case) string {
	t.Helper()
	var out strings.Builder
	opts.Out = &out
	opts.Total = len(list)
	term := report.NewTerminal(opts)
	summary := runs.Summary{Total: len(list), Elapsed: 1234 * time.Millisecond}
	for i := range list {
		c := list[(i+1)%len(list)]
		term.CaseStarted(i, c.Title())
		term.CaseFinished(i, c)
	}
	for _, c := range list {
		if err := term.Case(c); err != nil {
			t.Fatal(err)
		}
		summary.Add(c)
	}
	if err := term.End(summary); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const plainFailures = `
Failures

1. ✗ Refund
   asked: Can I return it?
   answered: Ask �[31mus�[0m.
     ✗ the turn ended early (max_turns): 20 rounds
     ✗ expected tool refund: it was not called; called: kb_search, orders
     ✗ contains: 0.00, "30 days" is not in the answer
     ✗ numeric: ERROR, ground_truth is not a number
   called: kb_search, orders (failed: no such order)

2. ✗ Hello
   turn 2: And now?
     ✗ not run: the runtime failed in the two turns before
`

const plainCounts = `  Failed: 2
  Unchecked: 1
`

func TestPlainLines(t *testing.T) {
	want := `[Test 1/4] FAIL Refund (2.41s)
[Test 2/4] FAIL Hello
[Test 3/4] UNCHECKED Anything else?
[Test 4/4] PASS Opening hours
` + plainFailures + `
============================================================
Test Results: 1/3 passed (33.3%)
  Pass rate: between 6.1% and 79.2% (95% confidence)
` + plainCounts + `  Skipped: Tone (1×, it needs a judge, which --offline has not)
  contains: 0.50 on average over 2 cases
  Cost: $0.0125
  Duration: 1.23s
============================================================
`
	if got := printed(t, report.Options{}, cases()...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestQuietPrintsTheSummaryAlone(t *testing.T) {
	got := printed(t, report.Options{Quiet: true}, cases()...)
	if !strings.HasPrefix(got, plainFailures) || strings.Contains(got, "[Test") || !strings.Contains(got, "Test Results: 1/3 passed") {
		t.Errorf("got\n%s", got)
	}
}

func TestVerbose(t *testing.T) {
	got := printed(t, report.Options{Verbose: true}, cases()...)
	for _, want := range []string{
		"[Test 4/4] PASS Opening hours (12ms)\n" +
			"      called: kb_search\n" +
			"      ✓ expected tool kb\n" +
			"      ✓ contains: 1.00 (threshold: 0.50)\n" +
			"      ○ Tone: skipped, it needs a judge, which --offline has not\n",
		"      ✗ expected tool refund: it was not called; called: kb_search, orders\n",
		"      ○ equality: not applicable, the case has no ground_truth\n",
		"    ○ turn 1: Hello\n    ✗ turn 2: And now?\n      ✗ not run: the runtime failed in the two turns before\n",
		"  contains: 0.50 on average over 2 cases\n",
		"  Tokens: 30 in, 4 out\n  Cost: $0.0125\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no\n%s\nin\n%s", want, got)
		}
	}
}

func TestTerminalLines(t *testing.T) {
	got := printed(t, report.Options{Terminal: true, Color: true}, cases()...)
	for _, want := range []string{
		"Test 1/4: \x1b[91m✗\x1b[0m Refund (2.41s)\n",
		"Test 3/4: \x1b[93m○\x1b[0m Anything else?\n",
		"Test 4/4: \x1b[92m✓\x1b[0m Opening hours\n",
		"\x1b[1mFailures\x1b[0m",
		"\x1b[91m✗\x1b[0m \x1b[91mTest Results: 1/3 passed (33.3%)\x1b[0m\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%q", want, got)
		}
	}
	if got := printed(t, report.Options{Terminal: true}, cases()...); strings.Contains(got, "\x1b") {
		t.Errorf("without colours there is still an escape in %q", got)
	}
}

func TestSummaries(t *testing.T) {
	for _, tt := range []struct {
		name    string
		summary runs.Summary
		want    string
		not     string
	}{
		{"all passed", runs.Summary{Total: 3, Passed: 3}, "✓ Test Results: 3/3 passed (100.0%)", "Failed"},
		{"nothing was checked", runs.Summary{Total: 2, Unchecked: 2}, "○ Test Results: nothing was checked\n  Unchecked: 2 (no check applied", "passed"},
		{"unchecked for want of a judge", runs.Summary{Total: 2, Unchecked: 2, Metrics: []runs.MetricSummary{
			{Name: "Tone", Skipped: 2, SkipReason: "no judge"}, {Name: "bleu", Skipped: 1, SkipReason: "not yet"}, {Name: "Wit", Skipped: 2, SkipReason: "no judge"},
		}}, "  Unchecked: 2\n  Skipped: Tone, Wit (4×, no judge)\n  Skipped: bleu (1×, not yet)\n", "no check applied"},
		{"interrupted", runs.Summary{Total: 9, Passed: 2, Failed: 1}, "✗ Test Results: 2/3 passed (66.7%)\n  Pass rate: between 20.8% and 93.9% (95% confidence)\n  Failed: 1\n  Not finished: 6 of 9", "Unchecked"},
		{"interrupted before anything finished", runs.Summary{Total: 9}, "✗ Test Results: nothing was checked\n  Not finished: 9 of 9", "Failed"},
	} {
		var out strings.Builder
		term := report.NewTerminal(report.Options{Out: &out, Terminal: true})
		if err := term.End(tt.summary); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), tt.not) {
			t.Errorf("%s: got\n%s", tt.name, out.String())
		}
	}
}

func TestFailuresAreBounded(t *testing.T) {
	var list []*runs.Case
	long := strings.Repeat("words ", 5000)
	for i := range report.MaxFailures + 7 {
		c := &runs.Case{Index: i, Name: fmt.Sprintf("case %d", i), Conversation: true, Status: runs.Failed}
		for range 1000 {
			c.Turns = append(c.Turns, runs.Turn{Input: long, Answer: long, Status: runs.Failed, Errors: []string{long}})
		}
		list = append(list, c)
	}
	got := printed(t, report.Options{Quiet: true}, list...)
	for _, want := range []string{"\n50. ✗ case 49\n", "… and 7 more; --output FILE.html shows every case", "… and 990 more turns"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if len(got) > report.MaxFailures*20_000 {
		t.Errorf("the summary has %d bytes", len(got))
	}
}

// screen is a terminal that two goroutines write to.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// take returns what was written since the last call.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.text.Reset()
	return s.text.String()
}

func TestTheMovingLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		var live screen
		term := report.NewTerminal(report.Options{Out: &out, Live: &live, Terminal: true, Total: 3})
		c := cases()[0]
		term.CaseStarted(0, "Opening\x1b[2J hours "+strings.Repeat("and more ", 20))
		term.CaseStarted(1, "Refund")
		time.Sleep(150 * time.Millisecond) // of the bubble's own clock
		synctest.Wait()
		line := strings.TrimSuffix(strings.TrimPrefix(live.take(), "\r"), "\x1b[K")
		if !strings.HasPrefix(line, "⠙ Test 1/3: Running Opening�[2J hours and") || !strings.HasSuffix(line, "… and 1 more") || len([]rune(line)) != 79 {
			t.Errorf("the line is %q (%d)", line, len([]rune(line)))
		}
		term.CaseFinished(0, c)
		if erased := live.take(); erased != "\r\x1b[K" || out.String() != "Test 1/3: ✓ Opening hours\n" {
			t.Errorf("the line made way with %q for %q", erased, out.String())
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got, want := live.take(), "\r⠹ Test 2/3: Running Refund\x1b[K"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := term.End(runs.Summary{Total: 3}); err != nil {
			t.Fatal(err)
		}
		if got := live.take(); !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("the line was left on the screen: %q", got)
		}
	})
}

// broken is an output that was closed.
type broken struct{}

var errClosed = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errClosed }

func TestAnOutputThatFailsIsTold(t *testing.T) {
	term := report.NewTerminal(report.Options{Out: broken{}, Total: 1})
	term.CaseFinished(0, cases()[0])
	if err := term.End(runs.Summary{Total: 1, Passed: 1}); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}
