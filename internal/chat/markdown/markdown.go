// Package markdown owns how Markdown looks in a terminal. It refuses to steer
// one: control characters in the text are left out, those of entities such as
// &#27; included, and it writes no sequence but those that set colour and weight.
//
// The reader is that of goldmark. How it looks is our own, because the packages
// that do it cost more at the start of every command than everything else
// together (see docs/performance.md).
package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Renderer writes Markdown for a terminal. It is safe for concurrent use.
type Renderer struct {
	parser goldmark.Markdown
	color  bool
}

// New returns a Renderer; without color it writes no escape sequences at all.
func New(color bool) *Renderer {
	return &Renderer{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)), color}
}

// narrowest is the width below which what stands in a block is not indented.
const narrowest = 8

// Render returns Markdown as lines that are at most so many columns wide.
func (r *Renderer) Render(markdown string, width int) []string {
	source := []byte(markdown)
	p := &page{source: source, color: r.color}
	return p.blocks(r.parser.Parser().Parse(text.NewReader(source)), max(width, 4), false)
}

// page is a document that is being rendered.
type page struct {
	source []byte
	color  bool
}

// blocks returns the children of a container, with blank lines between them
// unless it is tight.
func (p *page) blocks(parent ast.Node, width int, tight bool) []string {
	var out []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := p.block(n, width)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// block returns one block.
func (p *page) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return p.wrap(p.inline(n, look{bold: true, heading: true}), width)
	case *ast.Paragraph, *ast.TextBlock:
		return p.wrap(p.inline(n, look{}), width)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return p.code(n, width)
	case *ast.HTMLBlock:
		return p.wrap(cells(strings.TrimRight(string(n.Lines().Value(p.source)), "\n"), look{}), width)
	case *ast.Blockquote:
		if width-2 < narrowest {
			return p.blocks(n, width, false)
		}
		bar := p.paint(cells("│ ", look{dim: true}))
		return prefixed(p.blocks(n, width-2, false), bar, bar)
	case *ast.List:
		return p.list(n, width)
	case *ast.ThematicBreak:
		return []string{p.paint(cells(strings.Repeat("─", min(width, 24)), look{dim: true}))}
	case *extast.Table:
		return p.table(n, width)
	}
	return p.blocks(n, width, false)
}

// inner returns the width within an indentation, and how far it is indented:
// not at all where that would leave too little.
func inner(width, indent int) (room, by int) {
	if width-indent < narrowest {
		return width, 0
	}
	return width - indent, indent
}

// list returns a list; its entries hang behind their marks.
func (p *page) list(n *ast.List, width int) []string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		room, indent := inner(width, len([]rune(mark)))
		lines := p.blocks(item, room, n.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		if indent == 0 {
			out = append(append(out, p.wrap(cells(mark, look{}), width)...), lines...)
			continue
		}
		out = append(out, prefixed(lines, mark, strings.Repeat(" ", indent))...)
	}
	return out
}

// prefixed puts first before the first line and rest before the others.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		out[i] = strings.TrimRight(prefix+line, " ")
	}
	return out
}

// code returns a block of code, indented and never re-flowed: a line that is too
// long is cut where the terminal would cut it.
func (p *page) code(n ast.Node, width int) []string {
	room, indent := inner(width, 4)
	var out []string
	for line := range strings.Lines(string(n.Lines().Value(p.source))) {
		list := cells(strings.TrimRight(line, "\r\n"), look{code: true})
		for {
			piece := first(list, room)
			text := p.paint(piece)
			if text != "" {
				text = strings.Repeat(" ", indent) + text
			}
			out = append(out, text)
			if list = list[len(piece):]; len(list) == 0 {
				break
			}
		}
	}
	return out
}

// first returns what of a line fits into so many columns, and one character at
// least.
func first(list []cell, width int) []cell {
	taken := 0
	for i, c := range list {
		if taken += columnsOf(c.r); taken > width && i > 0 {
			return list[:i]
		}
	}
	return list
}

// Stable returns how many bytes at the beginning of a text that still grows are
// blocks that what comes cannot change: everything before the last blank line
// that is outside of a block of code and not followed by an indented line.
func Stable(markdown string) int {
	var (
		stable, pos int
		fence       string // that the block of code under way began with
		blank       bool   // the line before is blank
	)
	for line := range strings.Lines(markdown) {
		content := strings.TrimSpace(line)
		complete := strings.HasSuffix(line, "\n")
		switch {
		case fence != "":
			if strings.HasPrefix(content, fence) && strings.Trim(content, fence[:1]) == "" {
				fence = ""
			}
		case content == "":
		case blank && complete && line[0] != ' ' && line[0] != '\t':
			stable = pos
			fence = fenceOf(content)
		default:
			fence = fenceOf(content)
		}
		blank = content == "" && fence == ""
		pos += len(line)
	}
	return stable
}

// fenceOf returns the marks by which a line begins a block of code, or "".
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		marks := line[:len(line)-len(strings.TrimLeft(line, mark))]
		if len(marks) >= 3 && (mark == "~" || !strings.Contains(line[len(marks):], mark)) {
			return marks
		}
	}
	return ""
}
