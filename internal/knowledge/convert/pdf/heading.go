package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bookmark is an entry of the outline of a file.
type bookmark struct {
	title string // as it is compared
	level int
	page  int // from 1, or 0 when it is not known
}

// plain returns a title as it is compared: letters and digits in lower case.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

const (
	maxLevel = 6
	// minShare is how many of the bookmarks must be found for them to count.
	minShare = 0.3
	// larger is how much larger than most of the text a heading is.
	larger = 1.12
	// longestHeading and longestBold are the most characters of a heading, and of
	// one that only its weight tells.
	longestHeading, longestBold = 200, 100
)

// findHeadings sets the levels of the lines that are headings.
func findHeadings(blocks []block, marks []bookmark) {
	if len(marks) > 0 && byBookmarks(blocks, marks) {
		return
	}
	bySize(blocks)
}

// byBookmarks makes headings of the blocks the bookmarks name, and reports
// whether enough of those are there.
func byBookmarks(blocks []block, marks []bookmark) bool {
	found := map[int]int{} // level by block
	named := 0
	for _, m := range marks {
		at := slices.IndexFunc(blocks, func(b block) bool { return (m.page == 0 || b.page == m.page) && names(m.title, b) })
		if at < 0 {
			continue
		}
		named++
		if _, ok := found[at]; !ok {
			found[at] = m.level
		}
	}
	if float64(named) < minShare*float64(len(marks)) {
		return false
	}
	for at, level := range found {
		blocks[at].level, blocks[at].item = level, false
	}
	return true
}

// names reports whether a bookmark's title is that of a block: the same, or all
// but the number before it.
func names(title string, b block) bool {
	if b.kind != paragraph || len(b.text) > 2*longestHeading {
		return false
	}
	const least = 8
	text := plain(b.text)
	return text == title || len(title) >= least && strings.HasSuffix(text, " "+title) || len(text) >= least && strings.HasSuffix(title, " "+text)
}

// bySize makes headings of short blocks that are larger than most of the text,
// the larger the higher, and below them of short bold ones.
func bySize(blocks []block) {
	body := bodySize(blocks)
	var sizes []float64
	for _, b := range blocks {
		if b.size >= body*larger && b.couldBeHeading(longestHeading) && !slices.Contains(sizes, b.size) {
			sizes = append(sizes, b.size)
		}
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, b := range blocks {
		level := 0
		switch at := slices.Index(sizes, b.size); {
		case at >= 0 && b.couldBeHeading(longestHeading):
			level = min(at+1, maxLevel)
		case b.bold && b.size >= body-1 && b.couldBeHeading(longestBold) && !endsSentence(b.text):
			level = min(len(sizes)+1, maxLevel)
		}
		if level > 0 {
			blocks[i].level, blocks[i].item = level, false
		}
	}
}

// couldBeHeading reports whether a block is short prose. Headings have numbers as
// items of lists do, but no signs.
func (b block) couldBeHeading(longest int) bool {
	return b.kind == paragraph && !b.sign && utf8.RuneCountInString(b.text) <= longest && strings.ContainsFunc(b.text, unicode.IsLetter)
}

func endsSentence(text string) bool { return strings.ContainsAny(text[len(text)-1:], ".,;:?!") }

// bodySize returns the size that most of the text has.
func bodySize(blocks []block) float64 {
	chars := map[float64]int{}
	var body float64
	for _, b := range blocks {
		chars[b.size] += len(b.text)
		if n := chars[b.size]; n > chars[body] || n == chars[body] && b.size < body {
			body = b.size
		}
	}
	return body
}

// rounded returns a size to the half point: the same font is not always of the
// same size.
func rounded(size float64) float64 { return math.Round(2*size) / 2 }
