// Package ooxmltest makes Office files for tests. It refuses to be more than
// tests need.
package ooxmltest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Zip returns an archive of files by name.
func Zip(files map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

const head = `<?xml version="1.0" encoding="UTF-8"?>`

// relations returns a part of relations to targets, with the ids rId1, rId2 ….
// A target is written type=file.
func relations(targets ...string) string {
	var b strings.Builder
	for i, t := range targets {
		kind, file, _ := strings.Cut(t, "=")
		fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`, i+1, kind, file)
	}
	return head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + b.String() + `</Relationships>`
}

// Word is a .docx. Its texts are what is inside of the elements of those parts,
// in the prefix w.
type Word struct{ Body, Styles, Numbering, Footnotes string }

// Bytes returns the file.
func (w Word) Bytes() []byte {
	part := func(name, content string) string {
		return fmt.Sprintf(`%s<w:%s xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">%s</w:%[2]s>`, head, name, content)
	}
	return Zip(map[string]string{
		"_rels/.rels":                  relations("officeDocument=word/document.xml"),
		"word/document.xml":            part("document", "<w:body>"+w.Body+"</w:body>"),
		"word/styles.xml":              part("styles", w.Styles),
		"word/numbering.xml":           part("numbering", w.Numbering),
		"word/footnotes.xml":           part("footnotes", w.Footnotes),
		"word/_rels/document.xml.rels": relations("styles=styles.xml", "numbering=numbering.xml", "footnotes=footnotes.xml"),
	})
}

// Paragraph returns a paragraph of a style, which may be "".
func Paragraph(style, text string) string {
	props := ""
	if style != "" {
		props = `<w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>`
	}
	return `<w:p>` + props + `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
}

// Headings are the styles Heading1 and Heading2.
const Headings = `<w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Heading2"><w:name w:val="heading 2"/></w:style>`

// Book is an .xlsx of one sheet. Rows are the elements of the sheet, and the
// texts its shared ones.
type Book struct {
	Sheet, Rows, Styles string
	Texts               []string
}

// Bytes returns the file.
func (b Book) Bytes() []byte {
	var texts strings.Builder
	for _, t := range b.Texts {
		texts.WriteString("<si><t>" + t + "</t></si>")
	}
	const space = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	return Zip(map[string]string{
		"_rels/.rels":                relations("officeDocument=xl/workbook.xml"),
		"xl/workbook.xml":            head + `<workbook` + space + `><sheets><sheet name="` + b.Sheet + `" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": relations("worksheet=worksheets/sheet1.xml", "sharedStrings=sharedStrings.xml", "styles=styles.xml"),
		"xl/worksheets/sheet1.xml":   head + `<worksheet` + space + `><sheetData>` + b.Rows + `</sheetData></worksheet>`,
		"xl/sharedStrings.xml":       head + `<sst` + space + `>` + texts.String() + `</sst>`,
		"xl/styles.xml":              head + `<styleSheet` + space + `>` + b.Styles + `</styleSheet>`,
	})
}

// Deck is a .pptx. Slides are what is in the trees of their shapes, and notes
// those of the notes to the first.
type Deck struct {
	Slides []string
	Notes  string
}

// Shape returns a shape with a placeholder of that type, which may be "", and
// paragraphs.
func Shape(place string, paragraphs ...string) string {
	var b strings.Builder
	for _, p := range paragraphs {
		b.WriteString(`<a:p><a:r><a:t>` + p + `</a:t></a:r></a:p>`)
	}
	ph := ""
	if place != "" {
		ph = `<p:nvPr><p:ph type="` + place + `"/></p:nvPr>`
	}
	return `<p:sp><p:nvSpPr>` + ph + `</p:nvSpPr><p:txBody>` + b.String() + `</p:txBody></p:sp>`
}

// Bytes returns the file.
func (d Deck) Bytes() []byte {
	const space = ` xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	files := map[string]string{"_rels/.rels": relations("officeDocument=ppt/presentation.xml")}
	var ids strings.Builder
	var targets []string
	for i, s := range d.Slides {
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="rId%d"/>`, 256+i, i+1)
		targets = append(targets, fmt.Sprintf("slide=slides/slide%d.xml", i+1))
		files[fmt.Sprintf("ppt/slides/slide%d.xml", i+1)] = head + `<p:sld` + space + `>` + s + `</p:sld>`
	}
	files["ppt/presentation.xml"] = head + `<p:presentation` + space + `><p:sldIdLst>` + ids.String() + `</p:sldIdLst></p:presentation>`
	files["ppt/_rels/presentation.xml.rels"] = relations(targets...)
	if d.Notes != "" {
		files["ppt/slides/_rels/slide1.xml.rels"] = relations("notesSlide=../notesSlides/notesSlide1.xml")
		files["ppt/notesSlides/notesSlide1.xml"] = head + `<p:notes` + space + `>` + d.Notes + `</p:notes>`
	}
	return Zip(files)
}
