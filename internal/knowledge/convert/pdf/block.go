package pdf

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a block is.
type kind int

const (
	paragraph kind = iota
	table
	code
)

// block is what belongs together on a page.
type block struct {
	kind  kind
	page  int // from 1
	text  string
	size  float64
	bold  bool
	item  bool // of a list
	sign  bool // that has no numbers
	level int  // of a heading, or 0
}

// layOut writes pages as Markdown.
func layOut(pages []page, marks []bookmark) Document {
	lines := make([][]line, len(pages))
	for i, p := range pages {
		lines[i] = p.lines()
	}
	withoutRepeats(pages, lines)
	b := builder{item: regexp.MustCompile(`^(?:[•◦▪●○■‣∙·–—*-]\s|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s)`)}
	for i, p := range pages {
		b.page(p.number, lines[i])
	}
	findHeadings(b.blocks, marks)
	return write(pages, b.blocks)
}

// builder makes blocks of lines.
type builder struct {
	item   *regexp.Regexp
	blocks []block
}

// page adds the blocks of a page.
func (b *builder) page(number int, lines []line) {
	for i := 0; i < len(lines); {
		if n := b.tableAt(lines[i:]); n > 0 {
			b.blocks = append(b.blocks, block{kind: table, page: number, text: markdownTable(lines[i : i+n]), size: lines[i].size})
			i += n
			continue
		}
		n := 1
		for i+n < len(lines) && b.goesOn(lines[i+n-1], lines[i+n]) && b.tableAt(lines[i+n:]) == 0 {
			n++
		}
		b.add(number, lines[i:i+n])
		i += n
	}
}

// add makes a block of lines that go on with one another.
func (b *builder) add(number int, lines []line) {
	first := lines[0]
	made := block{page: number, size: first.size, bold: first.bold}
	if first.mono {
		made.kind = code
	}
	for i, l := range lines {
		text := l.text()
		switch {
		case i == 0:
			made.text = text
			made.item = b.item.MatchString(text)
		case first.mono:
			made.text += "\n" + text
		default:
			made.text = joinLines(made.text, text)
		}
		made.bold = made.bold && l.bold
	}
	if made.item {
		text := bullet(made.text)
		made.sign = strings.HasPrefix(text, "-")
		made.text = text
	}
	if made.text != "" {
		b.blocks = append(b.blocks, made)
	}
}

// goesOn reports whether the paragraph of before goes on in next.
func (b *builder) goesOn(before, next line) bool {
	gap := before.bottom - next.top
	const (
		most   = 0.75 // of a line's height, between lines of a paragraph
		indent = 0.9  // at the beginning of one
	)
	switch {
	case before.size != next.size || before.mono != next.mono || before.bold != next.bold && len(next.runs) == 1 && len(before.runs) == 1:
		return false
	case gap > most*before.size || gap < -before.size: // room between, or another column
		return false
	case before.mono:
		return true
	case b.item.MatchString(next.text()):
		return false
	}
	return next.left()-before.left() < indent*before.size || b.item.MatchString(before.text())
}

// joinLines puts the lines of a paragraph together. A word that is parted is
// joined.
func joinLines(a, b string) string {
	if rest, ok := strings.CutSuffix(a, "-"); ok {
		last, _ := utf8.DecodeLastRuneInString(rest)
		first, _ := utf8.DecodeRuneInString(b)
		if unicode.IsLetter(last) && unicode.IsLower(first) {
			return rest + b
		}
		if unicode.IsLetter(last) || unicode.IsDigit(last) {
			return a + b
		}
	}
	return a + " " + b
}

// bullet writes the sign of an item of a list as Markdown does.
func bullet(text string) string {
	sign, size := utf8.DecodeRuneInString(text)
	if strings.ContainsRune("•◦▪●○■‣∙·–—*", sign) {
		return "-" + text[size:]
	}
	return text
}

// write returns the blocks as Markdown, a blank line between them but between
// items of one list.
func write(pages []page, blocks []block) Document {
	var out strings.Builder
	d := Document{Pages: make([]int, 0, len(pages))}
	i := 0
	for _, p := range pages {
		d.Pages = append(d.Pages, out.Len())
		first := true
		for ; i < len(blocks) && blocks[i].page == p.number; i++ {
			b := blocks[i]
			if out.Len() > 0 {
				out.WriteByte('\n')
				if !b.item || first || !blocks[i-1].item {
					out.WriteByte('\n')
				}
			}
			if first {
				d.Pages[len(d.Pages)-1] = out.Len()
				first = false
			}
			switch {
			case b.level > 0:
				out.WriteString(strings.Repeat("#", b.level) + " " + strings.ReplaceAll(b.text, "\n", " "))
			case b.kind == code:
				out.WriteString("```\n" + strings.ReplaceAll(b.text, "```", "'''") + "\n```")
			default:
				out.WriteString(escape(b.text))
			}
		}
	}
	d.Text = out.String()
	if d.Text != "" {
		d.Text += "\n"
	}
	return d
}

// escape keeps a paragraph from being read as a heading.
func escape(text string) string {
	if strings.HasPrefix(text, "#") {
		return `\` + text
	}
	return text
}

// tableAt returns how many lines from the first are a table, or 0: two or more
// lines of two or more cells, each under the cells before.
func (b *builder) tableAt(lines []line) int {
	const fewest = 2
	var columns []cell
	n := 0
	for ; n < len(lines); n++ {
		cells := lines[n].cells()
		if len(cells) < fewest || len(cells) == fewest && b.item.MatchString(cells[0].text+" ") || // the sign of an item beside it
			n > 0 && lines[n-1].bottom-lines[n].top > 2*lines[n].size || n > 0 && lines[n].top > lines[n-1].top {
			break
		}
		merged, ok := fit(columns, cells)
		if !ok {
			break
		}
		columns = merged
	}
	if n < fewest || len(columns) < fewest {
		return 0
	}
	return n
}

// fit puts cells under columns and returns the columns, wider where need be. It
// reports false when a cell is under two.
func fit(columns, cells []cell) ([]cell, bool) {
	if columns == nil {
		return slices.Clone(cells), true
	}
	columns = slices.Clone(columns)
	last := -1
	for _, c := range cells {
		at := -1
		for i, col := range columns {
			if c.left < col.right && col.left < c.right {
				if at >= 0 {
					return nil, false
				}
				at = i
			}
		}
		if at < 0 || at <= last {
			return nil, false
		}
		columns[at].left, columns[at].right = min(columns[at].left, c.left), max(columns[at].right, c.right)
		last = at
	}
	return columns, true
}

// markdownTable writes lines as a table, the first as its header.
func markdownTable(lines []line) string {
	var columns []cell
	for _, l := range lines {
		columns, _ = fit(columns, l.cells())
	}
	var b strings.Builder
	for i, l := range lines {
		row := make([]string, len(columns))
		for _, c := range l.cells() {
			for j, col := range columns {
				if c.left < col.right && col.left < c.right {
					row[j] = strings.ReplaceAll(c.text, "|", `\|`)
				}
			}
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(columns)) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
