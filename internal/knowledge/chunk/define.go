package chunk

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Definition is what a document says that a term means.
type Definition struct {
	// Term is as the document writes it.
	Term string
	// Text is the sentence or item that defines it, the term included.
	Text string
	// Ordinal is that of the chunk it stands in.
	Ordinal int
}

// Key is how terms are compared: in lower case, with single blanks.
func (d Definition) Key() string { return termKey(d.Term) }

func termKey(term string) string { return strings.Join(strings.Fields(strings.ToLower(term)), " ") }

// maxDefinition is how many characters of a definition are kept.
const maxDefinition = 1000

// definer finds definitions.
type definer struct {
	// means finds a quoted or bold term and the words that define it, anywhere.
	means *regexp.Regexp
	// entry finds an item of a list of terms: in sections of definitions only.
	entry *regexp.Regexp
}

func newDefiner() *definer {
	const quoted = `(?:["\x{201C}\x{201E}]([^"\x{201C}\x{201D}\n]{1,80})["\x{201D}\x{201C}]|\*\*([^*\n]{1,80})\*\*)`
	return &definer{
		means: regexp.MustCompile(quoted + `\s*(?i:\([^)\n]*\)\s*)?,?\s*(?i:means|shall\s+mean|has\s+the\s+meaning|have\s+the\s+meaning|is\s+defined\s+as|refers\s+to)\b`),
		entry: regexp.MustCompile(`^\s*(?:[-*+]\s+|\d+[.)]\s+|\([a-z0-9]+\)\s*)?(?:\*\*([^*]{1,80}?):?\*\*|["\x{201C}]([^"\x{201D}]{1,80})["\x{201D}]|([^\s:|*"][^:|]{0,60}?))\s*(?::|\s[\x{2013}\x{2014}-]|\bmeans\b|\bis\b)\s*\S`),
	}
}

// find returns the definitions of a text, the first of each term, and sets the
// terms of the chunks they stand in.
func (d *definer) find(text string, sections []section, chunks []Chunk) []Definition {
	var out []Definition
	seen := map[string]bool{}
	add := func(term string, at span) {
		term = strings.Trim(term, " .,:;*_")
		key := termKey(term)
		i := chunkAt(chunks, at.start)
		if key == "" || i < 0 || seen[key] {
			return
		}
		seen[key] = true
		out = append(out, Definition{Term: term, Text: shorten(strings.TrimSpace(text[at.start:at.end]), maxDefinition), Ordinal: i})
		if chunks[i].Term == "" {
			chunks[i].Term = term
		}
	}
	for _, m := range d.means.FindAllStringSubmatchIndex(text, -1) {
		add(group(text, m, 1, 2), paragraphAt(text, m[0]))
	}
	for _, sec := range sections {
		if !defining(sec.title) && !slices.ContainsFunc(sec.parents, defining) {
			continue
		}
		body := sec.span
		if sec.title != "" {
			body.start = min(sec.head.end, body.end)
		}
		if n := len(sec.parents); n > 0 && defining(sec.parents[n-1]) && !defining(sec.title) && strings.TrimSpace(text[body.start:body.end]) != "" {
			add(sec.title, body) // a heading a term
			continue
		}
		d.entries(text, body, add)
	}
	slices.SortStableFunc(out, func(a, b Definition) int { return a.Ordinal - b.Ordinal })
	return out
}

// entries adds what the lines of a section of definitions define.
func (d *definer) entries(text string, at span, add func(string, span)) {
	offset := at.start
	for l := range strings.Lines(text[at.start:at.end]) {
		if m := d.entry.FindStringSubmatchIndex(l); m != nil {
			add(group(l, m, 1, 2, 3), span{offset, offset + len(l)})
		}
		offset += len(l)
	}
}

// group returns the first of the groups that matched.
func group(s string, m []int, groups ...int) string {
	for _, g := range groups {
		if m[2*g] >= 0 {
			return s[m[2*g]:m[2*g+1]]
		}
	}
	return ""
}

// paragraphAt returns the paragraph, or the item of a list, that offset is in,
// from the line of offset on.
func paragraphAt(text string, offset int) span {
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	end := start
	for l := range strings.Lines(text[start:]) {
		if end > start && (blank(l) || startsItem(l)) {
			break
		}
		end += len(l)
	}
	return span{start, end}
}

// startsItem reports whether a line begins an item of a list, a heading, or
// another defined term.
func startsItem(l string) bool {
	l = strings.TrimSpace(l)
	if l == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(l)
	return strings.ContainsRune("-*+#(\"\u201C|", first) || unicode.IsDigit(first)
}

// defining reports whether a section of that title holds definitions.
func defining(title string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "definition", "definitions", "glossary", "interpretation", "terminology":
			return true
		case "terms":
			return termKey(title) == "terms" || strings.Contains(strings.ToLower(title), "defined terms")
		}
	}
	return false
}

// definesTerms reports whether the chunk is in a section of definitions.
func definesTerms(c Chunk) bool {
	return defining(c.Title) || slices.ContainsFunc(c.ParentChain, defining)
}

// chunkAt returns the index of the chunk that has the offset, or -1.
func chunkAt(chunks []Chunk, offset int) int {
	i, _ := slices.BinarySearchFunc(chunks, offset, func(c Chunk, offset int) int {
		if c.End <= offset {
			return -1
		}
		return 1
	})
	if i == len(chunks) {
		return -1
	}
	return i
}

// Glossary finds defined terms in texts. It is safe for concurrent use.
type Glossary struct {
	// terms are the words of each term, by the first of them; longest first.
	terms map[string][]term
}

type term struct {
	words []string
	at    int // index of the definition
}

// NewGlossary returns the glossary of some definitions. Of several of one term
// the first counts.
func NewGlossary(definitions []Definition) *Glossary {
	g := &Glossary{terms: map[string][]term{}}
	seen := map[string]bool{}
	for i, d := range definitions {
		words := termWords(d.Term)
		key := strings.Join(words, " ")
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		g.terms[words[0]] = append(g.terms[words[0]], term{words, i})
	}
	for _, terms := range g.terms {
		slices.SortStableFunc(terms, func(a, b term) int { return len(b.words) - len(a.words) })
	}
	return g
}

// In returns the definitions, by their index, whose terms text uses, in the
// order in which it does. A plural of a term is the term.
func (g *Glossary) In(text string) []int {
	if len(g.terms) == 0 {
		return nil
	}
	words := termWords(text)
	var out []int
	seen := map[int]bool{}
	for i := 0; i < len(words); i++ {
		for _, t := range g.terms[words[i]] {
			if len(words)-i < len(t.words) || !slices.Equal(words[i:i+len(t.words)], t.words) {
				continue
			}
			if !seen[t.at] {
				seen[t.at] = true
				out = append(out, t.at)
			}
			i += len(t.words) - 1
			break
		}
	}
	return out
}

// termWords returns the words of a text as they are compared.
func termWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	for i, w := range words {
		words[i] = singular(w)
	}
	return words
}

// singular returns an English word without the s of its plural.
func singular(w string) string {
	const least = 4
	switch {
	case len(w) < least || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	}
	return strings.TrimSuffix(w, "s")
}
