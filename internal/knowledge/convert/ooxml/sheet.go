package ooxml

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// SheetOptions says what of a workbook is read.
type SheetOptions struct {
	// Sheet is the name of the one sheet to read; empty means all.
	Sheet string
	// Range are the cells to read, such as "A1:C9"; empty means all.
	Range string
	// TextBytes is the most that is unpacked, and the longest text, in bytes.
	TextBytes int
}

// Sheets returns the sheets of an .xlsx as Markdown tables. The error says what
// is wrong with the file and leaves its naming to the caller.
func Sheets(data []byte, opts SheetOptions) (string, error) {
	area, err := parseArea(opts.Range)
	if err != nil {
		return "", err
	}
	a, err := open(data, opts.TextBytes)
	if err != nil {
		return "", err
	}
	name, byID, related, err := a.main("xl/workbook.xml")
	if err != nil {
		return "", err
	}
	b := &book{area: area}
	if err := b.read(a, name, related); err != nil {
		return "", err
	}
	out := &blocks{limit: opts.TextBytes}
	found := opts.Sheet == ""
	for _, s := range b.sheets {
		if opts.Sheet != "" && !strings.EqualFold(s.name, opts.Sheet) {
			continue
		}
		found = true
		rows, err := b.sheet(a, byID[s.id])
		if err != nil {
			return "", err
		}
		text, err := rows.markdown(opts.TextBytes)
		if err == nil && text != "" {
			err = errors.Join(out.add("## "+s.name, false), out.add(text, false))
		}
		if err != nil {
			return "", fmt.Errorf("makes more than %d MiB of text; split it", opts.TextBytes>>20)
		}
	}
	if !found {
		return "", fmt.Errorf("has no sheet '%s'; its sheets are: %s", opts.Sheet, b.names())
	}
	return out.String(), nil
}

// area is a rectangle of cells, counted from 1; zero means all.
type area struct{ left, top, right, bottom int }

// parseArea reads a range such as A1:C9 or B2.
func parseArea(text string) (area, error) {
	if text == "" {
		return area{}, nil
	}
	from, to, ok := strings.Cut(strings.ReplaceAll(text, "$", ""), ":")
	if !ok {
		to = from
	}
	left, top := parseCell(from)
	right, bottom := parseCell(to)
	if left == 0 || top == 0 || right < left || bottom < top {
		return area{}, fmt.Errorf("has no range %q; write it as A1:C9", text)
	}
	return area{left, top, right, bottom}, nil
}

const (
	mostColumns = 16_384
	mostRows    = 1_048_576
	mostCells   = 4 << 20 // of a sheet, empty ones in front of others included
)

// parseCell returns the column and row of a cell such as B3, or zeros.
func parseCell(ref string) (column, row int) {
	i := 0
	for ; i < len(ref) && (ref[i]|0x20) >= 'a' && (ref[i]|0x20) <= 'z'; i++ {
		column = column*26 + int(ref[i]|0x20-'a') + 1
		if column > mostColumns {
			return 0, 0
		}
	}
	row, err := strconv.Atoi(ref[i:])
	if err != nil || row < 1 || row > mostRows || column == 0 {
		return 0, 0
	}
	return column, row
}

func (a area) holds(column, row int) bool {
	return a == area{} || a.left <= column && column <= a.right && a.top <= row && row <= a.bottom
}

// book is what belongs to all sheets.
type book struct {
	area    area
	sheets  []struct{ name, id string }
	strings []string
	dates   []bool // by style: whether numbers are dates
	epoch   time.Time
}

func (b *book) names() string {
	names := make([]string, len(b.sheets))
	for i, s := range b.sheets {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// read reads what belongs to all sheets.
func (b *book) read(a *archive, name string, related map[string]string) error {
	b.epoch = time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC)
	err := a.part(name, func(_ *xml.Decoder, token xml.Token) error {
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "sheet":
				b.sheets = append(b.sheets, struct{ name, id string }{attr(e, "name"), attr(e, "id")})
			case "workbookPr":
				if v := attr(e, "date1904"); v == "1" || v == "true" {
					b.epoch = time.Date(1904, time.January, 1, 0, 0, 0, 0, time.UTC)
				}
			}
		}
		return nil
	})
	return errors.Join(err, b.readStrings(a, related["sharedStrings"]), b.readStyles(a, related["styles"]))
}

// readStrings reads the texts that cells refer to by number.
func (b *book) readStrings(a *archive, name string) error {
	var text strings.Builder
	return a.part(name, func(dec *xml.Decoder, token xml.Token) error {
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "si":
				text.Reset()
			case "rPh": // how it is spoken
				return dec.Skip()
			case "t":
				s, err := characters(dec)
				text.WriteString(s)
				return err
			}
		case xml.EndElement:
			if e.Name.Local == "si" {
				b.strings = append(b.strings, text.String())
			}
		}
		return nil
	})
}

// readStyles finds the styles in which numbers are dates.
func (b *book) readStyles(a *archive, name string) error {
	quoted := regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|\\.`)
	custom := map[string]bool{}
	cells := false
	return a.part(name, func(_ *xml.Decoder, token xml.Token) error {
		switch e := token.(type) {
		case xml.StartElement:
			switch {
			case e.Name.Local == "numFmt":
				code := strings.ToLower(quoted.ReplaceAllString(attr(e, "formatCode"), ""))
				custom[attr(e, "numFmtId")] = strings.ContainsAny(code, "ydh") || strings.Contains(code, "mm")
			case e.Name.Local == "cellXfs":
				cells = true
			case e.Name.Local == "xf" && cells:
				id := attr(e, "numFmtId")
				n, _ := strconv.Atoi(id) // what is no number is no date
				b.dates = append(b.dates, custom[id] || 14 <= n && n <= 22 || 45 <= n && n <= 47)
			}
		case xml.EndElement:
			if e.Name.Local == "cellXfs" {
				cells = false
			}
		}
		return nil
	})
}

// sheet reads the cells of a sheet, from the first that has something.
func (b *book) sheet(a *archive, name string) (grid, error) {
	var g grid
	row, column, last, cells := 0, 0, 0, 0
	var kind, styleID string
	var value strings.Builder
	err := a.part(name, func(dec *xml.Decoder, token xml.Token) error {
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "row":
				row++
				if n, err := strconv.Atoi(attr(e, "r")); err == nil && row <= n && n <= mostRows {
					row = n
				}
				column = 0
			case "c":
				column++
				if c, _ := parseCell(attr(e, "r")); c > column {
					column = c
				}
				kind, styleID = attr(e, "t"), attr(e, "s")
				value.Reset()
			case "v", "t":
				s, err := characters(dec)
				value.WriteString(s)
				return err
			case "rPh":
				return dec.Skip()
			}
		case xml.EndElement:
			if e.Name.Local != "c" || value.Len() == 0 || !b.area.holds(column, row) || column > mostColumns {
				return nil
			}
			if row != last { // rows without cells take no room
				g, last = append(g, nil), row
			}
			at := &g[len(g)-1]
			wide := column - max(b.area.left-1, 0)
			if cells += max(wide-len(*at), 0); cells > mostCells {
				return errTooLarge
			}
			*at = append(*at, make([]string, max(wide-len(*at), 0))...)
			(*at)[wide-1] = b.shown(value.String(), kind, styleID)
		}
		return nil
	})
	return g, err
}

// shown returns a cell's value as it is shown.
func (b *book) shown(value, kind, styleID string) string {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(value); err == nil && 0 <= i && i < len(b.strings) {
			return b.strings[i]
		}
		return ""
	case "b":
		if value == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "str", "inlineStr", "e", "d":
		return value
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	if i, err := strconv.Atoi(styleID); err == nil && 0 <= i && i < len(b.dates) && b.dates[i] {
		return b.date(number)
	}
	const digits = 15 // that Excel keeps; more are noise
	return strconv.FormatFloat(roundTo(number, digits), 'f', -1, 64)
}

// roundTo rounds to a number of significant digits.
func roundTo(x float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x
	}
	return r
}

// date returns the day, and the time if there is one, that a number means.
func (b *book) date(days float64) string {
	const lastDay = 2_958_465 // of the year 9999
	if days < 0 || days > lastDay || math.IsNaN(days) {
		return strconv.FormatFloat(days, 'f', -1, 64)
	}
	t := b.epoch.AddDate(0, 0, int(days)).Add(time.Duration(math.Round((days-math.Floor(days))*24*60*60)) * time.Second)
	switch {
	case days < 1:
		return t.Format("15:04:05")
	case t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0:
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}
