package ooxml

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// Word returns the text of a .docx as Markdown. At most limit bytes are
// unpacked, and as many make the text. The error says what is wrong with the
// file and leaves its naming to the caller.
func Word(data []byte, limit int) (string, error) {
	a, err := open(data, limit)
	if err != nil {
		return "", err
	}
	name, _, related, err := a.main("word/document.xml")
	if err != nil {
		return "", err
	}
	w := &word{out: &blocks{limit: limit}, notes: map[string]string{}}
	if w.styles, err = a.styles(related["styles"]); err != nil {
		return "", err
	}
	if w.numbers, err = a.numbering(related["numbering"]); err != nil {
		return "", err
	}
	for kind, mark := range map[string]string{"footnotes": "", "endnotes": "e"} {
		if err := w.readNotes(a, related[kind], mark); err != nil {
			return "", err
		}
	}
	if err := a.part(name, w.visit); err != nil {
		return "", err
	}
	return w.out.String(), nil
}

// word reads the body of a document.
type word struct {
	styles  map[string]style
	numbers numbering
	notes   map[string]string // by mark
	out     *blocks

	paragraphs []*wordParagraph // open ones; text boxes are inside of others
	tables     []*wordTable     // open ones
	cited      []string         // marks of notes to be written
}

// wordParagraph is an open paragraph.
type wordParagraph struct {
	text     strings.Builder
	style    string
	numID    string
	level    int // of the list
	outline  int // 0 is body text
	numbered bool
	run      bool // inside a run
}

// wordTable is an open table.
type wordTable struct {
	rows grid
	cell strings.Builder
	span int
	in   bool // inside a cell
}

// visit takes the next token of the body.
func (w *word) visit(dec *xml.Decoder, token xml.Token) error {
	switch e := token.(type) {
	case xml.StartElement:
		return w.start(dec, e)
	case xml.EndElement:
		return w.end(e.Name.Local)
	}
	return nil
}

// start takes the beginning of an element.
func (w *word) start(dec *xml.Decoder, e xml.StartElement) error {
	switch e.Name.Local {
	case "del", "moveFrom", "Fallback", "instrText", "delText", "tabs", "pPrChange", "rPrChange", "sectPr", "tblPrChange", "numberingChange":
		return dec.Skip() // deleted, said twice, or no text
	case "p":
		w.paragraphs = append(w.paragraphs, &wordParagraph{})
	case "tbl":
		w.tables = append(w.tables, &wordTable{})
	}
	if len(w.paragraphs) > 0 {
		if err := w.inParagraph(dec, e, w.paragraphs[len(w.paragraphs)-1]); err != nil {
			return err
		}
	}
	if len(w.tables) > 0 {
		t := w.tables[len(w.tables)-1]
		switch e.Name.Local {
		case "tr":
			t.rows = append(t.rows, nil)
		case "tc":
			t.cell.Reset()
			t.span, t.in = 1, true
		case "gridSpan":
			const widest = 100
			if n, err := strconv.Atoi(attr(e, "val")); err == nil && 0 < n && n <= widest {
				t.span = n
			}
		}
	}
	return nil
}

// inParagraph takes the beginning of an element of a paragraph.
func (w *word) inParagraph(dec *xml.Decoder, e xml.StartElement, p *wordParagraph) error {
	switch e.Name.Local {
	case "r":
		p.run = true
	case "t":
		text, err := characters(dec)
		if err != nil {
			return err
		}
		p.text.WriteString(text)
	case "tab":
		p.text.WriteByte(' ')
	case "br", "cr":
		p.text.WriteByte('\n')
	case "noBreakHyphen":
		p.text.WriteByte('-')
	case "pStyle":
		p.style = attr(e, "val")
	case "numId":
		p.numID, p.numbered = attr(e, "val"), true
	case "ilvl":
		p.level = smallNumber(attr(e, "val"))
	case "outlineLvl":
		p.outline = smallNumber(attr(e, "val")) + 1
	case "footnoteReference", "endnoteReference":
		mark := attr(e, "id")
		if e.Name.Local == "endnoteReference" {
			mark = "e" + mark
		}
		if w.notes[mark] != "" {
			p.text.WriteString("[^" + mark + "]")
			w.cited = append(w.cited, mark)
		}
	}
	return nil
}

// end takes the end of an element.
func (w *word) end(name string) error {
	switch name {
	case "p":
		if n := len(w.paragraphs); n > 0 {
			p := w.paragraphs[n-1]
			w.paragraphs = w.paragraphs[:n-1]
			return w.finish(p)
		}
	case "tc":
		if n := len(w.tables); n > 0 {
			t := w.tables[n-1]
			if len(t.rows) > 0 {
				row := &t.rows[len(t.rows)-1]
				*row = append(*row, strings.TrimSpace(t.cell.String()))
				*row = append(*row, make([]string, t.span-1)...)
			}
			t.in = false
		}
	case "tbl":
		if n := len(w.tables); n > 0 {
			t := w.tables[n-1]
			w.tables = w.tables[:n-1]
			return w.finishTable(t)
		}
	}
	return nil
}

// finish writes a paragraph.
func (w *word) finish(p *wordParagraph) error {
	text := strings.TrimSpace(p.text.String())
	st := resolve(w.styles, p.style)
	if p.outline == 0 {
		p.outline = st.outline
	}
	if !p.numbered && st.numID != "" {
		p.numID, p.level = st.numID, st.level
	}
	if text == "" || st.contents {
		return nil
	}
	mark, listed := w.numbers.next(p.numID, p.level)
	item := listed && p.outline == 0
	const deepest = 6
	switch {
	case 0 < p.outline && p.outline <= deepest && len(w.tables) == 0:
		text = strings.Repeat("#", p.outline) + " " + strings.TrimSpace(mark+" "+strings.Join(strings.Fields(text), " "))
	case listed:
		text = strings.Repeat("  ", p.level) + mark + " " + text
	}
	if n := len(w.tables); n > 0 && w.tables[n-1].in {
		w.tables[n-1].cell.WriteString(strings.TrimSpace(text) + "\n")
		return nil
	}
	if err := w.out.add(text, item); err != nil {
		return err
	}
	return w.writeNotes()
}

// finishTable writes a table, or puts it into the cell it is in.
func (w *word) finishTable(t *wordTable) error {
	if n := len(w.tables); n > 0 {
		w.tables[n-1].cell.WriteString(t.rows.flat() + "\n")
		return nil
	}
	text, err := t.rows.markdown(w.out.limit)
	if err != nil {
		return err
	}
	if len(t.rows) == 1 && len(t.rows[0]) == 1 { // a frame round a text
		text = t.rows[0][0]
	}
	if err := w.out.add(text, false); err != nil {
		return err
	}
	return w.writeNotes()
}

// writeNotes writes the notes that were cited since the last time.
func (w *word) writeNotes() error {
	for _, mark := range w.cited {
		if err := w.out.add("[^"+mark+"]: "+w.notes[mark], false); err != nil {
			return err
		}
	}
	w.cited = nil
	return nil
}

// readNotes reads the notes of a part. Their marks begin with prefix.
func (w *word) readNotes(a *archive, name, prefix string) error {
	mark := ""
	reader := &word{styles: w.styles, out: &blocks{limit: w.out.limit}}
	return a.part(name, func(dec *xml.Decoder, token xml.Token) error {
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "footnote" || e.Name.Local == "endnote" {
				if attr(e, "type") != "" && attr(e, "type") != "normal" {
					return dec.Skip() // lines that part notes from text
				}
				mark = prefix + attr(e, "id")
				reader.out = &blocks{limit: w.out.limit}
			}
		case xml.EndElement:
			if e.Name.Local == "footnote" || e.Name.Local == "endnote" {
				w.notes[mark] = strings.Join(strings.Fields(reader.out.String()), " ")
			}
		}
		return reader.visit(dec, token)
	})
}

// characters returns the text of the element that was begun.
func characters(dec *xml.Decoder) (string, error) {
	var b strings.Builder
	for depth := 1; depth > 0; {
		token, err := dec.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return b.String(), nil
}

// smallNumber returns the level that s is, from 0 to 8.
func smallNumber(s string) int {
	const most = 8
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return min(max(n, 0), most)
}
