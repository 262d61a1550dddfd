package testrun_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// script returns a metric graded by a Starlark function of that body, and what
// runs it.
func script(t *testing.T, body string) (*config.CodeMetric, *worker.Pool) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "grade.star")
	if err := os.WriteFile(file, []byte("def grade(ctx):\n    "+body+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Options{Dir: dir})
	t.Cleanup(func() { pool.Close() })
	return &config.CodeMetric{
		MetricBase: config.MetricBase{Type: config.MetricCode, Enabled: true, OnMissing: "fail", OnError: "fail"},
		Script:     file, Function: "grade", TimeoutMS: 30_000,
	}, pool
}

// graded runs the cases of a with graders and returns the only case.
func graded(t *testing.T, pool *worker.Pool, a *config.Agent, b agent.Backend) *runs.Case {
	t.Helper()
	rec := new(recorder)
	opts := rec.options()
	opts.Code = pool
	if _, err := testrun.Run(context.Background(), testEnv(), a, b, opts); err != nil {
		t.Fatal(err)
	}
	return rec.only(t)
}

// searching is a backend whose every turn searches and then answers.
func searching() *fake {
	return &fake{turn: func(_ context.Context, _ *session, turn int, said string) ([]agent.Event, error) {
		events := calls("answer to "+said, "kb_search", `{"query": "q"}`)
		for i, e := range events {
			if end, ok := e.(agent.ToolCallFinished); ok {
				end.Result.Passages = []agent.Passage{{Text: "passage " + said}}
				events[i] = end
			}
		}
		return events, nil
	}}
}

// toldOf returns what the grader was told of a turn, without its times.
func toldOf(t *testing.T, turn runs.Turn) map[string]any {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(turn.Metrics[0].Details, &got); err != nil {
		t.Fatalf("%v: %+v", err, turn.Metrics)
	}
	if got["latency_ms"].(float64) < 0 {
		t.Errorf("latency %v", got["latency_ms"])
	}
	delete(got, "latency_ms")
	return got
}

// search is the call of searching, as graders are told of it.
func search() []any {
	return []any{map[string]any{
		"name": "kb_search", "args": map[string]any{"query": "q"}, "result": "result 0", "bytes": 8., "duration_ms": 20., "error": nil,
	}}
}

func TestTrapT10GradersOfOneInputAreToldEverything(t *testing.T) {
	m, pool := script(t, "return {'score': 1, 'details': ctx}")
	tc := ask("order 12", "the truth")
	tc.Name, tc.TurnConfig = new("orders"), map[string]any{"limit": 5}
	tc.ExpectedTools = []config.ExpectedTool{{Name: "kb", Count: 1}}
	c := graded(t, pool, suite([]config.Metric{m}, tc), searching())
	want := map[string]any{
		"turn_input": "order 12", "agent_response": "answer to order 12", "ground_truth": "the truth",
		"tool_invocations": search(), "retrieval_context": []any{"passage order 12"}, "turn_index": 0.,
		"test_case_name": "orders", "turn_config": map[string]any{"limit": 5.}, "expected_tools": []any{"kb"},
		"structured_output": nil, "token_usage": map[string]any{"prompt_tokens": 3., "completion_tokens": 2., "total_tokens": 5.},
		"cost_usd": nil, "attempt": 1., "prior_turns": []any{}, "files": []any{},
	}
	if got := toldOf(t, c.Turns[0]); !reflect.DeepEqual(got, want) {
		t.Errorf("told\n%v\nwant\n%v", got, want)
	}
	if c.Status != runs.Passed {
		t.Errorf("the case %s", c.Status)
	}
}

func TestGradersOfAConversationAreToldOfTheTurnsBefore(t *testing.T) {
	m, pool := script(t, "return {'score': 1, 'details': ctx}")
	c := graded(t, pool, suite([]config.Metric{m}, config.TestCase{Turns: []config.Turn{
		{Input: "one"},
		{Input: "two", TurnConfig: map[string]any{"program": "add"}},
		{Input: "three", RetrievalContext: []string{"declared"}},
	}}), searching())
	for i, want := range []map[string]any{
		{"turn_index": 0., "retrieval_context": []any{"passage one"}, "prior_turns": []any{}, "turn_config": map[string]any{}},
		{
			"turn_index": 1., "retrieval_context": []any{"passage one", "passage two"}, "turn_config": map[string]any{"program": "add"},
			"prior_turns": []any{map[string]any{"input": "one", "response": "answer to one"}},
		},
		{"turn_index": 2., "retrieval_context": []any{"declared"}, "test_case_name": nil, "tool_invocations": search()},
	} {
		got := toldOf(t, c.Turns[i])
		for key, value := range want {
			if !reflect.DeepEqual(got[key], value) {
				t.Errorf("turn %d: %s = %v, want %v", i+1, key, got[key], value)
			}
		}
	}
}

func TestTrapT11AGraderThatFailsFailsItsCaseOnly(t *testing.T) {
	m, pool := script(t, "fail('broken') if ctx['turn_input'] == 'one' else None\n    return True")
	m.FailOnError = true
	rec := new(recorder)
	opts := rec.options()
	opts.Code = pool
	s, err := testrun.Run(context.Background(), testEnv(), suite([]config.Metric{m}, ask("one", ""), ask("two", "")), answers(func(string) string { return "a" }), opts)
	if err != nil {
		t.Fatal(err)
	}
	first, second := rec.at(t, 0, 2), rec.at(t, 1, 2)
	metric := first.Turns[0].Metrics[0]
	if first.Status != runs.Failed || metric.Status != runs.MetricError || !strings.Contains(metric.Reason, "fail: broken") || first.Turns[0].Answer != "a" {
		t.Errorf("the first case: %s, %+v", first.Status, metric)
	}
	if second.Status != runs.Passed || s.Failed != 1 || s.MetricErrors != 1 {
		t.Errorf("the second case: %s; %+v", second.Status, s)
	}
}
