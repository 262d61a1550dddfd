package knowledge

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/index"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// Hit is a passage that a search found.
type Hit struct {
	agent.Passage
	// Legs are the scores of what was searched by: meaning, words, exact matches.
	Legs []index.Leg `json:"legs"`
	// Location are the titles of the sections around the passage's own, outermost
	// first; Title and Section are the title and the name of its own.
	Location []string `json:"location,omitempty"`
	Title    string   `json:"title,omitempty"`
	Section  string   `json:"section,omitempty"`
	// Page is where it begins, from 1; 0 in a document without pages.
	Page int `json:"page,omitempty"`
	// Context is what a model wrote of where the passage stands.
	Context string `json:"context,omitempty"`
	// Definitions are what its words are defined as elsewhere, References the
	// sections it refers to.
	Definitions []Term      `json:"definitions,omitempty"`
	References  []Reference `json:"references,omitempty"`

	meta []store.Field
}

// Term is what a document says that a term means.
type Term struct {
	Name string `json:"term"`
	Text string `json:"text"`
}

// Reference is a section that a passage refers to.
type Reference struct {
	Text  string `json:"text"`  // as the passage has it
	Title string `json:"title"` // of the section
	Begin string `json:"begin"` // of its text
}

// hit returns what was found as a person and a model see it.
func (v *searchTool) hit(s *snapshot, found index.Hit) Hit {
	p, source := s.passage(found.Passage)
	h := Hit{
		Passage: agent.Passage{ID: p.ID, Text: p.Text, Source: source, Score: found.Score},
		Legs:    found.Legs, Context: p.Context, meta: p.Meta,
	}
	note := func(key, value string) {
		if h.Metadata == nil {
			h.Metadata = map[string]string{}
		}
		h.Metadata[key] = value
	}
	for _, f := range p.Meta {
		note(f.Name, f.Value)
	}
	if p.Place == nil {
		return h
	}
	h.Location, h.Title, h.Section, h.Page = p.Place.Chain, p.Place.Title, p.Place.SectionID, p.Place.Page
	if h.Page > 0 {
		note("page", strconv.Itoa(h.Page))
	}
	if h.Section != "" {
		note("section", h.Section)
	}
	if s.glossary != nil {
		h.Definitions = s.glossary.of(p, source)
	}
	if v.settings.references {
		h.References = s.references(found.Passage, p)
	}
	return h
}

// references returns the sections that a passage refers to, other than its own.
func (s *snapshot) references(n int, p store.Passage) []Reference {
	var out []Reference
	seen := map[string]bool{p.Place.SectionID: true}
	begin := s.begins[s.part(n)]
	for _, ref := range p.Place.References {
		if ref.Target < 0 {
			continue
		}
		target, _ := s.passage(begin + ref.Target)
		if seen[target.Place.SectionID] {
			continue
		}
		seen[target.Place.SectionID] = true
		out = append(out, Reference{Text: ref.Text, Title: target.Place.Title, Begin: target.Text})
	}
	return out
}

// glossary finds the definitions that passages need. Those of a document are for
// the document alone, as in contracts; those of a file that is a glossary by its
// name are for all.
type glossary struct {
	own    map[string]*terms // by source
	common *terms
}

// terms are definitions with what finds them.
type terms struct {
	definitions []chunk.Definition
	passages    []string // that they stand in
	finder      *chunk.Glossary
}

// newGlossary returns the glossary of a snapshot.
func newGlossary(s *snapshot) *glossary {
	g := &glossary{own: map[string]*terms{}, common: &terms{}}
	for i, part := range s.parts {
		for _, p := range part.Passages {
			if p.Place != nil && len(p.Place.Definitions) > 0 {
				g.list(s.sources[i]).add(p)
			}
		}
	}
	for _, t := range g.own {
		t.finder = chunk.NewGlossary(t.definitions)
	}
	g.common.finder = chunk.NewGlossary(g.common.definitions)
	return g
}

// list returns the list that the definitions of a source belong to.
func (g *glossary) list(source string) *terms {
	name := strings.ToLower(path.Base(source))
	if strings.Contains(name, "glossary") || strings.Contains(name, "definitions") {
		return g.common
	}
	if g.own[source] == nil {
		g.own[source] = &terms{}
	}
	return g.own[source]
}

func (t *terms) add(p store.Passage) {
	for _, d := range p.Place.Definitions {
		t.definitions = append(t.definitions, chunk.Definition{Term: d.Term, Text: d.Text})
		t.passages = append(t.passages, p.ID)
	}
}

// of returns the definitions of the terms that a passage uses and does not
// define itself.
func (g *glossary) of(p store.Passage, source string) []Term {
	var out []Term
	seen := map[string]bool{}
	for _, t := range []*terms{g.own[source], g.common} {
		if t == nil {
			continue
		}
		for _, i := range t.finder.In(p.Text) {
			d := t.definitions[i]
			if seen[d.Key()] {
				continue
			}
			seen[d.Key()] = true
			if t.passages[i] != p.ID {
				out = append(out, Term{d.Term, d.Text})
			}
		}
	}
	return out
}

// result writes hits as the model reads them, and as passages.
func (s settings) result(hits []Hit) agent.ToolResult {
	if len(hits) == 0 {
		return agent.TextResult(agent.NothingFound)
	}
	var text string
	switch {
	case s.structure != nil:
		text = sectionsText(hits)
	case s.records != nil:
		text = recordsText(hits)
	default:
		text = documentsText(hits)
	}
	result := agent.TextResult(text)
	for _, h := range hits {
		result.Passages = append(result.Passages, h.Passage)
	}
	return result
}

// documentsText writes passages of plain documents.
func documentsText(hits []Hit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Found %d result(s):\n", len(hits))
	for i, h := range hits {
		fmt.Fprintf(&b, "\n[%d] Score: %.2f | Source: %s\n%s\n", i+1, h.Score, h.Source, h.Text)
	}
	return strings.TrimRight(b.String(), " \t\n")
}

// recordsText writes records.
func recordsText(hits []Hit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Found %d result(s):\n", len(hits))
	for i, h := range hits {
		fmt.Fprintf(&b, "\n[%d] ID: %s | Score: %.2f\nContent: %s\n", i+1, h.ID, h.Score, h.Text)
		if len(h.meta) == 0 {
			continue
		}
		pairs := make([]string, len(h.meta))
		for j, f := range h.meta {
			pairs[j] = f.Name + ": " + f.Value
		}
		fmt.Fprintf(&b, "Metadata: %s\n", strings.Join(pairs, ", "))
	}
	return strings.TrimRight(b.String(), " \t\n")
}

// mostOfText is how many characters of a definition or a section are shown
// beside a passage.
const mostOfText = 100

// sectionsText writes passages of documents with structure.
func sectionsText(hits []Hit) string {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.sectionText()
	}
	return strings.Join(texts, "\n---\n")
}

func (h Hit) sectionText() string {
	location := strings.Join(h.Location, " > ")
	if location == "" {
		location = "Root"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Score: %.3f | Source: %s\nLocation: %s\n", h.Score, h.Source, location)
	if h.Section != "" {
		fmt.Fprintf(&b, "Section: %s\n", h.Section)
	}
	if h.Page > 0 {
		fmt.Fprintf(&b, "Page: %d\n", h.Page)
	}
	b.WriteString("\n" + h.Text)
	if len(h.Definitions) > 0 {
		b.WriteString("\n\nRelevant definitions:")
		for _, d := range h.Definitions {
			fmt.Fprintf(&b, "\n  - %s: %s", d.Name, beginning(d.Text))
		}
	}
	if len(h.References) > 0 {
		b.WriteString("\n\nReferenced sections:")
		for _, r := range h.References {
			fmt.Fprintf(&b, "\n  - %s: %s", r.Text, beginning(r.Begin))
		}
	}
	return b.String()
}

// beginning returns the beginning of a text in one line.
func beginning(text string) string {
	const ellipsis = "..."
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= mostOfText {
		return text
	}
	return string([]rune(text)[:mostOfText-len(ellipsis)]) + ellipsis
}
