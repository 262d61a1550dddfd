package ooxml

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// style is what a style of paragraphs says.
type style struct {
	name     string
	base     string // the style it is like
	outline  int    // level of heading, or 0
	numID    string
	level    int  // of the list
	contents bool // it is that of a table of contents
}

// styles reads the styles of a document, by id.
func (a *archive) styles(name string) (map[string]style, error) {
	all := map[string]style{}
	var id string
	var at style
	err := a.part(name, func(_ *xml.Decoder, token xml.Token) error {
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "style":
				id, at = attr(e, "styleId"), style{}
			case "name":
				at.named(attr(e, "val"))
			case "basedOn":
				at.base = attr(e, "val")
			case "outlineLvl":
				at.outline = smallNumber(attr(e, "val")) + 1
			case "numId":
				at.numID = attr(e, "val")
			case "ilvl":
				at.level = smallNumber(attr(e, "val"))
			}
		case xml.EndElement:
			if e.Name.Local == "style" {
				all[id] = at
			}
		}
		return nil
	})
	return all, err
}

// named takes the name of the style, which is English for those that Word has.
func (s *style) named(name string) {
	s.name = strings.ToLower(name)
	switch level, ok := strings.CutPrefix(s.name, "heading "); {
	case ok:
		if n, err := strconv.Atoi(level); err == nil && n > 0 {
			s.outline = n
		}
	case s.name == "title":
		s.outline = 1
	case strings.HasPrefix(s.name, "toc "):
		s.contents = true
	}
}

// resolve returns the style of an id with what it has of those it is like.
func resolve(all map[string]style, id string) style {
	s, ok := all[id]
	if !ok { // without styles, the usual ids tell
		s.named(strings.Replace(strings.ToLower(id), "heading", "heading ", 1))
		return s
	}
	const deepest = 20 // styles can go round in circles
	for base, i := s.base, 0; base != "" && i < deepest; i++ {
		b := all[base]
		if s.outline == 0 {
			s.outline = b.outline
		}
		if s.numID == "" {
			s.numID, s.level = b.numID, max(s.level, b.level)
		}
		s.contents = s.contents || b.contents
		base = b.base
	}
	return s
}

// numbering is the numbers of lists.
type numbering struct {
	abstract map[string]map[int]numberLevel // levels by the id of an abstract list
	lists    map[string]string              // abstract lists by the id of a list
	counts   map[string]*[9]int             // by abstract list
}

// numberLevel is how a level of a list is numbered.
type numberLevel struct {
	format string
	text   string // with %1 for the number of the first level
	start  int
}

// numbering reads the lists of a document.
func (a *archive) numbering(name string) (numbering, error) {
	n := numbering{abstract: map[string]map[int]numberLevel{}, lists: map[string]string{}, counts: map[string]*[9]int{}}
	var abstract, list string
	level := 0
	err := a.part(name, func(_ *xml.Decoder, token xml.Token) error {
		e, ok := token.(xml.StartElement)
		if !ok {
			return nil
		}
		set := func(change func(*numberLevel)) {
			if levels := n.abstract[abstract]; levels != nil {
				l := levels[level]
				change(&l)
				levels[level] = l
			}
		}
		switch e.Name.Local {
		case "abstractNum":
			abstract = attr(e, "abstractNumId")
			n.abstract[abstract] = map[int]numberLevel{}
		case "lvl":
			level = smallNumber(attr(e, "ilvl"))
			set(func(l *numberLevel) { l.start = 1 })
		case "numFmt":
			set(func(l *numberLevel) { l.format = attr(e, "val") })
		case "lvlText":
			set(func(l *numberLevel) { l.text = attr(e, "val") })
		case "start":
			set(func(l *numberLevel) { l.start = countFrom(attr(e, "val")) })
		case "num":
			list, abstract = attr(e, "numId"), ""
		case "abstractNumId":
			n.lists[list] = attr(e, "val")
		}
		return nil
	})
	return n, err
}

// countFrom returns the number that s is, or 1.
func countFrom(s string) int {
	const most = 1_000_000
	if n, err := strconv.Atoi(s); err == nil && 0 <= n && n < most {
		return n
	}
	return 1
}

// next returns the mark of the next item at a level of a list. It is false for a
// paragraph of no list.
func (n *numbering) next(list string, level int) (mark string, ok bool) {
	if list == "" || list == "0" {
		return "", false
	}
	abstract := n.lists[list]
	levels := n.abstract[abstract]
	at, ok := levels[level]
	if !ok || at.format == "bullet" || at.format == "none" {
		return "-", true
	}
	counts := n.counts[abstract]
	if counts == nil {
		counts = &[9]int{}
		for i := range counts {
			counts[i] = levels[i].start - 1
		}
		n.counts[abstract] = counts
	}
	counts[level]++
	for i := level + 1; i < len(counts); i++ {
		counts[i] = levels[i].start - 1
	}
	mark = at.text
	for i := level; i >= 0; i-- {
		mark = strings.ReplaceAll(mark, "%"+strconv.Itoa(i+1), inFormat(levels[i].format, max(counts[i], levels[i].start)))
	}
	if mark = strings.TrimSpace(mark); mark == "" {
		return "-", true
	}
	return mark, true
}

// inFormat writes a number as a format of Word asks for.
func inFormat(format string, n int) string {
	switch format {
	case "lowerLetter", "upperLetter":
		const letters = 26
		if n < 1 {
			return ""
		}
		s := strings.Repeat(string(rune('a'+(n-1)%letters)), min((n-1)/letters+1, letters))
		if format == "upperLetter" {
			s = strings.ToUpper(s)
		}
		return s
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		const twoDigits = 10
		if 0 <= n && n < twoDigits {
			return "0" + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n)
}

// roman writes a number in Roman numerals, or in digits where there are none.
func roman(n int) string {
	const most = 4000
	if n < 1 || n >= most {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, d := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.text)
		}
	}
	return b.String()
}
