package runs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/secret"
)

func TestSummaryCounts(t *testing.T) {
	passed := &runs.Case{Status: runs.Passed, Turns: []runs.Turn{{Status: runs.Passed, CostUSD: new(0.25), AgentTime: time.Second}}}
	var s runs.Summary
	for _, c := range []*runs.Case{single(), conversation(), unchecked(), passed, passed} {
		s.Add(c)
	}
	if s.Passed != 2 || s.Failed != 2 || s.Unchecked != 1 || s.Finished() != 5 || s.MetricErrors != 0 {
		t.Errorf("got %+v", s)
	}
	if s.Usage.Total != 15 || s.CostUSD == nil || *s.CostUSD != 0.5 || s.AgentTime != 4812*time.Millisecond {
		t.Errorf("tokens %d, cost %v, agent %s", s.Usage.Total, s.CostUSD, s.AgentTime)
	}
	if m := s.Metrics[0]; m.Name != "bleu" || m.Skipped != 1 || m.SkipReason == "" || m.Attempts != 0 {
		t.Errorf("got %+v, want the skipped bleu first", m)
	}
}

func TestCasesThatOnlyMetricErrorsFail(t *testing.T) {
	metric := func(status runs.MetricStatus, counts bool) runs.Metric {
		return runs.Metric{Name: "m", Status: status, Counts: counts}
	}
	turn := func(errs []string, checks []runs.ToolCheck, metrics ...runs.Metric) runs.Turn {
		return runs.Turn{Status: runs.Failed, Errors: errs, ToolChecks: checks, Metrics: metrics}
	}
	broken := metric(runs.MetricError, true)
	for _, tt := range []struct {
		name  string
		turns []runs.Turn
		want  int
	}{
		{"an error alone", []runs.Turn{turn(nil, nil, broken, metric(runs.MetricPass, true))}, 1},
		{"beside a failure that does not count", []runs.Turn{turn(nil, nil, broken, metric(runs.MetricFail, false))}, 1},
		{"beside a failure", []runs.Turn{turn(nil, nil, broken, metric(runs.MetricFail, true))}, 0},
		{"beside a skip", []runs.Turn{turn(nil, nil, broken, metric(runs.MetricSkipped, true))}, 0},
		{"beside an error of the agent", []runs.Turn{turn([]string{"boom"}, nil, broken)}, 0},
		{"beside a missing tool", []runs.Turn{turn(nil, []runs.ToolCheck{{}}, broken)}, 0},
		{"beside a turn that was not run", []runs.Turn{turn(nil, nil, broken), {Status: runs.NotRun}}, 0},
	} {
		var s runs.Summary
		s.Add(&runs.Case{Status: runs.Failed, Turns: tt.turns})
		if s.MetricErrors != tt.want {
			t.Errorf("%s: counted %d, want %d", tt.name, s.MetricErrors, tt.want)
		}
	}
}

// Two entries of one name in a turn are two metrics, over all turns.
func TestScoresKeepEntriesOfOneNameApart(t *testing.T) {
	entry := func(score float64) runs.Metric {
		return runs.Metric{Name: "numeric", Kind: config.MetricStandard, Status: runs.MetricPass, Counts: true, Score: &score}
	}
	c := &runs.Case{Conversation: true, Turns: []runs.Turn{
		{Metrics: []runs.Metric{entry(1), entry(0)}},
		{Metrics: []runs.Metric{entry(1), entry(0.5)}},
		{Metrics: []runs.Metric{{Name: "numeric", Kind: config.MetricStandard, Status: runs.MetricSkipped}}},
	}}
	scores := c.Scores()
	if len(scores) != 2 || scores[0].Value != 1 || scores[0].Turns != 2 || scores[1].Value != 0.25 {
		t.Errorf("got %+v, want means of 1 and 0.25", scores)
	}
}

func TestTitle(t *testing.T) {
	long := strings.Repeat("ähm, ", 100)
	for _, tt := range []struct {
		c    runs.Case
		want string
	}{
		{runs.Case{Name: "n", Turns: []runs.Turn{{Input: "x"}}}, "n"},
		{runs.Case{Turns: []runs.Turn{{Input: " two\n lines "}}}, "two lines"},
		{runs.Case{Turns: []runs.Turn{{Input: long}}}, strings.Repeat("ähm, ", 10) + "ähm,…"},
		{runs.Case{Turns: []runs.Turn{{Input: strings.Repeat("x", 99)}}}, strings.Repeat("x", 59) + "…"},
		{runs.Case{}, ""},
	} {
		if got := tt.c.Title(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestRedactMasksEverywhere(t *testing.T) {
	const canary = `canary"secret\value`
	inJSON, err := json.Marshal(map[string]any{"a": []any{canary, 1.50, "<b>"}, "n": json.Number("12345678901234567890")})
	if err != nil {
		t.Fatal(err)
	}
	truth, args := canary, map[string]any{"q": map[string]any{"fuzzy": canary}}
	c := &runs.Case{Name: canary, Turns: []runs.Turn{{
		Input: canary, GroundTruth: &truth, Answer: canary, Structured: inJSON, Errors: []string{canary},
		Files:      []runs.File{{Content: canary, Err: canary}},
		ToolCalls:  []runs.ToolCall{{Arguments: inJSON, Result: canary, Err: canary}, {Arguments: json.RawMessage("no JSON " + canary)}},
		ToolChecks: []runs.ToolCheck{{Expected: config.ExpectedTool{Args: args}, Reason: canary}},
		Metrics:    []runs.Metric{{Reason: canary}},
	}}}
	c.Redact(secret.NewRedactor([]string{canary}))
	shown, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), "canary") || strings.Count(string(shown), secret.Mask) != 15 {
		t.Errorf("%d masks in %s", strings.Count(string(shown), secret.Mask), shown)
	}
	if got := string(c.Turns[0].Structured); got != `{"a":["[redacted]",1.5,"<b>"],"n":12345678901234567890}` {
		t.Errorf("structured answer is %s", got)
	}
	if truth != canary || args["q"].(map[string]any)["fuzzy"] != canary {
		t.Error("masking changed the agent file's own values")
	}
}

// A model may send arguments that are no JSON; what is stored of them is.
func TestRedactMakesJSONOfWhatIsNone(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"q": 1`, `"{\"q\": 1"`},
		{`{"q":1} {}`, `"{\"q\":1} {}"`},
		{`{"q":1}`, `{"q":1}`},
		{``, ``},
	} {
		c := &runs.Case{Turns: []runs.Turn{{ToolCalls: []runs.ToolCall{{Arguments: json.RawMessage(tt.args)}}}}}
		c.Redact(secret.NewRedactor(nil))
		if got := string(c.Turns[0].ToolCalls[0].Arguments); got != tt.want {
			t.Errorf("%s became %s, want %s", tt.args, got, tt.want)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Errorf("%s: %v", tt.args, err)
		}
	}
}
