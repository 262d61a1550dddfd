package text

// maxOrder is the length of the longest n-gram that any score counts.
const maxOrder = 4

// ngram holds the numbers of up to maxOrder adjacent words; the rest is 0.
type ngram [maxOrder]uint32

// vocabulary gives equal words equal numbers, from 1 on.
type vocabulary map[string]uint32

// number returns the number of each word.
func (v vocabulary) number(words []string) []uint32 {
	numbers := make([]uint32, len(words))
	for i, w := range words {
		n, ok := v[w]
		if !ok {
			n = uint32(len(v) + 1)
			v[w] = n
		}
		numbers[i] = n
	}
	return numbers
}

// overlap counts the n-grams of a that b has too. One that a repeats counts at
// most as often as it stands in b.
func overlap(a, b []uint32, n int) int {
	if len(a) < n || len(b) < n {
		return 0
	}
	left := make(map[ngram]int, len(b)-n+1)
	var g ngram
	for i := range len(b) - n + 1 {
		copy(g[:], b[i:i+n])
		left[g]++
	}
	shared := 0
	for i := range len(a) - n + 1 {
		copy(g[:], a[i:i+n])
		if k := left[g]; k > 0 {
			left[g] = k - 1
			shared++
		}
	}
	return shared
}

// harmonicMean returns the F1 of shared units, of which the hypothesis has
// hyp and the reference ref: 2PR/(P+R) with P = shared/hyp and R = shared/ref.
func harmonicMean(shared, hyp, ref int) float64 {
	if shared == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(hyp+ref)
}
