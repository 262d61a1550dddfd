package toolmatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Call is a call the agent made.
type Call struct {
	Name      string // canonical
	Arguments json.RawMessage
	Failed    bool // it ended in an error
}

// Result says whether an expectation was met.
type Result struct {
	Met bool
	// Call is the index of the first call that satisfied the expectation, or -1.
	Call int
	// Reason says what is missing; empty when it was met.
	Reason string
}

// Expectation is an entry of expected_tools, ready to be compared. It is safe
// for concurrent use.
type Expectation struct {
	name     string
	least    int
	most     int // math.MaxInt when there is no bound
	status   config.ToolStatus
	args     []string // sorted, so that a reason is the same every time
	matchers map[string]matcher
	quote    quoter
}

// Compile prepares an entry of expected_tools. Values that reasons quote are
// masked by the redactor, which may be nil. The error names the argument whose
// matcher cannot be used.
func Compile(e config.ExpectedTool, redactor *secret.Redactor) (*Expectation, error) {
	x := &Expectation{
		quote:    quoter{redactor},
		name:     e.Name,
		least:    max(1, e.Count),
		most:     math.MaxInt,
		status:   e.Status,
		args:     slices.Sorted(maps.Keys(e.Args)),
		matchers: make(map[string]matcher, len(e.Args)),
	}
	if e.Max != nil {
		x.most = *e.Max
	}
	for _, arg := range x.args {
		m, err := newMatcher(x.quote, e.Args[arg])
		if err != nil {
			return nil, fmt.Errorf("expected tool %s: argument %s: %w", e.Name, arg, err)
		}
		x.matchers[arg] = m
	}
	return x, nil
}

// Doubts names what is doubtful in the arguments: what a schema says that cannot
// be checked, where a value that follows the rest matches neither the schema nor
// the opposite, and a value that looks like a matcher.
func (x *Expectation) Doubts() []string {
	var out []string
	for _, arg := range x.args {
		for _, what := range doubts(x.matchers[arg]) {
			out = append(out, "argument "+arg+": "+what)
		}
	}
	return out
}

// Check compares the expectation with the calls of a turn.
func (x *Expectation) Check(names *Names, calls []Call) Result {
	var (
		satisfied, candidates int
		first                 = -1
		mismatch              string
	)
	for i, call := range calls {
		if !names.Match(x.name, call.Name) {
			continue
		}
		candidates++
		if why := x.mismatch(call); why != "" {
			mismatch = fmt.Sprintf("call %d, %s: %s", i+1, call.Name, why)
			continue
		}
		satisfied++
		if first < 0 {
			first = i
		}
	}
	switch {
	case satisfied > x.most:
		return Result{Call: first, Reason: fmt.Sprintf("at most %s, got %d", times(x.most), satisfied)}
	case satisfied >= x.least:
		return Result{Met: true, Call: first}
	case candidates == 0:
		return Result{Call: -1, Reason: "it was not called; " + called(calls)}
	case mismatch != "":
		return Result{Call: -1, Reason: mismatch}
	}
	return Result{Call: -1, Reason: fmt.Sprintf("needed %s, got %d", times(x.least), satisfied)}
}

func times(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// fits reports whether a call satisfies the expectation.
func (x *Expectation) fits(names *Names, call Call) bool {
	return names.Match(x.name, call.Name) && x.mismatch(call) == ""
}

// mismatch says what is not as expected of a call by that name, or returns "".
func (x *Expectation) mismatch(call Call) string {
	var wrong []string
	switch {
	case x.status == config.ToolOK && call.Failed:
		wrong = append(wrong, "it ended in an error, want status ok")
	case x.status == config.ToolError && !call.Failed:
		wrong = append(wrong, "it did not fail, want status error")
	}
	if len(x.args) > 0 {
		var given map[string]json.RawMessage
		if err := json.Unmarshal(call.Arguments, &given); err != nil {
			given = nil // the model did not give an object: no argument is there
		}
		for _, name := range x.args {
			arg, ok := given[name]
			if !ok {
				wrong = append(wrong, fmt.Sprintf("argument %s is missing", name))
				continue
			}
			if found := x.matchers[name].match(x.quote, arg); len(found) > 0 {
				wrong = append(wrong, tell(name, found))
			}
		}
	}
	return strings.Join(wrong, "; ")
}

// Forbidden returns the index of the first call of a tool that must not be
// called, or -1.
func Forbidden(names *Names, forbidden string, calls []Call) int {
	return slices.IndexFunc(calls, func(c Call) bool { return names.Match(forbidden, c.Name) })
}

// maxCalled is how many names a reason lists.
const maxCalled = 8

// called says which tools were called.
func called(calls []Call) string {
	if len(calls) == 0 {
		return "no tool was"
	}
	var names []string
	for _, c := range calls {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if more := len(names) - maxCalled; more > 0 {
		names = append(names[:maxCalled], fmt.Sprintf("and %d more", more))
	}
	return "called: " + strings.Join(names, ", ")
}
