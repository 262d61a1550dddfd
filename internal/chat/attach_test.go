package chat

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func TestAttachments(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a.md": "\ufeffalpha", "sub/b.txt": "beta", "my notes.md": "notes", "v1.2.": "odd", "p.png": "\x89PNG\r\n\x1a\nxxxx", "d.pdf": "%PDF-1.7 x",
		"bin": "a\x00b", "big": strings.Repeat("x", MaxFileSize+1),
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(data), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ said, files, refused string }{
		{"hello", "", ""},
		{"see @a.md and @sub/b.txt.", "a.md b.txt", ""},
		{"(@a.md) a@b.c @@a.md", "", ""},
		{"@a.md, again @a.md", "a.md", ""},
		{`@"my notes.md" please`, "my notes.md", ""},
		{"@v1.2. is odd", "v1.2.", ""},
		{"@p.png\n@d.pdf", "p.png d.pdf", ""},
		{"ask @alice or @bob.", "", ""},
		{"@gone.md", "", "there is no file " + filepath.Join(dir, "gone.md") + "; write @@ for a plain @"},
		{"@sub", "", ""},
		{"@sub/gone", "", "there is no file"},
		{`@"gone"`, "", "there is no file"},
		{"@bin", "", "is neither UTF-8 text nor an image nor a PDF"},
		{"@big", "", "is larger than 10 MiB"},
	} {
		list, err := attachments(tt.said, dir, "")
		var names []string
		for _, a := range list {
			names = append(names, filepath.Base(a.path))
		}
		if got := strings.Join(names, " "); got != tt.files && tt.refused == "" {
			t.Errorf("%q: %s, want %s", tt.said, got, tt.files)
		}
		if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%q: %v", tt.said, err)
		}
	}
}

func TestComposeAsTestCasesDo(t *testing.T) {
	m := compose("look", []attachment{
		{"/w/a.md", 5, "text", agent.Part{Kind: agent.PartText, Text: "alpha"}},
		{"/w/p.png", 1, "image", agent.Part{Kind: agent.PartImage, Name: "p.png", Data: []byte("x")}},
	}, filepath.Base)
	if len(m.Parts) != 2 || m.Parts[0].Name != "p.png" || m.Parts[1].Text != "File: a.md\nalpha\n\nlook" {
		t.Errorf("%+v", m.Parts)
	}
}

func FuzzMentions(f *testing.F) {
	f.Add(`@a @"b c" x@y @@z @"`)
	f.Fuzz(func(t *testing.T, said string) {
		for _, m := range mentions(said) {
			if m.text == "" || !strings.Contains(said, m.text) {
				t.Errorf("%q is no part of %q", m.text, said)
			}
		}
	})
}

func FuzzQuote(f *testing.F) {
	f.Add("@a @@b x@@y @\n@@@ @")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		typed := quote(text)
		if unquote(typed) != text || len(mentions(typed)) > 0 {
			t.Errorf("%q is quoted as %q", text, typed)
		}
	})
}

func FuzzReadRecord(f *testing.F) {
	f.Add([]byte(`{"schema":"holodeck.chat/v1","id":"A","exchanges":[{"said":"x"}],"snapshots":[{"after":1,"state":{}}]}`))
	f.Add([]byte(`{"schema":"holodeck.chat/v1","id":"A","exchanges":[{}],"snapshots":[{"after":-1},{"after":1,"state":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRecord(data)
		if err != nil {
			return
		}
		r.spent()
		r.markdown()
		r.keep([]byte(`{}`))
		r.truncate(len(r.Exchanges) - 1)
		again, err := r.masked(nil)
		if err != nil || !bytes.Contains(again, []byte(RecordSchema)) {
			t.Errorf("%v: %s", err, again)
		}
	})
}

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"alpha.md", "alps.md", ".hidden", "sub/x", "two words"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for in, want := range map[string]string{
		"/us": "/usage ", "/re": "/reset |/resume ", "/model x": "", "hello": "", "see @al": "see @alpha.md|see @alps.md",
		"@": "@alpha.md|@alps.md|@sub/", "@sub/": "@sub/x", "@none/": "",
	} {
		if got := strings.Join(Complete(in, dir, ""), "|"); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestOldStatesAreDropped(t *testing.T) {
	var r Record
	for range 5 {
		r.Exchanges = append(r.Exchanges, Exchange{})
		r.keep(bytes.Repeat([]byte("x"), maxSnapshotBytes/3))
	}
	if len(r.Snapshots) != 4 || r.state(5) == nil || r.state(1) != nil {
		t.Errorf("%d states are kept", len(r.Snapshots))
	}
	r.truncate(3)
	if len(r.Snapshots) != 2 || len(r.Exchanges) != 3 {
		t.Errorf("%d states, %d exchanges", len(r.Snapshots), len(r.Exchanges))
	}
}
