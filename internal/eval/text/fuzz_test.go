package text

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// FuzzScores holds every score to its promises for any two texts: no panic, a
// number from 0 to 1, the same number each time, and what the originals give a
// text against itself.
func FuzzScores(f *testing.F) {
	for _, c := range readGolden(f).Cases {
		f.Add(c.Hypothesis, c.Reference)
	}
	f.Add("\xff\xfe", "\xff")
	f.Fuzz(func(t *testing.T, hypothesis, reference string) {
		for name, score := range scores() {
			got := score(hypothesis, reference)
			if !(got >= 0 && got <= 1) {
				t.Errorf("%s(%q, %q) = %v", name, hypothesis, reference, got)
			}
			if again := score(hypothesis, reference); again != got {
				t.Errorf("%s(%q, %q) = %v, then %v", name, hypothesis, reference, got, again)
			}
		}
		if forth, back := Levenshtein(hypothesis, reference), Levenshtein(reference, hypothesis); forth != back {
			t.Errorf("Levenshtein of %q and %q = %v, the other way %v", hypothesis, reference, forth, back)
		}
		itself := againstItself(hypothesis)
		for name, score := range scores() {
			if got := score(hypothesis, hypothesis); math.Abs(got-itself[name]) > 1e-9 {
				t.Errorf("%s of %q against itself = %v, want %v", name, hypothesis, got, itself[name])
			}
		}
	})
}

// againstItself returns what the originals give s against s: 1, but 0 where a
// text has none of what is compared, and METEOR's penalty for its one chunk.
func againstItself(s string) map[string]float64 {
	oneIfAny := func(n int) float64 { return float64(min(max(n, 0), 1)) }
	plain := len(plainWords(s))
	want := map[string]float64{
		"bleu":        oneIfAny(len(words13a(s))),
		"rouge1":      oneIfAny(plain),
		"rouge2":      oneIfAny(plain - 1),
		"rougeL":      oneIfAny(plain),
		"f1":          1,
		"levenshtein": 1,
	}
	if n := float64(len(treebankWords(s))); n > 0 {
		want["meteor"] = 1 - 0.5/(n*n*n)
	}
	return want
}

// FuzzWords checks that splitting loses nothing: the words of a text hold its
// letters in their order, and none is empty.
func FuzzWords(f *testing.F) {
	for _, c := range readGolden(f).Texts {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// ASCII marks are left out: straight quotes are written in another way.
		letters := func(words ...string) string {
			return strings.Map(func(r rune) rune {
				if r < utf8.RuneSelf && !isWordRune(r) || pystr.IsSpace(r) {
					return -1
				}
				return r
			}, strings.Join(words, " "))
		}
		if want, got := letters(s), letters(treebankWords(s)...); got != want {
			t.Errorf("treebankWords(%q) = %q", s, treebankWords(s))
		}
		for _, split := range []func(string) []string{words13a, treebankWords, sentences} {
			if words := split(s); slices.Contains(words, "") {
				t.Errorf("%q gives an empty word: %q", s, words)
			}
		}
	})
}

// FuzzEditDistance compares with the textbook method.
func FuzzEditDistance(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add(strings.Repeat("abc", 50), strings.Repeat("acb", 40))
	f.Add(strings.Repeat("x", 64), strings.Repeat("x", 63)+"y")
	f.Fuzz(func(t *testing.T, a, b string) {
		ra, rb := []rune(a), []rune(b)
		row := make([]int, len(rb)+1)
		for j := range row {
			row[j] = j
		}
		for i, x := range ra {
			diagonal := row[0]
			row[0] = i + 1
			for j, y := range rb {
				replace := diagonal
				if x != y {
					replace++
				}
				diagonal = row[j+1]
				row[j+1] = min(replace, row[j]+1, diagonal+1)
			}
		}
		if got := editDistance(ra, rb); got != row[len(rb)] {
			t.Errorf("editDistance(%q, %q) = %d, want %d", a, b, got, row[len(rb)])
		}
	})
}

// FuzzCommonSubsequence compares with the textbook method. Every byte is an
// element.
func FuzzCommonSubsequence(f *testing.F) {
	f.Add("abcbdab", "bdcaba")
	f.Add(strings.Repeat("abc", 50), strings.Repeat("acb", 40))
	f.Add(strings.Repeat("x", 64), strings.Repeat("x", 65))
	f.Fuzz(func(t *testing.T, a, b string) {
		elements := func(s string) []uint32 {
			out := make([]uint32, len(s))
			for i := range len(s) {
				out[i] = uint32(s[i]) + 1
			}
			return out
		}
		row := make([]int, len(b)+1)
		for i := range len(a) {
			diagonal := 0
			for j := range len(b) {
				above := row[j+1]
				if a[i] == b[j] {
					row[j+1] = diagonal + 1
				} else {
					row[j+1] = max(above, row[j])
				}
				diagonal = above
			}
		}
		if got := commonSubsequence(elements(a), elements(b), 256); got != row[len(b)] {
			t.Errorf("commonSubsequence(%q, %q) = %d, want %d", a, b, got, row[len(b)])
		}
	})
}
