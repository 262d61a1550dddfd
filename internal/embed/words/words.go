package words

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Version names the rules of this package. Stored indexes carry it.
const Version = "words/2"

// Word is one word of a text.
type Word struct {
	// Stem is the word in lower case, without its inflection. It is valid
	// until the next word.
	Stem []byte
	// Stop says that the word carries no meaning of its own, such as "the".
	Stop bool
}

// All yields the words of text in order.
func All(text string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for w := range Lower(text) {
			if !yield(Word{Stop: stop(w), Stem: stem(w)}) {
				return
			}
		}
	}
}

// Fold returns text as it is compared: in the one form of characters that can be
// written in several (NFKC of Unicode Standard Annex 15), without differences of
// case (its full case folding, ß as ss), and without signs that are not seen, such
// as soft hyphens. Only the case of ASCII text is left as it is.
func Fold(text string) string {
	if ascii(text) {
		return text
	}
	const dotless = "i" // İ folds to an i with a second dot, which nobody types
	text = cases.Fold().String(norm.NFKC.String(strings.Map(seen, text)))
	return norm.NFKC.String(strings.ReplaceAll(text, "i\u0307", dotless))
}

// seen returns r, or -1 for a sign that says how to break or join and is no part
// of a word: soft hyphen, joiners, byte order mark.
func seen(r rune) rune {
	switch r {
	case '\u00AD', '\u200C', '\u200D', '\u2060', '\uFEFF':
		return -1
	}
	return r
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Lower yields the words of text in order, folded and with their inflection. A
// word is valid until the next.
func Lower(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		text := Fold(text)
		var buf []byte
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case unspaced(r):
				end := i + size
				for end < len(text) {
					r, size := utf8.DecodeRuneInString(text[end:])
					if !unspaced(r) {
						break
					}
					end += size
				}
				if !pairs(text[i:end], yield) {
					return
				}
				i = end
			case inWord(r):
				buf, i = spaced(buf[:0], text, i)
				if !yield(buf) {
					return
				}
			default:
				i += size
			}
		}
	}
}

// spaced appends the word that begins at text[i] to buf, in lower case, and
// returns it with the offset after the word.
func spaced(buf []byte, text string, i int) ([]byte, int) {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unspaced(r):
			return buf, i
		case inWord(r):
			buf = utf8.AppendRune(buf, lower(r))
		case (r == '.' || r == ',') && betweenDigits(text, i):
			if r == '.' {
				buf = append(buf, '.')
			}
		default:
			return buf, i
		}
		i += size
	}
	return buf, i
}

// betweenDigits reports whether the byte at text[i] has an ASCII digit on
// either side.
func betweenDigits(text string, i int) bool {
	return i > 0 && i+1 < len(text) && digit(text[i-1]) && digit(text[i+1])
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

// pairs yields the overlapping pairs of characters of run, or its only
// character.
func pairs(run string, yield func([]byte) bool) bool {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		return yield([]byte(run))
	}
	for start, second := 0, first; second < len(run); {
		_, size := utf8.DecodeRuneInString(run[second:])
		if !yield([]byte(run[start : second+size])) {
			return false
		}
		start, second = second, second+size
	}
	return true
}

// inWord reports whether r is part of a word.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// unspaced reports whether r belongs to a script that is written without
// spaces between words, or with spaces that do not part them.
func unspaced(r rune) bool {
	const firstThai, longVowelMark = 0x0E00, 0x30FC
	if r < firstThai {
		return false
	}
	return r == longVowelMark || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// lower returns a character of folded text in lower case.
func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// stop reports whether the lower-case word carries no meaning of its own:
// English function words, question words and the small change of a request.
func stop(word []byte) bool {
	switch string(word) {
	case "a", "an", "the", "this", "that", "these", "those", "such",
		"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves",
		"you", "your", "yours", "yourself", "he", "him", "his", "she", "her", "hers",
		"it", "its", "itself", "they", "them", "their", "theirs", "themselves",
		"am", "is", "are", "was", "were", "be", "been", "being",
		"do", "does", "did", "doing", "done", "have", "has", "had", "having",
		"can", "could", "may", "might", "must", "shall", "should", "will", "would",
		"don", "doesn", "didn", "isn", "aren", "wasn", "weren", "won", "wouldn", "couldn", "shouldn", "hasn", "haven", "cannot",
		"d", "ll", "m", "re", "s", "t", "ve",
		"and", "or", "but", "nor", "if", "then", "else", "than", "so", "because", "as", "while", "though", "although",
		"of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during",
		"to", "from", "in", "on", "onto", "out", "off", "over", "under", "up", "upon", "within", "without", "per", "via",
		"what", "which", "who", "whom", "whose", "when", "where", "why", "how", "there", "here",
		"any", "some", "each", "every", "all", "both", "either", "neither", "other", "another", "own", "same",
		"no", "not", "only", "just", "also", "too", "very", "much", "many", "more", "most", "again", "ever", "still", "even",
		"long", "take", "takes", "make", "makes", "give", "gives",
		"get", "gets", "got", "getting", "let", "want", "wants", "wanted", "need", "needs", "needed", "like",
		"please", "thanks", "thank", "hello", "hi", "hey", "ok", "yes", "tell", "know",
		"etc", "eg", "ie":
		return true
	}
	return false
}
