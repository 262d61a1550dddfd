package eval_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// graded returns what a metric makes of an answer by a Starlark grader.
func graded(t *testing.T, script string, change func(*config.CodeMetric)) eval.Outcome {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "grade.star")
	if err := os.WriteFile(file, []byte("def grade(ctx):\n    "+script+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Options{Dir: dir})
	defer pool.Close()
	m := &config.CodeMetric{
		MetricBase: config.MetricBase{Type: config.MetricCode, Enabled: true, OnError: "fail", OnMissing: "fail"},
		Script:     file, Function: "grade", TimeoutMS: 30_000,
	}
	if change != nil {
		change(m)
	}
	metrics, err := eval.NewMetrics([]config.Metric{m}, eval.Options{Code: pool})
	if err != nil {
		t.Fatal(err)
	}
	in := eval.Input{Answer: "Refunded.", Case: func() *grader.Case { return &grader.Case{Response: "Refunded."} }}
	return metrics[0].Evaluate(context.Background(), in)
}

func TestVerdictsOfGraders(t *testing.T) {
	threshold := func(x float64) func(*config.CodeMetric) {
		return func(m *config.CodeMetric) { m.Threshold = &x }
	}
	for _, tt := range []struct {
		name, script string
		change       func(*config.CodeMetric)
		status       eval.Status
		score        float64
	}{
		{"yes", "return 'Refund' in ctx['agent_response']", nil, eval.Pass, 1},
		{"no", "return False", nil, eval.Fail, 0},
		{"no stays no", "return False", threshold(0), eval.Fail, 0},
		{"half is enough", "return 0.5", nil, eval.Pass, 0.5},
		{"less is not", "return 0.49", nil, eval.Fail, 0.49},
		{"the threshold decides", "return 0.5", threshold(0.6), eval.Fail, 0.5},
		{"and below half, too", "return 0.4", threshold(0.3), eval.Pass, 0.4},
		{"the grader's own verdict wins", "return {'score': 0.9, 'passed': False}", threshold(0.1), eval.Fail, 0.9},
		{"also when it passes", "return {'score': 0.1, 'passed': True}", threshold(0.9), eval.Pass, 0.1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := graded(t, tt.script, tt.change)
			if out.Status != tt.status || !out.Counts || out.Score == nil || *out.Score != tt.score || out.Kind != config.MetricCode || out.Name != "grade" {
				t.Errorf("got %+v (score %v)", out, out.Score)
			}
		})
	}
}

func TestReasonAndDetailsOfGraders(t *testing.T) {
	out := graded(t, "return {'score': 0, 'reason': 'too dear', 'details': {'limit': 50}}", nil)
	if out.Reason != "too dear" || string(out.Details) != `{"limit":50}` {
		t.Errorf("got %q, %s", out.Reason, out.Details)
	}
}

func TestErrorsOfGraders(t *testing.T) {
	for script, want := range map[string]string{
		"fail('no rate')": "grade.star:2:9: fail: no rate",
		"return 7":        "the score is 7, and scores lie between 0 and 1",
		"return -0.1":     "the score is -0.1",
		"return 'good'":   "a verdict is true or false",
	} {
		out := graded(t, script, nil)
		if out.Status != eval.Error || !out.Counts || !strings.Contains(out.Reason, want) {
			t.Errorf("%s: got %+v, want %q", script, out, want)
		}
		out = graded(t, script, func(m *config.CodeMetric) { m.OnError = "ignore" })
		if out.Status != eval.Error {
			t.Errorf("%s: got %+v", script, out)
		}
	}
}

func TestGradersHaveTheirTime(t *testing.T) {
	start := time.Now()
	out := graded(t, "[[y for y in range(10000000)] for x in range(10000000)]", func(m *config.CodeMetric) { m.TimeoutMS = 1 })
	if out.Status != eval.Error || out.Reason != "it took longer than 1 ms (timeout_ms)" {
		t.Errorf("got %+v", out)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestCheckReadsGradersWithoutRunningThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grade.star")
	if err := os.WriteFile(file, []byte("fail('ran')\ndef grade(ctx):\n  return ctx.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		metric config.CodeMetric
		want   string
	}{
		{config.CodeMetric{Grader: "no_such_module:f"}, ""},
		{config.CodeMetric{Command: []string{"no-such-program"}}, ""},
		{config.CodeMetric{Expr: "len(tool_cals) == 0"}, "expr: it is no expression: unknown name tool_cals (1:5)"},
		{config.CodeMetric{Script: file, Function: "grade"}, "script: grade.star:4:1: not an identifier"},
	} {
		tt.metric.Enabled = true
		a := &config.Agent{Evaluations: &config.Evaluations{Metrics: []config.Metric{&tt.metric}}}
		for _, a.Offline = range []bool{false, true} {
			problems := eval.Check(a)
			switch {
			case tt.want == "" && len(problems) == 0:
			case len(problems) == 1 && problems[0].Severity == config.SeverityError && problems[0].Path+": "+problems[0].Text == tt.want:
			default:
				t.Errorf("%+v: %v", tt.metric, problems)
			}
		}
	}
}
