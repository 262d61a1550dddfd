package markdown

import (
	"slices"
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"
)

// table returns a table in columns or, where it is too narrow for them, each row
// as a list of its cells under their headings.
func (p *page) table(n *extast.Table, width int) []string {
	var rows [][][]cell
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var l look
		if _, ok := row.(*extast.TableHeader); ok {
			l.bold = true
		}
		var list [][]cell
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			list = append(list, p.inline(c, l))
		}
		rows = append(rows, list)
	}
	if len(rows) == 0 {
		return nil
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], widthOf(cell))
		}
	}
	const gap = 2
	total := -gap
	for _, w := range widths {
		total += w + gap
	}
	if total > width {
		return p.records(rows, width)
	}
	var out []string
	for i, row := range rows {
		out = append(out, p.columns(row, widths, n.Alignments, gap))
		if i == 0 {
			out = append(out, p.paint(cells(strings.Repeat("─", total), look{dim: true})))
		}
	}
	return out
}

// columns returns a row of a table in columns.
func (p *page) columns(row [][]cell, widths []int, align []extast.Alignment, gap int) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		space := widths[i] - widthOf(cell)
		before := 0
		if i < len(align) {
			switch align[i] {
			case extast.AlignRight:
				before = space
			case extast.AlignCenter:
				before = space / 2
			}
		}
		b.WriteString(strings.Repeat(" ", before) + p.paint(cell) + strings.Repeat(" ", space-before))
	}
	return strings.TrimRight(b.String(), " ")
}

// records returns the rows of a table one below the other.
func (p *page) records(rows [][][]cell, width int) []string {
	var out []string
	for i, row := range rows[1:] {
		if i > 0 {
			out = append(out, "")
		}
		for j, cell := range row {
			room, indent := inner(width, 2)
			lines := p.wrap(slices.Concat(rows[0][j], cells(": ", look{}), cell), room)
			out = append(out, prefixed(lines, "", strings.Repeat(" ", indent))...)
		}
	}
	if len(rows) == 1 {
		for _, cell := range rows[0] {
			out = append(out, p.wrap(cell, width)...)
		}
	}
	return out
}
