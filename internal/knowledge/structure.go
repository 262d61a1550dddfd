package knowledge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// sections cuts a document along its structure into passages. A heading without
// text of its own is no passage: it stands above those that follow.
func (s settings) sections(c *content, f sourceFile, text string, pages []int) {
	d := s.cutter.Split(text, pages)
	number := make([]int, len(d.Chunks)) // of the passage at each chunk, or of the next
	lead := ""                           // headings that the next passage begins with
	for i, piece := range d.Chunks {
		number[i] = len(c.passages)
		shown := shownText(piece.Text)
		if shown == "" {
			continue
		}
		if isHeader(d.Chunks, i) {
			if shortened(piece) {
				lead += shown + "\n\n"
			}
			continue
		}
		if lead != "" && s.cutter.Fits(lead+shown) {
			shown = lead + shown
		}
		lead = ""
		c.passages = append(c.passages, store.Passage{ID: fmt.Sprintf("%s#%d", f.name, piece.Ordinal), Text: shown, Place: placeOf(piece)})
	}
	for _, def := range d.Definitions {
		if n := number[def.Ordinal]; n < len(c.passages) {
			p := c.passages[n].Place
			p.Definitions = append(p.Definitions, store.Definition{Term: def.Term, Text: def.Text})
		}
	}
	for _, p := range c.passages {
		for i, ref := range p.Place.References {
			if ref.Target >= 0 {
				p.Place.References[i].Target = min(number[ref.Target], len(c.passages)-1)
			}
		}
	}
}

// shownText returns a piece of a document without the blank lines around it.
func shownText(text string) string {
	return strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\n")
}

// isHeader reports whether a chunk is nothing but a heading that the next one
// has above it.
func isHeader(chunks []chunk.Chunk, i int) bool {
	c := chunks[i]
	if c.Kind != chunk.KindHeader || i+1 == len(chunks) {
		return false
	}
	return chunks[i+1].SectionID == c.SectionID || slices.Contains(chunks[i+1].ParentChain, c.Title)
}

// shortened reports whether a heading's line says more than its title: that of
// "Article II Price" is without the word "Article".
func shortened(c chunk.Chunk) bool {
	return c.Number != "" && strings.HasPrefix(c.Title, "("+c.Number+")")
}

// placeOf returns where a chunk stands. Targets of references are chunks yet.
func placeOf(c chunk.Chunk) *store.Place {
	p := &store.Place{
		Kind: string(c.Kind), Title: c.Title, Number: c.Number, Chain: c.ParentChain,
		SectionID: c.SectionID, SubsectionIDs: c.SubsectionIDs, Page: c.Page, LastPage: c.LastPage,
	}
	for _, ref := range c.References {
		p.References = append(p.References, store.Reference{Text: ref.Text, Target: ref.Target})
	}
	return p
}

// searched returns the text that a passage is found by: its own, with where it
// stands.
func searched(p store.Passage) string {
	lines := make([]string, 0, 4)
	if p.Context != "" {
		lines = append(lines, p.Context)
	}
	if place := p.Place; place != nil {
		if titles := titlesOf(place); len(titles) > 0 {
			lines = append(lines, strings.Join(titles, " > "))
		}
		if place.Number != "" {
			lines = append(lines, "Section "+place.Number)
		}
	}
	return strings.Join(append(lines, p.Text), "\n\n")
}

// titlesOf returns the titles of the sections that a passage is in, its own
// last, and only when there is one.
func titlesOf(p *store.Place) []string {
	if p.Title == "" {
		return p.Chain
	}
	return append(slices.Clone(p.Chain), p.Title)
}

// headingsOf returns the headings that a passage's sections are recognised by:
// its own, and those above it. Of a document without structure, those in it are
// its own.
func headingsOf(p store.Passage) (own, above []string) {
	if place := p.Place; place != nil && place.SectionID != "" {
		title := place.Title
		if place.Number != "" && !strings.Contains(title, place.Number) {
			title = "§ " + place.Number + " " + title
		}
		return []string{title}, place.Chain
	}
	for line := range strings.Lines(p.Text) {
		if strings.HasPrefix(line, "#") {
			own = append(own, strings.TrimSpace(line))
		}
	}
	return own, nil
}
