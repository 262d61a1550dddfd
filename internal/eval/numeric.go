package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// numeric passes when answer and ground truth are numbers a and e with
// |a−e| ≤ absolute or |a−e| ≤ relative·|e|, bounds included. The same reading
// applies to both sides.
type numeric struct {
	absolute, relative  float64
	percent, separators bool
}

func (n numeric) score(_ context.Context, answer, truth string) (score, error) {
	want, err := n.parse(truth)
	if err != nil {
		return score{}, fmt.Errorf("ground_truth %s %w", excerpt(truth), err)
	}
	got, err := n.parse(answer)
	if err != nil {
		return score{reason: fmt.Sprintf("the answer %s %v", excerpt(answer), err)}, nil
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
	s = strings.TrimFunc(s, isSpace)
	scale := 1.0
	if rest, ok := strings.CutSuffix(s, "%"); ok {
		if !n.percent {
			return 0, errors.New("is a percentage; set accept_percent: true to read it as a share")
		}
		s, scale = strings.TrimRightFunc(rest, isSpace), 100
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
	f, ok := parseFloat(s)
	if !ok {
		return 0, errors.New("is not a number")
	}
	return f / scale, nil
}

// isSeparator reports whether r may group the digits of a number.
func isSeparator(r rune) bool { return r == ',' || r == '_' || r == '\u00a0' || r == '\u202f' }

// parseFloat reads what Python's float reads: decimal digits of any script,
// an exponent, inf, infinity and nan in any case; no hexadecimal. A number out
// of range is infinite.
func parseFloat(s string) (float64, bool) {
	s = strings.Map(asciiDigit, s)
	unsigned := strings.TrimPrefix(s, "+")
	if len(unsigned) == len(s) {
		unsigned = strings.TrimPrefix(s, "-")
	}
	switch strings.ToLower(unsigned) {
	case "inf", "infinity", "nan":
	default:
		if !isDecimal(unsigned) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// isDecimal reports whether s is digits with at most one point, and perhaps an
// exponent.
func isDecimal(s string) bool {
	mantissa, exponent, hasExponent := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, hasExponent = s[:i], s[i+1:], true
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !allDigits(whole+fraction) {
		return false
	}
	if !hasExponent {
		return true
	}
	if exponent != "" && strings.ContainsRune("+-", rune(exponent[0])) {
		exponent = exponent[1:]
	}
	return exponent != "" && allDigits(exponent)
}

func allDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// asciiDigit maps a decimal digit of any script to its ASCII form. The digits
// of a script stand in a row, and the ranges of unicode.Nd begin at a zero.
func asciiDigit(r rune) rune {
	if r < 0x80 || !unicode.IsDigit(r) {
		return r
	}
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}
