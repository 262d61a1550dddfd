package ooxml

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Deck is the text of a presentation.
type Deck struct {
	// Text is Markdown.
	Text string
	// Pages are the offsets in Text at which the slides that were read begin.
	Pages []int
}

// Slides returns the text of a .pptx. Wanted are the slides to read, counted
// from 1; nil means all. The error says what is wrong with the file and leaves
// its naming to the caller.
func Slides(data []byte, wanted []int, limit int) (Deck, error) {
	a, err := open(data, limit)
	if err != nil {
		return Deck{}, err
	}
	name, byID, _, err := a.main("ppt/presentation.xml")
	if err != nil {
		return Deck{}, err
	}
	var slides []string
	err = a.part(name, func(_ *xml.Decoder, token xml.Token) error {
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "sldId" {
			for _, at := range e.Attr { // id has a namespace, and there is one without
				if at.Name.Local == "id" && byID[at.Value] != "" {
					slides = append(slides, byID[at.Value])
				}
			}
		}
		return nil
	})
	if err != nil {
		return Deck{}, err
	}
	if wanted == nil {
		for i := range slides {
			wanted = append(wanted, i+1)
		}
	}
	out := &blocks{limit: limit}
	var d Deck
	for _, n := range wanted {
		if n < 1 || n > len(slides) {
			return Deck{}, fmt.Errorf("has no slide %d; its slides are 1 to %d", n, len(slides))
		}
		d.Pages = append(d.Pages, out.Len())
		if err := readSlide(a, slides[n-1], out); err != nil {
			return Deck{}, err
		}
	}
	d.Text = out.String()
	return d, nil
}

// readSlide writes a slide and the speaker's notes to it.
func readSlide(a *archive, name string, out *blocks) error {
	s := &slide{out: out}
	if err := a.part(name, s.visit); err != nil {
		return err
	}
	_, related, err := a.relations(name)
	if err != nil {
		return err
	}
	notes := &slide{out: &blocks{limit: out.limit}, onlyBody: true}
	if err := a.part(related["notesSlide"], notes.visit); err != nil {
		return err
	}
	if text := strings.TrimSpace(notes.out.String()); text != "" {
		return out.add("Notes: "+text, false)
	}
	return nil
}

// slide reads a slide.
type slide struct {
	out *blocks
	// onlyBody passes over all places but the body: notes repeat the slide.
	onlyBody bool

	place string // what the open shape is for, such as "title"
	level int
	text  strings.Builder
	table grid
	cell  strings.Builder
	depth int // of open tables
}

// visit takes the next token.
func (s *slide) visit(dec *xml.Decoder, token xml.Token) error {
	switch e := token.(type) {
	case xml.StartElement:
		return s.start(dec, e)
	case xml.EndElement:
		return s.end(e.Name.Local)
	}
	return nil
}

func (s *slide) start(dec *xml.Decoder, e xml.StartElement) error {
	switch e.Name.Local {
	case "Fallback":
		return dec.Skip()
	case "sp":
		s.place = ""
	case "ph":
		if s.place = attr(e, "type"); s.place == "" {
			s.place = "body"
		}
	case "p":
		s.text.Reset()
		s.level = 0
	case "pPr":
		s.level = smallNumber(attr(e, "lvl"))
	case "t":
		text, err := characters(dec)
		s.text.WriteString(text)
		return err
	case "br":
		s.text.WriteByte(' ')
	case "tbl":
		s.depth++
		s.table = nil
	case "tr":
		s.table = append(s.table, nil)
	case "tc":
		s.cell.Reset()
	}
	return nil
}

func (s *slide) end(name string) error {
	switch name {
	case "p":
		return s.paragraph(strings.Join(strings.Fields(s.text.String()), " "))
	case "tc":
		if n := len(s.table); n > 0 {
			s.table[n-1] = append(s.table[n-1], strings.TrimSpace(s.cell.String()))
		}
	case "tbl":
		s.depth--
		text, err := s.table.markdown(s.out.limit)
		if err != nil || s.onlyBody {
			return err
		}
		return s.out.add(text, false)
	}
	return nil
}

// paragraph writes a paragraph where it belongs.
func (s *slide) paragraph(text string) error {
	s.text.Reset()
	switch {
	case text == "":
		return nil
	case s.depth > 0:
		s.cell.WriteString(text + " ")
		return nil
	case s.place == "sldNum" || s.place == "ftr" || s.place == "dt" || s.onlyBody && s.place != "body":
		return nil
	case s.place == "title" || s.place == "ctrTitle":
		return s.out.add("# "+text, false)
	case s.place == "body" && !s.onlyBody:
		return s.out.add(strings.Repeat("  ", s.level)+"- "+text, true)
	}
	return s.out.add(text, false)
}
