package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// numeric passes when answer and ground truth are numbers a and e with
// |a−e| ≤ absolute or |a−e| ≤ relative·|e|, bounds included. The same reading
// applies to both sides.
type numeric struct {
	absolute, relative  float64
	percent, separators bool
}

func (n numeric) score(_ context.Context, s sample) (score, error) {
	answer, truth := s.answer, s.truth
	want, err := n.parse(truth)
	if err != nil {
		return score{}, fmt.Errorf("ground_truth %s %w", s.in.excerpt(truth), err)
	}
	got, err := n.parse(answer)
	if err != nil {
		return score{reason: fmt.Sprintf("the answer %s %v", s.in.excerpt(answer), err)}, nil
	}
	if n.near(got, want) {
		return score{value: 1, pass: true}, nil
	}
	return score{reason: fmt.Sprintf("expected %s, got %s", strings.TrimSpace(truth), strings.TrimSpace(answer))}, nil
}

// near reports whether got is close enough to want. Nothing is near an infinity
// but itself, and nothing at all is near NaN.
func (n numeric) near(got, want float64) bool {
	if got == want {
		return true
	}
	if math.IsInf(got, 0) || math.IsInf(want, 0) {
		return false
	}
	distance := math.Abs(got - want)
	return distance <= n.absolute || n.relative > 0 && distance <= n.relative*math.Abs(want)
}

// parse reads a number. The error completes a sentence that begins with the
// text.
func (n numeric) parse(s string) (float64, error) {
	s = strings.TrimFunc(s, pystr.IsSpace)
	scale := 1.0
	if rest, ok := strings.CutSuffix(s, "%"); ok {
		if !n.percent {
			return 0, errors.New("is a percentage; set accept_percent: true to read it as a share")
		}
		s, scale = strings.TrimRightFunc(rest, pystr.IsSpace), 100
	}
	if strings.ContainsFunc(s, isSeparator) {
		if !n.separators {
			return 0, errors.New("has thousands separators; set accept_thousands_separators: true to read past them")
		}
		s = strings.Map(func(r rune) rune {
			if isSeparator(r) {
				return -1
			}
			return r
		}, s)
	}
	f, ok := pystr.ParseFloat(s)
	if !ok {
		return 0, errors.New("is not a number")
	}
	return f / scale, nil
}

// isSeparator reports whether r may group the digits of a number.
func isSeparator(r rune) bool { return r == ',' || r == '_' || r == '\u00a0' || r == '\u202f' }
