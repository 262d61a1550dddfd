package offline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is one unit, in characters.
const (
	// longestList is the longest list that is shown as one sentence; a longer
	// one is cut into its items.
	longestList = 320
	// longestUnit is where a text without an end is cut.
	longestUnit = 600
	// wrapped is the shortest line that may be a line of wrapped text.
	wrapped = 40
)

// markdown cuts a text that may be Markdown. Plain text is Markdown without
// marks.
func (c *cutter) markdown(text string) {
	m := &block{cutter: c}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	lines = c.frontmatter(lines)
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		trimmed := strings.TrimLeft(line, " \t")
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		switch {
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			m.flush()
			if m.inCode = !m.inCode; !m.inCode {
				c.leadIn = ""
			}
		case m.inCode:
			c.add(strings.TrimSpace(line), c.leadIn)
		case trimmed == "":
			m.blank()
		case isRule(trimmed):
			m.flush()
		case headingLevel(trimmed) > 0:
			m.flush()
			level := headingLevel(trimmed)
			c.under(level, plain(strings.Trim(trimmed[level:], " #")))
		case isUnderline(next) && len(m.lines) == 0 && !isItem(trimmed) && !isRow(trimmed):
			c.under(1+strings.Count(next[:1], "-"), plain(trimmed))
			i++
		case isItem(trimmed):
			m.item(trimmed)
		case isRow(trimmed):
			m.row(trimmed)
		case len(m.items) > 0 && trimmed != line && m.gap == 0:
			m.items[len(m.items)-1] += " " + trimmed // an item goes on
		default:
			m.line(strings.TrimSpace(strings.TrimLeft(trimmed, "> ")))
		}
	}
	m.flush()
}

// frontmatter skips a block of YAML at the top.
func (c *cutter) frontmatter(lines []string) []string {
	if len(lines) == 0 || strings.TrimSpace(lines[0]) != "---" {
		return lines
	}
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "---" {
			return lines[i+1:]
		}
	}
	return lines[1:]
}

// block is the paragraph, list or table under way.
type block struct {
	*cutter
	lines  []string // of a paragraph
	items  []string // of a list, marks removed
	ranked bool     // the items are numbered
	header []string // of a table
	inCode bool
	gap    int // blank lines since the last item
}

func (b *block) blank() {
	if len(b.items) > 0 { // a list may have blank lines between its items
		b.gap++
		return
	}
	b.flush()
}

// flush ends what is under way.
func (b *block) flush() {
	b.endParagraph()
	b.endList()
	b.header = nil
}

// line adds a line of a paragraph.
func (b *block) line(text string) {
	b.endList()
	b.header = nil
	if n := len(b.lines); n > 0 && !b.goesOn(b.lines[n-1], text) {
		b.endParagraph()
	}
	b.lines = append(b.lines, text)
}

// goesOn reports whether a line is the last one wrapped: it begins small, or
// the last was long and a text.
func (b *block) goesOn(last, text string) bool {
	if b.lineByLine {
		return false
	}
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) || len(last) >= wrapped
}

// endParagraph cuts a paragraph into sentences. A single short line that does
// not end as a sentence does is a title, and a line that ends in a colon leads
// in what follows.
func (b *block) endParagraph() {
	if len(b.lines) == 0 {
		return
	}
	text := plain(strings.Join(b.lines, " "))
	single := len(b.lines) == 1
	b.lines = nil
	text = withoutSpeaker(text)
	b.leadIn = ""
	if single && isTitle(text) {
		b.under(titleLevel, text)
		b.title = text
		return
	}
	all := sentences(text)
	for i, s := range all {
		if i == len(all)-1 && strings.HasSuffix(s, ":") {
			b.leadIn = s
			return
		}
		before := len(b.units)
		b.add(shortened(finished(s)))
		if i > 0 && len(b.units) > before {
			b.units[before].leans = leansOnPronoun(s)
		}
	}
}

// withoutSpeaker removes the marks of a list of questions and answers.
func withoutSpeaker(text string) string {
	for _, mark := range []string{"Q:", "A:", "Q.", "A.", "Question:", "Answer:"} {
		if rest, ok := strings.CutPrefix(text, mark+" "); ok {
			return rest
		}
	}
	return text
}

// isTitle reports whether a line that stands alone is a title by its looks.
func isTitle(text string) bool {
	const longest = 8 // words
	if endsSentence(text) || strings.ContainsAny(text, ":;=") {
		return false
	}
	return len(strings.Fields(text)) <= longest && len(text) < 2*wrapped
}

// item begins a list item.
func (b *block) item(trimmed string) {
	b.endParagraph()
	b.gap = 0
	mark, rest := itemMark(trimmed)
	if len(b.items) == 0 {
		b.ranked = isDigit(mark[0])
	}
	rest = strings.TrimSpace(rest)
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		rest = strings.TrimPrefix(rest, box)
	}
	b.items = append(b.items, rest)
}

// endList makes one sentence of a short list and its lead-in, or a unit of
// each item of a long one.
func (b *block) endList() {
	if len(b.items) == 0 {
		return
	}
	items := make([]string, 0, len(b.items))
	for _, item := range b.items {
		if text := plain(item); text != "" {
			items = append(items, text)
		}
	}
	ranked, leadIn := b.ranked, b.leadIn
	b.items, b.gap, b.ranked, b.leadIn = nil, 0, false, ""
	if leadIn == "" && ranked && len(b.headings) > 0 {
		leadIn = b.headings[len(b.headings)-1].text + ":"
	}
	if leadIn != "" {
		if joined := joinItems(leadIn, items, ranked); len(joined) <= longestList {
			b.add(joined)
			return
		}
	}
	for _, item := range items {
		for _, s := range sentences(item) {
			b.add(shortened(capitalised(finished(s))), leadIn)
		}
	}
}

// joinItems makes one sentence of a list.
func joinItems(leadIn string, items []string, ranked bool) string {
	var out strings.Builder
	out.WriteString(leadIn)
	for i, item := range items {
		if i > 0 {
			out.WriteByte(';')
		}
		out.WriteByte(' ')
		if ranked && len(items) > 1 {
			out.WriteString(strconv.Itoa(i+1) + ") ")
		}
		out.WriteString(strings.TrimRight(item, ".;, "))
	}
	return finished(out.String())
}

// row adds a line of a table. The line above a line of dashes is the header.
func (b *block) row(trimmed string) {
	b.endParagraph()
	b.endList()
	cells := splitRow(trimmed)
	if isDashes(cells) {
		return
	}
	if b.header == nil {
		b.header = cells
		return
	}
	var record []pair
	if len(cells) == 2 && strings.Join(b.header, "") == "" {
		record = []pair{{cells[0], cells[1]}} // names on the left
		cells = nil
	}
	for i, cell := range cells {
		key := ""
		if i < len(b.header) {
			key = b.header[i]
		}
		if cell != "" {
			record = append(record, pair{key, cell})
		}
	}
	b.add(shortened(finished(joinPairs(record))))
}

func splitRow(row string) []string {
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	cells := strings.Split(row, "|")
	for i := range cells {
		cells[i] = plain(cells[i])
	}
	return cells
}

func isDashes(cells []string) bool {
	if !strings.Contains(cells[0], "-") {
		return false
	}
	for _, c := range cells {
		if strings.Trim(c, "-: ") != "" {
			return false
		}
	}
	return true
}

func isRow(line string) bool { return strings.HasPrefix(line, "|") && strings.Count(line, "|") > 1 }

// headingLevel returns the level of a heading with number signs, or 0.
func headingLevel(line string) int {
	n := runOf(line, '#')
	if n == 0 || n > 6 || n == len(line) || line[n] != ' ' {
		return 0
	}
	return n
}

// isUnderline reports whether a line makes a heading of the line before it.
func isUnderline(line string) bool {
	return len(line) >= 3 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// isRule reports whether a line is a rule across the page.
func isRule(line string) bool {
	bare := strings.ReplaceAll(line, " ", "")
	return len(bare) >= 3 && strings.Trim(bare, bare[:1]) == "" && strings.Contains("-*_=", bare[:1])
}

func isItem(line string) bool {
	mark, _ := itemMark(line)
	return mark != ""
}

// itemMark splits a line at the mark of a list item: -, *, +, • or a number of
// up to three digits.
func itemMark(line string) (mark, rest string) {
	for _, m := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(line, m); ok {
			return m, rest
		}
	}
	n := 0
	for n < len(line) && n < 3 && isDigit(line[n]) {
		n++
	}
	if n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ' {
		return line[:n+1], line[n+2:]
	}
	return "", line
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// shortened cuts a text that has no end at a word.
func shortened(s string) string {
	if len(s) <= longestUnit { // a character has at least a byte
		return s
	}
	runes := []rune(s)
	if len(runes) <= longestUnit {
		return s
	}
	head := string(runes[:longestUnit])
	if space := strings.LastIndexByte(head, ' '); space > longestUnit/2 {
		head = head[:space]
	}
	return head + "…"
}
