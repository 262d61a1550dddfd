package convert

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// rows reads the rows of a .csv. A row with more cells than columns would lose
// them, and is an error unless they are blank.
func (f *RecordFile) rows(yield func(Record) bool) error {
	form, err := f.csvForm()
	if err != nil {
		return err
	}
	var header *csvHeader
	return f.csv(form, func(line int, cells []string) error {
		if header == nil {
			header, err = newCSVHeader(cells, f.opts.RecordPrefix)
			return err
		}
		r, err := header.record(line, cells)
		if err != nil {
			return err
		}
		if !yield(r) {
			return errStopped
		}
		return nil
	})
}

// csvForm is how a .csv is written.
type csvForm struct {
	delimiter rune
	lazy      bool // quotes inside of cells are plain characters
}

// csvForm finds out how the file is written.
func (f *RecordFile) csvForm() (csvForm, error) {
	form := csvForm{delimiter: f.opts.Delimiter}
	if form.delimiter == 0 {
		in, closer, err := f.text()
		if err != nil {
			return form, err
		}
		defer closer.Close() // read only: nothing can be lost
		head, err := io.ReadAll(io.LimitReader(in, sniffed))
		if err != nil {
			return form, cause(err)
		}
		form.delimiter = sniff(string(head))
	}
	if !f.look.quote {
		return form, nil
	}
	err := f.csv(form, func(int, []string) error { return nil })
	form.lazy = errors.Is(err, csv.ErrBareQuote)
	return form, nil
}

// csv calls visit with every row.
func (f *RecordFile) csv(form csvForm, visit func(line int, cells []string) error) error {
	in, closer, err := f.text()
	if err != nil {
		return err
	}
	defer closer.Close() // read only: nothing can be lost
	bounded := &gauge{in: in, limit: f.opts.Limits.FileBytes}
	r := csv.NewReader(bounded)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = form.delimiter, form.lazy, -1
	for {
		bounded.used = 0
		cells, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return csvError(err)
		}
		line, _ := r.FieldPos(0)
		if err := visit(line, cells); err != nil {
			return err
		}
	}
}

// csvHeader is the first row of a .csv.
type csvHeader struct{ names []string }

// newCSVHeader returns the names of columns. Two of one name would hide one.
func newCSVHeader(cells []string, prefix string) (*csvHeader, error) {
	t := table{header: trimmed(cells)}
	h := &csvHeader{names: make([]string, len(cells))}
	seen := map[string]bool{}
	for i := range cells {
		name := t.column(i)
		if seen[name] {
			return nil, fmt.Errorf("has two columns named '%s'; rename one", name)
		}
		seen[name] = true
		h.names[i] = prefix + name
	}
	return h, nil
}

// record returns a row as a record.
func (h *csvHeader) record(line int, cells []string) (Record, error) {
	for _, extra := range cells[min(len(cells), len(h.names)):] {
		if strings.TrimSpace(extra) != "" {
			return Record{}, fmt.Errorf("has %d cells in line %d, but %d columns; put quotes around cells that contain the delimiter",
				len(cells), line, len(h.names))
		}
	}
	r := Record{Where: fmt.Sprintf("line %d", line)}
	for i, name := range h.names[:min(len(cells), len(h.names))] {
		r.Fields = append(r.Fields, Field{Name: name, Value: cells[i]})
	}
	return r, nil
}
