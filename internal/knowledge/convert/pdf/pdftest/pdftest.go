// Package pdftest makes PDF files for tests, object by object and uncompressed.
// It refuses to be more than tests need.
package pdftest

import (
	"bytes"
	"fmt"
	"strings"
)

// Text is some text on a page.
type Text struct {
	X, Y float64 // in points from the lower left corner
	Size float64 // in points
	// Font is regular when empty, "bold" or "mono".
	Font string
	Text string // ASCII
}

// Bookmark is an entry of the outline.
type Bookmark struct {
	Title string
	Page  int // from 1
	Below []Bookmark
}

// File is what a PDF holds.
type File struct {
	Pages     [][]Text
	Bookmarks []Bookmark
	// Encrypted asks for a password that nobody knows.
	Encrypted bool
	// Circle makes the outline lead back to its beginning.
	Circle bool
}

// Lines returns the texts of lines, one below the other from the top of a page.
func Lines(size float64, lines ...string) []Text {
	const left, top, spacing = 72, 720, 1.3
	out := make([]Text, 0, len(lines))
	for i, l := range lines {
		if l != "" {
			out = append(out, Text{X: left, Y: top - spacing*size*float64(i), Size: size, Text: l})
		}
	}
	return out
}

// writer writes numbered objects.
type writer struct {
	bytes.Buffer
	offsets []int // by number, from 1
}

// reserve returns the number of an object that comes later.
func (w *writer) reserve() int {
	w.offsets = append(w.offsets, 0)
	return len(w.offsets)
}

func (w *writer) object(n int, body string) {
	w.offsets[n-1] = w.Len()
	fmt.Fprintf(w, "%d 0 obj\n%s\nendobj\n", n, body)
}

// Bytes returns the file.
func (f File) Bytes() []byte {
	w := &writer{}
	w.WriteString("%PDF-1.7\n")
	catalog, tree, outlines := w.reserve(), w.reserve(), w.reserve()
	fonts := map[string]int{"": w.reserve(), "bold": w.reserve(), "mono": w.reserve()}
	for name, base := range map[string]string{"": "Helvetica", "bold": "Helvetica-Bold", "mono": "Courier"} {
		w.object(fonts[name], "<</Type/Font/Subtype/Type1/BaseFont/"+base+"/Encoding/WinAnsiEncoding>>")
	}
	pages := make([]int, len(f.Pages))
	var kids strings.Builder
	for i, texts := range f.Pages {
		pages[i] = w.reserve()
		fmt.Fprintf(&kids, "%d 0 R ", pages[i])
		content := w.reserve()
		var body strings.Builder
		for _, t := range texts {
			escaped := strings.NewReplacer("\\", "\\\\", "(", "\\(", ")", "\\)").Replace(t.Text)
			fmt.Fprintf(&body, "BT /F%d %g Tf %g %g Td (%s) Tj ET\n", fonts[t.Font], t.Size, t.X, t.Y, escaped)
		}
		w.object(content, fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", body.Len(), body.String()))
		var resources strings.Builder
		for _, font := range []string{"", "bold", "mono"} {
			fmt.Fprintf(&resources, "/F%d %d 0 R", fonts[font], fonts[font])
		}
		w.object(pages[i], fmt.Sprintf("<</Type/Page/Parent %d 0 R/MediaBox[0 0 612 792]/Resources<</Font<<%s>>>>/Contents %d 0 R>>", tree, resources.String(), content))
	}
	w.object(tree, fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(pages)))
	first, last := f.outline(w, pages, outlines, f.Bookmarks)
	w.object(outlines, fmt.Sprintf("<</Type/Outlines%s>>", link("First", first)+link("Last", last)))
	w.object(catalog, fmt.Sprintf("<</Type/Catalog/Pages %d 0 R/Outlines %d 0 R>>", tree, outlines))
	return f.finish(w, catalog)
}

// finish writes the table of objects and the trailer.
func (f File) finish(w *writer, catalog int) []byte {
	trailer := fmt.Sprintf("/Root %d 0 R", catalog)
	if f.Encrypted {
		n := w.reserve()
		w.object(n, "<</Filter/Standard/V 2/R 3/Length 128/P -4/O<"+strings.Repeat("41", 32)+">/U<"+strings.Repeat("42", 32)+">>>")
		trailer += fmt.Sprintf("/Encrypt %d 0 R/ID[<%s><%s>]", n, strings.Repeat("0a", 16), strings.Repeat("0a", 16))
	}
	start := w.Len()
	fmt.Fprintf(w, "xref\n0 %d\n0000000000 65535 f \n", len(w.offsets)+1)
	for _, offset := range w.offsets {
		fmt.Fprintf(w, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(w, "trailer\n<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n", len(w.offsets)+1, trailer, start)
	return w.Buffer.Bytes()
}

// outline writes bookmarks and returns the numbers of the first and the last.
func (f File) outline(w *writer, pages []int, parent int, marks []Bookmark) (first, last int) {
	numbers := make([]int, len(marks))
	for i := range marks {
		numbers[i] = w.reserve()
	}
	for i, m := range marks {
		next := 0
		switch {
		case i+1 < len(marks):
			next = numbers[i+1]
		case f.Circle:
			next = numbers[0]
		}
		firstBelow, lastBelow := f.outline(w, pages, numbers[i], m.Below)
		w.object(numbers[i], fmt.Sprintf("<</Title(%s)/Parent %d 0 R/Dest[%d 0 R/Fit]%s>>", m.Title, parent, pages[m.Page-1],
			link("Next", next)+link("First", firstBelow)+link("Last", lastBelow)))
	}
	if len(marks) == 0 {
		return 0, 0
	}
	return numbers[0], numbers[len(numbers)-1]
}

// link writes a reference, or nothing for none.
func link(key string, number int) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("/%s %d 0 R", key, number)
}

// CacheDir is where tests keep PDFium's compiled form from one run to the next.
func CacheDir(tempDir string) string { return tempDir + "/holodeck-test/pdfium" }
