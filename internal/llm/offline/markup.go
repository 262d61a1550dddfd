package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain returns a line of Markdown without its inline markup, white space
// evened out.
func plain(line string) string {
	if strings.ContainsAny(line, "*_`[]<>~\\!&") {
		line = withoutMarkup(line)
	}
	return strings.Join(strings.Fields(line), " ")
}

func withoutMarkup(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		switch c := line[i]; c {
		case '\\':
			if i+1 < len(line) && line[i+1] < utf8.RuneSelf && unicode.IsPunct(rune(line[i+1])) {
				b.WriteByte(line[i+1])
				i += 2
				continue
			}
			b.WriteByte(c)
			i++
		case '`':
			i++ // code keeps its text
		case '*', '~':
			// Emphasis hugs a word; a bare star is a star, and one tilde means about.
			if n := runOf(line[i:], c); n > 1 || c == '*' && hugs(line, i) {
				i += n
				continue
			}
			b.WriteByte(c)
			i++
		case '_':
			n := runOf(line[i:], c)
			if !insideWord(line, i, n) && (n > 1 || hugs(line, i)) {
				i += n
				continue
			}
			b.WriteString(line[i : i+n])
			i += n
		case '!':
			if _, n, ok := link(line[i+1:]); ok {
				i += 1 + n // a picture says nothing
				continue
			}
			b.WriteByte(c)
			i++
		case '[':
			if text, n, ok := link(line[i:]); ok {
				b.WriteString(withoutMarkup(text))
				i += n
				continue
			}
			b.WriteByte(c)
			i++
		case '<':
			if n := tag(line[i:]); n > 0 {
				switch body := line[i+1 : i+n-1]; {
				case isAddress(body):
					b.WriteString(body) // <https://…> is an address
				case breaksLine(body):
					b.WriteByte(' ')
				}
				i += n
				continue
			}
			b.WriteByte(c)
			i++
		case '&':
			if text, n, ok := entity(line[i:]); ok {
				b.WriteString(text)
				i += n
				continue
			}
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// runOf returns how many times c stands at the start of s.
func runOf(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// hugs reports whether the mark at i touches a word on one side alone.
func hugs(line string, i int) bool {
	before := i > 0 && line[i-1] != ' '
	after := i+1 < len(line) && line[i+1] != ' '
	if before && after { // 3*4 is no emphasis, (*so*) is
		return !isWordByte(line[i-1]) || !isWordByte(line[i+1])
	}
	return before || after
}

func insideWord(line string, i, n int) bool {
	return i > 0 && isWordByte(line[i-1]) && i+n < len(line) && isWordByte(line[i+n])
}

func isWordByte(b byte) bool {
	return b >= utf8.RuneSelf || isDigit(b) || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_'
}

// link returns the text of a link that s begins with, and its length. A
// footnote mark is a link without text.
func link(s string) (text string, n int, ok bool) {
	if !strings.HasPrefix(s, "[") {
		return "", 0, false
	}
	closing := strings.IndexByte(s, ']')
	if closing < 0 {
		return "", 0, false
	}
	text = s[1:closing]
	rest := s[closing+1:]
	switch {
	case strings.HasPrefix(text, "^"):
		return "", closing + 1, true
	case strings.HasPrefix(rest, "("):
		if end := strings.IndexByte(rest, ')'); end >= 0 {
			return text, closing + 1 + end + 1, true
		}
	case strings.HasPrefix(rest, "["):
		if end := strings.IndexByte(rest, ']'); end >= 0 {
			return text, closing + 1 + end + 1, true
		}
	}
	return "", 0, false
}

// tag returns the length of an HTML tag, comment or address in angle brackets
// that s begins with, or 0.
func tag(s string) int {
	end := strings.IndexByte(s, '>')
	if end < 2 {
		return 0
	}
	if c := s[1]; c == '/' || c == '!' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
		return end + 1
	}
	return 0
}

// isAddress reports whether what stands in angle brackets is a URL or a mail
// address.
func isAddress(body string) bool {
	return (strings.Contains(body, "://") || strings.Contains(body, "@")) && !strings.Contains(body, " ")
}

// breaksLine reports whether a tag parts the words around it.
func breaksLine(body string) bool {
	name, _, _ := strings.Cut(strings.Trim(body, "/ "), " ")
	switch strings.ToLower(name) {
	case "br", "p", "div", "li", "ul", "ol", "tr", "td", "th", "hr":
		return true
	}
	return false
}

// entity returns the text of a common HTML entity that s begins with.
func entity(s string) (text string, n int, ok bool) {
	for _, e := range [...][2]string{{"&amp;", "&"}, {"&nbsp;", " "}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&#39;", "'"}} {
		if strings.HasPrefix(s, e[0]) {
			return e[1], len(e[0]), true
		}
	}
	return "", 0, false
}
