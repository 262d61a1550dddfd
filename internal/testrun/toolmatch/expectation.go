package toolmatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Call is a call the agent made.
type Call struct {
	Name      string // canonical
	Arguments json.RawMessage
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
	count    int
	args     []string // sorted, so that a reason is the same every time
	matchers map[string]matcher
}

// matcher compares one argument.
type matcher interface {
	// match returns nil when the argument fits. The error completes a sentence
	// whose subject is the argument.
	match(arg json.RawMessage) error
}

// Compile prepares an entry of expected_tools. The error names the argument
// whose matcher cannot be used.
func Compile(e config.ExpectedTool) (*Expectation, error) {
	x := &Expectation{
		name:     e.Name,
		count:    max(1, e.Count),
		args:     slices.Sorted(maps.Keys(e.Args)),
		matchers: make(map[string]matcher, len(e.Args)),
	}
	for _, arg := range x.args {
		m, err := newMatcher(e.Args[arg])
		if err != nil {
			return nil, fmt.Errorf("expected tool %s: argument %s: %w", e.Name, arg, err)
		}
		x.matchers[arg] = m
	}
	return x, nil
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
	case satisfied >= x.count:
		return Result{Met: true, Call: first}
	case candidates == 0:
		return Result{Call: -1, Reason: "it was not called; " + called(calls)}
	case mismatch != "":
		return Result{Call: -1, Reason: mismatch}
	}
	return Result{Call: -1, Reason: fmt.Sprintf("needed %d calls, got %d", x.count, satisfied)}
}

// mismatch says which arguments of a call do not fit, or returns "".
func (x *Expectation) mismatch(call Call) string {
	if len(x.args) == 0 {
		return ""
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(call.Arguments, &given); err != nil {
		given = nil // the model did not give an object: no argument is there
	}
	var wrong []string
	for _, name := range x.args {
		arg, ok := given[name]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("argument %s is missing", name))
			continue
		}
		if err := x.matchers[name].match(arg); err != nil {
			wrong = append(wrong, fmt.Sprintf("argument %s %v", name, err))
		}
	}
	return strings.Join(wrong, "; ")
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
