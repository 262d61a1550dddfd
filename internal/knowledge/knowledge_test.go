package knowledge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
)

// desk is an agent folder under test.
type desk struct {
	t    testing.TB
	dir  string
	log  *bytes.Buffer
	opts knowledge.Options
	emb  *countingEmbedder
	told []string // by Options.Notice
	// rename and redescribe say that the tool's keys have those.
	rename, redescribe bool
}

// newDesk returns an agent folder with the given files; names end in / for
// folders.
func newDesk(t testing.TB, files map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), log: &bytes.Buffer{}, emb: &countingEmbedder{Embedder: embed.NewHashing(0)}}
	d.opts.Notice = func(message string) { d.told = append(d.told, message) }
	for name, content := range files {
		d.write(name, content)
	}
	return d
}

// requireTold fails unless these notices were given since the last time.
func (d *desk) requireTold(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.told, want) {
		d.t.Errorf("told %q, want %q", d.told, want)
	}
	d.told = nil
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *desk) write(name, content string) {
	d.t.Helper()
	path := d.path(name)
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(path, 0o755); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// load reads an agent whose only tool has the given keys besides its name and
// description. Problems of the configuration itself are returned with it.
func (d *desk) load(tool string) (*config.Agent, config.Tool) {
	d.t.Helper()
	if !d.rename {
		tool = "name: kb\n" + tool
	}
	if !d.redescribe {
		tool = "description: What we know\n" + tool
	}
	d.write("agent.yaml", "name: desk\nmodel: {provider: offline, name: offline}\ninstructions: {inline: Help.}\n"+
		"tools:\n  - "+strings.ReplaceAll(strings.TrimSpace(tool), "\n", "\n    ")+"\n")
	a, problems := config.Load(d.dir, config.Options{Environ: []string{}})
	if a == nil || len(a.Tools) != 1 {
		d.t.Fatalf("the agent does not load: %v", problems)
	}
	return a, a.Tools[0]
}

func (d *desk) env() agent.Env {
	return agent.SystemEnv(slog.New(slog.NewTextHandler(&lockedWriter{w: d.log}, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// lockedWriter lets several goroutines log to one buffer.
type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(b)
}

func (d *desk) tryOpen(tool string) (knowledge.Tool, error) {
	d.t.Helper()
	a, t := d.load(tool)
	opened, err := knowledge.Open(d.t.Context(), d.env(), a, t, d.emb, d.opts)
	if err == nil {
		d.t.Cleanup(func() {
			if err := opened.Close(); err != nil {
				d.t.Error(err)
			}
		})
	}
	return opened, err
}

func (d *desk) open(tool string) knowledge.Tool {
	d.t.Helper()
	opened, err := d.tryOpen(tool)
	if err != nil {
		d.t.Fatal(err)
	}
	return opened
}

// indexFile is where the index of the tool is.
func (d *desk) indexFile() string { return d.path(".holodeck/index/kb/agent/index.db") }

func search(t testing.TB, tool agent.Tool, query string) agent.ToolResult {
	t.Helper()
	args, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	result, err := tool.Call(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// sources returns where the passages of a search stand.
func sources(t testing.TB, tool agent.Tool, query string) string {
	t.Helper()
	var list []string
	for _, p := range search(t, tool, query).Passages {
		list = append(list, p.Source)
	}
	return strings.Join(list, " ")
}

// countingEmbedder counts texts, and can be made to wait or fail.
type countingEmbedder struct {
	embed.Embedder
	model string                                 // instead of the embedder's own
	hook  func(ctx context.Context, n int) error // before each call, with the number of texts

	mu    sync.Mutex
	texts int
}

func (e *countingEmbedder) Model() string {
	if e.model != "" {
		return e.model
	}
	return e.Embedder.Model()
}

func (e *countingEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.mu.Lock()
	e.texts += len(texts)
	e.mu.Unlock()
	if e.hook != nil {
		if err := e.hook(ctx, len(texts)); err != nil {
			return nil, err
		}
	}
	return e.Embedder.Embed(ctx, texts)
}

// counted returns how many texts were embedded since it was asked last.
func (e *countingEmbedder) counted() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.texts
	e.texts = 0
	return n
}

const (
	returns = "# Returns\n\nYou may return a lamp within thirty days. Refunds reach your card in five days.\n"
	opening = "Our shop is open from nine to six, Monday to Friday."
	docs    = "type: vectorstore\nsource: docs"

	sections = "type: hierarchical_document\nsource: docs"
)

func docsFiles() map[string]string {
	return map[string]string{"docs/returns.md": returns, "docs/shop/opening.txt": opening}
}

func TestDefinition(t *testing.T) {
	d := newDesk(t, docsFiles())
	def := d.open(docs).Definition()
	want := agent.Definition{
		Name: "kb_search", Description: "Search kb: What we know", ReadOnly: true, Retrieval: true, Source: "vectorstore",
		Schema: def.Schema,
	}
	if got := fmt.Sprintf("%+v", def); got != fmt.Sprintf("%+v", want) {
		t.Errorf("definition %s", got)
	}
	var schema struct {
		Type       string
		Properties map[string]struct{ Type string }
		Required   []string
	}
	if err := json.Unmarshal(def.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || len(schema.Properties) != 1 || schema.Properties["query"].Type != "string" || fmt.Sprint(schema.Required) != "[query]" {
		t.Errorf("schema %s", def.Schema)
	}
}

func TestALongDescriptionIsCut(t *testing.T) {
	d := newDesk(t, docsFiles())
	a, tool := d.load(docs)
	for _, tt := range []struct{ n, want int }{{188, 199}, {189, 200}, {190, 200}, {500, 200}} {
		tool.Base().Description = strings.Repeat("ü", tt.n)
		opened, err := knowledge.Open(t.Context(), d.env(), a, tool, d.emb, knowledge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := opened.Definition().Description
		if n := len([]rune(got)); n != tt.want || (tt.n > 189) != strings.HasSuffix(got, "ü...") {
			t.Errorf("a description of %d is shown as %d: %s", tt.n, n, got)
		}
		if err := opened.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDocumentsAreShownAsThePythonEditionDoes(t *testing.T) {
	d := newDesk(t, docsFiles())
	result := search(t, d.open(docs), "When do I get my refund for the returned lamp?")
	if len(result.Passages) != 1 {
		t.Fatalf("passages %+v", result.Passages)
	}
	p := result.Passages[0]
	want := fmt.Sprintf("Found 1 result(s):\n\n[1] Score: %.2f | Source: docs/returns.md\n%s", p.Score, strings.TrimSpace(returns))
	if got := result.Text(); got != want {
		t.Errorf("text\n%s\nwant\n%s", got, want)
	}
	if p.ID != "docs/returns.md#0" || p.Source != "docs/returns.md" || p.Text != strings.TrimSpace(returns) || p.Score < 0.7 || p.Metadata != nil {
		t.Errorf("passage %+v", p)
	}
}

func TestSeveralResultsAreNumbered(t *testing.T) {
	d := newDesk(t, map[string]string{"docs/a.md": "alpha beta\n\n", "docs/b.md": "alpha gamma", "docs/c.md": "delta"})
	result := search(t, d.open(docs+"\nmin_similarity_score: 0.2"), "alpha beta")
	a, b := result.Passages[0].Score, result.Passages[1].Score
	want := fmt.Sprintf("Found 2 result(s):\n\n[1] Score: %.2f | Source: docs/a.md\nalpha beta\n\n[2] Score: %.2f | Source: docs/b.md\nalpha gamma", a, b)
	if got := result.Text(); got != want {
		t.Errorf("text\n%s\nwant\n%s", got, want)
	}
}

func TestRecordsAreShownAsThePythonEditionDoes(t *testing.T) {
	d := newDesk(t, map[string]string{"faq.csv": "id;question;answer;topic;price\nP1;How to pay?;By card.;billing;9.99\nP2;Is it open?;Till six.;;\n"})
	tool := d.open("type: vectorstore\nsource: faq.csv\nvector_field: [question, answer]\nid_field: id\nmeta_fields: [topic, price]")
	result := search(t, tool, "How do I pay by card?")
	score := result.Passages[0].Score
	want := fmt.Sprintf("Found 1 result(s):\n\n[1] ID: P1 | Score: %.2f\nContent: How to pay?\nBy card.\nMetadata: topic: billing, price: 9.99", score)
	if got := result.Text(); got != want {
		t.Errorf("text\n%s\nwant\n%s", got, want)
	}
	p := result.Passages[0]
	if p.ID != "P1" || p.Source != "faq.csv" || p.Text != "How to pay?\nBy card." || fmt.Sprint(p.Metadata) != "map[price:9.99 topic:billing]" {
		t.Errorf("passage %+v", p)
	}
}

func TestRecordKeysWork(t *testing.T) {
	shop := `{"shop":"Nord","orders":[{"day":"mon","items":[{"sku":"L1","title":"Lamp","tags":["desk","brass"],"stock":null,"ok":true},{"sku":"L2","title":" ","tags":null}]}]}`
	for _, tt := range []struct{ name, file, content, keys, query, want string }{
		{"one field, all others shown", "a.json", `[{"id":7,"text":"brass lamp","size":1.50,"none":null,"in":{"a":[1]}}]`,
			"vector_field: text\nid_field: id", "lamp", "ID: 7|Content: brass lamp|Metadata: size: 1.50, in: {\"a\": [1]}"},
		{"no field shown", "a.json", `[{"id":7,"text":"brass lamp","size":1.5}]`,
			"vector_field: text\nid_field: id\nmeta_fields: []", "lamp", "ID: 7|Content: brass lamp"},
		{"a null that is asked for is empty", "a.json", `[{"id":7,"text":"brass lamp","size":null}]`,
			"vector_field: text\nid_field: id\nmeta_fields: [size]", "lamp", "ID: 7|Content: brass lamp|Metadata: size: "},
		{"separator", "a.jsonl", `{"id":"x","a":"brass","b":"lamp"}`, "vector_field: [a, b]\nid_field: id\nfield_separator: ' / '", "lamp", "ID: x|Content: brass / lamp"},
		{"no separator", "a.jsonl", `{"id":"x","a":"brass ","b":"lamp"}`, "vector_field: [a, b]\nid_field: id\nfield_separator: ''", "lamp", "ID: x|Content: brass lamp"},
		{"delimiter", "a.csv", "id~text,more\n1~brass, lamp\n", "vector_field: 'text,more'\nid_field: id\ndelimiter: '~'", "lamp", "ID: 1|Content: brass, lamp"},
		{"path and prefixes", "a.json", shop,
			"vector_field: [i_title, i_tags]\nid_field: i_sku\nrecord_path: orders.items\nrecord_prefix: i_\nmeta_prefix: o_\nmeta_fields: [o_shop, o_day, i_ok]",
			"lamp", "ID: L1|Content: Lamp|[\"desk\", \"brass\"]|Metadata: o_shop: Nord, o_day: mon, i_ok: True"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{tt.file: tt.content})
			text := search(t, d.open("type: vectorstore\nsource: "+tt.file+"\n"+tt.keys), tt.query).Text()
			_, rest, _ := strings.Cut(text, "[1] ")
			id, body, _ := strings.Cut(rest, " | Score: ")
			_, body, _ = strings.Cut(body, "\n")
			if got := id + "|" + strings.ReplaceAll(body, "\n", "|"); got != strings.TrimRight(tt.want, " ") {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestBlankRecordsAreSkippedAndTold(t *testing.T) {
	d := newDesk(t, map[string]string{"a.csv": "id,text\n1,lamp\n2,\n3,  \n"})
	tool := d.open("type: vectorstore\nsource: a.csv\nvector_field: text\nid_field: id")
	if n := tool.Stats().Passages; n != 1 {
		t.Errorf("%d passages", n)
	}
	d.requireTold("indexing kb: Skipped 2 records with empty vector field content")
}

func TestADamagedIndexIsMadeAnewAndThatIsTold(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.open(docs)
	d.requireTold()
	info, err := os.Stat(d.indexFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.indexFile(), info.Size()-100); err != nil {
		t.Fatal(err)
	}
	d.open(docs)
	if len(d.told) != 1 || !strings.HasPrefix(d.told[0], "the index of kb was made anew: load index ") ||
		!strings.Contains(d.told[0], "the stored index cannot be read") {
		t.Errorf("told %q", d.told)
	}
}

func TestNothingFound(t *testing.T) {
	d := newDesk(t, docsFiles())
	for _, tt := range []struct{ keys, query string }{
		{"", "Who won the football match?"},
		{"\nmin_similarity_score: 0.95", "lamp for the office"},
	} {
		result := search(t, d.open(docs+tt.keys), tt.query)
		if result.Text() != agent.NothingFound || len(result.Passages) != 0 || result.IsError {
			t.Errorf("%s: %+v", tt.query, result)
		}
	}
}

func TestTopK(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		files[fmt.Sprintf("docs/%d.txt", i)] = "the brass lamp"
	}
	d := newDesk(t, files)
	if got := sources(t, d.open(docs), "brass lamp"); got != "docs/0.txt docs/1.txt docs/2.txt docs/3.txt docs/4.txt" {
		t.Errorf("by default: %s", got)
	}
	if got := sources(t, d.open(docs+"\ntop_k: 2"), "brass lamp"); got != "docs/0.txt docs/1.txt" {
		t.Errorf("top_k 2: %s", got)
	}
}

func TestCallErrors(t *testing.T) {
	d := newDesk(t, docsFiles())
	tool := d.open(docs)
	for args, want := range map[string]string{
		`{"query":""}`: "Search query cannot be empty", `{"query":" \n"}`: "Search query cannot be empty", `{}`: "Search query cannot be empty",
		`{"query":5}`: "read the arguments of kb_search", `nope`: "read the arguments of kb_search",
	} {
		if _, err := tool.Call(t.Context(), json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
}

func TestAClosedToolIsNotInitialized(t *testing.T) {
	d := newDesk(t, docsFiles())
	tool := d.open(docs)
	for range 2 {
		if err := tool.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := tool.Call(t.Context(), json.RawMessage(`{"query":"lamp"}`))
	requireNotReady(t, err)
	requireNotReady(t, tool.Refresh(t.Context()))
	if s := tool.Stats(); !reflect.DeepEqual(s, knowledge.Stats{}) {
		t.Errorf("stats %+v", s)
	}
}
