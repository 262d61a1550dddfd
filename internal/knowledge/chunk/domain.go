package chunk

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern recognises lines that begin a numbered part of a document.
type pattern struct {
	name  string // of the part, such as "section"
	level int    // 1 is the outermost
	// line matches the line. Its groups are the marker, the separator after it,
	// and the rest of the line.
	line *regexp.Regexp
	// titled says that only a line that looks like a title counts: sentences and
	// items of lists begin like that, too.
	titled bool
	// bare says that the marker is a plain number, as items of lists have it, so
	// that the line must be a short title and no sentence.
	bare bool
	// letters says that the markers are letters in order.
	letters bool
}

const (
	roman = `[IVXLCDM]+`
	// after parts a marker from what follows.
	after = `(\s*[.:\x{2013}\x{2014}-]+\s*|\s+|$)(.*)$`
	// inline is what follows a marker in brackets.
	inline = `(\s*)(.*)$`
)

// newPatterns returns the patterns of a document_domain, outermost first, and
// none for "none".
func newPatterns(domain string) []pattern {
	titled := func(name string, level int, marker string) pattern {
		return pattern{name: name, level: level, line: regexp.MustCompile(`^` + marker + after), titled: true}
	}
	bracket := func(name string, level int, marker string) pattern {
		return pattern{name: name, level: level, line: regexp.MustCompile(`^\((` + marker + `)\)` + inline)}
	}
	lettered := func(p pattern) pattern {
		p.letters = true
		return p
	}
	bare := func(p pattern) pattern {
		p.bare = true
		return p
	}
	switch domain {
	case "us_legislative":
		return []pattern{
			titled("title", 1, `(?i:TITLE)\s+(`+roman+`|\d+)\b`),
			titled("chapter", 2, `(?i:CHAPTER)\s+(\d+)\b`),
			titled("section", 3, `(?i:SEC(?:TION|\.)?)\s*(\d+[A-Za-z]?)\b`),
			lettered(bracket("subsection", 4, `[a-z]`)),
			bracket("paragraph", 5, `\d+`),
			bracket("subparagraph", 6, `[A-Z]`),
		}
	case "au_legislative":
		return []pattern{
			titled("part", 1, `(?i:Part)\s+(\d+[A-Z]?)\b`),
			titled("division", 2, `(?i:Division)\s+(\d+[A-Z]?)\b`),
			bare(titled("section", 3, `((?i:Section\s+)?\d+[A-Z]{0,2})\b`)),
			bracket("subsection", 4, `\d+[A-Z]?`),
			lettered(bracket("paragraph", 5, `[a-z]`)),
			bracket("subparagraph", 6, `(?i:i{1,3}|iv|vi{0,3})`),
		}
	case "academic":
		return []pattern{
			bare(titled("section", 3, `(\d+)\.`)),
			titled("subsection", 4, `(\d+\.\d+)\.?`),
			titled("subsubsection", 5, `(\d+\.\d+\.\d+)\.?`),
			titled("paragraph", 6, `(\d+\.\d+\.\d+\.\d+)\.?`),
		}
	case "technical":
		return []pattern{
			titled("step", 3, `(?i:Step)\s+(\d+)\b`),
			titled("substep", 4, `(\d+\.\d+)\b`),
			titled("note", 4, `(?i:(Note))\b`),
			titled("warning", 4, `(?i:(Warning|Caution))\b`),
		}
	case "legal_contract":
		return []pattern{
			titled("article", 3, `(?i:Article)\s+(`+roman+`|\d+)\b`),
			titled("section", 4, `((?i:Section\s+)\d+(?:\.\d+)?|\d+\.\d+)\b`),
			lettered(bracket("clause", 5, `[a-z]`)),
			bracket("subclause", 6, `\d+`),
		}
	}
	return nil
}

// CheckDepth says when a max_subsection_depth is more than the patterns of the
// document_domain.
func CheckDepth(domain string, depth int) error {
	most := len(newPatterns(domain))
	if most == 0 {
		return fmt.Errorf("max_subsection_depth has no effect with document_domain '%s', which numbers nothing", domain)
	}
	if depth < 1 || depth > most {
		return fmt.Errorf("max_subsection_depth must be between 1 and %d for the given patterns", most)
	}
	return nil
}

// found is what a pattern found in a line.
type found struct {
	pattern int // index
	marker  string
	rest    string // of the line
}

// match returns the first pattern that recognises the line, or false. A line
// whose marker no separator follows must go on like a title.
func match(patterns []pattern, line string) (found, bool) {
	line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "*_"))
	for i, p := range patterns {
		m := p.line.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		marker := m[1][strings.LastIndexFunc(m[1], unicode.IsSpace)+1:] // without "Section"
		f := found{pattern: i, marker: marker, rest: strings.TrimSpace(strings.TrimLeft(m[3], "*_ "))}
		switch {
		case p.titled && !looksLikeTitle(m[2], f.rest):
		case p.bare && marker == m[1] && !shortTitle(f.rest):
		default:
			return f, true
		}
	}
	return found{}, false
}

// maxTitle is how many characters the title of a part has at most.
const maxTitle = 100

// looksLikeTitle reports whether rest, which stands after a marker and its
// separator, is a title and not the middle of a sentence.
func looksLikeTitle(separator, rest string) bool {
	if rest == "" {
		return true
	}
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case strings.TrimSpace(separator) == "" && unicode.IsLower(first):
		return false
	case separator == "." && unicode.IsDigit(first): // the middle of a longer number
		return false
	}
	return !strings.HasSuffix(rest, ";") && !strings.HasSuffix(rest, ",")
}

// shortTitle reports whether rest is a title by itself: short, beginning with
// no lower-case letter and not ending like a sentence.
func shortTitle(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && !unicode.IsLower(first) && utf8.RuneCountInString(rest) <= maxTitle && !strings.ContainsAny(rest[len(rest)-1:], ".;,:?!")
}

// title returns the title of a part: its marker in brackets and the beginning
// of the line, up to where a sentence begins.
func (f found) title() string {
	rest := f.rest
	for _, stop := range []string{".\u2014", ".\u2013", ". ", "; "} {
		if before, _, ok := strings.Cut(rest, stop); ok {
			rest = before
		}
	}
	rest = strings.TrimRight(shorten(rest, maxTitle), ".")
	if rest == "" {
		return "(" + f.marker + ")"
	}
	return "(" + f.marker + ") " + rest
}

// shorten returns at most n characters of s, whole words where it can.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	cut := string([]rune(s)[:n])
	if i := strings.LastIndexFunc(cut, unicode.IsSpace); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimSpace(cut)
}
