package report_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

func overview(name string, state runs.State, cases, passed, failed, unchecked int) runs.Overview {
	return runs.Overview{
		Stored: runs.Stored{Name: name}, Agent: "desk", Version: "1.2.3", State: state, Elapsed: 1234 * time.Millisecond,
		Cases: cases, Passed: passed, Failed: failed, Unchecked: unchecked,
	}
}

func TestList(t *testing.T) {
	var out strings.Builder
	err := report.History{Out: &out}.List([]runs.Overview{
		overview("2026-05-02T10-00-00.000000+00-00", runs.Killed, 9, 2, 1, 1),
		overview("foreign\x1b[2J", runs.Finished, 2, 0, 0, 2),
	})
	want := `RUN                         STATE     CASES   PASSED  FAILED  PASS RATE              DURATION
2026-05-02T10-00-00.000000  killed    4 of 9  2       1       66.7% (20.8 to 93.9%)  1.23s
foreign�[2J                 finished  2       0       0       nothing checked        1.23s
`
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestHeading(t *testing.T) {
	o := overview("2026-05-02", runs.Interrupted, 9, 2, 1, 1)
	o.ID, o.Commit, o.Offline = "01K", "abc", true
	var out strings.Builder
	err := report.History{Out: &out}.Heading(&runs.Record{Overview: o, Args: []string{"test", "a\nb"}, Reason: "interrupted by interrupt"})
	want := `Run 2026-05-02 of desk, interrupted
  holodeck 1.2.3, id 01K, commit abc, offline
  holodeck test a b
  interrupted by interrupt
`
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%s", err, out.String())
	}
	out.Reset()
	if err := (report.History{Out: &out, Color: true}).Heading(&runs.Record{Overview: overview("x", runs.Finished, 1, 1, 0, 0)}); err != nil || out.String() != "\x1b[1mRun x\x1b[0m of desk, finished\n  holodeck 1.2.3\n" {
		t.Errorf("%v, got\n%q", err, out.String())
	}
}

func TestComparison(t *testing.T) {
	c := &runs.Comparison{
		Base: overview("base", runs.Finished, 4, 3, 1, 0), Run: overview("run", runs.Finished, 4, 1, 2, 1),
		Worse:   []runs.Change{{ID: "a", Title: "First\nline", Base: runs.Passed, Run: runs.Failed}},
		Better:  []runs.Change{{ID: "b", Title: "Second", Base: runs.Failed, Run: runs.Passed}},
		Other:   []runs.Change{{ID: "c", Title: "Third", Base: runs.Passed, Run: runs.Unchecked}},
		Removed: []runs.Change{{ID: "d", Title: "Gone", Base: runs.Passed}},
		Same:    1,
		Metrics: []runs.MetricChange{
			{Name: "contains", Base: new(0.75), Run: new(0.5)}, {Name: "f1", Base: new(0.501), Run: new(0.499)}, {Name: "bleu", Run: new(1.0)},
		},
	}
	for i := range report.MaxChanges + 3 {
		c.Added = append(c.Added, runs.Change{ID: fmt.Sprint(i), Title: fmt.Sprint("new ", i), Run: runs.Failed})
	}
	var out strings.Builder
	if err := (report.History{Out: &out}).Comparison(c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`Base  base  3 of 4 checked cases passed, 75.0% (30.1 to 95.4%)
Run   run  1 of 3 checked cases passed, 33.3% (6.1 to 79.2%)

Worse (1)
  ✗ First line: passed → failed

Better (1)
  ✓ Second: failed → passed

Changed otherwise (1)
  ○ Third: passed → unchecked

Only in the run (53)
  ✗ new 0: failed
`,
		"  ✗ new 49: failed\n  … and 3 more\n\nOnly in the base (1)\n  ✓ Gone: passed\n\n1 case as before\n",
		`
Metrics
  contains  0.75 → 0.50  -0.25
  f1        0.50 → 0.50  the same
  bleu      – → 1.00
`,
	} {
		if !strings.Contains(trimLines(out.String()), want) {
			t.Errorf("there is no\n%s\nin\n%s", want, out.String())
		}
	}
}

// trimLines takes the blanks from the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestHistoryTellsThatItCouldNotBeWritten(t *testing.T) {
	h := report.History{Out: broken{}}
	for _, err := range []error{
		h.List(nil), h.Heading(&runs.Record{}), h.Comparison(&runs.Comparison{}),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("got %v", err)
		}
	}
}
