package config

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxPlain is how many zeros a number may be filled up with to be written in
// plain digits.
const maxPlain = 400

// plainNumber returns a JSON number as a person writes it, the same for all ways of
// writing one value: plain digits, without an exponent and without zeros that
// say nothing. Nothing is rounded. Numbers of more than maxPlain zeros keep an
// exponent.
func plainNumber(n json.Number) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	sign := ""
	if negative {
		sign = "-"
	}
	significant := strings.TrimRight(digits, "0")
	shift, err := strconv.ParseInt(exponent, 10, 24)
	if err != nil && exponent != "" {
		return sign + significant + "e" + exponent
	}
	// The value is 0.significant times ten to the power of point.
	point := int(shift) + len(digits) - len(fraction)
	switch n := len(significant); {
	case point > n+maxPlain || point < -maxPlain:
		return sign + significant + "e" + strconv.Itoa(point-n)
	case point >= n:
		return sign + significant + strings.Repeat("0", point-n)
	case point > 0:
		return sign + significant[:point] + "." + significant[point:]
	default:
		return sign + "0." + strings.Repeat("0", -point) + significant
	}
}

// plainNumbers returns a decoded JSON value with all its numbers in plain form.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		return json.Number(plainNumber(value))
	case []any:
		for i := range value {
			value[i] = plainNumbers(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = plainNumbers(value[key])
		}
	}
	return value
}
