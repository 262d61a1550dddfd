package text

import (
	"math"
	"strings"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// BLEU returns how much of the hypothesis is in the reference, in runs of one
// to four words:
//
//	BLEU = BP · exp(1/N · Σ ln pₙ), n = 1…N
//
// pₙ is the share of the hypothesis's n-grams that are in the reference, each
// counted at most as often as it is there. N is 4, or the number of words of a
// shorter hypothesis. A share of zero would make the whole score zero; the
// k-th such share counts as 1/(2ᵏ · number of n-grams) instead. BP = exp(1 - r/h)
// punishes a hypothesis of h words that is shorter than the reference of r
// words. Texts without a common word score 0, as does an empty one.
//
// Letter case and punctuation count. Words are those of mteval-v13a.
//
// Sources: Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine
// Translation", ACL 2002; the smoothing is method 3 of Chen and Cherry, "A
// Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU", WMT
// 2014. The value is sacrebleu's sentence_bleu divided by 100.
func BLEU(hypothesis, reference string) float64 {
	v := vocabulary{}
	hyp, ref := v.number(words13a(hypothesis)), v.number(words13a(reference))
	var logs float64
	order, smoothing := min(maxOrder, len(hyp)), 1.0
	for n := 1; n <= order; n++ {
		total := float64(len(hyp) - n + 1)
		shared := float64(overlap(hyp, ref, n))
		if shared == 0 {
			if n == 1 {
				return 0
			}
			smoothing *= 2
			shared = 1 / smoothing
		}
		logs += math.Log(shared / total)
	}
	if order == 0 {
		return 0
	}
	score := math.Exp(logs / float64(order))
	if len(hyp) < len(ref) {
		score *= math.Exp(1 - float64(len(ref))/float64(len(hyp)))
	}
	return score
}

// words13a splits s as mteval-v13a does, the script of the NIST evaluations.
func words13a(s string) []string {
	s = strings.TrimRightFunc(s, pystr.IsSpace)
	// One after the other, not in one pass: &amp;lt; ends as <.
	for _, r := range []struct{ old, new string }{
		{"<skipped>", ""},
		{"-\n", ""}, // a word hyphenated at the end of a line
		{"\n", " "},
		{"&quot;", `"`},
		{"&amp;", "&"},
		{"&lt;", "<"},
		{"&gt;", ">"},
	} {
		s = strings.ReplaceAll(s, r.old, r.new)
	}
	line := make([]byte, 0, len(s)+2)
	line = append(line, ' ')
	line = append(line, s...)
	line = append(line, ' ')

	// All marks are ASCII, so that bytes will do.
	line = spaced(line, isMark13a)
	line = splitPairs(line, func(a, b byte) bool { return !isDigit(a) && isPoint(b) }, "", " ", " ")
	line = splitPairs(line, func(a, b byte) bool { return isPoint(a) && !isDigit(b) }, " ", " ", "")
	line = splitPairs(line, func(a, b byte) bool { return isDigit(a) && b == '-' }, "", " ", " ")
	return strings.FieldsFunc(string(line), pystr.IsSpace)
}

// spaced puts a space on both sides of each byte of s for which mark is true.
func spaced(s []byte, mark func(byte) bool) []byte {
	out := make([]byte, 0, len(s)+len(s)/4)
	for _, c := range s {
		if mark(c) {
			out = append(out, ' ', c, ' ')
		} else {
			out = append(out, c)
		}
	}
	return out
}

// splitPairs puts before, between and after where they belong around each pair
// of adjacent bytes for which match is true. Pairs are found from left to right
// and do not overlap.
func splitPairs(s []byte, match func(a, b byte) bool, before, between, after string) []byte {
	out := make([]byte, 0, len(s)+len(s)/4)
	for i := 0; i < len(s); i++ {
		if i+1 == len(s) || !match(s[i], s[i+1]) {
			out = append(out, s[i])
			continue
		}
		out = append(out, before...)
		out = append(out, s[i])
		out = append(out, between...)
		out = append(out, s[i+1])
		out = append(out, after...)
		i++
	}
	return out
}

// isMark13a reports whether c is always a word of its own: ASCII punctuation
// but for the apostrophe, comma, hyphen and point.
func isMark13a(c byte) bool {
	switch c {
	case '\'', ',', '-', '.':
		return false
	}
	return isASCIIPunct(c)
}

func isPoint(c byte) bool { return c == '.' || c == ',' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isASCIIPunct reports whether c prints and is neither letter, digit nor space.
func isASCIIPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}
