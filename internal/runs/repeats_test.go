package runs

import (
	"maps"
	"math"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// attempts adds a case whose attempts end as the letters say: p passed,
// f failed, e failed by a metric's error, u unchecked.
func attempts(s *Summary, index int, rule config.PassRule, letters string) (verdict Status, last bool) {
	for i, letter := range letters {
		c := &Case{Index: index, Attempt: i + 1, Repeats: len(letters), PassRule: rule, Status: Failed}
		switch letter {
		case 'p':
			c.Status = Passed
		case 'u':
			c.Status = Unchecked
		case 'f':
			c.Turns = []Turn{{Status: Failed, Errors: []string{"wrong"}}}
		case 'e':
			c.Turns = []Turn{{Status: Failed, Metrics: []Metric{{Status: MetricError, Counts: true}}}}
		}
		verdict, last = s.Add(c)
		if last != (i == len(letters)-1) {
			return verdict, false
		}
	}
	return verdict, last
}

func TestVerdictOfRepeatedCase(t *testing.T) {
	for _, test := range []struct {
		rule     config.PassRule
		attempts string
		want     Status
	}{
		{"", "ppp", Passed},
		{"", "ppf", Failed},
		{"all", "ppf", Failed},
		{"any", "fpf", Passed},
		{"any", "fff", Failed},
		{"majority", "ppff", Failed},
		{"majority", "pppff", Passed},
		{"rate>=0.8", "ppppf", Passed},
		{"rate>=0.8", "pppff", Failed},
		{"rate >= 0.6", "pppff", Passed},
		{"rate>=1", "pp", Passed},
		{"rate>=0", "ff", Passed},
		{"all", "pup", Passed}, // what was not checked says nothing
		{"majority", "puf", Failed},
		{"any", "uuu", Unchecked},
	} {
		var s Summary
		got, last := attempts(&s, 0, test.rule, test.attempts)
		if got != test.want || !last {
			t.Errorf("%s under %q is %q (last %v), want %q", test.attempts, test.rule, got, last, test.want)
		}
	}
}

func TestSummaryCountsCasesAndAttempts(t *testing.T) {
	var s Summary
	attempts(&s, 0, "any", "pf")
	attempts(&s, 1, "", "p")
	attempts(&s, 2, "", "ee")
	attempts(&s, 3, "", "ef")
	s.Add(&Case{Index: 4, Attempt: 1, Repeats: 2, Status: Passed}) // and the run was interrupted
	if s.Passed != 2 || s.Failed != 2 || s.MetricErrors != 1 || s.Finished() != 4 {
		t.Errorf("cases: %d passed, %d failed, %d by metric errors", s.Passed, s.Failed, s.MetricErrors)
	}
	if a := s.Attempts; a.Passed != 3 || a.Failed != 5 || a.Finished() != 8 {
		t.Errorf("attempts: %d passed, %d failed", a.Passed, a.Failed)
	}
	if len(s.open) != 1 {
		t.Errorf("%d cases are held, want the one that has not finished", len(s.open))
	}
}

func TestRepeats(t *testing.T) {
	var s Summary
	if _, ok := s.Repeats.PassAt(1); ok || s.Repeats.Cases() != 0 || s.Repeats.Fewest() != 0 {
		t.Error("a run without repeats speaks of them")
	}
	attempts(&s, 0, "any", "ppppp")
	attempts(&s, 1, "any", "ppppf")
	attempts(&s, 2, "any", "pffff")
	attempts(&s, 3, "any", "fffff")
	attempts(&s, 4, "any", "p") // has no part in it
	attempts(&s, 5, "any", "uuuuu")
	r := s.Repeats
	if r.Cases() != 4 || r.Stable() != 1 || r.Flaky() != 2 || r.Failing() != 1 || r.Fewest() != 5 {
		t.Errorf("%d cases: %d stable, %d flaky, %d failing, fewest %d", r.Cases(), r.Stable(), r.Flaky(), r.Failing(), r.Fewest())
	}
	for _, test := range []struct {
		k       int
		at, all float64
	}{
		{1, (1 + 0.8 + 0.2 + 0) / 4, (1 + 0.8 + 0.2 + 0) / 4},
		{2, (1 + 1 + 0.4 + 0) / 4, (1 + 0.6 + 0 + 0) / 4},
		{3, (1 + 1 + 0.6 + 0) / 4, (1 + 0.4 + 0 + 0) / 4},
		{5, (1 + 1 + 1 + 0) / 4., 1 / 4.},
	} {
		at, ok := r.PassAt(test.k)
		all, okAll := r.PassAll(test.k)
		if !ok || !okAll || math.Abs(at-test.at) > 1e-12 || math.Abs(all-test.all) > 1e-12 {
			t.Errorf("k=%d: pass@k %v, pass^k %v; want %v, %v", test.k, at, all, test.at, test.all)
		}
	}
	for _, k := range []int{-1, 0, 6} {
		if _, ok := r.PassAt(k); ok {
			t.Errorf("pass@%d exists for 5 attempts", k)
		}
	}
}

func TestPassAtOfManyAttemptsIsFinite(t *testing.T) {
	var r Repeats
	r.add(tally{passed: 1, failed: 99_999})
	if at, ok := r.PassAt(50_000); !ok || math.Abs(at-0.5) > 1e-9 {
		t.Errorf("pass@50000 of 1 in 100000 is %v, want 0.5", at)
	}
}

// The expected bounds are those of Newcombe (1998), "Two-sided confidence
// intervals for the single proportion", table I, method 3.
func TestRateIsWilsons(t *testing.T) {
	for _, test := range []struct {
		passed, of int
		low, high  float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{5, 5, 0.5655, 1},
	} {
		r := NewRate(test.passed, test.of)
		if math.Abs(r.Low-test.low) > 5e-5 || math.Abs(r.High-test.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", test.passed, test.of, r.Low, r.High, test.low, test.high)
		}
	}
	if r := NewRate(0, 0); r != (Rate{}) || r.String() != "0/0" {
		t.Errorf("nothing of nothing is %v", r)
	}
	// Rounding hides neither that all is not certain nor that one failed.
	for _, tt := range []struct {
		share float64
		want  string
	}{
		{0, "0.0"}, {1, "100.0"}, {0.5, "50.0"}, {1. / 3, "33.3"}, {0.9994, "99.9"}, {0.99962, "99.96"}, {0.99999, "99.999"}, {0.0004, "0.04"}, {1e-15, "0.000000000"},
	} {
		if got := Percent(tt.share); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.share, got, tt.want)
		}
	}
	if got, want := NewRate(10000, 10000).String(), "10000/10000 (100.0%, 95% interval 99.96 to 100.0%)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := NewRate(4, 5).String(), "4/5 (80.0%, 95% interval 37.6 to 96.4%)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTrapT05: two metrics of one name with different settings have averages of
// their own.
func TestTrapT05MetricsOfOneNameDoNotOverwriteEachOther(t *testing.T) {
	var s Summary
	for i := range 2 {
		scored := func(v float64) Metric {
			return Metric{Name: "numeric", Kind: config.MetricStandard, Status: MetricPass, Counts: true, Score: &v}
		}
		s.Add(&Case{Index: i, Status: Passed, Turns: []Turn{{Status: Passed, Metrics: []Metric{scored(1), scored(0.5)}}}})
	}
	if len(s.Metrics) != 2 {
		t.Fatalf("%d metrics, want 2", len(s.Metrics))
	}
	for i, want := range []MetricSummary{{Name: "numeric", Mean: 1}, {Name: "numeric #2", Mean: 0.5}} {
		if got := s.Metrics[i]; got.Name != want.Name || got.Mean != want.Mean || got.Attempts != 2 {
			t.Errorf("metric %d is %s with %v over %d cases, want %s with %v", i+1, got.Name, got.Mean, got.Attempts, want.Name, want.Mean)
		}
	}
	// So they have in the report of the other edition, and one of another kind, too.
	s.Add(&Case{Index: 2, Status: Passed, Turns: []Turn{{Status: Passed, Metrics: []Metric{
		{Name: "numeric", Kind: config.MetricCode, Status: MetricPass, Counts: true, Score: new(0.25)},
	}}}})
	r := newReportSummary(s, 0)
	if want := map[string]float64{"numeric": 1, "numeric #2": 0.5, "numeric #3": 0.25}; !maps.Equal(r.AverageScores, want) {
		t.Errorf("the report has the averages %v, want %v", r.AverageScores, want)
	}
	if want := map[string]int{"numeric": 2, "numeric #2": 2, "numeric #3": 1}; !maps.Equal(r.MetricsEvaluated, want) {
		t.Errorf("the report has %v, want %v", r.MetricsEvaluated, want)
	}
}

func TestACallThatDoesNotSatisfyIsNoMatch(t *testing.T) {
	out := newTurnResult(0, Turn{ToolChecks: []ToolCheck{
		{Rule: RuleExpected, Expected: config.ExpectedTool{Name: "a", Count: 2}, Call: 3, Reason: "at most 2 calls, got 3"},
		{Rule: RuleForbidden, Expected: config.ExpectedTool{Name: "b", Bare: true}, Call: 0, Reason: "it was called"},
	}})
	if len(out.ArgMatchDetails) != 1 || out.ArgMatchDetails[0].MatchedCallIndex != -1 || *out.ToolsMatched {
		t.Errorf("got %+v", out)
	}
	if len(out.ExpectedTools) != 1 || len(out.Errors) != 2 || out.Errors[1] != "forbidden tool b: it was called" {
		t.Errorf("got %+v and %q", out.ExpectedTools, out.Errors)
	}
}
