package config

import (
	"fmt"
	"strings"
)

// maxListed is how many known keys a message lists when none is near.
const maxListed = 12

// didYouMean returns a hint for a word that is not one of the known ones: the
// nearest, or else all of them where they are few.
func didYouMean(word string, known []string) string {
	if best := Nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(known) > 0 && len(known) <= maxListed {
		return "known here: " + strings.Join(known, ", ")
	}
	return ""
}

// minPrefix is how long a word must be to be taken for the start of another.
const minPrefix = 3

// Nearest returns the known word with the smallest edit distance to word, or
// else one that begins with it. It returns "" when none is near: more than a
// third of the letters differ.
func Nearest(word string, known []string) string {
	best, bestDistance := "", max(2, len(word)/3)+1
	lower := strings.ToLower(word)
	for _, k := range known {
		if d := distance(lower, strings.ToLower(k), bestDistance); d < bestDistance && d < len(k) {
			best, bestDistance = k, d
		}
	}
	if best == "" && len(word) >= minPrefix {
		for _, k := range known {
			if strings.HasPrefix(strings.ToLower(k), lower) {
				return k
			}
		}
	}
	return best
}

// distance returns the edit distance of two words (optimal string alignment:
// insertions, deletions, substitutions and swaps of neighbours), or limit when
// it is not less than that.
func distance(a, b string, limit int) int {
	ra, rb := []rune(a), []rune(b)
	if n := len(ra) - len(rb); n >= limit || -n >= limit {
		return limit
	}
	before, last, row := make([]int, len(rb)+1), make([]int, len(rb)+1), make([]int, len(rb)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		row[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(rb)], limit)
}
