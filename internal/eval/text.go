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

func (e equality) score(_ context.Context, answer, truth string) (score, error) {
	if e.apply(answer) == e.apply(truth) {
		return score{value: 1, pass: true}, nil
	}
	return score{reason: fmt.Sprintf("expected %s, got %s", excerpt(truth), excerpt(answer))}, nil
}

// contains passes when the ground truth stands in the answer.
type contains struct{ normalizer }

func (c contains) score(_ context.Context, answer, truth string) (score, error) {
	want := c.apply(truth)
	if want == "" {
		return score{}, errors.New("nothing is left of ground_truth to look for; write more than punctuation and blanks, or leave out strip_punctuation")
	}
	if strings.Contains(c.apply(answer), want) {
		return score{value: 1, pass: true}, nil
	}
	return score{reason: fmt.Sprintf("%s is not in the answer", excerpt(truth))}, nil
}

// excerptLen is how many runes of a text a reason quotes.
const excerptLen = 160

// excerpt returns s on one line, quoted and cut to excerptLen runes.
func excerpt(s string) string {
	s = strings.Join(strings.FieldsFunc(s, pystr.IsSpace), " ")
	runes := []rune(s)
	if len(runes) > excerptLen {
		s = string(runes[:excerptLen-1]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
