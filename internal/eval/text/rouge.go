package text

import (
	"math/bits"
	"strings"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// ROUGE1 returns the F1 of single words: 2PR/(P+R), where P is the share of the
// hypothesis's words that are in the reference and R the share of the
// reference's words that are in the hypothesis, a repeated word counted at most
// as often as the other text has it. 0 if they have nothing in common.
//
// Words are runs of a to z and 0 to 9 after lower-casing, unstemmed; all else,
// letters with accents included, separates words.
//
// Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", ACL
// 2004 workshop. The value is the fmeasure of rouge-score's rouge1.
func ROUGE1(hypothesis, reference string) float64 { return rougeN(hypothesis, reference, 1) }

// ROUGE2 is [ROUGE1] with pairs of adjacent words in place of single words. A
// text of a single word has no pairs, and scores 0. The value is the fmeasure
// of rouge-score's rouge2.
func ROUGE2(hypothesis, reference string) float64 { return rougeN(hypothesis, reference, 2) }

func rougeN(hypothesis, reference string, n int) float64 {
	v := vocabulary{}
	hyp, ref := v.number(plainWords(hypothesis)), v.number(plainWords(reference))
	return harmonicMean(overlap(hyp, ref, n), len(hyp)-n+1, len(ref)-n+1)
}

// ROUGEL returns the F1 of the longest common subsequence of words, the most
// words that both texts have in the same order, with others in between or not:
// 2PR/(P+R), where P is its length over that of the hypothesis and R over that
// of the reference. Words are those of [ROUGE1]. 0 if they have nothing in
// common.
//
// Source: as [ROUGE1], section 3.1, with β = 1. The value is the fmeasure of
// rouge-score's rougeL, which takes the whole text as one sentence.
func ROUGEL(hypothesis, reference string) float64 {
	v := vocabulary{}
	hyp, ref := v.number(plainWords(hypothesis)), v.number(plainWords(reference))
	return harmonicMean(commonSubsequence(hyp, ref, len(v)), len(hyp), len(ref))
}

// plainWords returns the runs of a to z and 0 to 9 in s after lower-casing.
func plainWords(s string) []string {
	return strings.FieldsFunc(pystr.Lower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// commonSubsequence returns the length of the longest common subsequence of a
// and b, whose elements are from 1 to largest. It takes len(a)·len(b)/64 steps.
//
// The table of the textbook method is computed in columns of 64 elements of a,
// one bit each: a zero says that the length grows there. Source: Hyyrö,
// "Bit-Parallel LCS-length Computation Revisited", AWOCA 2004.
func commonSubsequence(a, b []uint32, largest int) int {
	where := make([]uint64, largest+1) // element → its places in the column
	carry := make([]uint64, len(b))    // what the column before hands to this one, by row
	length := 0
	for len(a) > 0 {
		column := a[:min(64, len(a))]
		a = a[len(column):]
		for i, x := range column {
			where[x] |= 1 << i
		}
		flat := ^uint64(0)
		for j, y := range b {
			match := flat & where[y]
			var sum uint64
			sum, carry[j] = bits.Add64(flat, match, carry[j])
			flat = sum | flat&^match
		}
		length += bits.OnesCount64(^flat & (^uint64(0) >> (64 - len(column))))
		for _, x := range column {
			where[x] = 0
		}
	}
	return length
}
