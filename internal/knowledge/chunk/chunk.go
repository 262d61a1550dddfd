package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Version names the rules of this package; what is stored by them is built
// anew when it changes.
const Version = "chunk/4"

// RunesPerToken is how many characters make a token.
const RunesPerToken = 4

// DefaultSize is the longest passage, in tokens, when nobody says otherwise.
const DefaultSize = 512

// Options says how long passages are.
type Options struct {
	// Size is the longest passage in tokens, overlap included. It is at least one.
	Size int
	// Overlap is how many tokens of the passage before are repeated, at most.
	// It is less than Size.
	Overlap int
}

// Passage is a piece of a text.
type Passage struct {
	// Text is what the passage holds: the overlap, then its own text.
	Text string
	// Start and End are the offsets in bytes of its own text.
	Start, End int
}

// Split cuts text into passages. An empty text has none. A passage may be
// blank, where the text has a long run of blank lines.
func Split(text string, opts Options) []Passage {
	size := max(opts.Size, 1) * RunesPerToken
	overlap := min(max(opts.Overlap, 0)*RunesPerToken, size-1)
	p := packer{text: text, limit: size - overlap, measure: utf8.RuneCountInString}
	p.place(span{0, len(text)}, blocks)
	p.flush()
	for i := 1; overlap > 0 && i < len(p.out); i++ {
		own := p.out[i]
		from := overlapStart(text[p.out[i-1].Start:own.Start], overlap)
		p.out[i].Text = text[p.out[i-1].Start+from : own.End]
	}
	return p.out
}

// overlapStart returns where the last n characters of text begin, moved to the
// beginning of a word where they hold one.
func overlapStart(text string, n int) int {
	start := len(text)
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	if start == 0 {
		return 0
	}
	if before, _ := utf8.DecodeLastRuneInString(text[:start]); unicode.IsSpace(before) {
		return start
	}
	if i := strings.IndexFunc(text[start:], unicode.IsSpace); i >= 0 {
		rest := strings.TrimLeftFunc(text[start+i:], unicode.IsSpace)
		if rest != "" {
			return len(text) - len(rest)
		}
	}
	return start
}

// span is a piece of a text, by offsets in bytes.
type span struct{ start, end int }

// level is a way to cut a span into smaller ones that cover it, from coarse to
// fine.
type level int

const (
	parts level = iota
	blocks
	lines
	sentences
	words
	runes
)

// packer fills passages with spans, which come in order and without gaps.
type packer struct {
	text    string
	limit   int // what a passage may have of its own, by measure
	measure func(string) int
	tokens  bool  // whether it counts tokens, not characters
	starts  []int // offsets at which parts of the text begin, in order
	out     []Passage
	at      span   // of the passage being filled
	used    int    // the sum of what its pieces have
	pieces  []span // of the passage being filled
}

// place cuts s at the given level and adds the pieces, those that are too long
// at the next level. A heading goes with what follows it; a run of headings
// that takes more than half a passage may be parted.
func (p *packer) place(s span, at level) {
	pieces := p.cut(s, at)
	for i := 0; i < len(pieces); {
		group := pieces[i]
		i++
		for at < words && i < len(pieces) && p.introduces(pieces[i-1]) && 2*p.count(group) <= p.limit {
			group.end = pieces[i].end
			i++
		}
		n := p.count(group)
		if p.used+n > p.limit {
			p.flush()
		}
		if n > p.limit {
			p.place(group, at+1)
			continue
		}
		p.at.end = group.end
		p.used += n
		p.pieces = append(p.pieces, group)
	}
}

// count returns how long s is; of what is surely too long, no more than that.
func (p *packer) count(s span) int {
	if p.tokens && s.end-s.start > p.limit*maxTokenBytes {
		return p.limit + 1
	}
	return p.measure(p.text[s.start:s.end])
}

// flush ends the passage being filled. What is put together may have more tokens
// than its pieces, if rarely; then the last pieces go into the next passage.
func (p *packer) flush() {
	if len(p.pieces) == 0 {
		return
	}
	n := len(p.pieces)
	for n > 1 && p.measure(p.text[p.at.start:p.pieces[n-1].end]) > p.limit {
		n--
	}
	rest := p.pieces[n:]
	end := p.pieces[n-1].end
	p.out = append(p.out, Passage{Text: p.text[p.at.start:end], Start: p.at.start, End: end})
	p.at, p.used, p.pieces = span{end, end}, 0, nil
	for _, piece := range rest {
		p.at.end = piece.end
		p.used += p.count(piece)
		p.pieces = append(p.pieces, piece)
	}
	if len(rest) > 0 {
		p.flush()
	}
}

// cut returns the pieces of s.
func (p *packer) cut(s span, at level) []span {
	switch at {
	case parts:
		return p.parts(s)
	case blocks:
		return p.blocks(s)
	case lines:
		return p.lines(s)
	case sentences:
		return p.cutAfter(s, endsSentence)
	case words:
		return p.cutAfter(s, endsWord)
	}
	return p.hardCut(s)
}

// parts returns the parts of s.
func (p *packer) parts(s span) []span {
	var out []span
	at := s.start
	for _, start := range p.starts {
		if at < start && start < s.end {
			out = append(out, span{at, start})
			at = start
		}
	}
	return append(out, span{at, s.end})
}

// lines returns the lines of s, blank lines with the line before.
func (p *packer) lines(s span) []span {
	var out []span
	offset := s.start
	for line := range strings.Lines(p.text[s.start:s.end]) {
		next := offset + len(line)
		if len(out) > 0 && blank(line) {
			out[len(out)-1].end = next
		} else {
			out = append(out, span{offset, next})
		}
		offset = next
	}
	return out
}

// blocks returns the paragraphs, headings and fenced code of s, each with the
// blank lines after it.
func (p *packer) blocks(s span) []span {
	var out []span
	fence := ""
	begin := true // the next line begins a block
	offset := s.start
	for line := range strings.Lines(p.text[s.start:s.end]) {
		next := offset + len(line)
		marker := fenceOf(line)
		switch {
		case fence != "": // inside code
			out[len(out)-1].end = next
			if marker != "" && strings.HasPrefix(marker, fence) {
				fence, begin = "", true
			}
		case blank(line) && len(out) > 0:
			out[len(out)-1].end = next
			begin = true
		case begin || marker != "" || heading(line):
			out = append(out, span{offset, next})
			fence, begin = marker, false
		default:
			out[len(out)-1].end = next
		}
		offset = next
	}
	return out
}

// cutAfter cuts s after every run of blanks that follows what ends accepts.
func (p *packer) cutAfter(s span, ends func(before string) bool) []span {
	var out []span
	start, afterBlank := s.start, false
	for i, r := range p.text[s.start:s.end] {
		at := s.start + i
		isBlank := unicode.IsSpace(r)
		if !isBlank && at > start && (afterBlank || wide(p.text[start:at])) && ends(p.text[start:at]) {
			out = append(out, span{start, at})
			start = at
		}
		afterBlank = isBlank
	}
	return append(out, span{start, s.end})
}

// hardCut cuts s into pieces of as many characters as surely fit: no character
// makes more tokens than it has bytes.
func (p *packer) hardCut(s span) []span {
	most := p.limit
	if p.tokens {
		most = max(1, p.limit/utf8.UTFMax)
	}
	var out []span
	start, n := s.start, 0
	for i := range p.text[s.start:s.end] {
		if n == most {
			out = append(out, span{start, s.start + i})
			start, n = s.start+i, 0
		}
		n++
	}
	return append(out, span{start, s.end})
}

// endsSentence reports whether before, which may end in blanks, ends a sentence
// or a line.
func endsSentence(before string) bool {
	text := strings.TrimRightFunc(before, unicode.IsSpace)
	if strings.Contains(before[len(text):], "\n") || wide(text) {
		return true
	}
	text = strings.TrimRight(text, `"')]}»”’`)
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?")
}

// wide reports whether text ends with a full stop of the East Asian scripts,
// which no blank follows.
func wide(text string) bool {
	for _, stop := range []string{"。", "！", "？"} {
		if strings.HasSuffix(text, stop) {
			return true
		}
	}
	return false
}

// endsWord accepts every run of blanks.
func endsWord(string) bool { return true }

// introduces reports whether the piece s belongs to what follows: it is a
// heading, or its last line ends in a colon.
func (p *packer) introduces(s span) bool {
	piece := p.text[s.start:s.end]
	text := strings.TrimRightFunc(piece, unicode.IsSpace)
	if !strings.Contains(piece[len(text):], "\n") {
		return false // not the end of a line
	}
	text = strings.TrimSpace(text)
	first, rest, more := strings.Cut(text, "\n")
	switch {
	case !more && heading(first):
		return true
	case more && underline(rest):
		return true
	}
	return strings.HasSuffix(text, ":")
}

// heading reports whether line is a Markdown heading of one to six signs.
func heading(line string) bool {
	const most = 6
	text := strings.TrimLeft(line, "#")
	signs := len(line) - len(text)
	return 1 <= signs && signs <= most && strings.HasPrefix(text, " ")
}

// underline reports whether text makes the line before it a heading.
func underline(text string) bool {
	const least = 2
	return len(text) >= least && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "")
}

// fenceOf returns the marker that opens or closes fenced code on line, or "".
func fenceOf(line string) string {
	text := strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		const least = 3
		info := strings.TrimLeft(text, mark)
		if n := len(text) - len(info); n >= least && !strings.Contains(info, mark) {
			return text[:n]
		}
	}
	return ""
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }
