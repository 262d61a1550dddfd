package grader_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// refund is a turn of a conversation, with everything a grader may be told.
func refund() *grader.Case {
	failed := "no such order"
	return &grader.Case{
		Input: "Refund order 12", Response: "Refunded 30 EUR", GroundTruth: new("30 EUR"),
		ToolCalls: []grader.ToolCall{
			{Name: "orders", Args: map[string]any{"id": 12}, Result: "order 12: 30 EUR", Bytes: 16, DurationMS: 3},
			{Name: "refund", Args: map[string]any{"id": 13}, Error: &failed},
		},
		Retrieval: []string{"Refunds take 30 days."}, TurnIndex: 1, TestCaseName: new("refunds"),
		TurnConfig:    map[string]any{"limit": 50},
		ExpectedTools: []string{"refund"}, Structured: json.RawMessage(`{"amount": 30}`),
		Usage: &grader.Usage{Prompt: 10, Completion: 5, Total: 15}, CostUSD: new(0.002), LatencyMS: 12.5, Attempt: 2,
		PriorTurns: []grader.PriorTurn{{Input: "Hello", Response: "Hi"}}, Files: []string{"receipt.pdf"},
	}
}

func TestExpressions(t *testing.T) {
	for _, tt := range []struct {
		text   string
		score  float64
		passed any // nil: the score decides
	}{
		{`response contains "30 EUR"`, 1, true},
		{`len(tool_calls) == 0`, 0, false},
		{`any(tool_calls, .name == "refund" && .error != nil)`, 1, true},
		{`tool_calls[0].args.id == 12 and tool_calls[0].bytes == 16 and tool_calls[0].duration_ms < 5`, 1, true},
		{`usage.total_tokens < 100 && usage.prompt_tokens + usage.completion_tokens == 15`, 1, true},
		{`latency_ms < 10`, 0, false},
		{`cost_usd < 0.01`, 1, true},
		{`response endsWith ground_truth`, 1, true},
		{`structured.amount / turn_config.limit`, 0.6, nil},
		{`len(retrieval_context) + 0`, 1, nil},
		{`input startsWith "Refund" && test_case_name == "refunds" && turn_index == 1 && attempt == 2`, 1, true},
		{`expected_tools == ["refund"] && prior_turns[0].response == "Hi" && files[0] matches "[.]pdf$"`, 1, true},
	} {
		g, err := grader.Open(nil, &config.CodeMetric{Expr: tt.text})
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		v, err := g.Grade(t.Context(), refund())
		if err != nil || v.Score != tt.score || (v.Passed == nil) != (tt.passed == nil) || v.Passed != nil && *v.Passed != tt.passed {
			t.Errorf("%s = %+v, %v", tt.text, v, err)
		}
	}
}

func TestExpressionsSeeWhatACaseHasNot(t *testing.T) {
	g, err := grader.Open(nil, &config.CodeMetric{Expr: `ground_truth == nil && usage == nil && cost_usd == nil && structured == nil && test_case_name == nil && len(tool_calls) == 0`})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := g.Grade(t.Context(), &grader.Case{Response: "x"}); err != nil || v.Score != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestExpressionsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"response ==":                 "it is no expression: unexpected token EOF",
		"respnse == 'a'":              "it is no expression: unknown name respnse",
		"response":                    "it gives a value of type string",
		"now()":                       "it is no expression: unknown name now",
		"response + 1 > 2":            "it is no expression: invalid operation",
		"tool_calls[0].nme == 'a'":    "it is no expression: type grader.ToolCall has no field nme",
		strings.Repeat("1+", 1<<14):   "it is no expression",
		"let x = 1; {'a': x}":         "it gives a value of type map",
		"response matches '('":        "it is no expression: error parsing regexp",
		"filter(tool_calls, .result)": "it is no expression: predicate should return boolean",
	} {
		key, err := grader.Check(&config.CodeMetric{Expr: text})
		if err == nil || key != "expr" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.30s: %s: %v, want %q", text, key, err, want)
		}
	}
}

func TestExpressionsThatFail(t *testing.T) {
	for text, want := range map[string]string{
		"tool_calls[5].name == 'a'":                            "the expression failed: index out of range",
		"structured.amount.cents == 1":                         "the expression failed: cannot fetch cents",
		"structured":                                           "the expression gave a value of type map[string]interface",
		"len(map(1..1000, map(1..1000, [#,#,#,#]))) == 1":      "the expression failed: memory budget exceeded",
		"len(map(1..2000000, # * 2)) == 1":                     "the expression failed: memory budget exceeded",
		"len(repeat(response, 100000000)) == 1":                "the expression failed: memory budget exceeded",
		"sum(map(tool_calls, .args.id)) / turn_config.nothing": "the expression failed",
	} {
		g, err := grader.Open(nil, &config.CodeMetric{Expr: text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, err := g.Grade(t.Context(), refund()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v, want %q", text, v, err, want)
		}
	}
}

// scripted returns the grader of a script.
func scripted(t *testing.T, text string) grader.Grader {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "money.star")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Options{Dir: dir})
	t.Cleanup(func() { pool.Close() })
	m := &config.CodeMetric{Script: file, Function: "grade"}
	if key, err := grader.Check(m); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	g, err := grader.Open(pool, m)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestScriptsAreToldEverything(t *testing.T) {
	g := scripted(t, `
def grade(ctx):
    return {"score": 1, "details": ctx}
`)
	for name, c := range map[string]*grader.Case{"full": refund(), "empty": {}} {
		v, err := g.Grade(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(v.Details, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"turn_input": "", "agent_response": "", "ground_truth": nil, "tool_invocations": []any{}, "retrieval_context": nil,
			"turn_index": 0., "test_case_name": nil, "turn_config": map[string]any{},
			"expected_tools": []any{}, "structured_output": nil, "token_usage": nil, "cost_usd": nil, "latency_ms": 0., "attempt": 0.,
			"prior_turns": []any{}, "files": []any{},
		}
		if name == "full" {
			want = map[string]any{
				"turn_input": "Refund order 12", "agent_response": "Refunded 30 EUR", "ground_truth": "30 EUR",
				"tool_invocations": []any{
					map[string]any{"name": "orders", "args": map[string]any{"id": 12.}, "result": "order 12: 30 EUR", "bytes": 16., "duration_ms": 3., "error": nil},
					map[string]any{"name": "refund", "args": map[string]any{"id": 13.}, "result": "", "bytes": 0., "duration_ms": 0., "error": "no such order"},
				},
				"retrieval_context": []any{"Refunds take 30 days."}, "turn_index": 1., "test_case_name": "refunds", "turn_config": map[string]any{"limit": 50.},
				"expected_tools": []any{"refund"}, "structured_output": map[string]any{"amount": 30.},
				"token_usage": map[string]any{"prompt_tokens": 10., "completion_tokens": 5., "total_tokens": 15.}, "cost_usd": 0.002, "latency_ms": 12.5, "attempt": 2.,
				"prior_turns": []any{map[string]any{"input": "Hello", "response": "Hi"}}, "files": []any{"receipt.pdf"},
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: told\n%v\nwant\n%v", name, got, want)
		}
	}
}

func TestVerdictsOfScripts(t *testing.T) {
	for returned, want := range map[string]struct {
		score   float64
		passed  any
		reason  string
		details string
		err     string
	}{
		"True":             {score: 1, passed: true},
		"False":            {score: 0, passed: false},
		"0.25":             {score: 0.25},
		"1":                {score: 1},
		`{"score": 0.5}`:   {score: 0.5},
		`{"score": True}`:  {score: 1},
		`{"passed": True}`: {score: 1, passed: true},
		`{"score": 0.9, "passed": False, "reason": "r", "details": {"a": 1}}`: {score: 0.9, passed: false, reason: "r", details: `{"a":1}`},
		`{"score": 1, "passed": None, "reason": None, "details": None}`:       {score: 1},
		"None":                         {err: "the grader said null; a verdict is true or false, a score"},
		`"good"`:                       {err: `the grader said "good"; a verdict is`},
		"[1]":                          {err: "the grader said [1]; a verdict is"},
		"{}":                           {err: "the verdict has neither score nor passed"},
		`{"score": "1"}`:               {err: `the score of the verdict is "1", and must be a number`},
		`{"score": {"score": 1}}`:      {err: "the score of the verdict is"},
		`{"score": 1, "details": [1]}`: {err: "the details of the verdict are [1], and must be an object"},
		`{"score": 1, "pased": True}`:  {err: `unknown field "pased"`},
		`{"score": 1, "reason": 5}`:    {err: "cannot unmarshal number"},
		`fail("no money")`:             {err: "money.star:2:16: fail: no money"},
		`ctx["nothing"]`:               {err: `key "nothing" not in dict`},
		`float("nan")`:                 {err: "cannot encode non-finite"},
	} {
		v, err := scripted(t, "def grade(ctx):\n    return "+returned+"\n").Grade(t.Context(), refund())
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %+v, %v, want %q", returned, v, err, want.err)
			}
			continue
		}
		if err != nil || v.Score != want.score || (v.Passed == nil) != (want.passed == nil) || v.Passed != nil && *v.Passed != want.passed ||
			v.Reason != want.reason || string(v.Details) != want.details {
			t.Errorf("%s: %+v, %v", returned, v, err)
		}
	}
}

func TestScriptThatLoopsEndsWithItsTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := scripted(t, "def grade(ctx):\n    for _ in range(1000000000000): pass\n").Grade(ctx, refund())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("the commands here are those of a Unix shell; Windows runs the same code")
		return
	}
	pool := worker.New(worker.Options{Dir: t.TempDir(), Lookup: os.LookupEnv})
	defer pool.Close()
	for script, want := range map[string]struct {
		score  float64
		passed any
		reason string
		err    string
	}{
		`grep -q "$WANTED"`:                       {score: 1, passed: true},
		"exit 0":                                  {score: 1, passed: true},
		"echo no money >&2; exit 1":               {score: 0, passed: false, reason: "no money"},
		"grep -q '\"agent_response\":\"Refu'":     {score: 1, passed: true},
		"echo 0.75":                               {score: 0.75},
		"echo false":                              {score: 0, passed: false},
		`echo '{"score": 0.5, "reason": "half"}'`: {score: 0.5, reason: "half"},
		"echo words":                              {err: "the grader said words"},
		"echo broken >&2; exit 2":                 {err: "sh ended with exit status 2: broken"},
		"echo true; exit 1":                       {err: "sh ended with exit status 1"},
		"kill -9 $$":                              {err: "sh ended with signal: killed"},
	} {
		g, err := grader.Open(pool, &config.CodeMetric{
			Command: []string{"sh", "-c", script}, Env: map[string]secret.String{"WANTED": secret.New("Refunded")},
		})
		if err != nil {
			t.Fatal(err)
		}
		v, err := g.Grade(t.Context(), refund())
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %+v, %v, want %q", script, v, err, want.err)
			}
			continue
		}
		if err != nil || v.Score != want.score || (v.Passed == nil) != (want.passed == nil) || v.Passed != nil && *v.Passed != want.passed || v.Reason != want.reason {
			t.Errorf("%s: %+v, %v", script, v, err)
		}
	}
	g, err := grader.Open(pool, &config.CodeMetric{Command: []string{"no-such-grader"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Grade(t.Context(), refund()); err == nil || !strings.Contains(err.Error(), `command no-such-grader: "no-such-grader" is in no folder of PATH`) {
		t.Errorf("a program that is not there: %v", err)
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{`response contains "a"`, "len(tool_calls) / 2", "usage.total_tokens", "map(1..9, #)", "{'a': 1}.a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // it is no expression then
		}
		if g, err := grader.Open(nil, &config.CodeMetric{Expr: text}); err == nil {
			_, _ = g.Grade(t.Context(), refund())
		}
	})
}
