package knowledge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
