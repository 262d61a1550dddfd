package chunk

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// StructureOptions says how a document is cut along its structure.
type StructureOptions struct {
	// MaxTokens is the longest chunk, overlap included.
	MaxTokens int
	// Overlap is how many tokens of the chunk before are repeated, at most, where
	// a section takes several chunks.
	Overlap int
	// Even cuts chunks of even length instead of following the sections; each
	// chunk then belongs to the section it begins in.
	Even bool
	// Domain is the document_domain whose numbering is recognised: none,
	// us_legislative, au_legislative, academic, technical or legal_contract.
	Domain string
	// Depth is how many kinds of part of the domain are recognised, from the
	// outermost, each beginning a chunk. Zero means all, the outer half of which
	// begin chunks.
	Depth int
	// Definitions and References say whether those are extracted.
	Definitions, References bool
}

// Document is a text cut along its structure.
type Document struct {
	// Chunks are in the order of the text. Their own texts, joined, are the text.
	Chunks      []Chunk
	Definitions []Definition
}

// Kind says what a chunk is.
type Kind string

// The kinds of chunk.
const (
	KindHeader      Kind = "header"      // a heading without text
	KindDefinition  Kind = "definition"  // defines terms
	KindRequirement Kind = "requirement" // says what shall or must be
	KindContent     Kind = "content"
)

// Chunk is a passage with its place in the document.
type Chunk struct {
	Passage
	// Ordinal counts the chunks of the document from 0.
	Ordinal int
	Kind    Kind
	// Title is that of the section, "" before the first heading.
	Title string
	// Number is the section's number as the document writes it, such as "4.2" or
	// "IV", or "".
	Number string
	// Level is that of the section's heading, from 1; 0 before the first.
	Level int
	// ParentChain are the titles of the sections around this one, outermost
	// first.
	ParentChain []string
	// SectionID names the section: what it is, the titles around it and its own,
	// such as "h2_a_b_c". The pieces of a section share it; sections of one name
	// are numbered. A chunk before the first heading has "chunk_0".
	SectionID string
	// SubsectionIDs name the numbered parts that begin in this chunk and are no
	// sections.
	SubsectionIDs []string
	// Page and LastPage are where its own text begins and ends, from 1; 0 in a
	// document without pages.
	Page, LastPage int
	// Term is the first term that the chunk defines, or "".
	Term string
	// References are what it refers to, each once, in order.
	References []Reference

	body int // offset of the text under its heading
}

// Structurer cuts documents along their structure. It is safe for concurrent
// use.
type Structurer struct {
	opts     StructureOptions
	tokens   *Tokens
	patterns []pattern
	splitAt  int
	defines  *definer
	refers   *referrer
}

// minTokens is the least limit that every character fits into.
const minTokens = 8

// NewStructurer returns a Structurer. The error says what is wrong with the
// options.
func NewStructurer(opts StructureOptions) (*Structurer, error) {
	if opts.MaxTokens < minTokens {
		return nil, fmt.Errorf("a chunk of %d tokens is too small; the least is %d", opts.MaxTokens, minTokens)
	}
	if opts.Overlap < 0 || opts.Overlap > opts.MaxTokens-minTokens {
		return nil, fmt.Errorf("an overlap of %d tokens leaves no room in chunks of %d", opts.Overlap, opts.MaxTokens)
	}
	s := &Structurer{opts: opts, tokens: &Tokens{}, patterns: newPatterns(opts.Domain)}
	s.splitAt = len(s.patterns) / 2
	if opts.Depth != 0 {
		if err := CheckDepth(opts.Domain, opts.Depth); err != nil {
			return nil, err
		}
		s.patterns = s.patterns[:opts.Depth]
		s.splitAt = opts.Depth
	}
	if opts.Definitions {
		s.defines = newDefiner()
	}
	if opts.References {
		s.refers = newReferrer()
	}
	return s, nil
}

// Fits reports whether a text is no longer than a chunk may be.
func (s *Structurer) Fits(text string) bool { return s.tokens.Count(text) <= s.opts.MaxTokens }

// section is what stands between two headings that split.
type section struct {
	span
	head    head // zero before the first heading
	level   int  // below those of the sections around it
	title   string
	parents []string
	id      string
	parts   []part
}

// part is a numbered part inside a section.
type part struct {
	start int
	id    string
}

// Split cuts a text. Pages are the offsets at which its pages begin, none when
// it has no pages. Blank pieces have no chunk.
func (s *Structurer) Split(text string, pages []int) Document {
	o := outline{patterns: s.patterns, splitAt: s.splitAt}
	o.read(text)
	sections := s.sections(text, o.heads)
	var d Document
	if s.opts.Even {
		d.Chunks = s.even(text, sections)
	} else {
		for _, sec := range sections {
			d.Chunks = append(d.Chunks, s.cut(text, sec)...)
		}
	}
	d.Chunks = mergeBlank(text, d.Chunks)
	for i := range d.Chunks {
		c := &d.Chunks[i]
		c.Ordinal = i
		c.Page, c.LastPage = PageOf(pages, c.Start), PageOf(pages, c.End-1)
		if c.SectionID == "" {
			c.SectionID = fmt.Sprintf("chunk_%d", i)
		}
	}
	if s.defines != nil {
		d.Definitions = s.defines.find(text, sections, d.Chunks)
	}
	for i := range d.Chunks {
		c := &d.Chunks[i]
		c.Kind = kindOf(text, *c)
		if s.refers != nil {
			c.References = s.refers.find(text[c.Start:c.End])
		}
	}
	if s.refers != nil {
		resolve(d.Chunks)
	}
	return d
}

// sections returns the sections of a text, which cover it.
func (s *Structurer) sections(text string, heads []head) []section {
	out := []section{{span: span{0, len(text)}}}
	var around []section // the sections the next one is in
	seen := map[string]int{}
	for _, h := range heads {
		at := &out[len(out)-1]
		if !h.splits {
			at.parts = append(at.parts, part{h.start, s.id(h, h.level, around)})
			continue
		}
		for len(around) > 0 && !around[len(around)-1].head.above(h) {
			around = around[:len(around)-1]
		}
		level := h.level
		if n := len(around); n > 0 {
			level = max(level, around[n-1].level+1)
		}
		sec := section{span: span{h.start, len(text)}, head: h, level: level, title: h.title, id: s.id(h, level, around)}
		for _, a := range around {
			sec.parents = append(sec.parents, a.title)
		}
		seen[sec.id]++
		if n := seen[sec.id]; n > 1 {
			sec.id = fmt.Sprintf("%s_%d", sec.id, n)
		}
		at.end = h.start
		if strings.TrimSpace(text[at.start:at.end]) == "" && len(out) == 1 {
			sec.start, out = 0, out[:0] // blank lines before the first heading
		}
		out = append(out, sec)
		around = append(around, sec)
	}
	return out
}

// id names a part: what it is, the titles of the sections around it, and its
// own.
func (s *Structurer) id(h head, level int, around []section) string {
	name := fmt.Sprintf("h%d", level)
	if h.pattern >= 0 {
		name = s.patterns[h.pattern].name
	}
	pieces := []string{name}
	for _, a := range around {
		if a.level < level {
			pieces = append(pieces, slug(a.title))
		}
	}
	pieces = append(pieces, slug(h.title))
	return strings.Join(slices.DeleteFunc(pieces, func(p string) bool { return p == "" }), "_")
}

// slug returns the letters and digits of s in lower case, joined by underscores.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	return strings.Join(words, "_")
}

// cut returns the chunks of a section.
func (s *Structurer) cut(text string, sec section) []Chunk {
	starts := make([]int, len(sec.parts))
	for i, p := range sec.parts {
		starts[i] = p.start
	}
	var out []Chunk
	for _, p := range s.pack(text, sec.span, starts) {
		out = append(out, s.chunk(p, sec))
	}
	return out
}

// even returns the chunks of a text that is cut without regard to sections.
func (s *Structurer) even(text string, sections []section) []Chunk {
	var out []Chunk
	at := 0
	for _, p := range s.pack(text, span{0, len(text)}, nil) {
		for at+1 < len(sections) && sections[at+1].start <= p.Start {
			at++
		}
		c := s.chunk(p, sections[at])
		for _, later := range sections[at+1:] {
			if later.start < p.End {
				c.SubsectionIDs = append(c.SubsectionIDs, later.id)
			}
		}
		out = append(out, c)
	}
	return out
}

// chunk places a passage in its section.
func (s *Structurer) chunk(p Passage, sec section) Chunk {
	c := Chunk{
		Passage: p, Title: sec.title, Level: sec.level, Number: numberOf(sec.head),
		ParentChain: sec.parents, SectionID: sec.id, body: sec.head.body,
	}
	for _, part := range sec.parts {
		if p.Start <= part.start && part.start < p.End {
			c.SubsectionIDs = append(c.SubsectionIDs, part.id)
		}
	}
	return c
}

// pack cuts a span into passages of at most the limit, overlap included.
func (s *Structurer) pack(text string, at span, starts []int) []Passage {
	p := packer{text: text, limit: s.opts.MaxTokens - s.opts.Overlap, measure: s.tokens.Count, tokens: true, starts: starts}
	p.at = span{at.start, at.start}
	p.place(at, parts)
	p.flush()
	for i := 1; s.opts.Overlap > 0 && i < len(p.out); i++ {
		own := p.out[i]
		tail := s.tail(text[p.out[i-1].Start:own.Start], text[own.Start:own.End])
		p.out[i].Text = tail + text[own.Start:own.End]
	}
	return p.out
}

// tail returns the end of before that is repeated in front of own: whole words,
// as many as the overlap allows.
func (s *Structurer) tail(before, own string) string {
	var starts []int // of words
	inWord := false
	for i, r := range before {
		if space := unicode.IsSpace(r); space == inWord {
			inWord = !space
			if inWord {
				starts = append(starts, i)
			}
		}
	}
	i, _ := slices.BinarySearchFunc(starts, 0, func(start, _ int) int {
		tail := before[start:]
		if len(tail) <= s.opts.Overlap*maxTokenBytes && s.tokens.Count(tail) <= s.opts.Overlap && s.tokens.Count(tail+own) <= s.opts.MaxTokens {
			return 1
		}
		return -1
	})
	if i == len(starts) {
		return ""
	}
	return before[starts[i]:]
}

// mergeBlank joins chunks that are blank to the one before, or after, so that
// no text is lost and none is without words.
func mergeBlank(text string, chunks []Chunk) []Chunk {
	out := chunks[:0:0]
	start := -1 // of blank text before the first chunk
	for _, c := range chunks {
		switch {
		case strings.TrimSpace(text[c.Start:c.End]) != "":
			if start >= 0 {
				c.Start, start = start, -1
			}
			out = append(out, c)
		case len(out) > 0:
			out[len(out)-1].End = c.End
		case start < 0:
			start = c.Start
		}
	}
	return out
}

// PageOf returns the page, counted from 1, that an offset is on; 0 where there
// are none. Pages are the offsets at which they begin.
func PageOf(pages []int, offset int) int {
	i, exact := slices.BinarySearch(pages, offset)
	if exact {
		for i+1 < len(pages) && pages[i+1] == offset { // pages without text
			i++
		}
		return i + 1
	}
	return i
}

// maxRequirement is how long a chunk that says what must be is, in bytes.
const maxRequirement = 500

// kindOf says what a chunk is.
func kindOf(text string, c Chunk) Kind {
	body := strings.TrimSpace(text[min(max(c.Start, c.body), c.End):c.End])
	switch {
	case body == "" && c.Title != "":
		return KindHeader
	case c.Term != "" || definesTerms(c):
		return KindDefinition
	case obliges(body) && (c.Level == 0 || len(body) < maxRequirement):
		return KindRequirement
	}
	return KindContent
}

// obliges reports whether text says what shall or must be.
func obliges(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "shall" || word == "must" {
			return true
		}
	}
	return false
}
