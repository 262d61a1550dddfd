package pdf_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert/pdf"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/pdf/pdftest"
)

func newEngine(t testing.TB) *pdf.Engine {
	t.Helper()
	e := pdf.New(pdftest.CacheDir(os.TempDir()))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestText(t *testing.T) {
	e := newEngine(t)
	at := func(x, y, size float64, font, text string) pdftest.Text {
		return pdftest.Text{X: x, Y: y, Size: size, Font: font, Text: text}
	}
	repeated := func(n int) (pages [][]pdftest.Text) {
		for i := range n {
			pages = append(pages, []pdftest.Text{at(72, 760, 9, "", "Lamp Manual"), at(72, 500, 11, "", "Page about "+string(rune('a'+i))), at(300, 30, 9, "", fmt.Sprintf("- %d -", i+9))})
		}
		return pages
	}
	for _, tt := range []struct {
		name string
		file pdftest.File
		want string
	}{
		{"lines of a paragraph", pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(11, "The lamp takes a bulb of at", "most forty watts, no incandes-", "cent ones.", "", "Unplug it.")}},
			"The lamp takes a bulb of at most forty watts, no incandescent ones.\n\nUnplug it.\n"},
		{"headings by size", pdftest.File{Pages: [][]pdftest.Text{{
			at(72, 720, 24, "", "Lamps"), at(72, 680, 14, "", "Bulbs"), at(72, 650, 12, "", "A bulb of at most forty watts goes into the lamp."),
			at(72, 620, 12, "bold", "Warning"), at(72, 600, 12, "", "It is hot.")}}},
			"# Lamps\n\n## Bulbs\n\nA bulb of at most forty watts goes into the lamp.\n\n### Warning\n\nIt is hot.\n"},
		{"headings with numbers", pdftest.File{Pages: [][]pdftest.Text{{
			at(72, 720, 18, "bold", "1. Lamps"), at(72, 680, 12, "", "A lamp is bright, and stays so for years."), at(72, 650, 14, "", "1.1 Bulbs"), at(72, 620, 12, "", "1. unplug it"), at(72, 606, 12, "", "2. wait")}}},
			"# 1. Lamps\n\nA lamp is bright, and stays so for years.\n\n## 1.1 Bulbs\n\n1. unplug it\n2. wait\n"},
		{"a list whose signs stand apart", pdftest.File{Pages: [][]pdftest.Text{{
			at(72, 700, 11, "", "1."), at(100, 700, 11, "", "unplug it and wait until"), at(100, 686, 11, "", "it is cool"), at(72, 672, 11, "", "2."), at(100, 672, 11, "", "open it")}}},
			"1. unplug it and wait until it is cool\n2. open it\n"},
		{"twelve points are no heading", pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "All of it", "is twelve points.")}}, "All of it is twelve points.\n"},
		{"bookmarks", pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "Lamps", "", "Text of lamps."), pdftest.Lines(12, "2.1 Bulb types", "", "Text of bulbs.")},
			Bookmarks: []pdftest.Bookmark{{Title: "Lamps", Page: 1, Below: []pdftest.Bookmark{{Title: "Bulb  types", Page: 2}}}}},
			"# Lamps\n\nText of lamps.\n\n## 2.1 Bulb types\n\nText of bulbs.\n"},
		{"bookmarks that fit nothing", pdftest.File{Pages: [][]pdftest.Text{{at(72, 700, 18, "", "Lamps"), at(72, 650, 12, "", "Text of lamps, which is long enough.")}},
			Bookmarks: []pdftest.Bookmark{{Title: "slide-1", Page: 1}, {Title: "slide-2", Page: 1}}},
			"# Lamps\n\nText of lamps, which is long enough.\n"},
		{"bookmarks in a circle", pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "Lamps", "", "Text.")}, Circle: true,
			Bookmarks: []pdftest.Bookmark{{Title: "Lamps", Page: 1}}}, "# Lamps\n\nText.\n"},
		{"a table", pdftest.File{Pages: [][]pdftest.Text{{
			at(72, 720, 11, "", "Prices:"), at(72, 690, 11, "", "Lamp"), at(250, 690, 11, "", "Price"), at(72, 675, 11, "", "Brass lamp"), at(250, 675, 11, "", "89.00"),
			at(72, 660, 11, "", "Steel"), at(250, 660, 11, "", "140.00 | net"), at(72, 620, 11, "", "All in euros.")}}},
			"Prices:\n\n| Lamp | Price |\n| --- | --- |\n| Brass lamp | 89.00 |\n| Steel | 140.00 \\| net |\n\nAll in euros.\n"},
		{"a list", pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(11, "You need:", "1. a bulb", "2. a hand that is", "steady", "3. time")}},
			"You need:\n\n1. a bulb\n2. a hand that is steady\n3. time\n"},
		{"code", pdftest.File{Pages: [][]pdftest.Text{{at(72, 700, 11, "", "Type this:"), at(72, 680, 10, "mono", "lamp --on"), at(72, 668, 10, "mono", "lamp --off")}}},
			"Type this:\n\n```\nlamp --on\nlamp --off\n```\n"},
		{"what repeats on pages", pdftest.File{Pages: repeated(4)}, "Lamp Manual\n\nPage about a\n\nPage about b\n\nPage about c\n\nPage about d\n"},
		{"columns", pdftest.File{Pages: [][]pdftest.Text{{
			at(72, 700, 11, "", "The first column"), at(72, 686, 11, "", "ends here."), at(320, 700, 11, "", "The second column"), at(320, 686, 11, "", "is read after it.")}}},
			"The first column ends here.\n\nThe second column is read after it.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := e.Read(t.Context(), tt.file.Bytes(), pdf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want {
				t.Errorf("got  %q\nwant %q", got.Text, tt.want)
			}
			if len(got.Pages) != len(tt.file.Pages) || got.Pages[0] != 0 {
				t.Errorf("%d pages, the first at %v", len(got.Pages), got.Pages[:1])
			}
		})
	}
}

// Lines in the heads and feet of pages go only where they say nothing new.
func TestWhatLooksLikeARunningHeadStays(t *testing.T) {
	e := newEngine(t)
	const pages = 12
	for name, tt := range map[string]struct {
		head, foot func(n int) string // of the page n, from 1
		keeps      bool
	}{
		"numbers of invoices":          {head: func(n int) string { return fmt.Sprintf("Invoice %d", 1000+n) }, keeps: true},
		"numbers of invoices from one": {head: func(n int) string { return fmt.Sprintf("Invoice %d", n) }, keeps: true},
		"numbers by themselves":        {head: func(n int) string { return fmt.Sprint(1000 + n) }, keeps: true},
		"amounts":                      {foot: func(n int) string { return fmt.Sprintf("Total due: %d.%02d EUR", 137*n, n) }, keeps: true},
		"dates":                        {head: func(n int) string { return fmt.Sprintf("Statement of 2026-%02d-28", n) }, keeps: true},
		"amounts by themselves":        {foot: func(n int) string { return fmt.Sprint(n * n) }, keeps: true},
		"a number and a page number":   {foot: func(n int) string { return fmt.Sprintf("Contract %d, page 1 of 1", 70+n) }, keeps: true},
		"page numbers":                 {foot: func(n int) string { return fmt.Sprintf("Page %d", n) }},
		"page numbers of all":          {foot: func(n int) string { return fmt.Sprintf("Seite %d von %d", n, pages) }},
		"numbers that grow":            {foot: func(n int) string { return fmt.Sprintf("- %d -", n+4) }},
	} {
		t.Run(name, func(t *testing.T) {
			var file pdftest.File
			for n := 1; n <= pages; n++ {
				texts := pdftest.Lines(11, "", "", fmt.Sprintf("What page %c says.", 'A'+n))
				if tt.head != nil {
					texts = append([]pdftest.Text{{X: 72, Y: 750, Size: 11, Text: tt.head(n)}}, texts...)
				}
				if tt.foot != nil {
					texts = append(texts, pdftest.Text{X: 72, Y: 40, Size: 11, Text: tt.foot(n)})
				}
				file.Pages = append(file.Pages, texts)
			}
			got, err := e.Read(t.Context(), file.Bytes(), pdf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= pages; n++ {
				for _, line := range []func(int) string{tt.head, tt.foot} {
					if line != nil && slices.Contains(strings.Split(got.Text, "\n"), line(n)) != tt.keeps {
						t.Errorf("page %d: %q is kept: %v\n%s", n, line(n), !tt.keeps, got.Text)
						return
					}
				}
			}
		})
	}
}

// What repeats is said once, on the first page that says it.
func TestARunningHeadIsSaidOnce(t *testing.T) {
	e := newEngine(t)
	var file pdftest.File
	for n := 1; n <= 6; n++ {
		file.Pages = append(file.Pages, []pdftest.Text{
			{X: 72, Y: 750, Size: 9, Text: "Account 4711"}, {X: 520, Y: 750, Size: 9, Text: fmt.Sprint(n)},
			{X: 72, Y: 500, Size: 11, Text: fmt.Sprintf("Booking %d of the month.", n)},
			{X: 72, Y: 40, Size: 9, Text: fmt.Sprintf("Lamp Bank - page %d", n)},
		})
	}
	got, err := e.Read(t.Context(), file.Bytes(), pdf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"Account 4711", "Lamp Bank"} {
		if n := strings.Count(got.Text, said); n != 1 || !strings.Contains(got.Text[:got.Pages[1]], said) {
			t.Errorf("%s is said %d times in\n%s", said, n, got.Text)
		}
	}
	if n := strings.Count(got.Text, "of the month."); n != 6 {
		t.Errorf("%d of 6 bookings in\n%s", n, got.Text)
	}
}

func TestPages(t *testing.T) {
	e := newEngine(t)
	file := pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "one"), nil, pdftest.Lines(12, "three"), pdftest.Lines(12, "four")}}.Bytes()
	got, err := e.Read(t.Context(), file, pdf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 3, 5, 12}; got.Text != "one\n\nthree\n\nfour\n" || !slices.Equal(got.Pages, want) {
		t.Errorf("%q with pages at %v, want %v", got.Text, got.Pages, want)
	}
	got, err = e.Read(t.Context(), file, pdf.Options{Pages: []int{4, 1}})
	if err != nil || got.Text != "four\n\none\n" {
		t.Errorf("pages 4 and 1: %q, %v", got.Text, err)
	}
	if _, err := e.Read(t.Context(), file, pdf.Options{Pages: []int{5}}); err == nil || err.Error() != "has no page 5; its pages are 1 to 4" {
		t.Errorf("page 5: %v", err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	e := newEngine(t)
	whole := pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "one")}}.Bytes()
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"empty":      {nil, "is not a PDF"},
		"text":       {[]byte("a text that is none"), "is not a PDF"},
		"beginning":  {whole[:40], "is a damaged PDF"},
		"encrypted":  {pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "one")}, Encrypted: true}.Bytes(), "is encrypted; save it without its password"},
		"pictures":   {pdftest.File{Pages: [][]pdftest.Text{nil, nil}}.Bytes(), "has no text, only pictures"},
		"much text":  {pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, strings.Repeat("word ", 40))}}.Bytes(), "MiB of text"},
		"zero bytes": {append([]byte("%PDF-1.7\n"), make([]byte, 1000)...), "is a damaged PDF"},
	} {
		if _, err := e.Read(t.Context(), tt.data, pdf.Options{TextBytes: 100}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestManyPages(t *testing.T) {
	const pages = 3000
	e := newEngine(t)
	var file pdftest.File
	for i := range pages {
		file.Pages = append(file.Pages, pdftest.Lines(11, fmt.Sprintf("Receipt %d of the year", i+1), fmt.Sprintf("over %d euros", 3*i)))
	}
	data := file.Bytes()
	got, err := e.Read(t.Context(), data, pdf.Options{})
	if err != nil || len(got.Pages) != pages {
		t.Fatalf("%d pages, %v", len(got.Pages), err)
	}
	for i, at := range got.Pages {
		if want := fmt.Sprintf("Receipt %d of the year over %d euros\n", i+1, 3*i); !strings.HasPrefix(got.Text[at:], want) {
			t.Fatalf("page %d begins with %.60q, want %q", i+1, got.Text[at:], want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Read(ctx, data, pdf.Options{}); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAClosedEngineSaysSo(t *testing.T) {
	e := pdf.New("")
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.Read(t.Context(), []byte("%PDF-1.7"), pdf.Options{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	e := newEngine(f)
	f.Add(pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "one", "two")}, Bookmarks: []pdftest.Bookmark{{Title: "one", Page: 1}}}.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := e.Read(t.Context(), data, pdf.Options{TextBytes: 1 << 20})
		if err == nil && len(d.Pages) > 0 && d.Pages[len(d.Pages)-1] > len(d.Text) {
			t.Errorf("the last page begins at %d of %d", d.Pages[len(d.Pages)-1], len(d.Text))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	e := newEngine(b)
	var file pdftest.File
	for range 100 {
		file.Pages = append(file.Pages, pdftest.Lines(11, slices.Repeat([]string{"A line of some eighty characters, as the pages of a manual commonly have them."}, 40)...))
	}
	data := file.Bytes()
	d, err := e.Read(b.Context(), data, pdf.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(d.Text)))
	for b.Loop() {
		if _, err := e.Read(b.Context(), data, pdf.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
