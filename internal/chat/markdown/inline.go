package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// look is how a piece of text looks.
type look struct{ bold, italic, struck, code, dim, heading bool }

// inline returns what stands in a block of text, painted.
func (p *page) inline(parent ast.Node, l look) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		p.piece(&b, n, l)
	}
	return b.String()
}

// piece writes one piece of a text.
func (p *page) piece(b *strings.Builder, n ast.Node, l look) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(p.source)
		if !n.IsRaw() {
			value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
		}
		b.WriteString(p.paint(clean(string(value)), l))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte('\n') // a model breaks lines where it wants them broken
		}
	case *ast.String:
		b.WriteString(p.paint(clean(string(n.Value)), l))
	case *ast.CodeSpan:
		l.code = true
		b.WriteString(p.inline(n, l))
	case *ast.Emphasis:
		if n.Level > 1 {
			l.bold = true
		} else {
			l.italic = true
		}
		b.WriteString(p.inline(n, l))
	case *extast.Strikethrough:
		l.struck = true
		b.WriteString(p.inline(n, l))
	case *ast.Link:
		p.link(b, n, string(n.Destination), l)
	case *ast.Image:
		b.WriteString(p.paint("image: ", l))
		p.link(b, n, string(n.Destination), l)
	case *ast.AutoLink:
		b.WriteString(p.paint(clean(string(n.URL(p.source))), l))
	case *ast.RawHTML:
		b.WriteString(p.paint(clean(string(n.Segments.Value(p.source))), l))
	default:
		b.WriteString(p.inline(n, l))
	}
}

// link writes a link with its address, which is never hidden behind the text.
func (p *page) link(b *strings.Builder, n ast.Node, address string, l look) {
	shown := p.inline(n, l)
	b.WriteString(shown)
	if address = clean(address); address != "" && !strings.Contains(shown, address) {
		l.dim = true
		b.WriteString(p.paint(" ("+address+")", l))
	}
}

// paint gives a text its look, line by line.
func (p *page) paint(s string, l look) string {
	if !p.color || l == (look{}) {
		return s
	}
	var codes []string
	for _, c := range []struct {
		on   bool
		code string
	}{{l.bold, "1"}, {l.dim, "2"}, {l.italic, "3"}, {l.struck, "9"}, {l.code, "36"}, {l.heading, "35"}} {
		if c.on {
			codes = append(codes, c.code)
		}
	}
	begin := "\x1b[" + strings.Join(codes, ";") + "m"
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = begin + line + "\x1b[0m"
		}
	}
	return strings.Join(lines, "\n")
}

// clean returns text that steers no terminal.
func clean(s string) string { return screen.Printable(s) }
