package chunk

import (
	"slices"
	"strings"
)

// head is a line, or two, that begins a part of a document.
type head struct {
	start int // offset in bytes
	end   int // of the text of the heading
	body  int // offset where the text under it begins; start when its line goes on
	title string
	level int
	// pattern is the index of the pattern that recognised it, or -1.
	pattern int
	marker  string // the number the pattern found
	splits  bool   // it begins a section
	signs   int    // of a heading that is marked up, as Markdown counts them; else 0
	number  string // in figures, such as "4.2", or ""
	// named says that the number is an article's, a chapter's or the like, within
	// which sections may be numbered on their own.
	named bool
}

// above reports whether the section of h is within that of a, which begins before
// it. Numbers decide where one begins with the other: 4 is above 4.2, however both
// are marked up, and 13 is not. Otherwise the kinds of numbered parts do, and else
// the signs that mark headings up.
func (a head) above(h head) bool {
	switch {
	case a.number != "" && strings.HasPrefix(h.number, a.number+"."):
		return true
	case a.number != "" && !a.named && !h.named && strings.Contains(h.number, ".") && strings.Count(a.number, ".") <= strings.Count(h.number, "."):
		return false
	case a.signs > 0 && h.signs > 0 && (a.pattern < 0 || h.pattern < 0):
		return a.signs < h.signs
	}
	return a.level < h.level
}

// count sets the number of a heading, where it is in figures.
func (o *outline) count(h *head) {
	number := numberOf(*h)
	if number == "" || number[0] < '0' || number[0] > '9' {
		return
	}
	h.number = number
	kind, _, _ := strings.Cut(strings.ToLower(h.title), " ")
	if h.pattern >= 0 {
		kind = o.patterns[h.pattern].name
	}
	switch kind {
	case "title", "part", "division", "chapter", "article", "art.", "step", "appendix", "annex", "schedule", "exhibit":
		h.named = true
	}
}

// outline reads the headings of a text.
type outline struct {
	patterns []pattern
	splitAt  int // patterns before this one begin sections
	heads    []head
	last     map[int]string // the last letter of each lettered pattern
}

// line is a line of a text, with its place.
type line struct {
	start, end int // with its line end
	text       string
}

// linesOf returns the lines of text that are not in fenced code or in front
// matter; those that are have no text.
func linesOf(text string) []line {
	var out []line
	fence, offset := "", 0
	front := strings.HasPrefix(text, "---\n")
	for l := range strings.Lines(text) {
		at := line{start: offset, end: offset + len(l)}
		offset = at.end
		marker := fenceOf(l)
		switch {
		case front:
			front = at.start == 0 || strings.TrimRight(l, " \n") != "---"
		case fence != "":
			if marker != "" && strings.HasPrefix(marker, fence) {
				fence = ""
			}
		case marker != "":
			fence = marker
		default:
			at.text = strings.TrimRight(l, " \t\r\n")
		}
		out = append(out, at)
	}
	return out
}

// read finds the headings: those of Markdown, and lines that a pattern
// recognises.
func (o *outline) read(text string) {
	lines := linesOf(text)
	o.last = map[int]string{}
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if title, level := markdownHeading(l.text); level > 0 {
			o.marked(l, title, level)
			continue
		}
		if level := underlined(lines, i); level > 0 {
			o.marked(line{start: l.start, end: lines[i+1].end}, strings.TrimSpace(l.text), level)
			i++
			continue
		}
		o.implicit(lines, i)
	}
	for i := range o.heads {
		o.count(&o.heads[i])
	}
	o.level()
}

// marked adds a heading that is marked up as one.
func (o *outline) marked(l line, title string, level int) {
	h := head{start: l.start, end: l.end, body: l.end, title: title, level: level, signs: level, pattern: -1, splits: true}
	if f, ok := match(o.patterns, title); ok {
		h.pattern, h.marker = f.pattern, f.marker
	}
	o.heads = append(o.heads, h)
}

// implicit adds the line at index i if a pattern recognises it.
func (o *outline) implicit(lines []line, i int) {
	if len(o.patterns) == 0 || lines[i].text == "" {
		return
	}
	f, ok := match(o.patterns, lines[i].text)
	if !ok {
		return
	}
	f, ok = o.settle(f)
	if !ok {
		return
	}
	p := o.patterns[f.pattern]
	if p.bare && !o.standsAlone(lines, i) {
		return
	}
	if f.rest == "" && i+1 < len(lines) {
		f.rest = o.titleBelow(lines[i+1].text)
	}
	body := lines[i].end
	const longest = 150
	if text := lines[i].text; len(text) >= longest || strings.ContainsAny(text[len(text)-1:], ".!?") {
		body = lines[i].start
	}
	o.heads = append(o.heads, head{
		start: lines[i].start, end: lines[i].end, body: body, title: f.title(), level: p.level,
		pattern: f.pattern, marker: f.marker, splits: f.pattern < o.splitAt,
	})
}

// settle tells (i), (v) and (x) as letters from the Roman numerals they may be:
// they are letters where the one before was the letter before. It reports false
// for a numeral that no pattern numbers by.
func (o *outline) settle(f found) (found, bool) {
	p := o.patterns[f.pattern]
	if p.letters && strings.Contains("ivx", f.marker) && o.last[f.pattern] != string(f.marker[0]-1) {
		deeper := slices.IndexFunc(o.patterns, func(q pattern) bool { return q.name == "subparagraph" && q.line.MatchString("("+f.marker+")") })
		if deeper < 0 {
			return f, false
		}
		f.pattern = deeper
		return f, true
	}
	if p.letters {
		o.last[f.pattern] = f.marker
	}
	return f, true
}

// standsAlone reports whether the line is a paragraph of its own and no item of
// a list: nothing but blank lines and headings is before it, and the next line
// has no marker of the same kind.
func (o *outline) standsAlone(lines []line, i int) bool {
	if i > 0 && lines[i-1].text != "" && (len(o.heads) == 0 || o.heads[len(o.heads)-1].end != lines[i].start) {
		return false
	}
	if i+1 < len(lines) {
		f, ok := match(o.patterns, lines[i+1].text)
		return !ok || !o.patterns[f.pattern].bare
	}
	return true
}

// titleBelow returns the line under a marker that stands alone, if it can be
// its title.
func (o *outline) titleBelow(text string) string {
	if _, isPart := match(o.patterns, text); isPart || len(text) > maxTitle {
		return ""
	}
	if _, level := markdownHeading(text); level > 0 {
		return ""
	}
	return strings.Trim(text, "*_ ")
}

// level settles the levels of headings in a numbered document. Who marks up a
// numbered heading means its number. One without a number stands beside the
// numbered ones that have as many signs, if half of those that have do.
func (o *outline) level() {
	var signed, numbered [maxSigns + 1]int // headings of so many signs
	var usual [maxSigns + 1][maxSigns + 1]int
	for _, h := range o.heads {
		signed[h.signs]++
		if h.pattern >= 0 {
			numbered[h.signs]++
			usual[h.signs][o.patterns[h.pattern].level]++
		}
	}
	for i, h := range o.heads {
		switch {
		case h.pattern >= 0:
			o.heads[i].level = o.patterns[h.pattern].level
		case h.number == "" && numbered[h.signs] > 0 && 2*numbered[h.signs] >= signed[h.signs]:
			o.heads[i].level = slices.Index(usual[h.signs][:], slices.Max(usual[h.signs][:]))
		}
	}
}

// maxSigns is the most signs a heading of Markdown has, and the innermost level of
// a domain's patterns.
const maxSigns = 6

// markdownHeading returns the title and the number of signs of a Markdown
// heading, or 0.
func markdownHeading(text string) (title string, level int) {
	const indent = 3
	text, spaces := strings.TrimLeft(text, " "), len(text)-len(strings.TrimLeft(text, " "))
	rest := strings.TrimLeft(text, "#")
	level = len(text) - len(rest)
	if level == 0 || level > maxSigns || spaces > indent || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return "", 0
	}
	title = strings.TrimSpace(rest)
	if i := strings.LastIndexAny(strings.TrimRight(title, "#"), " \t"); i == len(strings.TrimRight(title, "#"))-1 && i >= 0 {
		title = strings.TrimSpace(title[:i]) // closing signs
	}
	title = strings.Trim(title, "*_ ")
	if title == "" || strings.Trim(title, "#") == "" {
		return "", 0
	}
	return title, level
}

// underlined returns the level of the heading that the line at index i is by
// the line under it, or 0.
func underlined(lines []line, i int) int {
	if i+1 >= len(lines) || lines[i].text == "" || !underline(lines[i+1].text) {
		return 0
	}
	if i > 0 && lines[i-1].text != "" { // the end of a paragraph or table
		return 0
	}
	if strings.ContainsAny(lines[i].text[:1], "|->+*#\t ") {
		return 0
	}
	if lines[i+1].text[0] == '=' {
		return 1
	}
	return 2
}
