package testrun_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// What an earlier part of the run has is counted and handed on in its place,
// and does not run again.
func TestEarlierResultsAreNotRunAgain(t *testing.T) {
	const n = 600 // more than a run may be ahead
	cases := make([]config.TestCase, n)
	for i := range cases {
		cases[i] = ask(fmt.Sprintf("question %d", i), "answer")
	}
	a := suite([]config.Metric{metric("contains")}, cases...)
	asked := make(chan string, n)
	b := &fake{turn: func(_ context.Context, _ *session, _ int, input string) ([]agent.Event, error) {
		asked <- input
		return reply("the answer"), nil
	}}
	earlier := func(index int) bool { return index%3 != 1 }
	var order, finished []int
	s, err := testrun.Run(context.Background(), testEnv(), a, b, testrun.Options{
		Parallel: 4,
		Earlier: func(index, attempt int) (*runs.Case, error) {
			if attempt != 1 || !earlier(index) {
				return nil, nil
			}
			return &runs.Case{Index: index, Attempt: 1, Repeats: 1, Status: runs.Failed}, nil
		},
		Finished: func(c *runs.Case) { finished = append(finished, c.Index) },
		Results:  func(c *runs.Case) error { order = append(order, c.Index); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != n/3 || len(finished) != n/3 || slices.ContainsFunc(finished, earlier) {
		t.Errorf("%d cases ran and %d are said to have, want %d", len(asked), len(finished), n/3)
	}
	if len(order) != n || !slices.IsSorted(order) {
		t.Errorf("%d cases were handed on, sorted %v", len(order), slices.IsSorted(order))
	}
	if s.Total != n || s.Passed != n/3 || s.Failed != n-n/3 {
		t.Errorf("the counts are %d passed, %d failed of %d", s.Passed, s.Failed, s.Total)
	}
}

// A case is told of as finished before it is shown, so that what was shown can
// be relied on.
func TestFinishedComesBeforeProgress(t *testing.T) {
	a := suite(nil, ask("one", ""), ask("two", ""))
	told := map[int]bool{}
	watch := &watcher{finished: func(c *runs.Case) {
		if !told[c.Index] {
			t.Errorf("case %d was shown before it was kept", c.Index)
		}
	}}
	_, err := testrun.Run(context.Background(), testEnv(), a, searcher(20), testrun.Options{
		Progress: watch,
		Finished: func(c *runs.Case) { told[c.Index] = true },
	})
	if err != nil || len(told) != 2 {
		t.Errorf("%d cases were told of, %v", len(told), err)
	}
}

// watcher is told how a run goes.
type watcher struct{ finished func(*runs.Case) }

func (w *watcher) CaseStarted(int, string)          {}
func (w *watcher) CaseFinished(_ int, c *runs.Case) { w.finished(c) }

func TestEarlierResultsThatCannotBeReadEndTheRun(t *testing.T) {
	broken := errors.New("the journal is gone")
	_, err := testrun.Run(context.Background(), testEnv(), suite(nil, ask("one", "")), searcher(20), testrun.Options{
		Earlier: func(int, int) (*runs.Case, error) { return nil, broken },
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestMissingCasesAreNamedOnce(t *testing.T) {
	a := suite(nil, ask("one", ""), ask("two", ""), ask("three", ""), ask("four", ""))
	plan, err := testrun.NewPlan(a, testrun.Selection{Limit: 3, Repeat: 2})
	if err != nil {
		t.Fatal(err)
	}
	has := func(index, attempt int) bool { return index == 0 || index == 2 && attempt == 1 }
	if got := slices.Collect(plan.Missing(has)); !slices.Equal(got, []string{"two", "three"}) {
		t.Errorf("missing are %q", got)
	}
	for title := range plan.Missing(func(int, int) bool { return false }) {
		if title != "one" {
			t.Errorf("the first that is missing is %q", title)
		}
		break
	}
}
