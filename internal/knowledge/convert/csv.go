package convert

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// table is a parsed .csv.
type table struct {
	header []string
	rows   []row
}

// row is a line of a table. It may have more or fewer cells than the header.
type row struct {
	line  int
	cells []string
}

// column names the column at index i; one without a name of its own is named
// by its place.
func (t table) column(i int) string {
	if i < len(t.header) && t.header[i] != "" {
		return t.header[i]
	}
	return fmt.Sprintf("column %d", i+1)
}

// parseCSV reads text as a header and rows. A zero delimiter is found out.
func parseCSV(text string, delimiter rune) (table, error) {
	if delimiter == 0 {
		delimiter = sniff(text)
	}
	t, err := readCSV(text, delimiter, false)
	if errors.Is(err, csv.ErrBareQuote) {
		// A quote inside an unquoted cell, such as 5" pipe, is a plain character.
		t, err = readCSV(text, delimiter, true)
	}
	if err != nil {
		return table{}, csvError(err)
	}
	return t, nil
}

// csvError says where a .csv is none.
func csvError(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("is not CSV (line %d, column %d): %w", parse.StartLine, parse.Column, parse.Err)
	}
	return fmt.Errorf("is not CSV: %w", err)
}

// trimmed returns cells without the blanks around them.
func trimmed(cells []string) []string {
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = strings.TrimSpace(cell)
	}
	return out
}

func readCSV(text string, delimiter rune, lazyQuotes bool) (table, error) {
	in := csv.NewReader(strings.NewReader(text))
	in.Comma = delimiter
	in.LazyQuotes = lazyQuotes
	in.FieldsPerRecord = -1
	var t table
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return table{}, err
		}
		line, _ := in.FieldPos(0)
		if t.header == nil {
			t.header = trimmed(cells)
			continue
		}
		t.rows = append(t.rows, row{line: line, cells: cells})
	}
}

// sniffed is how many bytes of a .csv tell its delimiter.
const sniffed = 8 << 10

// sniff returns the delimiter of a .csv: the one of comma, semicolon, tab and
// bar by which the most of the first rows have as many cells as the header,
// and of several such the one with the most cells. It looks at the first
// bytes and answers comma when none of them occurs in the header.
func sniff(text string) rune {
	if len(text) >= sniffed {
		text = text[:sniffed]
		if end := strings.LastIndexByte(text, '\n'); end > 0 {
			text = text[:end]
		}
	}
	best, bestShare, bestCells := ',', 0.0, 1
	for _, delimiter := range []rune{',', ';', '\t', '|'} {
		t, err := readCSV(text, delimiter, true)
		if err != nil || len(t.header) < 2 {
			continue
		}
		agree := 1 // the header with itself
		for _, row := range t.rows {
			if len(row.cells) == len(t.header) {
				agree++
			}
		}
		share := float64(agree) / float64(1+len(t.rows))
		if share > bestShare || share == bestShare && len(t.header) > bestCells {
			best, bestShare, bestCells = delimiter, share, len(t.header)
		}
	}
	return best
}
