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

func TestTrapT04MetricsThatNeedNoJudgeDoNotCareForOne(t *testing.T) {
	a := load(t, "    - {metric: equality}\n  model: {provider: ollama, name: judge}\n")
	if out := only(t, a.Evaluations.Metrics[0], eval.Options{}).Evaluate(context.Background(), text("a", "a")); out.Status != eval.Pass {
		t.Errorf("got %+v, want a pass", out)
	}
}

func TestTrapT18BothSpellingsOfF1(t *testing.T) {
	for _, name := range []string{"f1", "f1_score"} {
		a := load(t, "    - {metric: "+name+", threshold: 0.5}\n")
		out := only(t, a.Evaluations.Metrics[0], eval.Options{}).Evaluate(context.Background(), text("green tea", "tea"))
		if out.Status != eval.Pass || out.Name != name || *out.Score <= 0.5 || *out.Score >= 1 {
			t.Errorf("%s: %+v, want a score under its own name", name, out)
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
		{"{metric: fluency, threshold: 0.5}", "this build cannot compute fluency yet, so fluency will be skipped, which fails a case", ""},
		{"{metric: fluency, threshold: 0.5, on_missing: ignore}", "so fluency will be skipped without counting", ""},
		{"{metric: fluency}", "so fluency will be skipped without counting", ""},
		{"{metric: fluency, enabled: false}", "", ""},
		{"{metric: bleu, threshold: 0.5}", "", ""},
		{"{metric: json_schema, schema: {type: object}}", "", ""},
		{"{metric: json_schema, schema: {pattern: '(?=a)b'}}", "schema: the schema: pattern (?=a)b; this cannot be checked", "schema: the schema: pattern (?=a)b; this cannot be checked"},
		{"{metric: json_schema, schema: {$ref: 'https://example.com/a.json'}}", "$ref https://example.com/a.json; this cannot be checked", "cannot be checked"},
		{"{metric: json_schema, schema: {requird: [a]}}", "the keyword requird, which is not known; this cannot be checked", "cannot be checked"},
		{"{metric: json_schema, schema: {x-order: 1, example: {}, default: 1}}", "", ""},
		{"{metric: json_schema, schema: {items: [{type: string}]}}", "a list under items, which is of draft 07", "cannot be checked"},
		{"{metric: json_schema, schema: {$schema: 'http://json-schema.org/draft-07/schema#', items: [{type: string}]}}", "", ""},
		{"{metric: json_schema, schema: {const: 9007199254740993}}", "the number 9007199254740993, which has too many digits", "cannot be checked"},
		{"{type: geval, name: Tone, criteria: Be kind.}", "cannot compute geval metrics yet, so Tone will be skipped", ""},
		{"{type: rag, metric_type: faithfulness}", "cannot compute faithfulness yet", ""},
		{"{type: code, grader: 'checks:tone'}", "", ""},
		{"{type: code, expr: 'len(tool_calls) == 0'}", "", ""},
		{"{metric: contains, timeout_ms: 5}", "", ""},
		{"{metric: numeric, retry_on_failure: 2}", "does not help numeric", "does not help numeric"},
		{"{metric: bleu, case_insensitive: true}", "case_insensitive: has no effect on bleu", "case_insensitive: has no effect on bleu"},
		{"{metric: equality, pattern: a}", "pattern: has no effect on equality", "pattern: has no effect on equality"},
		{"{metric: latency, max: 5, response_path: a}", "response_path: has no effect on latency", "response_path: has no effect on latency"},
		{"{metric: equality, model: {provider: ollama, name: m}}", "model: has no effect on equality", "model: has no effect on equality"},
		{"{metric: equality, scale: 5}", "scale: has no effect without a threshold", "scale: has no effect without a threshold"},
		{"{metric: bleu, threshold: 40}", "no score reaches 40", "no score reaches 40"},
		{"{metric: bleu, threshold: 40, scale: 100}", "", ""},
		{"{metric: bleu, threshold: 140, scale: 100}", "no score reaches 1.4: scores lie between 0 and 1 (give a threshold between 0 and the scale, 100)", "no score reaches 1.4"},
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

// A schema of which a part cannot be checked passes nothing: an answer that breaks
// the rest fails, and one that follows it is an error.
func TestASchemaThatCannotBeCheckedPassesNothing(t *testing.T) {
	for _, tt := range []struct {
		schema, answer string
		want           eval.Status
	}{
		{`{"type": "string", "pattern": "(?=a)b"}`, `"ab"`, eval.Error},
		{`{"type": "string", "pattern": "(?=a)b"}`, `1`, eval.Fail},
		{`{"$ref": "https://example.com/a.json"}`, `1`, eval.Error},
		{`{"requird": ["a"]}`, `{}`, eval.Error},
		{`{"items": [{"type": "string"}]}`, `[1]`, eval.Error},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}`, `[1]`, eval.Fail},
		{`{"maximum": 9007199254740992}`, `9007199254740993`, eval.Error},
		{`{"maximum": 9007199254740992}`, `9007199254740992`, eval.Pass},
		{`{"type": "integer"}`, `12345678901234567891`, eval.Pass},
	} {
		m := standard("json_schema", func(m *config.StandardMetric) { m.JSONSchema = []byte(tt.schema) })
		out := check(t, m, eval.Input{Answer: tt.answer}, tt.want)
		if tt.want == eval.Error && !strings.Contains(out.Reason, "could not be checked: ") {
			t.Errorf("reason %q", out.Reason)
		}
	}
	a := load(t, "    - {metric: json_schema, schema: {pattern: '(['}}\n")
	if p := eval.Check(a); len(p) != 1 || p[0].Severity != config.SeverityError || !strings.Contains(p[0].String(), "is not a regular expression") {
		t.Errorf("got %v, want an error", p)
	}
}

func TestAPatternThatCannotBeUsedIsAnError(t *testing.T) {
	a := load(t, "    - {metric: regex, pattern: '(?L)a'}\n")
	problems := eval.Check(a)
	if len(problems) != 1 || problems[0].Severity != config.SeverityError || !strings.Contains(problems[0].String(), "flag L is not supported") {
		t.Errorf("got %v, want an error that names the flag", problems)
	}
}
