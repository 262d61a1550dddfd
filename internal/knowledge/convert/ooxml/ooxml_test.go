package ooxml_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml/ooxmltest"
)

const limit = 1 << 20

// numbering are two lists: 1 is numbered like a contract, 2 has bullets.
const numbering = `<w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%3)"/></w:lvl>
<w:lvl w:ilvl="3"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%4)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>`

// item returns an item of a list.
func item(list, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func cells(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(`<w:tc>` + ooxmltest.Paragraph("", t) + `</w:tc>`)
	}
	return `<w:tr>` + b.String() + `</w:tr>`
}

func TestWord(t *testing.T) {
	p := ooxmltest.Paragraph
	for _, tt := range []struct {
		name string
		file ooxmltest.Word
		want string
	}{
		{"headings and paragraphs", ooxmltest.Word{Styles: ooxmltest.Headings, Body: p("Heading1", "Lamps") + p("", "A &lt;lamp&gt;.") + p("Heading2", "Bulbs") + p("", "")},
			"# Lamps\n\nA <lamp>.\n\n## Bulbs\n"},
		{"headings of other languages and of one's own", ooxmltest.Word{
			Styles: `<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style><w:style w:styleId="Deep"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style><w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>`,
			Body:   p("berschrift1", "Eins") + p("Mine", "Zwei") + p("Deep", "Drei") + p("A", "Text")}, "# Eins\n\n# Zwei\n\n### Drei\n\nText\n"},
		{"headings without styles", ooxmltest.Word{Body: p("Heading2", "Two") + p("Title", "All")}, "## Two\n\n# All\n"},
		{"lists", ooxmltest.Word{Numbering: numbering, Body: item("2", "0", "one") + item("2", "0", "two") + p("", "then") + item("9", "0", "unknown")},
			"- one\n- two\n\nthen\n\n- unknown\n"},
		{"numbers that Word makes up", ooxmltest.Word{Numbering: numbering,
			Styles: `<w:style w:styleId="Clause"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>`,
			Body: item("1", "0", "Fees") + p("Clause", "Amount") + p("Clause", "Late fees") + item("1", "2", "monthly") + item("1", "2", "yearly") + item("1", "3", "in advance") +
				item("1", "0", "Term") + p("Clause", "Begin")},
			"4. Fees\n\n## 4.1 Amount\n\n## 4.2 Late fees\n\n    (a) monthly\n    (b) yearly\n      I) in advance\n5. Term\n\n## 5.1 Begin\n"},
		{"a table", ooxmltest.Word{Body: `<w:tbl>` + cells("Lamp", "Price") + cells("Brass | steel", "89") +
			`<w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>` + p("", "both") + `</w:tc></w:tr></w:tbl>` + p("", "after")},
			"| Lamp | Price |\n| --- | --- |\n| Brass \\| steel | 89 |\n| both |  |\n\nafter\n"},
		{"a table in a table", ooxmltest.Word{Body: `<w:tbl>` + cells("A", "B") + `<w:tr><w:tc><w:tbl>` + cells("x", "y") + cells("z") + `</w:tbl>` + p("", "") + `</w:tc><w:tc>` + p("", "b") + `</w:tc></w:tr></w:tbl>`},
			"| A | B |\n| --- | --- |\n| x / y; z | b |\n"},
		{"a frame round a text", ooxmltest.Word{Body: `<w:tbl>` + cells("Only this") + `</w:tbl>`}, "Only this\n"},
		{"notes", ooxmltest.Word{Footnotes: `<w:footnote w:id="0" w:type="separator">` + p("", "---") + `</w:footnote><w:footnote w:id="2">` + p("", "But not in May.") + `</w:footnote>`,
			Body: `<w:p><w:r><w:t>We deliver</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>.</w:t></w:r></w:p>` + p("", "More.")},
			"We deliver[^2].\n\n[^2]: But not in May.\n\nMore.\n"},
		{"changes, breaks and fields", ooxmltest.Word{Body: `<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:tab/><w:t>a</w:t><w:br/><w:t>b</w:t><w:noBreakHyphen/><w:instrText>PAGE</w:instrText></w:r></w:p>`},
			"new a\nb-\n"},
		{"a table of contents", ooxmltest.Word{Styles: `<w:style w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>`, Body: p("TOC1", "Lamps 3") + p("", "text")}, "text\n"},
		{"a text box", ooxmltest.Word{Body: `<w:p><w:r><w:t>before</w:t></w:r><mc:AlternateContent><mc:Choice><w:txbxContent>` + p("", "boxed") + `</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>` + p("", "boxed") + `</w:txbxContent></mc:Fallback></mc:AlternateContent></w:p>`},
			"boxed\n\nbefore\n"},
		{"empty", ooxmltest.Word{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ooxml.Word(tt.file.Bytes(), limit)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// prices is a sheet with a gap, a date, a time and a formula.
func prices() ooxmltest.Book {
	return ooxmltest.Book{
		Sheet: "Prices", Texts: []string{"Lamp", "Price", "Brass"},
		Styles: `<numFmts><numFmt numFmtId="170" formatCode="yyyy\-mm\-dd hh:mm"/><numFmt numFmtId="171" formatCode="0.00 &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>`,
		Rows: `<row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row>` +
			`<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4" s="1"><v>46356</v></c><c r="C4"><f>1+2</f><v>0.30000000000000004</v></c></row>` +
			`<row r="5"><c r="A5" t="inlineStr"><is><t>Steel</t></is></c><c r="B5" s="2"><v>46356.5</v></c><c r="C5" s="3"><v>12</v></c></row>` +
			`<row r="6"><c r="A6" t="b"><v>1</v></c><c r="B6" t="e"><v>#N/A</v></c><c r="C6" t="s"><v>99</v></c></row>`,
	}
}

func TestSheets(t *testing.T) {
	const all = "## Prices\n\n| Lamp |  | Price |\n| --- | --- | --- |\n| Brass | 2026-11-30 | 0.3 |\n| Steel | 2026-11-30 12:00:00 | 12 |\n| TRUE | #N/A |  |\n"
	for _, tt := range []struct {
		name string
		opts ooxml.SheetOptions
		want string
	}{
		{"all", ooxml.SheetOptions{}, all},
		{"a sheet", ooxml.SheetOptions{Sheet: "prices"}, all},
		{"a range", ooxml.SheetOptions{Range: "B4:$C$5"}, "## Prices\n\n| 2026-11-30 | 0.3 |\n| --- | --- |\n| 2026-11-30 12:00:00 | 12 |\n"},
		{"a cell", ooxml.SheetOptions{Range: "a5"}, "## Prices\n\n| Steel |\n| --- |\n"},
		{"nothing there", ooxml.SheetOptions{Range: "X1:Z9"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.TextBytes = limit
			got, err := ooxml.Sheets(prices().Bytes(), tt.opts)
			if err != nil || got != tt.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
	for _, opts := range []struct {
		opts ooxml.SheetOptions
		want string
	}{
		{ooxml.SheetOptions{Sheet: "Costs"}, "has no sheet 'Costs'; its sheets are: Prices"},
		{ooxml.SheetOptions{Range: "C9:A1"}, `has no range "C9:A1"; write it as A1:C9`},
		{ooxml.SheetOptions{Range: "all"}, `has no range "all"`},
	} {
		opts.opts.TextBytes = limit
		if _, err := ooxml.Sheets(prices().Bytes(), opts.opts); err == nil || !strings.Contains(err.Error(), opts.want) {
			t.Errorf("%+v: %v", opts.opts, err)
		}
	}
}

func TestSlides(t *testing.T) {
	s := ooxmltest.Shape
	file := ooxmltest.Deck{
		Slides: []string{
			s("title", "Lamps") + s("body", "One", "Two") + s("sldNum", "1") + s("", "free text"),
			s("ctrTitle", "Prices") + `<a:tbl><a:tr><a:tc>` + s("", "Lamp") + `</a:tc><a:tc>` + s("", "89") + `</a:tc></a:tr></a:tbl>`,
		},
		Notes: s("sldImg", "x") + s("body", "Say it", "slowly."),
	}.Bytes()
	got, err := ooxml.Slides(file, nil, limit)
	const first = "# Lamps\n\n- One\n- Two\n\nfree text\n\nNotes: Say it\n\nslowly.\n"
	if want := first + "\n# Prices\n\n| Lamp | 89 |\n| --- | --- |\n"; err != nil || got.Text != want || !slices.Equal(got.Pages, []int{0, len(first)}) {
		t.Errorf("%v, pages %v, got\n%s\nwant\n%s", err, got.Pages, got.Text, want)
	}
	got, err = ooxml.Slides(file, []int{2}, limit)
	if err != nil || !strings.HasPrefix(got.Text, "# Prices") {
		t.Errorf("%v, %q", err, got.Text)
	}
	if _, err := ooxml.Slides(file, []int{3}, limit); err == nil || err.Error() != "has no slide 3; its slides are 1 to 2" {
		t.Errorf("%v", err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	whole := ooxmltest.Word{Body: ooxmltest.Paragraph("", "text")}.Bytes()
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "is damaged, or no Office file"},
		{"text", []byte("a text"), "is damaged, or no Office file"},
		{"cut off", whole[:len(whole)/2], "is damaged, or no Office file"},
		{"another archive", ooxmltest.Zip(map[string]string{"a.txt": "x"}), "is no such Office file: it has no word/document.xml"},
		{"encrypted", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), "is encrypted, or in the format of before 2007"},
		{"bad XML", ooxmltest.Word{Body: "<w:p>"}.Bytes(), "is damaged: word/document.xml: XML syntax error"},
		{"a zip bomb", ooxmltest.Word{Body: ooxmltest.Paragraph("", strings.Repeat("a", 8<<20))}.Bytes(), "unpacks to more than 1 MiB"},
		{"a bomb in the styles", ooxmltest.Word{Styles: "<!--" + strings.Repeat("a", 8<<20) + "-->"}.Bytes(), "unpacks to more than 1 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ooxml.Word(tt.data, limit); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAWideSheetTakesNoRoom(t *testing.T) {
	rows := strings.Repeat(`<row><c r="XFD1"><v>1</v></c></row>`, 1000)
	_, err := ooxml.Sheets(ooxmltest.Book{Sheet: "Wide", Rows: rows}.Bytes(), ooxml.SheetOptions{TextBytes: limit})
	if err == nil || !strings.Contains(err.Error(), "makes more text") {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(ooxmltest.Word{Styles: ooxmltest.Headings, Numbering: numbering, Body: item("1", "1", "x") + `<w:tbl>` + cells("a", "b") + `</w:tbl>`}.Bytes())
	f.Add(prices().Bytes())
	f.Add(ooxmltest.Deck{Slides: []string{ooxmltest.Shape("title", "x")}, Notes: ooxmltest.Shape("body", "y")}.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		const small = 1 << 16
		word, _ := ooxml.Word(data, small)
		sheets, _ := ooxml.Sheets(data, ooxml.SheetOptions{TextBytes: small})
		slides, _ := ooxml.Slides(data, nil, small)
		for _, text := range []string{word, sheets, slides.Text} {
			if len(text) > 2*small {
				t.Errorf("%d bytes of text", len(text))
			}
		}
	})
}

// FuzzWordBody has parts that are whole, which fuzzed archives seldom are.
func FuzzWordBody(f *testing.F) {
	f.Add(ooxmltest.Paragraph("Heading1", "x")+`<w:tbl>`+cells("a")+`</w:tbl>`, ooxmltest.Headings, numbering)
	f.Add(`</w:tc></w:tbl><w:tc/><w:tr/>`, `<w:style/>`, `<w:lvl/><w:num/>`)
	f.Fuzz(func(t *testing.T, body, styles, numbering string) {
		const small = 1 << 16
		if text, err := ooxml.Word(ooxmltest.Word{Body: body, Styles: styles, Numbering: numbering}.Bytes(), small); err == nil && len(text) > 2*small {
			t.Errorf("%d bytes of text", len(text))
		}
	})
}

func BenchmarkWord(b *testing.B) {
	body := strings.Repeat(ooxmltest.Paragraph("Heading1", "A heading")+ooxmltest.Paragraph("", strings.Repeat("A sentence of some length. ", 20)), 1000)
	file := ooxmltest.Word{Styles: ooxmltest.Headings, Body: body}.Bytes()
	text, err := ooxml.Word(file, 64<<20)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ooxml.Word(file, 64<<20); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSheets(b *testing.B) {
	rows := strings.Repeat(`<row><c t="s"><v>0</v></c><c><v>12.5</v></c><c s="1"><v>46356</v></c><c t="s"><v>2</v></c></row>`, 20_000)
	book := prices()
	book.Rows = rows
	file := book.Bytes()
	text, err := ooxml.Sheets(file, ooxml.SheetOptions{TextBytes: 64 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ooxml.Sheets(file, ooxml.SheetOptions{TextBytes: 64 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
