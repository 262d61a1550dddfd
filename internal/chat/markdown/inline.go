package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// look is how a piece of text looks.
type look struct{ bold, italic, struck, code, dim, heading, bad bool }

// cell is a character and how it looks.
type cell struct {
	r    rune
	look look
}

// cells returns a text of one look. What would steer a terminal is left out.
func cells(s string, l look) []cell {
	s = clean(s)
	out := make([]cell, 0, len(s))
	for _, r := range s {
		out = append(out, cell{r, l})
	}
	return out
}

// inline returns what stands in a block of text.
func (p *page) inline(parent ast.Node, l look) []cell {
	var out []cell
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, p.piece(n, l)...)
	}
	return out
}

// piece returns one piece of a text.
func (p *page) piece(n ast.Node, l look) []cell {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(p.source)
		if !n.IsRaw() {
			value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
		}
		out := cells(string(value), l)
		if n.SoftLineBreak() || n.HardLineBreak() {
			out = append(out, cell{r: '\n'}) // a model breaks lines where it wants them broken
		}
		return out
	case *ast.String:
		return cells(string(n.Value), l)
	case *ast.CodeSpan:
		l.code = true
	case *ast.Emphasis:
		if n.Level > 1 {
			l.bold = true
		} else {
			l.italic = true
		}
	case *extast.Strikethrough:
		l.struck = true
	case *ast.Link:
		return p.link(p.inline(n, l), string(n.Destination), l)
	case *ast.Image:
		return p.link(append(cells("image: ", l), p.inline(n, l)...), string(n.Destination), l)
	case *ast.AutoLink:
		return cells(string(n.URL(p.source)), l)
	case *ast.RawHTML:
		return cells(string(n.Segments.Value(p.source)), l)
	}
	return p.inline(n, l)
}

// link returns a link with its address, which is never hidden behind the text.
func (p *page) link(shown []cell, address string, l look) []cell {
	if address = clean(address); address == "" || strings.Contains(plain(shown), address) {
		return shown
	}
	l.dim = true
	return append(shown, cells(" ("+address+")", l)...)
}

// plain returns the characters alone.
func plain(list []cell) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteRune(c.r)
	}
	return b.String()
}

// wrap breaks a text into lines, between words where that is possible, and paints
// them.
func (p *page) wrap(list []cell, width int) []string {
	var out []string
	for _, line := range lines(list) {
		for {
			first, rest := split(line, width)
			out = append(out, p.paint(first))
			if line = rest; len(line) == 0 {
				break
			}
		}
	}
	return out
}

// lines returns the lines of a text, one at least.
func lines(list []cell) [][]cell {
	var out [][]cell
	begin := 0
	for i, c := range list {
		if c.r == '\n' {
			out = append(out, list[begin:i])
			begin = i + 1
		}
	}
	if begin < len(list) || len(out) == 0 {
		out = append(out, list[begin:])
	}
	return out
}

// split returns what of a line fits into so many columns, and the rest: between
// words or, where there is no space, within one. One character fits at least.
func split(line []cell, width int) (first, rest []cell) {
	taken, space := 0, -1
	for i, c := range line {
		if c.r == ' ' {
			space = i
		}
		if taken += columnsOf(c.r); taken <= width || i == 0 {
			continue
		}
		if c.r == ' ' || space > 0 && len(trim(line[:space])) > 0 {
			return trim(line[:space]), line[space+1:]
		}
		return line[:i], line[i:]
	}
	return trim(line), nil
}

// spaces returns so many spaces.
func spaces(n int) string { return strings.Repeat(" ", n) }

// trim returns a line without the spaces at its end.
func trim(list []cell) []cell {
	for len(list) > 0 && list[len(list)-1].r == ' ' {
		list = list[:len(list)-1]
	}
	return list
}

// columnsOf returns how many columns a character takes.
func columnsOf(r rune) int {
	if r >= ' ' && r < 0x7f {
		return 1
	}
	return lipgloss.Width(string(r))
}

// widthOf returns how many columns a line takes.
func widthOf(list []cell) int {
	n := 0
	for _, c := range list {
		n += columnsOf(c.r)
	}
	return n
}

// paint returns a line with its looks.
func (p *page) paint(list []cell) string {
	var b strings.Builder
	now := look{}
	for _, c := range list {
		if c.look != now && p.color {
			if now != (look{}) {
				b.WriteString("\x1b[0m")
			}
			b.WriteString(c.look.sequence())
			now = c.look
		}
		b.WriteRune(c.r)
	}
	if now != (look{}) {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// sequence returns what sets the look, and nothing for text that has none.
func (l look) sequence() string {
	var codes []string
	for _, c := range []struct {
		on   bool
		code string
	}{{l.bold, "1"}, {l.dim, "2"}, {l.italic, "3"}, {l.struck, "9"}, {l.code, "36"}, {l.heading, "35"}, {l.bad, "31"}} {
		if c.on {
			codes = append(codes, c.code)
		}
	}
	if codes == nil {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// clean returns text that steers no terminal, with tabs as spaces.
func clean(s string) string { return strings.ReplaceAll(screen.Printable(s), "\t", "    ") }
