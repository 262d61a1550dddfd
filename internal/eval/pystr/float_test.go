package pystr

import (
	"testing"
	"unicode"
)

func TestEveryDecimalDigitHasItsValue(t *testing.T) {
	want := rune('0')
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsDigit(r) {
			continue
		}
		if got := asciiDigit(r); got != want {
			t.Errorf("%U reads as %q, want %q", r, got, want)
		}
		if want++; want > '9' { // every script has its ten in a row
			want = '0'
		}
	}
}
