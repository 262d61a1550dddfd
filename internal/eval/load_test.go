package eval_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
)

// load loads an agent whose metrics are those lines of YAML.
func load(t *testing.T, metrics string) *config.Agent {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.yaml")
	text := "name: demo\nmodel: {provider: offline, name: offline}\ninstructions: {inline: Answer.}\nevaluations:\n  metrics:\n" + metrics
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(file, config.Options{WorkDir: t.TempDir()})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	return a
}

// Only what somebody wrote takes an error out of the verdict.
func TestWhichErrorsCount(t *testing.T) {
	for _, tt := range []struct {
		keys   string
		counts bool
	}{
		{"", true},
		{", fail_on_error: true", true},
		{", fail_on_error: false", false},
		{", on_error: ignore", false},
		{", on_error: fail", true},
		{", on_error: fail, fail_on_error: false", true},
		{", on_error: ignore, fail_on_error: true", false},
	} {
		a := load(t, "    - {type: standard, metric: numeric"+tt.keys+"}\n")
		out := only(t, a.Evaluations.Metrics[0], eval.Options{}).Evaluate(context.Background(), text("1", "one"))
		if out.Status != eval.Error || out.Counts != tt.counts {
			t.Errorf("%q: %s, counts %v; want an error, counts %v", tt.keys, out.Status, out.Counts, tt.counts)
		}
	}
}

func TestTrapT20AMetricWithoutATypeIsStandard(t *testing.T) {
	a := load(t, "    - metric: equality\n")
	if out := only(t, a.Evaluations.Metrics[0], eval.Options{}).Evaluate(context.Background(), text("a", "a")); out.Status != eval.Pass || out.Kind != config.MetricStandard {
		t.Errorf("got %+v, want a pass of a standard metric", out)
	}
}

func TestTrapT4MetricsThatNeedNoJudgeDoNotCareForOne(t *testing.T) {
	a := load(t, "    - {metric: equality}\n  model: {provider: ollama, name: judge}\n")
	if out := only(t, a.Evaluations.Metrics[0], eval.Options{}).Evaluate(context.Background(), text("a", "a")); out.Status != eval.Pass {
		t.Errorf("got %+v, want a pass", out)
	}
}

func TestTrapT18BothSpellingsOfF1(t *testing.T) {
	for _, name := range []string{"f1", "f1_score"} {
		a := load(t, "    - {metric: "+name+", threshold: 0.5}\n")
		out := only(t, a.Evaluations.Metrics[0], eval.Options{}).Evaluate(context.Background(), text("a", "a"))
		if out.Status != eval.Skipped || out.Name != name {
			t.Errorf("%s: %+v, want it skipped under its own name", name, out)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		metric  string
		warning string // part of the only warning; empty for none
		offline string // the same with --offline
	}{
		{"{metric: equality}", "", ""},
		{"{metric: bleu, threshold: 0.5}", "this build cannot compute bleu yet, so bleu will be skipped, which fails a case", ""},
		{"{metric: bleu, threshold: 0.5, on_missing: ignore}", "so bleu will be skipped without counting", ""},
		{"{metric: bleu}", "so bleu will be skipped without counting", ""},
		{"{metric: bleu, enabled: false}", "", ""},
		{"{type: geval, name: Tone, criteria: Be kind.}", "cannot compute geval metrics yet, so Tone will be skipped", ""},
		{"{type: rag, metric_type: faithfulness}", "cannot compute faithfulness yet", ""},
		{"{type: code, grader: 'checks:tone'}", "cannot compute graders (checks:tone) yet", ""},
		{"{metric: contains, timeout_ms: 5}", "has no effect on contains", "has no effect on contains"},
		{"{metric: numeric, retry_on_failure: 2}", "has no effect on numeric", "has no effect on numeric"},
	} {
		a := load(t, "    - "+tt.metric+"\n")
		for _, want := range []string{tt.warning, tt.offline} {
			problems := eval.Check(a)
			if len(problems) > 1 || len(problems) == 1 != (want != "") {
				t.Errorf("%s, offline %v: got %v, want %q", tt.metric, a.Offline, problems, want)
			} else if len(problems) == 1 && (!strings.Contains(problems[0].String(), want) || problems[0].Severity != config.SeverityWarning || problems[0].Pos.Line != 6) {
				t.Errorf("%s, offline %v: got %v at %v, want a warning with %q in line 6", tt.metric, a.Offline, problems[0], problems[0].Pos, want)
			}
			a.Offline = true
		}
	}
}
