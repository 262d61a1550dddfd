package runs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// start is when the cases of these tests start.
func start() time.Time { return time.Date(2026, 4, 18, 14, 22, 9, 812345000, time.UTC) }

// single is a case of one message with everything a case can have.
func single() *runs.Case {
	return &runs.Case{
		Index: 0, Name: "refund", Status: runs.Failed, Started: start(), Elapsed: 900 * time.Millisecond,
		Turns: []runs.Turn{{
			Input: "Can I <return> it?", GroundTruth: new("yes"), Answer: "Perhaps.", Status: runs.Failed,
			Files: []runs.File{
				{Input: config.FileInput{Path: new("a.md"), Type: "text"}, Content: "# A", Size: 3, Elapsed: 2 * time.Millisecond},
				{Input: config.FileInput{URL: new("https://example.com/b"), Type: "pdf", Pages: config.Pages{{First: 1, Last: 1}}}, Err: "cannot fetch"},
			},
			ToolCalls: []runs.ToolCall{
				{Name: "kb_search", CallID: "1", Arguments: json.RawMessage(`{"query": "return"}`), Result: "Found \"it\"", Elapsed: 12 * time.Millisecond},
				{Name: "order", CallID: "2", Arguments: json.RawMessage(`"oops"`), Err: "bad arguments"},
			},
			ToolChecks: []runs.ToolCheck{
				{Expected: config.ExpectedTool{Name: "kb", Bare: true, Count: 1}, Matched: true, Call: 0},
				{Expected: config.ExpectedTool{Name: "order", Count: 2, Args: map[string]any{"id": map[string]any{"regex": `A-\d+`}, "n": math.NaN()}}, Call: -1, Reason: "argument id is missing"},
			},
			Metrics: []runs.Metric{
				{Name: "equality", Kind: config.MetricStandard, Status: runs.MetricFail, Counts: true, Score: new(0.0), Reason: `expected "yes", got "Perhaps."`},
				{Name: "bleu", Kind: config.MetricStandard, Status: runs.MetricSkipped, Counts: true, Threshold: new(0.5), Reason: "this build cannot compute bleu yet"},
				{Name: "Tone", Kind: config.MetricGEval, Status: runs.MetricSkipped, Threshold: new(0.5), Reason: "it needs a judge"},
				{Name: "recall", Kind: config.MetricRAG, Status: runs.MetricNotApplicable, Reason: "no retrieval"},
				{Name: "numeric", Kind: config.MetricStandard, Status: runs.MetricError, Counts: true, Reason: "no number"},
			},
			Errors:    []string{"cannot fetch"},
			Usage:     &agent.Usage{Prompt: 9, Completion: 1, Total: 10, Cached: 4, CacheWrite: 2},
			AgentTime: 812 * time.Millisecond,
		}},
	}
}

// conversation is a case of three turns: one passes, one fails, one was not run.
func conversation() *runs.Case {
	equality := func(status runs.MetricStatus, score float64) runs.Metric {
		return runs.Metric{Name: "equality", Kind: config.MetricStandard, Status: status, Counts: true, Score: &score, Elapsed: time.Millisecond}
	}
	return &runs.Case{
		Index: 1, Conversation: true, Status: runs.Failed, Started: start(), Elapsed: 3 * time.Second,
		Turns: []runs.Turn{
			{
				Input: "Hello", GroundTruth: new("hi"), Answer: "hi", Status: runs.Passed, AgentTime: time.Second,
				Metrics: []runs.Metric{equality(runs.MetricPass, 1), {Name: "contains", Kind: config.MetricStandard, Status: runs.MetricNotApplicable, Reason: "none"}},
				Usage:   &agent.Usage{Prompt: 1, Completion: 1, Total: 2},
			},
			{
				Input: "Order 7?", Status: runs.Failed, AgentTime: time.Second, Errors: []string{"timeout: 30s"},
				ToolCalls:  []runs.ToolCall{{Name: "order", CallID: "1", Arguments: json.RawMessage(`{"id": 7}`), Result: "sent"}},
				ToolChecks: []runs.ToolCheck{{Expected: config.ExpectedTool{Name: "order", Count: 2}, Call: -1, Reason: "needed 2 calls, got 1"}},
				Metrics:    []runs.Metric{equality(runs.MetricFail, 0)},
				Usage:      &agent.Usage{Prompt: 2, Completion: 1, Total: 3},
			},
			{Input: "Bye", Status: runs.NotRun, Errors: []string{"not run: the runtime failed"}},
		},
	}
}

// unchecked is a case that nothing was checked of.
func unchecked() *runs.Case {
	return &runs.Case{
		Index: 2, Status: runs.Unchecked, Started: start(), Elapsed: 5 * time.Millisecond,
		Turns: []runs.Turn{{Input: "Anything?", Answer: "", Status: runs.Unchecked}},
	}
}

// report returns the report of a run of those cases.
func report(t *testing.T, cases ...*runs.Case) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := runs.NewReportWriter(&buf, runs.Run{
		Agent: "demo", Path: "agent.yaml", Version: "1.2.3", Started: start(),
		Environment: map[string]string{"runtime": "agent_framework"},
	})
	summary := runs.Summary{Total: len(cases), Elapsed: 4 * time.Second}
	for _, c := range cases {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
		summary.Add(c)
	}
	if err := w.Close(summary); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestReport(t *testing.T) {
	golden := filepath.Join("testdata", "report.json")
	got := report(t, single(), conversation(), unchecked())
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("the report is not %s any more:\n%s", golden, got)
	}
}

// Trap T1: readers of the Python edition refuse an object with a key too many,
// and ours must not lack one either.
func TestTrapT1ReportsHaveExactlyTheKeysTheirReadersKnow(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(report(t, single(), conversation(), unchecked()), &doc); err != nil {
		t.Fatal(err)
	}
	keys := func(what string, v any, want string) {
		t.Helper()
		object, ok := v.(map[string]any)
		if !ok {
			t.Errorf("%s is %T, not an object", what, v)
			return
		}
		got := slices.Sorted(maps.Keys(object))
		if wanted := strings.Fields(want); !slices.Equal(got, slices.Sorted(slices.Values(wanted))) {
			t.Errorf("%s has the keys %v, want %v", what, got, wanted)
		}
	}
	list := func(v any, key string) []any {
		items, _ := v.(map[string]any)[key].([]any)
		return items
	}
	keys("report", doc, "agent_name agent_config_path results summary timestamp holodeck_version environment")
	keys("summary", doc["summary"], "total_tests passed failed pass_rate total_duration_ms metrics_evaluated average_scores")
	for _, result := range list(doc, "results") {
		keys("result", result, `test_name test_input processed_files agent_response tool_calls tool_invocations
			expected_tools tools_matched metric_results ground_truth passed execution_time_ms errors timestamp token_usage turns`)
		for _, f := range list(result, "processed_files") {
			keys("file", f, "original markdown_content metadata cached_path processing_time_ms error")
			keys("original", f.(map[string]any)["original"], "path url type description pages sheet range cache")
		}
		if usage := result.(map[string]any)["token_usage"]; usage != nil {
			keys("usage", usage, "prompt_tokens completion_tokens total_tokens cache_creation_tokens cache_read_tokens")
		}
		turns := list(result, "turns")
		for _, turn := range turns {
			keys("turn", turn, `turn_index input response ground_truth expected_tools tool_calls tool_invocations tools_matched
				arg_match_details metric_results passed execution_time_ms token_usage errors skipped grader_details`)
			for _, d := range list(turn, "arg_match_details") {
				keys("details", d, "expected_tool args_asserted matched_call_index unmatched_reason")
			}
		}
		for _, part := range append(turns, result) {
			for _, m := range list(part, "metric_results") {
				keys("metric", m, `metric_name kind score threshold passed scale error retry_count evaluation_time_ms model_used reasoning`)
			}
			for _, c := range list(part, "tool_invocations") {
				keys("invocation", c, "name args result bytes duration_ms error")
			}
		}
	}
}

func TestTrapT9ZeroScoresCountInAverages(t *testing.T) {
	one, zero := conversation(), single()
	var doc struct {
		Summary struct {
			MetricsEvaluated map[string]int     `json:"metrics_evaluated"`
			AverageScores    map[string]float64 `json:"average_scores"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(report(t, one, zero), &doc); err != nil {
		t.Fatal(err)
	}
	// The conversation's equality is (1 + 0) / 2, the other case's is 0.
	if doc.Summary.AverageScores["equality"] != 0.25 || doc.Summary.MetricsEvaluated["equality"] != 2 {
		t.Errorf("got %+v, want an average of 0.25 over 2 cases", doc.Summary)
	}
	if _, ok := doc.Summary.AverageScores["bleu"]; ok {
		t.Error("a metric without a score has an average")
	}
}

func TestReportOfNoCases(t *testing.T) {
	got := report(t)
	if !json.Valid(got) || !bytes.Contains(got, []byte(`"results": [],`)) {
		t.Errorf("got %s", got)
	}
}

// failing fails after some bytes, as a full disk does.
type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestReportTellsThatItCouldNotBeWritten(t *testing.T) {
	w := runs.NewReportWriter(&failing{left: 500}, runs.Run{Agent: "demo"})
	first, second := w.Add(single()), w.Add(single())
	if err := w.Close(runs.Summary{}); !errors.Is(first, errFull) || !errors.Is(second, errFull) || !errors.Is(err, errFull) {
		t.Errorf("got %v, %v and %v, want the disk's error each time", first, second, err)
	}
}

func TestAClosedReportTakesNoMoreCases(t *testing.T) {
	var buf bytes.Buffer
	w := runs.NewReportWriter(&buf, runs.Run{})
	if err := w.Close(runs.Summary{}); err != nil {
		t.Fatal(err)
	}
	size := buf.Len()
	if err := w.Add(single()); err == nil || buf.Len() != size {
		t.Errorf("got %v and %d more bytes", err, buf.Len()-size)
	}
}

func BenchmarkReport(b *testing.B) {
	c := conversation()
	w := runs.NewReportWriter(&bytes.Buffer{}, runs.Run{})
	b.ReportAllocs()
	for b.Loop() {
		w = runs.NewReportWriter(discard{}, runs.Run{})
		if err := w.Add(c); err != nil {
			b.Fatal(err)
		}
	}
	_ = w
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
