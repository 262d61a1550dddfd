package testrun_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml/ooxmltest"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/pdf/pdftest"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// hear runs a case with one file and returns what the agent heard, and the
// errors.
func hear(t *testing.T, a *config.Agent, in config.FileInput, opts testrun.Options) (heard string, c *runs.Case) {
	t.Helper()
	tc := ask("Sum it up.", "")
	tc.Files = []config.FileInput{in}
	a.TestCases = suite(nil, tc).TestCases
	b := answers(func(said string) string { heard = said; return "y" })
	rec := &recorder{}
	opts.Results = rec.result
	if _, err := testrun.Run(t.Context(), testEnv(), a, b, opts); err != nil {
		t.Fatal(err)
	}
	return heard, rec.only(t)
}

func TestFilesOfOtherKindsBecomeText(t *testing.T) {
	t.Chdir(t.TempDir())
	book := ooxmltest.Book{Sheet: "Costs", Rows: `<row><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row><c r="A2"><v>3</v></c></row>`}
	for name, content := range map[string][]byte{
		"a.docx": ooxmltest.Word{Styles: ooxmltest.Headings, Body: ooxmltest.Paragraph("Heading1", "Lamps")}.Bytes(),
		"a.xlsx": book.Bytes(),
		"a.pptx": ooxmltest.Deck{Slides: []string{ooxmltest.Shape("title", "One"), ooxmltest.Shape("title", "Two")}}.Bytes(),
		"a.pdf":  pdftest.File{Pages: [][]pdftest.Text{pdftest.Lines(12, "page one"), pdftest.Lines(12, "page two")}}.Bytes(),
		"a.html": []byte("<h1>Lamps</h1><nav>menu</nav><p>Bright."),
		"a.txt":  []byte("caf\xe9"),
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		in   config.FileInput
		want string
	}{
		{config.FileInput{Path: new("a.docx"), Type: "word"}, "# Lamps\n"},
		{config.FileInput{Path: new("a.xlsx"), Type: "excel"}, "## Costs\n\n| 1 | 2 |\n| --- | --- |\n| 3 |  |\n"},
		{config.FileInput{Path: new("a.xlsx"), Type: "excel", Sheet: new("costs"), Range: new("A1:A2")}, "## Costs\n\n| 1 |\n| --- |\n| 3 |\n"},
		{config.FileInput{Path: new("a.pptx"), Type: "powerpoint", Pages: config.Pages{{First: 2, Last: 2}}}, "# Two\n"},
		{config.FileInput{Path: new("a.pdf"), Type: "pdf"}, "page one\n\npage two\n"},
		{config.FileInput{Path: new("a.pdf"), Type: "pdf", Pages: config.Pages{{First: 2, Last: 2}}}, "page two\n"},
		{config.FileInput{Path: new("a.html"), Type: "text"}, "# Lamps\n\nBright.\n"},
		{config.FileInput{Path: new("a.txt"), Type: "text"}, "café"},
	} {
		a := suite(nil)
		a.Execution.FileTimeout = 60
		heard, c := hear(t, a, tt.in, testrun.Options{CacheDir: filepath.Dir(pdftest.CacheDir(os.TempDir()))})
		if want := "File: " + *tt.in.Path + "\n" + tt.want + "\n\nSum it up."; heard != want {
			t.Errorf("%s: heard %q, want %q; %q", *tt.in.Path, heard, want, c.Turns[0].Errors)
		}
	}
	for _, tt := range []struct {
		in   config.FileInput
		want string
	}{
		{config.FileInput{Path: new("a.xlsx"), Type: "excel", Sheet: new("Prices")}, "a.xlsx has no sheet 'Prices'; its sheets are: Costs"},
		{config.FileInput{Path: new("a.pptx"), Type: "powerpoint", Pages: config.Pages{{First: 3, Last: 3}}}, "a.pptx has no slide 3"},
	} {
		heard, c := hear(t, suite(nil), tt.in, testrun.Options{CacheDir: t.TempDir()})
		if heard != "" || c.Status != runs.Failed || !strings.Contains(strings.Join(c.Turns[0].Errors, "\n"), tt.want) {
			t.Errorf("heard %q; %q, want an error with %q", heard, c.Turns[0].Errors, tt.want)
		}
	}
}

func TestFilesAtAddresses(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>answer %d", asked)
	}))
	t.Cleanup(s.Close)
	in := config.FileInput{URL: new(s.URL + "/page?key=secret"), Type: "text"}
	opts := testrun.Options{CacheDir: t.TempDir()}
	listen := func(in config.FileInput, change func(*config.Agent)) (string, *runs.Case) {
		a := suite(nil)
		a.Execution.FileTimeout, a.Execution.DownloadTimeout, a.Execution.CacheEnabled = 60, 60, true
		if change != nil {
			change(a)
		}
		return hear(t, a, in, opts)
	}
	require := func(heard string, n int) {
		t.Helper()
		if want := fmt.Sprintf("File: %s/page\nanswer %d\n\n\nSum it up.", s.URL, n); heard != want {
			t.Errorf("heard %q, want %q", heard, want)
		}
	}
	heard, _ := listen(in, nil)
	require(heard, 1)
	heard, _ = listen(in, nil) // fetched once
	require(heard, 1)
	uncached := in
	uncached.Cache = new(false)
	heard, _ = listen(uncached, nil)
	require(heard, 2)
	heard, _ = listen(in, func(a *config.Agent) { a.Execution.CacheEnabled = false })
	require(heard, 3)
	heard, _ = listen(in, nil)
	require(heard, 1)

	gone := config.FileInput{URL: new(s.URL + "/gone"), Type: "text"}
	if heard, c := listen(gone, nil); heard != "" || !strings.Contains(strings.Join(c.Turns[0].Errors, ""), "fetch "+s.URL+"/gone: the server answers HTTP 404") {
		t.Errorf("heard %q; %q", heard, c.Turns[0].Errors)
	}
	opts.NoFetch = true
	before := asked
	heard, _ = listen(in, nil)
	require(heard, 1)
	other := config.FileInput{URL: new(s.URL + "/other"), Type: "text"}
	if heard, c := listen(other, nil); heard != "" || !strings.Contains(strings.Join(c.Turns[0].Errors, ""), "was not fetched before") || asked != before {
		t.Errorf("heard %q; %q", heard, c.Turns[0].Errors)
	}
}

func TestTheTimeOfAConversionIsBound(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.docx", ooxmltest.Word{Body: ooxmltest.Paragraph("", "x")}.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a := suite(nil)
	a.Execution.FileTimeout = 0 // which a file cannot say: it is over at once
	heard, c := hear(t, a, config.FileInput{Path: new("a.docx"), Type: "word"}, testrun.Options{CacheDir: t.TempDir()})
	if heard != "" || !strings.Contains(strings.Join(c.Turns[0].Errors, ""), "it took longer than file_timeout") {
		t.Errorf("heard %q; %q", heard, c.Turns[0].Errors)
	}
}
