package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// normalizer removes differences that are not to count, in this order: letter
// case, ASCII punctuation, runs of white space.
type normalizer struct{ foldCase, dropPunctuation, collapseWhiteSpc bool }

func (n normalizer) apply(s string) string {
	if n.foldCase {
		s = fold(s)
	}
	if n.dropPunctuation {
		s = strings.Map(func(r rune) rune {
			if isASCIIPunct(r) {
				return -1
			}
			return r
		}, s)
	}
	if n.collapseWhiteSpc {
		s = strings.Join(strings.FieldsFunc(s, pystr.IsSpace), " ")
	}
	return s
}

// isASCIIPunct reports whether r is in Python's string.punctuation.
func isASCIIPunct(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSymbol(r))
}

// equality passes when the answer is the ground truth.
type equality struct{ normalizer }

func (e equality) score(_ context.Context, s sample) (score, error) {
	if e.apply(s.answer) == e.apply(s.truth) {
		return score{value: 1, pass: true}, nil
	}
	return score{reason: fmt.Sprintf("expected %s, got %s", s.in.excerpt(s.truth), s.in.excerpt(s.answer))}, nil
}

// contains passes when the ground truth stands in the answer.
type contains struct{ normalizer }

func (c contains) score(_ context.Context, s sample) (score, error) {
	want := c.apply(s.truth)
	if want == "" {
		return score{}, errNothingToLookFor
	}
	if strings.Contains(c.apply(s.answer), want) {
		return score{value: 1, pass: true}, nil
	}
	return score{reason: fmt.Sprintf("%s is not in the answer", s.in.excerpt(s.truth))}, nil
}

// errNothingToLookFor is the error of a metric that would find nothing
// everywhere.
var errNothingToLookFor = errors.New("nothing is left of ground_truth to look for; write more than punctuation and blanks, or leave out strip_punctuation")

// startsWith passes when the answer begins with the ground truth.
type startsWith struct{ normalizer }

func (p startsWith) score(_ context.Context, s sample) (score, error) {
	want := p.apply(s.truth)
	if want == "" {
		return score{}, errNothingToLookFor
	}
	if strings.HasPrefix(p.apply(s.answer), want) {
		return score{value: 1, pass: true}, nil
	}
	return score{reason: fmt.Sprintf("the answer %s does not begin with %s", s.in.excerpt(s.answer), s.in.excerpt(s.truth))}, nil
}

// overlap scores how much the answer and the ground truth have in common.
type overlap struct {
	measure func(hypothesis, reference string) float64
	normalizer
}

func (o overlap) score(_ context.Context, s sample) (score, error) {
	return score{value: o.measure(o.apply(s.answer), o.apply(s.truth))}, nil
}

// excerptLen is how many runes of a text a reason quotes.
const excerptLen = 160

// excerpt returns a text on one line, masked, quoted and cut to excerptLen runes.
func (in Input) excerpt(text string) string { return fmt.Sprintf("%q", in.oneLine(text)) }

// oneLine returns a text on one line, masked and cut to excerptLen runes. It is
// masked first: of a secret that is cut in two nobody can say that it is one.
func (in Input) oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(in.Redactor.String(text), pystr.IsSpace), " ")
	if runes := []rune(text); len(runes) > excerptLen {
		text = string(runes[:excerptLen-1]) + "…"
	}
	return text
}
