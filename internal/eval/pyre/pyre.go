package pyre

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// Regexp is a compiled expression. It is safe for concurrent use.
type Regexp struct {
	text  string
	re    *regexp2.Regexp
	limit time.Duration
}

// Options says how an expression matches.
type Options struct {
	// Full says that it must match a text as a whole, as re.fullmatch does;
	// otherwise it matches anywhere, as re.search does.
	Full bool
	// IgnoreCase says that letter case does not count.
	IgnoreCase bool
	// Limit is how long one match may take; 0 means DefaultLimit.
	Limit time.Duration
}

// DefaultLimit bounds one match: an expression that backtracks without end
// fails instead of stopping a run.
const DefaultLimit = time.Second

// Compile reads an expression. The error quotes it and says what is wrong.
func Compile(text string, opts Options) (*Regexp, error) {
	expr, flags, err := translate(text)
	if err != nil {
		return nil, fmt.Errorf("regex %q: %w", text, err)
	}
	if opts.IgnoreCase {
		flags |= regexp2.IgnoreCase
	}
	whole := expr
	if opts.Full {
		whole = `\A(?:` + expr + `)\z`
	}
	re, err := regexp2.Compile(whole, flags)
	if err != nil && opts.Full { // the error is to speak of what was written alone
		if _, bare := regexp2.Compile(expr, flags); bare != nil {
			err = bare
		}
	}
	if err != nil {
		return nil, fmt.Errorf("regex %q: %s", text, reword(err))
	}
	limit := opts.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	re.MatchTimeout = limit
	return &Regexp{text: text, re: re, limit: limit}, nil
}

// reword returns what the engine found wrong, without its name for that and the
// expression, which is the translated one.
func reword(err error) string {
	what, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "), " in `")
	return what
}

// String returns the expression as it was written.
func (r *Regexp) String() string { return r.text }

// Match reports whether s matches. The error says that it took too long, and
// completes a sentence whose subject is s.
func (r *Regexp) Match(s string) (bool, error) {
	ok, err := r.re.MatchString(s)
	if err != nil { // the engine has no other error
		return false, fmt.Errorf("took longer than %s to compare with %q; write it without nested repetition", r.limit, r.text)
	}
	return ok, nil
}
