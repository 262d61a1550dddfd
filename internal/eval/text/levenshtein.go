package text

// Levenshtein returns how alike two texts are letter by letter: 1 - d/l, where
// d is the least number of code points to insert, delete or replace that makes
// one text the other, and l the number of code points of the longer text. Two
// empty texts score 1. Nothing is ignored; an accent written as a code point of
// its own is one.
//
// Source: Levenshtein, "Binary codes capable of correcting deletions,
// insertions, and reversals", Soviet Physics Doklady 10 (1966).
func Levenshtein(a, b string) float64 {
	ra, rb := []rune(a), []rune(b)
	longer := max(len(ra), len(rb))
	if longer == 0 {
		return 1
	}
	return 1 - float64(editDistance(ra, rb))/float64(longer)
}

// editDistance returns the Levenshtein distance of a and b. It takes
// len(a)·len(b)/64 steps.
//
// The table of the textbook method, D[i][j] for the first i of a and j of b, is
// computed in columns of 64 elements of a, one bit each. Neighbouring cells
// differ by at most 1, so that a cell is known by two bits: whether it is one
// more or one less than its neighbour. Source: Myers, "A Fast Bit-Vector
// Algorithm for Approximate String Matching Based on Dynamic Programming", J.
// ACM 46 (1999), in the form of Hyyrö, "A Bit-Vector Algorithm for Computing
// Levenshtein and Damerau Edit Distances", Nordic J. of Computing 10 (2003).
func editDistance(a, b []rune) int {
	a, b = withoutCommonEnds(a, b)
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	numbers := make(map[rune]int32)
	letters := make([]int32, len(b)) // b with letters numbered from 1
	for j, r := range b {
		n, ok := numbers[r]
		if !ok {
			n = int32(len(numbers) + 1)
			numbers[r] = n
		}
		letters[j] = n
	}
	where := make([]uint64, len(numbers)+1) // letter → its places in the column; [0] for those not in b

	// The last cell of each row of the column before, against the row above:
	// one more or one less. Above a, the table counts the letters of b.
	more, less := make([]uint8, len(b)), make([]uint8, len(b))
	for j := range more {
		more[j] = 1
	}
	for rest := a; len(rest) > 0; {
		column := rest[:min(64, len(rest))]
		rest = rest[len(column):]
		for i, r := range column {
			where[numbers[r]] |= 1 << i
		}
		where[0] = 0
		last := len(column) - 1
		down, up := ^uint64(0), uint64(0) // along a: one more, one less
		for j, n := range letters {
			match := where[n]
			moreIn, lessIn := uint64(more[j]), uint64(less[j])
			reach := match | lessIn
			diagonal := (((reach & down) + down) ^ down) | reach | up // as far as the cell before both
			rowMore := up | ^(diagonal | down)
			rowLess := diagonal & down
			more[j], less[j] = uint8(rowMore>>last&1), uint8(rowLess>>last&1)
			rowMore = rowMore<<1 | moreIn
			rowLess = rowLess<<1 | lessIn
			down = rowLess | ^(diagonal | rowMore)
			up = diagonal & rowMore
		}
		for _, r := range column {
			where[numbers[r]] = 0
		}
	}
	distance := len(a)
	for j := range letters {
		distance += int(more[j]) - int(less[j])
	}
	return distance
}

// withoutCommonEnds cuts off what a and b begin and end with alike, which adds
// nothing to their distance.
func withoutCommonEnds(a, b []rune) ([]rune, []rune) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
