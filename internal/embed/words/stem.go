package words

import "bytes"

// minStem is the shortest stem, in letters: below it, words are too alike.
const minStem = 3

// stem returns w without its English inflection, in the same memory. Words
// with anything but a to z, and words of three letters or fewer, are returned
// as they are.
//
// The rules run in this order, each at most once: plural; -ly; -ed, -ing and
// -ion, the last two of which may leave -at behind; -ment, -ness, -able and
// -al; -y of a long word; a final e; a doubled last consonant.
func stem(w []byte) []byte {
	if len(w) <= minStem {
		return w
	}
	for _, b := range w {
		if b < 'a' || b > 'z' {
			return w
		}
	}
	w = singular(w)
	w = cut(w, "ly", 4)
	w = verb(w)
	for _, suffix := range []struct {
		text string
		keep int
	}{{"ment", minStem}, {"ness", minStem}, {"able", 4}, {"al", 5}, {"y", 7}, {"e", minStem}} {
		w = cut(w, suffix.text, suffix.keep)
	}
	if n := len(w); n > minStem && w[n-1] == w[n-2] && !vowel(w[n-1]) {
		w = w[:n-1]
	}
	return w
}

// singular removes a plural or third-person ending.
func singular(w []byte) []byte {
	n := len(w)
	switch {
	case n > 4 && bytes.HasSuffix(w, []byte("ies")):
		w[n-3] = 'y'
		return w[:n-2]
	case n > 4 && hasAnySuffix(w, "sses", "shes", "ches", "xes", "zes"):
		return w[:n-2]
	case w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i':
		return w[:n-1]
	}
	return w
}

// verb removes the ending of a verb form, or of a noun made from a verb.
func verb(w []byte) []byte {
	n := len(w)
	switch {
	case n > 4 && bytes.HasSuffix(w, []byte("ied")):
		w[n-3] = 'y'
		return w[:n-2]
	case bytes.HasSuffix(w, []byte("eed")):
		if n > 5 {
			return w[:n-1]
		}
		return w
	case bytes.HasSuffix(w, []byte("ed")) && voiced(w[:n-2]):
		return cut(w[:n-2], "at", 4)
	case bytes.HasSuffix(w, []byte("ing")) && voiced(w[:n-3]):
		return cut(w[:n-3], "at", 4)
	case hasAnySuffix(w, "sion", "tion") && n-3 > minStem:
		return cut(w[:n-3], "at", 4)
	case bytes.HasSuffix(w, []byte("ate")) && n-3 >= 4:
		return w[:n-3]
	}
	return w
}

// cut removes suffix where it leaves at least keep letters.
func cut(w []byte, suffix string, keep int) []byte {
	if n := len(w) - len(suffix); n >= keep && string(w[n:]) == suffix {
		return w[:n]
	}
	return w
}

// voiced reports whether w is long enough for a stem and has a vowel.
func voiced(w []byte) bool {
	return len(w) >= minStem && bytes.ContainsAny(w, "aeiouy")
}

func hasAnySuffix(w []byte, suffixes ...string) bool {
	for _, s := range suffixes {
		if len(w) >= len(s) && string(w[len(w)-len(s):]) == s {
			return true
		}
	}
	return false
}

func vowel(b byte) bool {
	switch b {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return false
}
