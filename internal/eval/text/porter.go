package text

import "slices"

// porterStem returns the stem of word, which is in lower case, by Porter's
// algorithm with the changes of nltk's NLTK_EXTENSIONS mode: irregular forms
// (dying is die), words of one or two letters stay, -ies and -ied of words of
// four letters become -ie, -y becomes -i after a consonant only, and -alli,
// -bli, -fulli and -logi are endings. Whatever is not a, e, i, o, u or y counts
// as a consonant.
//
// Source: Porter, "An algorithm for suffix stripping", Program 14.3 (1980),
// pp. 130-137; the names of the steps are Porter's.
func porterStem(word string) string {
	if stem, ok := irregularStem(word); ok {
		return stem
	}
	w := stem(word)
	if len(w) <= 2 {
		return word
	}
	w = w.step1a()
	w = w.step1b()
	w = w.step1c()
	w = w.step2()
	w = w.step3()
	w = w.step4()
	w = w.step5()
	return string(w)
}

func irregularStem(word string) (string, bool) {
	switch word {
	case "sky", "skies":
		return "sky", true
	case "dying":
		return "die", true
	case "lying":
		return "lie", true
	case "tying":
		return "tie", true
	case "innings", "inning":
		return "inning", true
	case "outings", "outing":
		return "outing", true
	case "cannings", "canning":
		return "canning", true
	case "news", "howe", "proceed", "exceed", "succeed":
		return word, true
	}
	return "", false
}

// stem is a word on its way to its stem, one element a letter.
type stem []rune

func (w stem) step1a() stem {
	if len(w) == 4 && w.endsWith("ies") {
		return w.cut(1)
	}
	w, _ = w.replaceFirst(-1, rule{"sses", "ss"}, rule{"ies", "i"}, rule{"ss", "ss"}, rule{"s", ""})
	return w
}

func (w stem) step1b() stem {
	var short stem
	switch {
	case w.endsWith("ied"):
		if len(w) == 4 {
			return w.cut(1)
		}
		return w.cut(2)
	case w.endsWith("eed"):
		if w.cut(3).measure() > 0 {
			return w.cut(1)
		}
		return w
	case w.endsWith("ed"):
		short = w.cut(2)
	case w.endsWith("ing"):
		short = w.cut(3)
	}
	if !short.hasVowel() {
		return w
	}
	w = short
	if longer, ok := w.replaceFirst(-1, rule{"at", "ate"}, rule{"bl", "ble"}, rule{"iz", "ize"}); ok {
		return longer
	}
	switch last := w[len(w)-1]; {
	case len(w) >= 2 && w[len(w)-2] == last && w.isConsonant(len(w)-1):
		if last == 'l' || last == 's' || last == 'z' {
			return w
		}
		return w.cut(1)
	case w.measure() == 1 && w.endsShort():
		return append(w, 'e')
	}
	return w
}

func (w stem) step1c() stem {
	if n := len(w); n > 2 && w[n-1] == 'y' && w.isConsonant(n-2) {
		w[n-1] = 'i'
	}
	return w
}

func (w stem) step2() stem {
	if w.endsWith("alli") && w.cut(4).measure() > 0 {
		w = w.cut(2)
	}
	if w.endsWith("logi") { // the l counts as part of what must have a vowel before a consonant
		if w.cut(3).measure() > 0 {
			return w.cut(1)
		}
		return w
	}
	w, _ = w.replaceFirst(0,
		rule{"ational", "ate"}, rule{"tional", "tion"}, rule{"enci", "ence"}, rule{"anci", "ance"},
		rule{"izer", "ize"}, rule{"bli", "ble"}, rule{"entli", "ent"}, rule{"eli", "e"},
		rule{"ousli", "ous"}, rule{"ization", "ize"}, rule{"ation", "ate"}, rule{"ator", "ate"},
		rule{"alism", "al"}, rule{"iveness", "ive"}, rule{"fulness", "ful"}, rule{"ousness", "ous"},
		rule{"aliti", "al"}, rule{"iviti", "ive"}, rule{"biliti", "ble"}, rule{"fulli", "ful"})
	return w
}

func (w stem) step3() stem {
	w, _ = w.replaceFirst(0,
		rule{"icate", "ic"}, rule{"ative", ""}, rule{"alize", "al"}, rule{"iciti", "ic"},
		rule{"ical", "ic"}, rule{"ful", ""}, rule{"ness", ""})
	return w
}

func (w stem) step4() stem {
	if w.endsWith("ion") {
		if short := w.cut(3); short.measure() > 1 && (short.endsWith("s") || short.endsWith("t")) {
			return short
		}
		return w
	}
	w, _ = w.replaceFirst(1,
		rule{"al", ""}, rule{"ance", ""}, rule{"ence", ""}, rule{"er", ""}, rule{"ic", ""},
		rule{"able", ""}, rule{"ible", ""}, rule{"ant", ""}, rule{"ement", ""}, rule{"ment", ""},
		rule{"ent", ""}, rule{"ou", ""}, rule{"ism", ""}, rule{"ate", ""}, rule{"iti", ""},
		rule{"ous", ""}, rule{"ive", ""}, rule{"ize", ""})
	return w
}

func (w stem) step5() stem {
	if w.endsWith("e") {
		short := w.cut(1)
		if m := short.measure(); m > 1 || m == 1 && !short.endsShort() {
			w = short
		}
	}
	if w.endsWith("ll") && w.cut(1).measure() > 1 {
		w = w.cut(1)
	}
	return w
}

// rule replaces an ending.
type rule struct{ ending, by string }

// replaceFirst applies the first rule whose ending w has, if the measure of
// what stands before the ending is more than above. Later rules are not tried
// either way.
func (w stem) replaceFirst(above int, rules ...rule) (stem, bool) {
	for _, r := range rules {
		if !w.endsWith(r.ending) {
			continue
		}
		short := w.cut(len(r.ending))
		if above >= 0 && short.measure() <= above {
			return w, false
		}
		return append(short, []rune(r.by)...), true
	}
	return w, false
}

// endsWith reports whether w ends with ending, which is ASCII.
func (w stem) endsWith(ending string) bool {
	return len(w) >= len(ending) && slices.EqualFunc(w[len(w)-len(ending):], []byte(ending), func(r rune, c byte) bool { return r == rune(c) })
}

// cut returns w without its last n letters.
func (w stem) cut(n int) stem { return w[:len(w)-n] }

// measure returns Porter's m, how often a consonant follows a vowel.
func (w stem) measure() int {
	m := 0
	consonant := false
	for i, r := range w {
		before := consonant
		consonant = isConsonant(r, before)
		if i > 0 && consonant && !before {
			m++
		}
	}
	return m
}

func (w stem) hasVowel() bool {
	consonant := false
	for _, r := range w {
		if consonant = isConsonant(r, consonant); !consonant {
			return true
		}
	}
	return false
}

// isConsonant reports whether letter i of w is one.
func (w stem) isConsonant(i int) bool {
	consonant := false
	for _, r := range w[:i+1] {
		consonant = isConsonant(r, consonant)
	}
	return consonant
}

// endsShort is Porter's *o with nltk's addition: w ends consonant, vowel,
// consonant, the last of which is not w, x or y; or is a vowel and a consonant.
func (w stem) endsShort() bool {
	n := len(w)
	switch {
	case n < 2 || w.isConsonant(n-2) || !w.isConsonant(n-1):
		return false
	case n == 2:
		return true
	}
	last := w[n-1]
	return w.isConsonant(n-3) && last != 'w' && last != 'x' && last != 'y'
}

// isConsonant reports whether r is a consonant: y is one at the start of a word
// and after a vowel.
func isConsonant(r rune, afterConsonant bool) bool {
	switch r {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return !afterConsonant
	}
	return true
}
