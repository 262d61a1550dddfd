package pystr

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
)

// ParseFloat reads what Python's float reads, but for underscores and white
// space around: decimal digits of any script, an exponent, inf, infinity and
// nan in any case; no hexadecimal. A number out of range is infinite. It reports
// whether s is a number.
func ParseFloat(s string) (float64, bool) {
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
