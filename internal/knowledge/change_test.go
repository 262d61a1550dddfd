package knowledge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/knowledge"
)

// age makes the files so old that their time stamps can be relied on.
func (d *desk) age(names ...string) {
	d.t.Helper()
	then := time.Now().Add(-time.Hour)
	for _, name := range names {
		if err := os.Chtimes(d.path(name), then, then); err != nil {
			d.t.Fatal(err)
		}
	}
}

// requireChange checks what the last opening or refresh found, and how many
// texts it embedded.
func requireChange(t *testing.T, d *desk, tool knowledge.Tool, added, changed, removed, unchanged, embedded int) {
	t.Helper()
	s := tool.Stats()
	if s.Added != added || s.Changed != changed || s.Removed != removed || s.Unchanged != unchanged {
		t.Errorf("added %d, changed %d, removed %d, unchanged %d; want %d, %d, %d, %d",
			s.Added, s.Changed, s.Removed, s.Unchanged, added, changed, removed, unchanged)
	}
	if n := d.emb.counted(); n != embedded {
		t.Errorf("%d texts were embedded, want %d", n, embedded)
	}
}

func TestOnlyWhatChangedIsIndexed(t *testing.T) {
	for _, database := range []string{"local", "in-memory"} {
		t.Run(database, func(t *testing.T) {
			d := newDesk(t, map[string]string{"docs/a.txt": "brass lamp", "docs/b.txt": "steel desk", "docs/c.txt": "oak chair"})
			tool := d.open(docs + "\ndatabase: {provider: " + database + "}")
			requireChange(t, d, tool, 3, 0, 0, 0, 3)
			refresh := func() {
				t.Helper()
				if err := tool.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			refresh()
			requireChange(t, d, tool, 0, 0, 0, 3, 0)

			d.write("docs/b.txt", "steel sofa") // as long as before
			d.write("docs/d.txt", "pine table")
			if err := os.Remove(d.path("docs/c.txt")); err != nil {
				t.Fatal(err)
			}
			refresh()
			requireChange(t, d, tool, 1, 1, 1, 1, 2)
			for query, want := range map[string]string{"sofa": "docs/b.txt", "desk": "", "oak chair": "", "table": "docs/d.txt", "lamp": "docs/a.txt"} {
				if got := sources(t, tool, query); got != want {
					t.Errorf("%s: %q, want %q", query, got, want)
				}
			}
			d.emb.counted() // the queries
			if err := os.Rename(d.path("docs/a.txt"), d.path("docs/z.txt")); err != nil {
				t.Fatal(err)
			}
			refresh()
			requireChange(t, d, tool, 1, 0, 1, 2, 0) // its vector is known
			if got := sources(t, tool, "lamp"); got != "docs/z.txt" {
				t.Errorf("the renamed file is found as %q", got)
			}
		})
	}
}

func TestATextIsEmbeddedOnce(t *testing.T) {
	const keys = docs + "\nchunk_size: 3" // a paragraph is a passage
	d := newDesk(t, map[string]string{
		"docs/a.txt": "brass lamp\n\nsteel lamp\n\noak chair\n",
		"docs/b.txt": "oak chair\n\npine table\n\npine table\n",
	})
	requireChange(t, d, d.open(keys), 2, 0, 0, 0, 4)

	d.write("docs/a.txt", "brass lamp\n\nsteel sofa\n\noak chair\n")
	tool := d.open(keys)
	requireChange(t, d, tool, 0, 1, 0, 1, 1)
	if got := search(t, tool, "sofa").Passages[0].Text; got != "steel sofa" {
		t.Errorf("found %q", got)
	}
	d.emb.counted() // the query

	if err := os.Rename(d.path("docs/a.txt"), d.path("docs/z.txt")); err != nil {
		t.Fatal(err)
	}
	requireChange(t, d, d.open(keys), 1, 0, 1, 1, 0)

	d.write("docs/copy.txt", "pine table\n\noak chair\n")
	requireChange(t, d, d.open(keys), 1, 0, 0, 2, 0)

	requireChange(t, d, d.open(docs+"\nchunk_size: 4"), 3, 0, 0, 0, 0) // cut alike, by another rule
	d.emb.model = "other/1"
	other := d.open(keys)
	requireChange(t, d, other, 3, 0, 0, 0, 4)
	if got := sources(t, other, "sofa"); got != "docs/z.txt" {
		t.Errorf("found in %q", got)
	}
}

func TestALaterProcessFindsTheIndex(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.age("docs/returns.md", "docs/shop/opening.txt")
	requireChange(t, d, d.open(docs), 2, 0, 0, 0, 2)
	requireChange(t, d, d.open(docs), 0, 0, 0, 2, 0)

	later := time.Now().Add(-time.Minute)
	if err := os.Chtimes(d.path("docs/returns.md"), later, later); err != nil { // as a checkout does
		t.Fatal(err)
	}
	requireChange(t, d, d.open(docs), 0, 0, 0, 2, 0)
	d.write("docs/returns.md", strings.Replace(returns, "lamp", "desk", 1))
	requireChange(t, d, d.open(docs), 0, 1, 0, 1, 1)
}

func TestAChangeWithinTheTimeStampIsNoticed(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.txt": "brass lamp"})
	d.open(docs)
	info, err := os.Stat(d.path("docs/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	d.write("docs/a.txt", "steel lamp")
	if err := os.Chtimes(d.path("docs/a.txt"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := search(t, d.open(docs), "lamp").Passages[0].Text; got != "steel lamp" {
		t.Errorf("found %q", got)
	}
}

func TestAFileOfTheSameSizeAndStampIsNotReadAgain(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.txt": "brass lamp"})
	then := time.Now().Add(-time.Hour)
	stamp := func() {
		t.Helper()
		if err := os.Chtimes(d.path("docs/a.txt"), then, then); err != nil {
			t.Fatal(err)
		}
	}
	stamp()
	d.open(docs)
	d.write("docs/a.txt", "steel lamp")
	stamp()
	if got := search(t, d.open(docs), "lamp").Passages[0].Text; got != "brass lamp" {
		t.Errorf("it was read again: %q", got)
	}
}

func TestOtherWaysOfIndexingBeginAnew(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.txt": "brass lamp\n\nsteel lamp\n\noak chair\n"})
	d.age("docs/a.txt")
	requireChange(t, d, d.open(docs), 1, 0, 0, 0, 1)

	cut := d.open(docs + "\nchunk_size: 3")
	requireChange(t, d, cut, 1, 0, 0, 0, 3)
	if s := cut.Stats(); s.Passages != 3 || s.Rebuilt != "the way sources are read or cut has changed" {
		t.Errorf("stats %+v", s)
	}
	d.emb.model = "other/1"
	other := d.open(docs + "\nchunk_size: 3")
	requireChange(t, d, other, 1, 0, 0, 0, 3)
	if s := other.Stats(); !strings.Contains(s.Rebuilt, "the embedding model was offline/hashing-1+words/2 (384 dimensions) and is other/1 (384)") {
		t.Errorf("stats %+v", s)
	}
	d.requireTold(
		"the index of kb was made anew: the way sources are read or cut has changed",
		"the index of kb was made anew: the embedding model was offline/hashing-1+words/2 (384 dimensions) and is other/1 (384)")
	again := d.open(docs + "\nchunk_size: 3")
	requireChange(t, d, again, 0, 0, 0, 1, 0)
	if s := again.Stats(); s.Rebuilt != "" {
		t.Errorf("stats %+v", s)
	}
}

func TestFilesThatAreNotReadAreToldWhenTheIndexChanges(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.write("docs/a.zip", "x")
	d.write("docs/b.ZIP", "x")
	d.write("docs/Makefile", "x")
	d.write("docs/.hidden.zip", "x")
	const passed = "indexing kb: files of other kinds than .csv .docx .htm .html .json .jsonl .md .pdf .pptx .txt .xlsx are passed over: 1 without extension, 2 .zip"
	d.open(docs)
	d.requireTold(passed)
	d.open(docs)
	d.requireTold()
	d.write("docs/new.md", "clock")
	d.open(docs)
	d.requireTold(passed)
}

func TestFilesThatCannotBeReadAreToldAndLeftOut(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.write("docs/broken.json", "{")
	d.write("docs/scan.pdf", "x")
	const broken = "indexing kb: docs/broken.json: is not JSON (line 1, column 2): it ends too early; the index goes without it"
	const scan = "indexing kb: docs/scan.pdf: is not a PDF; it has no %PDF- at its beginning; the index goes without it"
	tool := d.open(docs)
	d.requireTold(broken, scan)
	if s := tool.Stats(); len(s.Skipped) != 2 || s.Added != len(docsFiles()) {
		t.Errorf("stats %+v", s)
	}
	before, err := os.ReadFile(d.indexFile())
	if err != nil {
		t.Fatal(err)
	}
	d.open(docs)
	d.requireTold(broken, scan)
	if after, err := os.ReadFile(d.indexFile()); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the index changed, though nothing did: %v", err)
	}
	// A file that was read goes from the index when it no longer can be.
	d.write("docs/broken.json", `{"a": "a copper kettle"}`)
	if got := sources(t, d.open(docs), "kettle"); got != "docs/broken.json" {
		t.Errorf("mended: %q", got)
	}
	d.requireTold(scan)
	d.write("docs/broken.json", `{"a": "a copper kettle`)
	tool = d.open(docs)
	if got := sources(t, tool, "kettle"); got != "" || tool.Stats().Removed != 1 {
		t.Errorf("broken again: %q, %+v", got, tool.Stats())
	}
}

func TestTextInAnotherEncodingIsTold(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.txt": "na\xefve", "docs/b.txt": "\xff\xfek\x00e\x00t\x00t\x00l\x00e\x00"})
	tool := d.open(docs)
	d.requireTold("indexing kb: docs/a.txt is not UTF-8 (byte 0xEF at offset 2) and was read as Windows-1252; save it as UTF-8 if letters are wrong")
	if got := sources(t, tool, "naïve"); got != "docs/a.txt" {
		t.Errorf("found %q", got)
	}
	if got := sources(t, tool, "kettle"); got != "docs/b.txt" {
		t.Errorf("found %q", got)
	}
}

func TestOverlapOnlyWhereItIsWritten(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.txt": "one two three four five six\n"})
	texts := func(keys string) string {
		var all []string
		for _, p := range search(t, d.open(docs+"\nchunk_size: 4\ntop_k: 9"+keys), "one two three four five six").Passages {
			all = append(all, p.ID+"="+p.Text)
		}
		return strings.Join(all, "|")
	}
	if got := texts(""); strings.Count(got, "three") != 1 {
		t.Errorf("without the key: %s", got)
	}
	if got := texts("\nchunk_overlap: 2"); strings.Count(got, "three") != 2 {
		t.Errorf("with the key: %s", got)
	}
}

func TestForceIngestBeginsAnew(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.age("docs/returns.md", "docs/shop/opening.txt")
	d.open(docs)
	d.emb.counted()
	d.opts.ForceIngest = true
	tool := d.open(docs)
	requireChange(t, d, tool, 2, 0, 0, 0, 2)
	if s := tool.Stats(); s.Rebuilt != "it was asked for" {
		t.Errorf("stats %+v", s)
	}
}

func TestADamagedIndexIsMadeAnew(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.open(docs)
	if err := os.WriteFile(d.indexFile(), []byte(strings.Repeat("garbage ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	tool := d.open(docs)
	if got := sources(t, tool, "refund for a lamp"); got != "docs/returns.md" {
		t.Errorf("sources %q", got)
	}
	if s := tool.Stats(); !strings.Contains(s.Rebuilt, "the stored index cannot be read") {
		t.Errorf("stats %+v", s)
	}
}

func TestInMemoryFindsTheSameAsLocal(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("docs/%d.md", i)] = fmt.Sprintf("# Part %d\n\nlamp number %d of brass\n\n%s", i, i%7, strings.Repeat("more text about it. ", i*20))
	}
	d := newDesk(t, files)
	local, memory := d.open(docs), d.open(docs+"\ndatabase: {provider: in-memory}")
	for _, query := range []string{"brass lamp number 3", "part", "more text", "nothing of the kind"} {
		if a, b := search(t, local, query), search(t, memory, query); !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\nlocal     %+v\nin memory %+v", query, a, b)
		}
	}
	if got := memory.Stats().Location; got != "memory" {
		t.Errorf("location %s", got)
	}
}

func TestProgress(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("docs/%d.txt", i)] = fmt.Sprint("lamp ", i)
	}
	d := newDesk(t, files)
	var told []knowledge.Progress
	d.opts.Progress = func(p knowledge.Progress) { told = append(told, p) }
	d.open(docs)
	last := knowledge.Progress{}
	for _, p := range told {
		if p.Tool != "kb" || p.DocumentsTotal != 300 || p.PassagesTotal != 300 || p.Documents < last.Documents || p.Tokens < last.Tokens {
			t.Errorf("progress %+v after %+v", p, last)
		}
		last = p
	}
	if last.Documents != 300 || last.Passages != 300 || last.Tokens < 300 {
		t.Errorf("at the end %+v", last)
	}
	told = nil
	if work := d.open(docs).Stats().Work; told != nil || work.Documents != 0 {
		t.Errorf("told of %v with nothing to do, and %+v", told, work)
	}
}

func TestACancelledRefreshKeepsTheIndex(t *testing.T) {
	d := newDesk(t, docsFiles())
	tool := d.open(docs)
	d.write("docs/new.txt", "a copper kettle")
	ctx, cancel := context.WithCancel(t.Context())
	d.emb.hook = func(context.Context, int) error { cancel(); return nil }
	err := tool.Refresh(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "refresh the index of kb") {
		t.Errorf("error %v", err)
	}
	d.emb.hook = nil
	if got := sources(t, tool, "refund for a lamp"); got != "docs/returns.md" {
		t.Errorf("after it: %q", got)
	}
	if got := sources(t, d.open(docs), "kettle"); got != "docs/new.txt" {
		t.Errorf("the next process: %q", got)
	}
}

func TestAFailedRefreshKeepsTheIndex(t *testing.T) {
	d := newDesk(t, docsFiles())
	tool := d.open(docs)
	d.write("docs/new.txt", "a copper kettle")
	d.emb.hook = func(context.Context, int) error { return errors.New("the embedder is down") }
	if err := tool.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "the embedder is down") {
		t.Errorf("error %v", err)
	}
	d.emb.hook = nil
	if got := sources(t, tool, "refund for a lamp"); got != "docs/returns.md" {
		t.Errorf("after it: %q", got)
	}
}

func TestSearchesDuringARefreshSeeTheLastIndex(t *testing.T) {
	for _, database := range []string{"local", "in-memory"} {
		t.Run(database, func(t *testing.T) {
			d := newDesk(t, map[string]string{"docs/a.txt": "brass lamp"})
			keys := docs + "\ndatabase: {provider: " + database + "}"
			tool, reader := d.open(keys), d.open(keys)
			d.write("docs/a.txt", "steel lamp, made new")
			working, resume := make(chan struct{}), make(chan struct{})
			d.emb.hook = func(context.Context, int) error {
				d.emb.hook = nil // the searches go through
				close(working)
				<-resume
				return nil
			}
			refreshed := make(chan error)
			go func() { refreshed <- tool.Refresh(t.Context()) }()
			<-working
			for _, open := range []knowledge.Tool{tool, reader} {
				if got := search(t, open, "lamp").Passages[0].Text; got != "brass lamp" {
					t.Errorf("during the refresh: %q", got)
				}
			}
			close(resume)
			if err := <-refreshed; err != nil {
				t.Fatal(err)
			}
			if got := search(t, tool, "lamp").Passages[0].Text; got != "steel lamp, made new" {
				t.Errorf("after it: %q", got)
			}
			if got := search(t, reader, "lamp").Passages[0].Text; got != "brass lamp" {
				t.Errorf("another tool, which was not refreshed: %q", got)
			}
		})
	}
}

func TestASecondIndexerWaitsAndTakesTheWorkOver(t *testing.T) {
	d := newDesk(t, docsFiles())
	working, resume := make(chan struct{}), make(chan struct{})
	d.emb.hook = func(context.Context, int) error {
		close(working)
		<-resume
		return nil
	}
	a, configured := d.load(docs)
	type opened struct {
		tool knowledge.Tool
		err  error
	}
	open := func(opts knowledge.Options) chan opened {
		done := make(chan opened)
		go func() {
			tool, err := knowledge.Open(t.Context(), d.env(), a, configured, d.emb, opts)
			done <- opened{tool, err}
		}()
		return done
	}
	first := open(knowledge.Options{})
	<-working
	waits := make(chan string)
	second := open(knowledge.Options{Notice: func(message string) { waits <- message }})
	if got := <-waits; got != "another process is indexing kb; waiting for it to finish" {
		t.Errorf("message %q", got)
	}
	close(resume)
	for _, done := range []chan opened{first, second} {
		o := <-done
		if o.err != nil {
			t.Fatal(o.err)
		}
		if s := o.tool.Stats(); s.Passages != 2 {
			t.Errorf("stats %+v", s)
		}
		if err := o.tool.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.emb.counted(); n != 2 {
		t.Errorf("%d texts were embedded, want each once", n)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.write(".holodeck/index/kb/agent/", "")
	lock, err := durable.TryLock(d.path(".holodeck/index/kb/agent/index.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	a, configured := d.load(docs)
	_, err = knowledge.Open(ctx, d.env(), a, configured, d.emb, knowledge.Options{Notice: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAnUnchangedSourceIsOpenedBesideAnIndexer(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.open(docs)
	lock, err := durable.TryLock(d.path(".holodeck/index/kb/agent/index.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	d.opts.Notice = func(string) { t.Error("waited with nothing to do") }
	if got := sources(t, d.open(docs), "refund for a lamp"); got != "docs/returns.md" {
		t.Errorf("sources %q", got)
	}
}

func TestToolsOfOneNameInOneFolderAreApart(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.write("other/x.txt", "brass lamp")
	one := d.open(docs)
	a, tool := d.load("type: vectorstore\nsource: other")
	a.File = d.path("second agent.yaml")
	two, err := knowledge.Open(t.Context(), d.env(), a, tool, d.emb, knowledge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if one.Stats().Location == two.Stats().Location {
		t.Errorf("both are in %s", one.Stats().Location)
	}
}

func TestToolNamesAreFoldersOnEverySystem(t *testing.T) {
	d := newDesk(t, docsFiles())
	a, tool := d.load(docs)
	seen := map[string]string{}
	for _, name := range []string{"kb", "KB", "Kb", "con", "com1", "k-b", "k_b"} {
		tool.Base().Name = name
		opened, err := knowledge.Open(t.Context(), d.env(), a, tool, d.emb, knowledge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := strings.ToLower(opened.Stats().Location)
		if first, ok := seen[at]; ok {
			t.Errorf("%s and %s share %s", first, name, at)
		}
		seen[at] = name
		if err := opened.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConcurrentSearchesAndRefreshes(t *testing.T) {
	d := newDesk(t, docsFiles())
	tool := d.open(docs)
	done := make(chan error)
	go func() {
		for i := range 10 {
			if err := os.WriteFile(d.path("docs/n.txt"), fmt.Appendf(nil, "note %d", i), 0o644); err != nil {
				done <- err
				return
			}
			if err := tool.Refresh(t.Context()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		result, err := tool.Call(t.Context(), json.RawMessage(`{"query":"refund for a lamp"}`))
		if err != nil || len(result.Passages) == 0 || result.Passages[0].Source != "docs/returns.md" {
			t.Errorf("%+v, %v", result, err)
		}
	}
}
