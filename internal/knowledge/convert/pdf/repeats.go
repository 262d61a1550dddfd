package pdf

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// fewestPages is how many pages tell what repeats on them, and repeatShare how
	// many of them a running head or foot is on.
	fewestPages, repeatShare = 4, 0.6
	// margin is the share of the height of a page that its head has, and its foot.
	margin = 0.125
	// samePlace is how far, in points, the same line is from its place.
	samePlace = 4.0
	// farthest is how much the number of a page may differ from where the page is
	// in the file: numbers that differ more, if they grow like it, may be those of
	// invoices.
	farthest = 50
)

// pageNumbers recognises the numbers of pages.
type pageNumbers struct{ named, lone *regexp.Regexp }

func newPageNumbers() pageNumbers {
	const of = `(?:\s*(?:/|of|von|de|di|sur|av|van|z)\s*\d{1,5})?`
	return pageNumbers{
		named: regexp.MustCompile(`(?i)(?:\b(?:page|pg\.?|seite|página|pagina|sida|side|strona)\s*\d{1,5}` + of + `|第\s*\d{1,5}\s*页)`),
		lone:  regexp.MustCompile(`(?i)^[\s\-–—|(\[]*(\d{1,5})` + of + `[\s\-–—|)\]]*$`),
	}
}

// margined is a line in the head or foot of a page.
type margined struct {
	page, line int     // indexes
	at         float64 // points from the edge of the page
	counter    bool    // it is the number of a page and nothing else
}

// withoutRepeats removes the lines that stand at the same place in the head or
// foot of most pages and are the same but for the number of the page. The first
// of each stays, unless it is that number alone: what the line says is said once.
func withoutRepeats(pages []page, lines [][]line) {
	if len(pages) < fewestPages {
		return
	}
	drop := map[[2]int]bool{}
	for _, group := range marginLines(pages, lines) {
		slices.SortStableFunc(group, func(a, b margined) int { return cmp.Compare(a.at, b.at) })
		place := group[len(group)/2].at
		group = slices.DeleteFunc(group, func(m margined) bool { return math.Abs(m.at-place) > samePlace })
		slices.SortFunc(group, func(a, b margined) int { return cmp.Or(a.page-b.page, a.line-b.line) })
		on := map[int]bool{}
		for _, m := range group {
			on[m.page] = true
		}
		if float64(len(on)) < repeatShare*float64(len(pages)) {
			continue
		}
		for i, m := range group {
			if i > 0 || m.counter {
				drop[[2]int{m.page, m.line}] = true
			}
		}
	}
	for p, all := range lines {
		kept := all[:0:0]
		for i, l := range all {
			if !drop[[2]int{p, i}] {
				kept = append(kept, l)
			}
		}
		lines[p] = kept
	}
}

// marginLines returns the lines of the heads and feet of pages, those together
// that are the same but for the number of the page.
func marginLines(pages []page, lines [][]line) map[string][]margined {
	numbers := newPageNumbers()
	out := map[string][]margined{}
	for p, pg := range pages {
		for i, l := range lines[p] {
			edge, at := "head", pg.height-l.top
			if l.bottom < at {
				edge, at = "foot", l.bottom
			}
			if at > margin*pg.height {
				continue
			}
			text, counter := numbers.without(l, pg.number)
			out[edge+text] = append(out[edge+text], margined{p, i, at, counter})
		}
	}
	return out
}

// without returns the text of a line with a sign in the place of the number of
// the page, and whether nothing else is in it. A number is one that a word says
// to be, or that stands by itself, or at an end of the line with room before the
// rest, and that grows with the page.
func (n pageNumbers) without(l line, page int) (text string, counter bool) {
	const sign = "\x00"
	text = l.text()
	if named := n.named.ReplaceAllString(text, sign); named != text {
		return named, !strings.ContainsFunc(named, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	}
	if offset, ok := n.offset(text, page); ok {
		return sign + offset, true
	}
	const room = 72 // points
	cells := l.cells()
	last := len(cells) - 1
	if last < 1 {
		return text, false
	}
	if offset, ok := n.offset(cells[last].text, page); ok && cells[last].left-cells[last-1].right >= room {
		return joinCells(cells[:last]) + sign + offset, false
	}
	if offset, ok := n.offset(cells[0].text, page); ok && cells[1].left-cells[0].right >= room {
		return joinCells(cells[1:]) + sign + offset, false
	}
	return text, false
}

// offset returns by how much a number that stands alone differs from that of the
// page in the file, and false for what is none.
func (n pageNumbers) offset(text string, page int) (string, bool) {
	m := n.lone.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	number, err := strconv.Atoi(m[1])
	if by := number - page; err == nil && -farthest <= by && by <= farthest {
		return fmt.Sprint(by), true
	}
	return "", false
}

func joinCells(cells []cell) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = c.text
	}
	return strings.Join(texts, " ")
}
