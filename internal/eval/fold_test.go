package eval

import (
	"testing"
	"unicode"
)

func TestFoldMakesCaseVariantsAlike(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if upper := unicode.ToUpper(r); unicode.ToLower(upper) == r && fold(string(upper)) != fold(string(r)) {
			t.Errorf("%q and %q differ", upper, r)
		}
	}
}

func TestFoldKeepsLettersApart(t *testing.T) {
	for _, pair := range [][2]string{{"a", "b"}, {"ı", "i"}, {"é", "e"}, {"1", "l"}} {
		if fold(pair[0]) == fold(pair[1]) {
			t.Errorf("%q and %q are alike", pair[0], pair[1])
		}
	}
}
