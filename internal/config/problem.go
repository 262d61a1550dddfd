package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a problem stops the work.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// The codes of a Problem, stable for machines.
const (
	CodeSyntax      = "syntax"      // not YAML, not UTF-8, too deep, too large
	CodeUnknownKey  = "unknown_key" // a key that does not exist there
	CodeDuplicate   = "duplicate"   // a key or a name given twice
	CodeType        = "type"        // a value of the wrong type
	CodeValue       = "value"       // a value out of bounds or not in its list
	CodeMissing     = "missing"     // a required key is absent
	CodeConflict    = "conflict"    // keys that exclude or need one another
	CodeReference   = "reference"   // a file or a name that does not exist
	CodeVariable    = "variable"    // an environment variable that is not set
	CodeUnsupported = "unsupported" // valid, but this build or provider cannot do it
	CodeDeprecated  = "deprecated"  // an old spelling that still loads
	CodeNoEffect    = "no_effect"   // valid, but without effect here
	CodeCredential  = "credential"  // a key that is neither in the file nor in the environment
)

// Problem is one thing that is wrong with a configuration, or a warning.
// No field ever holds a secret.
type Problem struct {
	Path     string   `json:"path"` // dotted, such as "tools[2].transport"
	Pos      Pos      `json:"pos"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Text     string   `json:"text"`           // what is wrong
	Hint     string   `json:"hint,omitempty"` // what to do next
}

// String returns the problem as a person reads it: position, path, what is
// wrong and, in parentheses, what to do.
func (p Problem) String() string {
	var b strings.Builder
	if p.Pos.File != "" {
		fmt.Fprintf(&b, "%s: ", p.Pos)
	}
	if p.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	if p.Path != "" {
		fmt.Fprintf(&b, "%s: ", p.Path)
	}
	b.WriteString(p.Text)
	if p.Hint != "" {
		fmt.Fprintf(&b, " (%s)", p.Hint)
	}
	return b.String()
}

// Error is a configuration that cannot be used: its problems, warnings
// included, sorted by position. It is what every command returns for a bad
// agent file.
type Error struct{ Problems []Problem }

// Error implements error: one line a problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// HasErrors reports whether any of the problems is an error.
func HasErrors(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == SeverityError })
}

// SortProblems sorts by file, line and column, keeping the order of what
// stands at one place.
func SortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
		)
	})
}
