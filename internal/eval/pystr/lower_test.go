package pystr

import "testing"

// The wanted texts are what Unicode's SpecialCasing.txt says, as Python's
// str.lower does.
func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"İstanbul": "i\u0307stanbul", "ΟΔΟΣ": "οδος", "Σ": "σ", "ΣΑΣ Α": "σας α", "STRASSE": "strasse", "ẞ": "ß",
	} {
		if got := Lower(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
