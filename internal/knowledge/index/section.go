package index

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

// section is a section as headings number it and queries name it.
type section struct {
	kind   string // "section", "article", …; empty where only the number is given
	number string // in lower case: 4, 4.2, 12a; Roman numbers in figures
}

// kinds are the words that sections are called by, with their short forms.
const kinds = `section|sect?\.|subsection|article|art\.|clause|chapter|ch\.|part|division|title|paragraph|para\.?|rule|step|schedule|appendix|annex|exhibit`

// number matches a number of a section: figures with dots, or a Roman number or
// a letter.
const number = `\d+[a-z]?(?:\.\d+[a-z]?)*|[ivxlc]+\b|[a-z]\b`

// inHeading matches the number that a heading begins with: "4.2 Notice",
// "Section 4.2. Notice", "(101) Short title", "ARTICLE IV—Term".
var inHeading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[#\s*_]*(?:§+\s*|(` + kinds + `)\s+)?(?:\((\d+[a-z]?|[ivxlc]+|[a-z])\)|(` + number + `))(?:[.:)\s—–-]|$)`)
})

// inQuery matches a section that a query names: with its kind, with the sign of
// a paragraph, or by a number of two levels or more.
var inQuery = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:§+\s*|\b(` + kinds + `)\s+)(` + number + `)|\b(\d+(?:\.\d+)+)\b`)
})

// sectionOf returns the section that a heading begins. A number alone counts
// when it is in figures or in parentheses: "I agree" is no section.
func sectionOf(heading string) (section, bool) {
	heading = words.Fold(heading)
	m := inHeading().FindStringSubmatch(heading)
	if m == nil {
		return section{}, false
	}
	kind, inParentheses, plain := fullKind(m[1]), m[2], m[3]
	signed := kind != "" || strings.Contains(heading[:len(m[0])], "§")
	switch {
	case inParentheses != "":
		return section{kind, figures(inParentheses, kind)}, true
	case signed, plain[0] <= '9':
		return section{kind, figures(plain, kind)}, true
	}
	return section{}, false
}

// reference is a section that a query names. Where it is no more than a number,
// it counts only when there is such a section.
type reference struct {
	section
	bare bool
	text string // as the query has it
}

// references returns the sections that a query names.
func references(query string) []reference {
	var out []reference
	for _, m := range inQuery().FindAllStringSubmatch(words.Fold(query), -1) {
		kind := fullKind(m[1])
		if m[3] != "" {
			out = append(out, reference{section{"", m[3]}, true, m[3]})
			continue
		}
		out = append(out, reference{section{kind, figures(m[2], kind)}, false, strings.Trim(m[0], "§ ")})
	}
	return out
}

// fullKind returns the word that sections are called by in full and in lower
// case; a subsection is a section by its number.
func fullKind(word string) string {
	switch word = strings.ToLower(word); word {
	case "sec.", "sect.", "subsection":
		return "section"
	case "art.":
		return "article"
	case "ch.":
		return "chapter"
	case "para", "para.":
		return "paragraph"
	}
	return word
}

// figures returns a number in lower case, a Roman one in figures. Appendices
// are lettered, so that their C is no hundred.
func figures(number, kind string) string {
	number = strings.ToLower(number)
	switch kind {
	case "appendix", "annex", "exhibit", "schedule":
		return number
	}
	if n := roman(number); n > 0 {
		return strconv.Itoa(n)
	}
	return number
}

// roman returns the value of a Roman number in lower case, or 0.
func roman(s string) int {
	total, last := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		value := 0
		switch s[i] {
		case 'i':
			value = 1
		case 'v':
			value = 5
		case 'x':
			value = 10
		case 'l':
			value = 50
		case 'c':
			value = 100
		default:
			return 0
		}
		if value < last {
			total -= value
		} else {
			total, last = total+value, value
		}
	}
	return total
}

// same reports whether a heading's section is the one that a query names, as
// far as both say what they are called.
func (s section) same(named section) bool {
	return s.number == named.number && (s.kind == "" || named.kind == "" || s.kind == named.kind)
}
