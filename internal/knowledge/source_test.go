package knowledge_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml/ooxmltest"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/pdf/pdftest"
)

func TestAPatternOfFiles(t *testing.T) {
	d := newDesk(t, map[string]string{
		"docs/a.md": "brass lamp", "docs/a.txt": "brass lamp", "docs/sub/b.md": "brass lamp", "docs/sub/deep/c.md": "brass lamp", "other/d.md": "brass lamp",
	})
	for pattern, want := range map[string]string{
		"docs/*.md":      "docs/a.md",
		"docs/**/*.md":   "docs/a.md docs/sub/b.md docs/sub/deep/c.md",
		"docs/sub/?.md":  "docs/sub/b.md",
		"*/[ad].md":      "docs/a.md other/d.md",
		"docs/**/deep/*": "docs/sub/deep/c.md",
	} {
		if got := sources(t, d.open("type: vectorstore\nsource: '"+pattern+"'"), "brass lamp"); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
	requireRefused(t, newDesk(t, docsFiles()), "type: vectorstore\nsource: 'docs/*.csv'", "source docs/*.csv holds no file that this build reads")
}

func TestAFileAtAnAddress(t *testing.T) {
	text, sent := "# Lamps\n\nbrass lamp", 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf("\"%d\"", len(text))
		w.Header().Set("ETag", tag)
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	d := newDesk(t, nil)
	keys := "type: vectorstore\nsource: " + s.URL + "/lamps?token=secret"
	tool := d.open(keys)
	if got := sources(t, tool, "brass lamp"); got != s.URL+"/lamps" {
		t.Errorf("found %q", got)
	}
	if again := d.open(keys); again.Stats().Unchanged != 1 || sent != 1 {
		t.Errorf("%+v, sent %d times", again.Stats(), sent)
	}
	text += ", and a copper kettle"
	if tool := d.open(keys); tool.Stats().Changed != 1 || sources(t, tool, "kettle") == "" || sent != 2 {
		t.Errorf("%+v, sent %d times", tool.Stats(), sent)
	}
	s.Close()
	d.open(keys)
	if told := strings.Join(d.told, "\n"); !strings.Contains(told, s.URL+"/lamps could not be fetched anew") || strings.Contains(told, "secret") {
		t.Errorf("told %q", told)
	}
}

func TestAnAddressThatCannotBeRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone.md" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "image/png")
	}))
	t.Cleanup(s.Close)
	requireRefused(t, newDesk(t, nil), "type: vectorstore\nsource: "+s.URL+"/gone.md", "fetch "+s.URL+"/gone.md: the server answers HTTP 404")
	requireRefused(t, newDesk(t, nil), "type: vectorstore\nsource: "+s.URL+"/picture", "source "+s.URL+"/picture is of the type image/png")
}

// Every kind of file is found by what it says, in its section and on its page.
func TestKindsOfFiles(t *testing.T) {
	p := ooxmltest.Paragraph
	d := newDesk(t, map[string]string{
		"docs/a.docx": string(ooxmltest.Word{Styles: ooxmltest.Headings, Body: p("Heading1", "Kettles") + p("", "The copper kettle whistles.")}.Bytes()),
		"docs/b.html": "<title>Clocks</title><p>The clock is wound on Sundays.",
		"docs/c.xlsx": string(ooxmltest.Book{Sheet: "Chairs", Texts: []string{"oak chair"}, Rows: `<row><c t="s"><v>0</v></c></row>`}.Bytes()),
		"docs/d.pptx": string(ooxmltest.Deck{Slides: []string{ooxmltest.Shape("title", "Tables"), ooxmltest.Shape("title", "Shelves") + ooxmltest.Shape("body", "A shelf of pine")}}.Bytes()),
		"docs/e.pdf": string(pdftest.File{
			Pages:     [][]pdftest.Text{pdftest.Lines(12, "Lamps", "", "Lamps are bright."), pdftest.Lines(12, "Bulbs", "", "A bulb of forty watts.")},
			Bookmarks: []pdftest.Bookmark{{Title: "Lamps", Page: 1, Below: []pdftest.Bookmark{{Title: "Bulbs", Page: 2}}}},
		}.Bytes()),
	})
	shared, cache := pdftest.CacheDir(os.TempDir()), d.path(".holodeck/cache")
	if err := errors.Join(os.MkdirAll(shared, 0o700), os.MkdirAll(cache, 0o700)); err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink(shared, filepath.Join(cache, "pdfium")) // only saves time
	tool := d.open(sections + "\ncontextual_embeddings: false")
	for query, want := range map[string]string{
		"copper kettle": "docs/a.docx [] Kettles 0", "clock wound": "docs/b.html [] Clocks 0", "oak chair": "docs/c.xlsx [] Chairs 0",
		"shelf of pine": "docs/d.pptx [] Shelves 2", "forty watts": "docs/e.pdf [Lamps] Bulbs 2",
	} {
		hits, err := tool.Search(t.Context(), query)
		if err != nil || len(hits) == 0 {
			t.Errorf("%s: %d hits, %v", query, len(hits), err)
			continue
		}
		if h := hits[0]; fmt.Sprint(h.Source, " ", h.Location, " ", h.Title, " ", h.Page) != want {
			t.Errorf("%s: %s %v %s %d, want %s", query, h.Source, h.Location, h.Title, h.Page, want)
		}
	}
}

// A bomb and an encrypted file beside good ones are named, and cost nothing else.
func TestBadFilesAmongGoodOnes(t *testing.T) {
	bomb := ooxmltest.Word{Body: ooxmltest.Paragraph("", strings.Repeat("a", 4<<20))}.Bytes()
	d := newDesk(t, map[string]string{
		"docs/good.md": "brass lamp", "docs/bomb.docx": string(bomb), "docs/old.docx": "\xD0\xCF\x11\xE0\xA1\xB1", "docs/empty.pdf": "", "docs/nul.txt": "a\x00b",
	})
	d.opts.Limits.File.TextBytes = 1 << 20
	if got := sources(t, d.open(docs), "brass lamp"); got != "docs/good.md" {
		t.Errorf("found %q", got)
	}
	d.requireTold(
		"indexing kb: docs/bomb.docx: unpacks to more than 1 MiB, or makes more text; split it; the index goes without it",
		"indexing kb: docs/empty.pdf: is empty, and no PDF; the index goes without it",
		"indexing kb: docs/nul.txt: is binary, not text (a zero byte at offset 1); the index goes without it",
		"indexing kb: docs/old.docx: is encrypted, or in the format of before 2007; save it in the newer format and without a password; the index goes without it",
	)
}
