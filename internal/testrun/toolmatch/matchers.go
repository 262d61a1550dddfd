package toolmatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// newMatcher returns the matcher that a value of the file stands for.
func newMatcher(v any) (matcher, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return literal{v}, nil
	}
	pattern, isFuzzy := object["fuzzy"]
	expr, isRegex := object["regex"]
	switch {
	case !isFuzzy && !isRegex:
		return literal{v}, nil
	case len(object) > 1:
		return nil, errors.New("a matcher has exactly one key, fuzzy or regex")
	case isFuzzy:
		text, ok := pattern.(string)
		if !ok {
			return nil, fmt.Errorf("fuzzy is %s; write it as a string", showValue(pattern))
		}
		return fuzzy{text}, nil
	}
	text, ok := expr.(string)
	if !ok {
		return nil, fmt.Errorf("regex is %s; write it as a string", showValue(expr))
	}
	return newRegex(text)
}

// fuzzy matches a text or number that is almost the same.
type fuzzy struct{ want string }

// fuzzyTolerance is how far apart two numbers may be.
const fuzzyTolerance = 1e-9

func (f fuzzy) match(arg json.RawMessage) error {
	text, err := pystr.FromJSON(arg)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	want, got := simplify(f.want), simplify(text)
	w, wantNumber := fuzzyNumber(want)
	g, gotNumber := fuzzyNumber(got)
	if wantNumber && gotNumber {
		if w == g || math.Abs(w-g) <= fuzzyTolerance {
			return nil
		}
	} else if want == got {
		return nil
	}
	return fmt.Errorf("is %s, want about %q", show(arg), f.want)
}

// simplify removes what does not count: letter case, grouping of digits,
// white space.
func simplify(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == ',' || r == '_' || r == '\u202f' {
			return -1
		}
		return r
	}, strings.ToLower(s))
	return strings.Join(strings.FieldsFunc(s, pystr.IsSpace), " ")
}

// fuzzyNumber reads a simplified text as a number; 5% is 0.05.
func fuzzyNumber(s string) (float64, bool) {
	s = strings.ReplaceAll(s, " ", "")
	rest, percent := strings.CutSuffix(s, "%")
	f, ok := pystr.ParseFloat(rest)
	if percent {
		f /= 100
	}
	return f, ok
}

// regex matches a text that an expression matches as a whole.
type regex struct {
	text string
	re   *regexp2.Regexp
}

// matchTimeout bounds one match: an expression that backtracks without end
// fails its check instead of stopping the run.
const matchTimeout = time.Second

func newRegex(text string) (regex, error) {
	expr, options, err := fromPython(text)
	if err != nil {
		return regex{}, fmt.Errorf("regex %q: %w", text, err)
	}
	re, err := regexp2.Compile(expr, options)
	if err != nil {
		return regex{}, fmt.Errorf("regex %q: %w", text, err)
	}
	re.MatchTimeout = matchTimeout
	return regex{text: text, re: re}, nil
}

func (r regex) match(arg json.RawMessage) error {
	text, err := pystr.FromJSON(arg)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	ok, err := r.re.MatchString(text)
	if err != nil {
		return fmt.Errorf("took longer than %s to compare with %q; write it without nested repetition", r.re.MatchTimeout, r.text)
	}
	if !ok {
		return fmt.Errorf("is %s, which %q does not match", show(arg), r.text)
	}
	return nil
}
