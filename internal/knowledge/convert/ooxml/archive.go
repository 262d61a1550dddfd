package ooxml

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// archive is an open Office file.
type archive struct {
	files map[string]*zip.File
	left  int64 // bytes that may still be unpacked
	limit int64
}

// errTooLarge says that a part would unpack to too much.
var errTooLarge = errors.New("unpacks to too much")

// open opens an Office file. At most limit bytes of it are unpacked.
func open(data []byte, limit int) (*archive, error) {
	if bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0")) {
		return nil, errors.New("is encrypted, or in the format of before 2007; save it in the newer format and without a password")
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("is damaged, or no Office file: %w", err)
	}
	a := &archive{files: make(map[string]*zip.File, len(z.File)), left: int64(limit), limit: int64(limit)}
	for _, f := range z.File {
		a.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	return a, nil
}

// part calls visit with every token of a part until it says stop. A part that is
// not there has none.
func (a *archive) part(name string, visit func(dec *xml.Decoder, token xml.Token) error) error {
	f := a.files[name]
	if f == nil {
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("is damaged: open %s: %w", name, err)
	}
	defer in.Close() // read only: nothing can be lost
	dec := xml.NewDecoder(&budget{in: in, left: &a.left})
	for {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			err = visit(dec, token)
		}
		switch {
		case errors.Is(err, errTooLarge):
			return fmt.Errorf("unpacks to more than %d MiB, or makes more text; split it", a.limit>>20)
		case err != nil:
			return fmt.Errorf("is damaged: %s: %w", name, err)
		}
	}
}

// budget is a reader that stops when too much was read.
type budget struct {
	in   io.Reader
	left *int64
}

// Read implements io.Reader.
func (b *budget) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// relations returns what the ids in a part lead to, by id, and by the last word
// of their type.
func (a *archive) relations(name string) (byID map[string]string, byType map[string]string, err error) {
	byID, byType = map[string]string{}, map[string]string{}
	dir, file := path.Split(name)
	err = a.part(dir+"_rels/"+file+".rels", func(_ *xml.Decoder, token xml.Token) error {
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
			return nil
		}
		target := attr(e, "Target")
		if strings.HasPrefix(target, "/") {
			target = strings.TrimPrefix(target, "/")
		} else {
			target = path.Join(dir, target)
		}
		byID[attr(e, "Id")] = target
		kind := attr(e, "Type")
		byType[kind[strings.LastIndexByte(kind, '/')+1:]] = target
		return nil
	})
	return byID, byType, err
}

// main returns the name of the part that a file is about, and what belongs to
// it.
func (a *archive) main(usual string) (name string, byID, byType map[string]string, err error) {
	_, top, err := a.relations("")
	if err != nil {
		return "", nil, nil, err
	}
	name = top["officeDocument"]
	if a.files[name] == nil {
		name = usual
	}
	if a.files[name] == nil {
		return "", nil, nil, fmt.Errorf("is no such Office file: it has no %s", usual)
	}
	byID, byType, err = a.relations(name)
	return name, byID, byType, err
}

// attr returns the attribute of that name, in whatever namespace.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// grid is a table.
type grid [][]string

// markdown writes the table, its first row as its header. Empty rows are left
// out. More than limit bytes are errTooLarge.
func (g grid) markdown(limit int) (string, error) {
	columns := 0
	for _, row := range g {
		for i, c := range row {
			if c != "" {
				columns = max(columns, i+1)
			}
		}
	}
	const least = 3 // bytes a cell takes
	if columns*len(g)*least > limit {
		return "", errTooLarge
	}
	if columns == 0 {
		return "", nil
	}
	var b strings.Builder
	header := true
	for _, row := range g {
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			continue
		}
		b.WriteByte('|')
		for i := range columns {
			text := ""
			if i < len(row) {
				text = strings.ReplaceAll(strings.Join(strings.Fields(row[i]), " "), "|", `\|`)
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteByte('\n')
		if header {
			b.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
			header = false
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// flat writes the table in one line, for a table in a cell of another.
func (g grid) flat() string {
	var rows []string
	for _, row := range g {
		var cells []string
		for _, c := range row {
			if c = strings.Join(strings.Fields(c), " "); c != "" {
				cells = append(cells, c)
			}
		}
		if len(cells) > 0 {
			rows = append(rows, strings.Join(cells, " / "))
		}
	}
	return strings.Join(rows, "; ")
}

// blocks is Markdown in the making.
type blocks struct {
	strings.Builder
	limit int
	list  bool // the last block is an item of a list
}

// add writes a block, with a blank line before it but between items of a list.
func (b *blocks) add(text string, item bool) error {
	if text == "" {
		return nil
	}
	if b.Len()+len(text) > b.limit {
		return errTooLarge
	}
	if b.Len() > 0 && !(item && b.list) {
		b.WriteByte('\n')
	}
	b.WriteString(text)
	b.WriteByte('\n')
	b.list = item
	return nil
}
