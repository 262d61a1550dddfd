package text

import "github.com/holodeck-go/holodeck/internal/eval/pystr"

// The parameters of METEOR as nltk sets them.
const (
	meteorAlpha = 0.9 // weight of precision against recall in the mean's denominator
	meteorGamma = 0.5 // the largest penalty
)

// METEOR returns how well the words of two texts pair up, and in how few pieces:
//
//	F = PR / (0.9·P + 0.1·R)
//	METEOR = F · (1 - 0.5 · (chunks/m)³)
//
// m is the number of pairs, P = m over the words of the hypothesis, R = m over
// those of the reference, and a chunk is a run of pairs that are adjacent, in
// the same order, in both texts. Words pair if they are equal but for letter
// case, then, of what is left, if they have the same stem. There are no
// synonyms. No pairs score 0. The penalty never vanishes, so that a text of n
// words scores 1 - 0.5/n³ against itself.
//
// Words are those of the Penn Treebank within each sentence, marks included.
// The sentences are found without a list of abbreviations, which sets "Dr." or
// "e.g." in both texts apart into word and point.
//
// Source: Lavie and Agarwal, "METEOR: An Automatic Metric for MT Evaluation
// with High Levels of Correlation with Human Judgments", WMT 2007. The value is
// that of nltk's meteor_score with an empty WordNet and the words described.
func METEOR(hypothesis, reference string) float64 {
	hyp, ref := lowerAll(treebankWords(hypothesis)), lowerAll(treebankWords(reference))
	a := newAlignment(len(hyp), len(ref))
	a.pair(hyp, ref)
	a.stem(hyp, ref)
	a.pair(hyp, ref)
	if a.pairs == 0 {
		return 0
	}
	m := float64(a.pairs)
	precision, recall := m/float64(len(hyp)), m/float64(len(ref))
	mean := precision * recall / (meteorAlpha*precision + (1-meteorAlpha)*recall)
	fragmentation := float64(a.chunks()) / m
	return mean * (1 - meteorGamma*fragmentation*fragmentation*fragmentation)
}

// lowerAll puts words into lower case, in place.
func lowerAll(words []string) []string {
	for i, w := range words {
		words[i] = pystr.Lower(w)
	}
	return words
}

// free stands for the partner of a word that has none.
const free = -1

// alignment pairs the words of a hypothesis with those of a reference.
type alignment struct {
	ofHyp, ofRef []int // the place of each word's partner in the other text, or free
	pairs        int
}

func newAlignment(hyp, ref int) *alignment {
	a := &alignment{ofHyp: make([]int, hyp), ofRef: make([]int, ref)}
	for i := range a.ofHyp {
		a.ofHyp[i] = free
	}
	for j := range a.ofRef {
		a.ofRef[j] = free
	}
	return a
}

// pair gives each free word of hyp, from the last to the first, the last equal
// word of ref that is free.
func (a *alignment) pair(hyp, ref []string) {
	last := make(map[string]int, len(ref)) // word → 1 + its last free place in ref
	before := make([]int, len(ref))        // the same for the places before
	for j, w := range ref {
		if a.ofRef[j] == free {
			before[j] = last[w]
			last[w] = j + 1
		}
	}
	for i := len(hyp) - 1; i >= 0; i-- {
		j := last[hyp[i]] - 1
		if a.ofHyp[i] != free || j < 0 {
			continue
		}
		last[hyp[i]] = before[j]
		a.ofHyp[i], a.ofRef[j] = j, i
		a.pairs++
	}
}

// stem replaces the words that are free by their stems.
func (a *alignment) stem(hyp, ref []string) {
	for i, w := range hyp {
		if a.ofHyp[i] == free {
			hyp[i] = porterStem(w)
		}
	}
	for j, w := range ref {
		if a.ofRef[j] == free {
			ref[j] = porterStem(w)
		}
	}
}

// chunks counts the runs of pairs that are adjacent in both texts.
func (a *alignment) chunks() int {
	n := 0
	for i, j := range a.ofHyp {
		if j != free && (i == 0 || a.ofHyp[i-1] == free || a.ofHyp[i-1]+1 != j) {
			n++
		}
	}
	return n
}
