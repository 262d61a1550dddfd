package testrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
)

// judge makes the checks of a turn and gives its verdict.
func (r *runner) judge(ctx context.Context, t *runs.Turn, tc *config.TestCase, turn *config.Turn) {
	allowEmpty := turn.AllowEmpty || tc.AllowEmpty
	if len(t.Errors) == 0 && !allowEmpty && strings.TrimSpace(t.Answer) == "" && len(t.Structured) == 0 {
		t.Errors = append(t.Errors, "the answer is empty; a case that expects that says allow_empty: true")
	}
	t.ToolChecks = r.checkTools(turn.ExpectedTools, t.ToolCalls)
	metrics, err := r.metricsFor(tc, turn)
	if err != nil {
		t.Errors = append(t.Errors, fmt.Sprintf("evaluations: %v", err))
	}
	in := eval.Input{
		Answer:      t.Answer,
		Structured:  t.Structured,
		GroundTruth: turn.GroundTruth,
		Retrieval:   r.search || len(turn.RetrievalContext) > 0,
		AllowEmpty:  allowEmpty,
	}
	for _, m := range metrics {
		start := r.env.Now()
		out := m.Evaluate(ctx, in)
		t.Metrics = append(t.Metrics, runs.Metric{
			Name: out.Name, Kind: out.Kind, Status: runs.MetricStatus(out.Status), Counts: out.Counts,
			Score: out.Score, Threshold: out.Threshold, Reason: out.Reason, Elapsed: r.env.Now().Sub(start),
		})
	}
	t.Status = turnStatus(t)
}

// checkTools compares what was called with what was expected. It returns nil
// when the case says nothing of tools.
func (r *runner) checkTools(expected []config.ExpectedTool, made []runs.ToolCall) []runs.ToolCheck {
	if expected == nil {
		return nil
	}
	calls := make([]toolmatch.Call, len(made))
	for i, call := range made {
		calls[i] = toolmatch.Call{Name: call.Name, Arguments: call.Arguments}
	}
	checks := make([]runs.ToolCheck, len(expected))
	for i, e := range expected {
		checks[i] = runs.ToolCheck{Expected: e, Call: -1}
		x, err := toolmatch.Compile(e)
		if err != nil {
			checks[i].Reason = err.Error()
			continue
		}
		res := x.Check(r.names, calls)
		checks[i].Matched, checks[i].Call, checks[i].Reason = res.Met, res.Call, res.Reason
	}
	return checks
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
