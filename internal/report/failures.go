package report

import "github.com/holodeck-go/holodeck/internal/runs"

// MaxFailures is how many failed cases a summary tells of.
const MaxFailures = 50

// maxAttempts is how many failed attempts at a case are told of.
const maxAttempts = 3

// failures keeps what is told of the cases that failed: of the first of them, as
// text of bounded length.
type failures struct {
	// why returns why an attempt failed.
	why    func(*runs.Case) string
	list   []failure
	hidden int // cases that are not in the list

	open failure // the attempts so far at a case
}

// failure is a case that failed.
type failure struct {
	title           string
	file            string // where it stands; empty when that is not known
	line            int
	repeats         int
	passed, checked int      // of its attempts
	attempts        []string // why the first attempts that failed did
}

// add takes an attempt. The attempts at one case come together.
func (f *failures) add(c *runs.Case) {
	if c.Attempt <= 1 {
		f.open = failure{title: cut(printable(c.Title()), excerptLen), file: c.Pos.File, line: c.Pos.Line, repeats: c.Repeats}
	}
	switch c.Status {
	case runs.Unchecked:
	case runs.Passed:
		f.open.passed++
		f.open.checked++
	default:
		f.open.checked++
		if len(f.list) < MaxFailures && len(f.open.attempts) < maxAttempts {
			f.open.attempts = append(f.open.attempts, f.why(c))
		}
	}
	switch {
	case c.Attempt < c.Repeats || f.open.checked == 0 || c.PassRule.Holds(f.open.passed, f.open.checked):
	case len(f.list) == MaxFailures:
		f.hidden++
	default:
		f.list = append(f.list, f.open)
	}
}

// failed is how many attempts at the case failed.
func (f failure) failed() int { return f.checked - f.passed }
