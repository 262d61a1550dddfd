package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/pdf"
)

// Options says how a file is read.
type Options struct {
	Limits Limits
	// Delimiter parts the cells of a .csv; zero means that it is found out.
	Delimiter rune
	// Pages are the pages of a .pdf, or the slides of a .pptx, that are read,
	// counted from 1; nil means all.
	Pages []int
	// Sheet is the sheet of an .xlsx that is read, and Range the cells of it,
	// such as "A1:C9". Empty means all.
	Sheet, Range string
}

// Document is what a file says.
type Document struct {
	// Text is Markdown, or plain text.
	Text string
	// Pages are the offsets in Text at which the pages begin, nil for a file
	// that has none.
	Pages []int
	// Note says what a person should know of the reading, as the end of a
	// sentence that begins with the file's name, or is empty.
	Note string
}

// Converter turns files into text. It is safe for concurrent use.
type Converter struct{ pdf *pdf.Engine }

// New returns a Converter that keeps the compiled form of the reader of PDFs in
// cacheDir, or nowhere when that is empty.
func New(cacheDir string) *Converter { return &Converter{pdf: pdf.New(cacheDir)} }

// Close frees the reader of PDFs. It is idempotent; nothing may be in reading.
func (c *Converter) Close() error { return c.pdf.Close() }

// Document returns what a file says. The extension, in lower case and with its
// dot, says what data is. The error says what is wrong with the file and leaves
// its naming to the caller.
func (c *Converter) Document(ctx context.Context, extension string, data []byte, opts Options) (Document, error) {
	switch extension {
	case ".pdf":
		if len(data) == 0 {
			return Document{}, errors.New("is empty, and no PDF")
		}
		d, err := c.pdf.Read(ctx, data, pdf.Options{Pages: opts.Pages, TextBytes: opts.Limits.TextBytes})
		return Document{Text: d.Text, Pages: d.Pages}, err
	case ".docx":
		text, err := ooxml.Word(data, opts.Limits.TextBytes)
		return Document{Text: text}, err
	case ".xlsx":
		text, err := ooxml.Sheets(data, ooxml.SheetOptions{Sheet: opts.Sheet, Range: opts.Range, TextBytes: opts.Limits.TextBytes})
		return Document{Text: text}, err
	case ".pptx":
		d, err := ooxml.Slides(data, opts.Pages, opts.Limits.TextBytes)
		return Document{Text: d.Text, Pages: d.Pages}, err
	case ".html", ".htm":
		return htmlDocument(data)
	}
	return plainDocument(extension, data, opts)
}

// plainDocument returns what a text file says.
func plainDocument(extension string, data []byte, opts Options) (Document, error) {
	text, note, err := Text(data)
	if err != nil {
		return Document{}, err
	}
	out := &blocks{limit: opts.Limits.TextBytes}
	switch extension {
	case ".md", ".txt":
		return Document{Text: text, Note: note}, nil
	case ".csv":
		err = rowBlocks(out, text, opts.Delimiter)
	case ".json":
		var root node
		if root, err = parseJSON(text); err == nil {
			err = out.root(root)
		}
	case ".jsonl":
		for _, line := range jsonLines(text) {
			var root node
			if root, err = line.parse(); err == nil {
				err = out.root(root)
			}
			if err != nil {
				break
			}
		}
	default:
		return Document{}, fmt.Errorf("has the extension %q, which is not one of %s", extension, strings.Join(Extensions(), " "))
	}
	if err != nil {
		return Document{}, err
	}
	return Document{Text: out.String(), Note: note}, nil
}

// rowBlocks writes the rows of a .csv. A header alone names what is not there.
func rowBlocks(out *blocks, text string, delimiter rune) error {
	t, err := parseCSV(text, delimiter)
	if err != nil {
		return err
	}
	for _, row := range t.rows {
		out.gap()
		for i, cell := range row.cells {
			if strings.TrimSpace(cell) == "" {
				continue
			}
			if err := out.line(t.column(i), cell); err != nil {
				return err
			}
		}
	}
	return nil
}

// blocks is text made of blocks of lines, a blank line between them.
type blocks struct {
	strings.Builder
	limit   int
	pending bool // a gap was asked for
}

// gap parts what follows from what came before.
func (b *blocks) gap() { b.pending = b.Len() > 0 }

// line writes "path: value", or value alone.
func (b *blocks) line(path, value string) error {
	if b.Len()+len(path)+len(value) > b.limit {
		return fmt.Errorf("is too deeply nested: its text would be longer than %s; split it", mebibytes(int64(b.limit)))
	}
	if b.pending {
		b.WriteByte('\n')
		b.pending = false
	}
	if path != "" {
		b.WriteString(path)
		b.WriteString(": ")
	}
	b.WriteString(value)
	b.WriteByte('\n')
	return nil
}

// root writes a whole JSON document.
func (b *blocks) root(n node) error {
	b.gap()
	return b.node("", n)
}

// node writes n, which is found at path.
func (b *blocks) node(path string, n node) error {
	switch {
	case n.kind == kindNull, n.container() && len(n.items) == 0:
		return nil
	case !n.container():
		return b.line(path, n.plain())
	case n.kind == kindObject:
		for i, item := range n.items {
			if err := b.node(join(path, n.keys[i]), item); err != nil {
				return err
			}
		}
		return nil
	case !slices.ContainsFunc(n.items, node.container):
		return b.line(path, list(n.items))
	}
	for _, item := range n.items {
		b.gap()
		if err := b.node(path, item); err != nil {
			return err
		}
	}
	b.gap()
	return nil
}

// join appends key to a dotted path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// list writes plain values in one line.
func list(items []node) string {
	var parts []string
	for _, item := range items {
		if item.kind != kindNull {
			parts = append(parts, item.plain())
		}
	}
	return strings.Join(parts, ", ")
}
