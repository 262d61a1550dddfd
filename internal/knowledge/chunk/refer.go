package chunk

import (
	"regexp"
	"slices"
	"strings"
)

// Reference is what a chunk refers to.
type Reference struct {
	// Text is as the document writes it, such as "Section 4.2(b)".
	Text string
	// Number is the number in it, such as "4.2(b)", or "" in a reference by
	// title.
	Number string
	// Target is the ordinal of the chunk where what is referred to begins, or -1
	// when the document does not have it.
	Target int
}

// maxReferences is how many references of a chunk are kept.
const maxReferences = 50

// referrer finds references.
type referrer struct {
	number *regexp.Regexp // by number
	link   *regexp.Regexp // Markdown links inside the document
	title  *regexp.Regexp // see "Title"
}

func newReferrer() *referrer {
	const number = `(\d+[A-Za-z]?(?:\.\d+)*(?:\([A-Za-z0-9]{1,4}\))*|[IVXLCDM]+\b|[A-Z]\b)`
	return &referrer{
		number: regexp.MustCompile(`(?:\b(?i:sections?|secs?\.|articles?|art\.|clauses?|chapters?|subsections?|paragraphs?|subparagraphs?|parts?|divisions?|titles?|appendix|annex|schedules?|exhibits?|steps?)\s+|§+\s*)` + number),
		link:   regexp.MustCompile(`\[([^\]\n]{1,120})\]\(#[^)\s]+\)`),
		title:  regexp.MustCompile(`(?i:\bsee(?:\s+also)?|\bas\s+defined\s+in|\bpursuant\s+to|\bin\s+accordance\s+with)\s+(?i:the\s+section\s+)?["\x{201C}]([^"\x{201D}\n]{2,100})["\x{201D}]`),
	}
}

// find returns what a text refers to, each once.
func (r *referrer) find(text string) []Reference {
	type at struct {
		start int
		ref   Reference
	}
	var all []at
	for _, m := range r.number.FindAllStringSubmatchIndex(text, -1) {
		if headingLine(text, m[0]) {
			continue
		}
		all = append(all, at{m[0], Reference{Text: strings.Join(strings.Fields(text[m[0]:m[1]]), " "), Number: text[m[2]:m[3]], Target: -1}})
	}
	for _, by := range []struct {
		pattern *regexp.Regexp
		marks   string // without any of which it matches nothing
	}{{r.link, "["}, {r.title, "\"\u201C"}} {
		if !strings.ContainsAny(text, by.marks) {
			continue
		}
		for _, m := range by.pattern.FindAllStringSubmatchIndex(text, -1) {
			all = append(all, at{m[0], Reference{Text: text[m[2]:m[3]], Target: -1}})
		}
	}
	slices.SortStableFunc(all, func(a, b at) int { return a.start - b.start })
	var out []Reference
	seen := map[string]bool{}
	for _, a := range all {
		if key := strings.ToLower(a.ref.Text); !seen[key] && len(out) < maxReferences {
			seen[key] = true
			out = append(out, a.ref)
		}
	}
	return out
}

// headingLine reports whether the offset is at the beginning of a line, where
// such words name the part itself.
func headingLine(text string, offset int) bool {
	line := text[strings.LastIndexByte(text[:offset], '\n')+1 : offset]
	return strings.Trim(line, "#* \t") == ""
}

// resolve finds the chunks that references lead to.
func resolve(chunks []Chunk) {
	byNumber, byTitle := map[string]int{}, map[string]int{}
	for i, c := range chunks {
		if _, ok := byNumber[strings.ToLower(c.Number)]; !ok && c.Number != "" {
			byNumber[strings.ToLower(c.Number)] = i
		}
		if _, ok := byTitle[termKey(c.Title)]; !ok && c.Title != "" {
			byTitle[termKey(c.Title)] = i
		}
	}
	for i := range chunks {
		for j := range chunks[i].References {
			ref := &chunks[i].References[j]
			if ref.Number == "" {
				if at, ok := byTitle[termKey(ref.Text)]; ok {
					ref.Target = at
				}
				continue
			}
			// 4.2(b) is in 4.2 when it has no section of its own.
			for number := strings.ToLower(ref.Number); number != ""; number = outer(number) {
				if at, ok := byNumber[number]; ok {
					ref.Target = at
					break
				}
			}
		}
	}
}

// outer returns the number of what a bracketed number is in, or "".
func outer(number string) string {
	if i := strings.LastIndexByte(number, '('); i > 0 && strings.HasSuffix(number, ")") {
		return number[:i]
	}
	return ""
}

// numberOf returns the number of a heading, or "".
func numberOf(h head) string {
	if h.marker != "" {
		return h.marker
	}
	return leadingNumber(h.title)
}

// leadingNumber returns the number a title begins with, such as that of "4.2
// Payment", "§ 4.2", "Section 4.2" and "Article IV".
func leadingNumber(title string) string {
	fields := strings.Fields(strings.ReplaceAll(title, "§", " § "))
	if len(fields) == 0 {
		return ""
	}
	switch strings.ToLower(fields[0]) {
	case "§", "section", "sec.", "article", "art.", "clause", "chapter", "part", "division", "title",
		"appendix", "annex", "schedule", "exhibit", "step", "paragraph":
		if len(fields) > 1 {
			return trimNumber(fields[1])
		}
		return ""
	}
	if n := trimNumber(fields[0]); n != "" && n[0] <= '9' {
		return n
	}
	return ""
}

// trimNumber returns the number a word is, without what follows it, or "".
func trimNumber(word string) string {
	word = strings.TrimRight(word, ".:,;)–—-")
	if word == "" {
		return ""
	}
	if strings.Trim(word, "IVXLCDM") == "" || len(word) == 1 && 'A' <= word[0] && word[0] <= 'Z' {
		return word
	}
	if word[0] < '0' || word[0] > '9' || strings.Trim(word, "0123456789.ABCDEFGHabcdefgh") != "" {
		return ""
	}
	return word
}
