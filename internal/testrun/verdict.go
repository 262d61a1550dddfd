package testrun

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// judgement is what the verdict on a turn depends on beside the turn itself.
type judgement struct {
	tc          *config.TestCase
	turn        *config.Turn
	number      int  // of the turn, from 1
	callsBefore int  // tool calls of the turns before
	last        bool // no turn comes after it
	// What graders are told beside: the case, the turns before, and the passages
	// that were retrieved so far.
	of     *runs.Case
	before []runs.Turn
	found  []string
}

// judge makes the checks of a turn, side by side, and gives its verdict.
func (r *runner) judge(ctx context.Context, t *runs.Turn, j judgement) {
	allowEmpty := j.turn.AllowEmpty || j.tc.AllowEmpty
	if len(t.Errors) == 0 && !allowEmpty && strings.TrimSpace(t.Answer) == "" && len(t.Structured) == 0 {
		t.Errors = append(t.Errors, "the answer is empty; a case that expects that says allow_empty: true")
	}
	var tools sync.WaitGroup
	if len(j.turn.ExpectedTools) > 0 { // a regex may take its time
		tools.Go(func() { t.ToolChecks = r.checkTools(t.ToolCalls, j) })
	} else {
		t.ToolChecks = r.checkTools(t.ToolCalls, j)
	}
	metrics, err := r.metricsFor(j.tc, j.turn)
	if err != nil {
		t.Errors = append(t.Errors, fmt.Sprintf("evaluations: %v", err))
	}
	in := eval.Input{
		Answer:      t.Answer,
		Structured:  t.Structured,
		GroundTruth: j.turn.GroundTruth,
		Retrieval:   r.search || len(j.turn.RetrievalContext) > 0,
		AllowEmpty:  allowEmpty,
		AgentTime:   t.AgentTime,
		Usage:       t.Usage,
		CostUSD:     t.CostUSD,
		Case:        func() *grader.Case { return gradedCase(t, j) },
		Redactor:    r.agent.Redactor,
	}
	for _, out := range eval.EvaluateAll(ctx, metrics, in, eval.Conditions{Slots: r.slots, Clock: r.metricClock(j.number)}) {
		t.Metrics = append(t.Metrics, runs.Metric{
			Name: out.Name, Kind: out.Kind, Status: runs.MetricStatus(out.Status), Counts: out.Counts,
			Score: out.Score, Threshold: out.Threshold, Reason: out.Reason, Details: out.Details, Retries: out.Retries, Elapsed: out.Elapsed,
		})
	}
	tools.Wait()
	t.Status = turnStatus(t)
}

// metricClock returns the clocks of the metrics of a turn. Metrics work side by
// side, so where scopes are told apart each has one of its own.
func (r *runner) metricClock(turn int) func(int) func() time.Time {
	return func(i int) func() time.Time {
		if r.env.Scopes == nil {
			return r.env.Now
		}
		return r.env.Scope(fmt.Sprintf("turn %d metric %d", turn, i+1)).Now
	}
}

// turnStatus gives the verdict on a turn whose checks were made.
func turnStatus(t *runs.Turn) runs.Status {
	checked := len(t.ToolChecks) > 0
	if len(t.Errors) > 0 || slices.ContainsFunc(t.ToolChecks, func(c runs.ToolCheck) bool { return !c.Matched }) {
		return runs.Failed
	}
	for _, m := range t.Metrics {
		if m.Failed() {
			return runs.Failed
		}
		checked = checked || m.Counts
	}
	if !checked {
		return runs.Unchecked
	}
	return runs.Passed
}

// caseStatus gives the verdict on a case from those on its turns.
func caseStatus(turns []runs.Turn) runs.Status {
	status := runs.Unchecked
	for _, t := range turns {
		switch t.Status {
		case runs.Failed, runs.NotRun:
			return runs.Failed
		case runs.Passed:
			status = runs.Passed
		}
	}
	return status
}
