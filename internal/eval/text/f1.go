package text

import (
	"strings"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// F1 returns the F1 of the words of two short answers: 2PR/(P+R), where P is
// the share of the hypothesis's words that are in the reference and R the share
// of the reference's words that are in the hypothesis, a repeated word counted
// at most as often as the other text has it.
//
// Words are what stands between white space after lower-casing and removing
// ASCII punctuation and the articles a, an and the. If no words are left of one
// text the score is 0, and 1 if none are left of either.
//
// Source: Rajpurkar et al., "Know What You Don't Know: Unanswerable Questions
// for SQuAD", ACL 2018. The value is that of the data set's evaluation script.
func F1(hypothesis, reference string) float64 {
	v := vocabulary{}
	hyp, ref := v.number(answerWords(hypothesis)), v.number(answerWords(reference))
	if len(hyp) == 0 && len(ref) == 0 {
		return 1
	}
	return harmonicMean(overlap(hyp, ref, 1), len(hyp), len(ref))
}

// answerWords returns the words of s that SQuAD compares.
func answerWords(s string) []string {
	s = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && isASCIIPunct(byte(r)) {
			return -1
		}
		return r
	}, pystr.Lower(s))
	return strings.FieldsFunc(withoutArticles(s), pystr.IsSpace)
}

// withoutArticles returns s with a space in place of each run of letters and
// digits that is an article: "a—b" holds one, "à" does not.
func withoutArticles(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) })
		if n < 0 {
			n = len(s)
		}
		switch word := s[:n]; word {
		case "a", "an", "the":
			b.WriteByte(' ')
		default:
			b.WriteString(word)
		}
		s = s[n:]
		n = strings.IndexFunc(s, isWordRune)
		if n < 0 {
			n = len(s)
		}
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}

// isWordRune is \w of Python's re.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
}
