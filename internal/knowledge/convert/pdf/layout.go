package pdf

import (
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/responses"
)

// page is the text of a page.
type page struct {
	number int
	height float64 // in points; 0 when it is not known
	runs   []run
}

// run is some text of one font on one line. Places are in points, upwards.
type run struct {
	text                     string
	left, right, top, bottom float64
	size                     float64
	bold, mono               bool
}

// line is the runs that stand side by side.
type line struct {
	runs        []run
	top, bottom float64
	size        float64 // of most of its text
	bold, mono  bool    // all of it
}

// runsOf puts letters into the rectangles they are in. Both are in the order of
// the page.
func runsOf(rects []*responses.GetPageTextStructuredRect, letters []*responses.GetPageTextStructuredChar) []run {
	runs := make([]run, len(rects))
	for i, r := range rects {
		font, at := r.FontInformation, r.PointPosition
		runs[i] = run{
			left: at.Left, right: at.Right, top: at.Top, bottom: at.Bottom,
			size: font.RenderedSize, bold: bold(font.Weight, font.Name), mono: mono(font.Name),
		}
		if font.RenderedSize == 0 {
			runs[i].size = at.Top - at.Bottom
		}
	}
	at := 0
	for _, l := range letters {
		if len(runs) == 0 {
			break
		}
		text := clean(l.Text)
		if text == " " { // not everywhere is it a letter with a place
			runs[at].text += text
			continue
		}
		const ahead = 8 // rectangles without letters
		for next := at; next < min(at+ahead, len(runs)); next++ {
			if runs[next].holds(l.PointPosition) {
				at = next
				break
			}
		}
		runs[at].text += text
	}
	return slices.DeleteFunc(runs, func(r run) bool { return strings.TrimSpace(r.text) == "" })
}

// holds reports whether the middle of a letter is in the run.
func (r run) holds(p responses.CharPosition) bool {
	const near = 0.5 // points
	x, y := (p.Left+p.Right)/2, (p.Top+p.Bottom)/2
	return r.left-near <= x && x <= r.right+near && r.bottom-near <= y && y <= r.top+near
}

// clean returns a letter as it is written: blanks and line ends are blanks, and
// control characters nothing.
func clean(letter string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u00AD' || r == '\u0002' || r == '\uFFFE': // a hyphen at the end of a line
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, letter)
}

// bold reports whether a font is. The weight that PDFium guesses is too high for
// fonts that are not, so the name counts first.
func bold(weight int, name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"bold", "black", "heavy", "cmbx", "-medi"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	const heavy = 700
	return name == "" && weight >= heavy
}

// mono reports whether a font is a typewriter's.
func mono(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"mono", "courier", "cmtt", "consol", "typewriter", "nimbusmon"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// lines returns the lines of a page in the order in which it has them.
func (p page) lines() []line {
	var out []line
	for _, r := range p.runs {
		if n := len(out); n > 0 && out[n-1].takes(r) {
			out[n-1].add(r)
			continue
		}
		out = append(out, line{top: r.top, bottom: r.bottom})
		out[len(out)-1].add(r)
	}
	for i := range out {
		out[i].settle()
	}
	return out
}

// takes reports whether a run goes on with the line: it is beside it and to the
// right of it.
func (l *line) takes(r run) bool {
	overlap := min(l.top, r.top) - max(l.bottom, r.bottom)
	last := l.runs[len(l.runs)-1]
	return overlap > 0.4*min(l.top-l.bottom, r.top-r.bottom) && r.left > last.right-0.5*last.size
}

func (l *line) add(r run) {
	l.runs = append(l.runs, r)
	l.top, l.bottom = max(l.top, r.top), min(l.bottom, r.bottom)
}

// settle finds what most of the line is like.
func (l *line) settle() {
	chars := map[float64]int{}
	l.bold, l.mono = true, true
	for _, r := range l.runs {
		size := rounded(r.size)
		chars[size] += len(r.text)
		if l.size == 0 || chars[size] > chars[l.size] {
			l.size = size
		}
		l.bold = l.bold && r.bold
		l.mono = l.mono && r.mono
	}
}

func (l line) left() float64 { return l.runs[0].left }

// text returns the words of a line.
func (l line) text() string { return strings.TrimSpace(joinRuns(l.runs)) }

// joinRuns returns the text of runs that stand side by side, with a blank where
// there is room for one.
func joinRuns(runs []run) string {
	var b strings.Builder
	for i, r := range runs {
		if i > 0 {
			before := runs[i-1]
			const room = 0.5 // that PDFium saw no blank in
			if r.left-before.right > room*r.size && !strings.HasSuffix(before.text, " ") && !strings.HasPrefix(r.text, " ") {
				b.WriteByte(' ')
			}
		}
		b.WriteString(r.text)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// cell is a piece of a line that room parts from the others.
type cell struct {
	left, right float64
	text        string
}

// cells returns the pieces of a line between which there is more room than
// between words.
func (l line) cells() []cell {
	var out []cell
	start := 0
	for i := 1; i <= len(l.runs); i++ {
		const apart = 1.0
		if i < len(l.runs) && l.runs[i].left-l.runs[i-1].right < apart*l.size {
			continue
		}
		runs := l.runs[start:i]
		out = append(out, cell{runs[0].left, runs[len(runs)-1].right, joinRuns(runs)})
		start = i
	}
	return out
}
