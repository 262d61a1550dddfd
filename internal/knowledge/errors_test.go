package knowledge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml/ooxmltest"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/pdf/pdftest"
)

func requireNotReady(t *testing.T, err error) {
	t.Helper()
	session, ok := errors.AsType[*agent.BackendSessionError](err)
	if !ok || session.Backend != "agent_framework" || session.Err.Error() != "Tool 'kb' is not initialized" {
		t.Errorf("error %v", err)
	}
}

// requireRefused opens a tool that must fail with all the given words, and
// must leave no index.
func requireRefused(t *testing.T, d *desk, keys string, words ...string) {
	t.Helper()
	_, err := d.tryOpen(keys)
	toolErr, ok := errors.AsType[*agent.ToolError](err)
	if !ok || toolErr.Tool != "kb_search" {
		t.Fatalf("error %v, want a *agent.ToolError of kb_search", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q:\n%v", w, err)
		}
	}
	requireNoIndex(t, d)
}

// requireNoIndex fails when the desk has an index.
func requireNoIndex(t *testing.T, d *desk) {
	t.Helper()
	if _, err := os.Stat(d.indexFile()); err == nil {
		t.Error("an index was left behind")
	}
}

func TestBadSourcesAreRefused(t *testing.T) {
	const faq = "\nvector_field: text\nid_field: id"
	for _, tt := range []struct {
		name  string
		files map[string]string
		keys  string
		want  []string
	}{
		{"missing", nil, docs, []string{"Source path does not exist: ", "(configured source: docs, base_dir: "}},
		{"empty folder", map[string]string{"docs/": ""}, docs, []string{"source docs holds no file that this build reads (.csv .docx .htm .html .json .jsonl .md .pdf .pptx .txt .xlsx)"}},
		{"folder of other kinds", map[string]string{"docs/a.zip": "x", "docs/b.zip": "x", "docs/Makefile": "x"}, docs, []string{"; found 1 without extension, 2 .zip"}},
		{"only hidden files", map[string]string{"docs/.a.md": "x", "docs/.git/b.md": "x"}, docs, []string{"holds no file"}},
		{"blank files", map[string]string{"docs/a.md": " \n\n", "docs/b.txt": ""}, docs, []string{"source docs cannot be indexed:\ndocs/a.md: has no text; give it some, or take it out of the source\ndocs/b.txt: has no text"}},
		{"another kind of file", map[string]string{"a.zip": "x"}, "type: vectorstore\nsource: a.zip", []string{"source: this build reads no .zip files yet", "it reads .csv .docx .htm .html .json .jsonl .md .pdf .pptx .txt .xlsx"}},
		{"binary", map[string]string{"docs/b.md": "PK\x03\x04\x00"}, docs, []string{"source docs cannot be indexed:\ndocs/b.md: is binary, not text"}},
		{"several bad files at once", map[string]string{"docs/b.md": "\x00", "docs/c.json": "{"}, docs, []string{"docs/b.md: is binary", "docs/c.json: is not JSON"}},
		{"an s3 source", nil, "type: vectorstore\nsource: s3://bucket/docs", []string{"source: this build reads no s3 sources yet", "--offline"}},
		{"a store this build lacks", docsFiles(), docs + "\ndatabase: {provider: qdrant}", []string{"database: this build has no client for database provider qdrant yet", "local, in-memory and postgres work", "--offline"}},
		{"a reranker", docsFiles(), sections + "\nenable_reranking: true\nreranker_model: {provider: offline, name: offline}", []string{"enable_reranking", "no reranker yet"}},
		{"overlap as long as a chunk", docsFiles(), docs + "\nchunk_size: 10\nchunk_overlap: 10", []string{"chunk_overlap: an overlap of 10 tokens leaves no room in chunks of 10"}},
		{"another width", docsFiles(), docs + "\nembedding_dimensions: 1536", []string{"embedding_dimensions is 1536", "have 384"}},
		{"records of a folder", docsFiles(), docs + faq, []string{"source: is a folder, and vector_field needs one file of records"}},
		{"records of markdown", map[string]string{"a.md": "x"}, "type: vectorstore\nsource: a.md" + faq, []string{"Unsupported file type: '.md'. Supported types: ['.csv', '.json', '.jsonl']"}},
		{"no records", map[string]string{"a.csv": "id,text\n"}, "type: vectorstore\nsource: a.csv" + faq, []string{"a.csv: No records found in source file"}},
		{"missing fields", map[string]string{"a.csv": "key,body\n1,x\n"}, "type: vectorstore\nsource: a.csv" + faq + "\nmeta_fields: [topic]", []string{
			"id_field: Field 'id' not found in source. Available fields: ['key', 'body']", "vector_field: Field 'text' not found", "meta_fields: Field 'topic' not found"}},
		{"two records of one id", map[string]string{"a.csv": "id,text\nx,a\ny,b\nx,c\n"}, "type: vectorstore\nsource: a.csv" + faq, []string{"a.csv: has the same id 'x' in line 2 and line 4"}},
		{"a record without an id", map[string]string{"a.json": `[{"id":1,"text":"a"},{"text":"b"}]`}, "type: vectorstore\nsource: a.json" + faq, []string{"a.json: has no value in id_field 'id' of record 2"}},
		{"a bad delimiter", map[string]string{"a.csv": "id,text\n1,x\n"}, "type: vectorstore\nsource: a.csv\ndelimiter: ', '" + faq, []string{`delimiter: ", " is not a delimiter`}},
		{"a path in a csv", map[string]string{"a.csv": "id,text\n1,x\n"}, "type: vectorstore\nsource: a.csv\nrecord_path: x" + faq, []string{"source: a .csv has no record_path"}},
	} {
		t.Run(tt.name, func(t *testing.T) { requireRefused(t, newDesk(t, tt.files), tt.keys, tt.want...) })
	}
}

func TestAtMostTenBadFilesAreSpeltOut(t *testing.T) {
	files := map[string]string{}
	for _, name := range strings.Split("abcdefghijklm", "") {
		files["docs/"+name+".md"] = "\x00"
	}
	requireRefused(t, newDesk(t, files), docs, "docs/j.md: is binary", "and 3 more")
}

func TestALargeFileIsRefused(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/returns.md": "x"})
	if err := os.Truncate(d.path("docs/returns.md"), 200<<20); err != nil { // sparse: takes no room
		t.Fatal(err)
	}
	requireRefused(t, d, docs, "docs/returns.md: has 200 MiB, more than the 64 MiB a source file may have; split it, or raise max_file_mb")
}

func TestTooManyPassagesAreRefused(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.txt": "one\n\ntwo\n\nsix\n"})
	d.opts.Limits = knowledge.Limits{Passages: 2, File: convert.Limits{FileBytes: 100}}
	requireRefused(t, d, docs+"\nchunk_size: 2", "makes 3 passages, more than the 2 a tool may have; raise max_passages")
}

// link makes a symbolic link inside the desk.
func (d *desk) link(target, name string) {
	d.t.Helper()
	if err := os.Symlink(filepath.FromSlash(target), d.path(name)); err != nil {
		d.t.Fatal(err)
	}
}

func TestLinksAreFollowedOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // making links needs a right that users do not have
	}
	d := newDesk(t, map[string]string{"docs/a.txt": "brass lamp", "docs/sub/b.txt": "steel lamp", "elsewhere/c.txt": "copper lamp"})
	d.link("..", "docs/sub/loop")
	d.link(".", "docs/self")
	d.link("a.txt", "docs/0.txt")
	d.link("../elsewhere", "docs/z")
	d.link("missing-but-hidden", "docs/.broken")
	if got := sources(t, d.open(docs), "lamp"); got != "docs/a.txt docs/sub/b.txt docs/z/c.txt" {
		t.Errorf("sources %s", got)
	}
}

func TestLinksOutOfTheAgentFolderAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // making links needs a right that users do not have
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("a file", func(t *testing.T) {
		d := newDesk(t, docsFiles())
		d.link(filepath.Join(outside, "secret.txt"), "docs/s.txt")
		requireRefused(t, d, docs, "docs/s.txt: is a symbolic link out of the agent folder, to ", "secret.txt")
	})
	t.Run("a folder", func(t *testing.T) {
		d := newDesk(t, docsFiles())
		d.link(outside, "docs/sub")
		requireRefused(t, d, docs, "docs/sub: is a symbolic link out of the agent folder")
	})
	t.Run("nothing", func(t *testing.T) {
		d := newDesk(t, docsFiles())
		d.link("gone.txt", "docs/s.txt")
		requireRefused(t, d, docs, "docs/s.txt: is a symbolic link that leads nowhere")
	})
	t.Run("the source itself", func(t *testing.T) {
		d := newDesk(t, nil)
		d.link(outside, "docs")
		requireRefused(t, d, docs, "a symbolic link leads out of the agent folder", "write that path in source if it is meant")
	})
	t.Run("a source that says so", func(t *testing.T) {
		d := newDesk(t, nil)
		tool := d.open("type: vectorstore\nsource: " + filepath.ToSlash(outside))
		if got := sources(t, tool, "secret"); !strings.HasSuffix(got, "/secret.txt") || !strings.HasPrefix(got, "../") {
			t.Errorf("source %s", got)
		}
	})
}

func TestAFileURLIsAPath(t *testing.T) {
	d := newDesk(t, docsFiles())
	url := "file://" + filepath.ToSlash(d.path("docs"))
	if runtime.GOOS == "windows" {
		url = "file:///" + filepath.ToSlash(d.path("docs"))
	}
	if got := sources(t, d.open("type: vectorstore\nsource: "+url), "opening on Monday"); got != "docs/shop/opening.txt" {
		t.Errorf("sources %s", got)
	}
}

func TestStateThatCannotBeWritten(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.write(".holodeck", "a file where a folder is needed")
	requireRefused(t, d, docs, d.path(".holodeck"), durable.StateVariable)

	elsewhere := t.TempDir()
	d.opts.Getenv = func(name string) string {
		if name == durable.StateVariable {
			return elsewhere
		}
		return ""
	}
	tool := d.open(docs)
	if got := tool.Stats().Location; !strings.HasPrefix(got, elsewhere) {
		t.Errorf("the index is in %s", got)
	}
	if got := sources(t, tool, "open on Monday"); got != "docs/shop/opening.txt" {
		t.Errorf("sources %s", got)
	}

	d.opts.Getenv = nil
	if got := sources(t, d.open(docs+"\ndatabase: {provider: in-memory}"), "open on Monday"); got != "docs/shop/opening.txt" {
		t.Errorf("in memory, which needs no folder: sources %s", got)
	}
}

// brokenEmbedder gives what no embedder should.
type brokenEmbedder struct {
	embed.Embedder
	vectors func(n int) [][]float32
	err     error
}

func (e brokenEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return e.vectors(len(texts)), e.err
}

func TestABrokenEmbedderNeverReachesTheIndex(t *testing.T) {
	inf := float32(1e30)
	each := func(v []float32) func(int) [][]float32 {
		return func(n int) (out [][]float32) {
			for range n {
				out = append(out, v)
			}
			return out
		}
	}
	for _, tt := range []struct {
		name string
		emb  brokenEmbedder
		want string
	}{
		{"zeros", brokenEmbedder{vectors: each(make([]float32, 384))}, "gave no usable vector for passage docs/returns.md#0"},
		{"no numbers", brokenEmbedder{vectors: each(append(make([]float32, 383), inf*inf-inf*inf))}, "gave no usable vector"},
		{"another width", brokenEmbedder{vectors: each(make([]float32, 3))}, "gave a vector of 3 numbers, want 384"},
		{"too few", brokenEmbedder{vectors: func(int) [][]float32 { return nil }}, "gave 0 vectors for 2 texts"},
		{"an error", brokenEmbedder{vectors: each(nil), err: errors.New("status 503")}, "embed with offline/hashing-1+words/2: status 503"},
	} {
		for _, keys := range []string{docs, sections} {
			t.Run(tt.name, func(t *testing.T) {
				d := newDesk(t, docsFiles())
				tt.emb.Embedder = embed.NewHashing(0)
				a, tool := d.load(keys)
				_, err := knowledge.Open(t.Context(), d.env(), a, tool, tt.emb, knowledge.Options{})
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "tool kb_search: ") {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				requireNoIndex(t, d)
			})
		}
	}
}

func TestOpenRefusesOtherTools(t *testing.T) {
	_, err := knowledge.Open(t.Context(), agent.Env{}, &config.Agent{}, &config.MCPTool{ToolBase: config.ToolBase{Name: "m", Type: config.ToolMCP}}, nil, knowledge.Options{})
	if err == nil || !strings.Contains(err.Error(), "a tool of type mcp is not a retrieval tool") {
		t.Errorf("error %v", err)
	}
}

// A file without text is told by name, and the others are found.
func TestFilesWithoutTextAreTold(t *testing.T) {
	files := map[string]string{
		"docs/a.md": "A brass lamp.", "docs/empty.md": "", "docs/blank.json": "{}",
		"docs/empty.pdf": string(pdftest.File{}.Bytes()), "docs/empty.docx": string(ooxmltest.Word{}.Bytes()),
	}
	tool := newDesk(t, files).open(docs)
	got := tool.Stats().Skipped
	var want []string
	for _, name := range []string{"blank.json", "empty.docx", "empty.md", "empty.pdf"} {
		want = append(want, "docs/"+name+": has no text; give it some, or take it out of the source")
	}
	if !slices.Equal(got, want) {
		t.Errorf("left out %q\nwant %q", got, want)
	}
	if got := sources(t, tool, "lamp"); got != "docs/a.md" {
		t.Errorf("found %q", got)
	}
}
