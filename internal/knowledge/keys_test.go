package knowledge_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
)

// keyCase is a key of a search tool with two ways of writing the tool. What comes
// of them must differ, or the key is ignored.
type keyCase struct {
	tool    string // what both have
	without string
	with    string
	query   string
}

// heldElsewhere are keys that other tests hold, or that say nothing of a search.
var heldElsewhere = map[string]string{
	"type":          "every case here",
	"defer_loading": "tools are always offered, and config says so",
	"timeout":       "the deadlines of tool calls, in package tool",
}

const (
	recordsTool = "type: vectorstore\nsource: records.json\nid_field: id\nvector_field: [title, text]\nrecord_path: shop.lamps"
	csvTool     = "type: vectorstore\nsource: lamps.csv\nid_field: id\nvector_field: text"
	contextTool = sections + "\ndatabase: {provider: in-memory}"
	aModel      = "{provider: openai, name: small, api_key: x}"
)

// keyCases has a case for every key of both tools.
var keyCases = map[string]map[string]keyCase{
	"vectorstore": {
		"name":                 {docs, "", "name: other", "lamp"},
		"description":          {docs, "", "description: Something else", "lamp"},
		"source":               {"type: vectorstore", "source: docs", "source: docs/a.md", "kettle"},
		"vector_field":         {"type: vectorstore\nsource: lamps.csv\nid_field: id", "vector_field: text", "vector_field: more", "brass"},
		"id_field":             {"type: vectorstore\nsource: lamps.csv\nvector_field: text", "id_field: id", "id_field: more", "brass"},
		"meta_fields":          {csvTool, "", "meta_fields: [text]", "brass"},
		"field_separator":      {recordsTool, "", "field_separator: ' + '", "brass"},
		"delimiter":            {"type: vectorstore\nsource: bars.csv\nid_field: id\nvector_field: text", "", "delimiter: '|'", "brass"},
		"record_path":          {"type: vectorstore\nsource: records.json\nid_field: id\nvector_field: text", "record_path: shop.lamps", "record_path: shop.other", "brass"},
		"record_prefix":        {"type: vectorstore\nsource: records.json\nrecord_path: shop.lamps\nid_field: id", "vector_field: text", "record_prefix: r_\nvector_field: r_text", "brass"},
		"meta_prefix":          {recordsTool, "", "meta_prefix: m_", "brass"},
		"chunk_size":           {docs, "", "chunk_size: 8", "lamp"},
		"chunk_overlap":        {docs + "\nchunk_size: 12", "", "chunk_overlap: 4", "lamp"},
		"embedding_model":      {docs, "", "embedding_model: other", "lamp"},
		"embedding_dimensions": {docs, "", "embedding_dimensions: 7", "lamp"},
		"database":             {docs, "", "database: {provider: in-memory}", "lamp"},
		"top_k":                {docs, "", "top_k: 1", "lamp"},
		"min_similarity_score": {docs, "", "min_similarity_score: 0.96", "lamp"},
		"language":             {docs, "", "language: none", "lamps"},
		"max_passages":         {docs, "", "max_passages: 1", "lamp"},
		"max_file_mb":          {"type: vectorstore\nsource: large.txt", "", "max_file_mb: 1", "lamp"},
	},
	"hierarchical_document": {
		"name":                     {sections, "", "name: other", "lamp"},
		"description":              {sections, "", "description: Something else", "lamp"},
		"source":                   {"type: hierarchical_document", "source: docs", "source: docs/a.md", "kettle"},
		"chunking_strategy":        {sections, "", "chunking_strategy: token", "lamp"},
		"max_chunk_tokens":         {"type: hierarchical_document\nsource: long.md", "", "max_chunk_tokens: 100", "lamp"},
		"chunk_overlap":            {"type: hierarchical_document\nsource: long.md\nmax_chunk_tokens: 100", "", "chunk_overlap: 40", "lamp"},
		"document_domain":          {sections, "", "document_domain: technical", "screw"},
		"max_subsection_depth":     {sections + "\ndocument_domain: technical", "max_subsection_depth: 1", "max_subsection_depth: 4", "screw"},
		"search_mode":              {sections, "", "search_mode: keyword", "lamp"},
		"top_k":                    {sections, "", "top_k: 1", "lamp"},
		"min_score":                {sections, "", "min_score: 0.999", "lamp"},
		"semantic_weight":          {sections + "\nexact_weight: 0", "semantic_weight: 0.7", "semantic_weight: 0.2\nkeyword_weight: 0.8", "brass lamp"},
		"keyword_weight":           {sections + "\nsemantic_weight: 0.4", "keyword_weight: 0.6\nexact_weight: 0", "keyword_weight: 0.1\nexact_weight: 0.5", "brass lamp"},
		"exact_weight":             {sections + "\nsemantic_weight: 0.4", "exact_weight: 0\nkeyword_weight: 0.6", "exact_weight: 0.5\nkeyword_weight: 0.1", "\"brass lamp\""},
		"fusion":                   {sections, "", "fusion: minmax", "lamp"},
		"rrf_k":                    {sections, "", "rrf_k: 1", "lamp"},
		"contextual_embeddings":    {contextTool + "\ncontext_model: " + aModel, "", "contextual_embeddings: false", "lamp"},
		"context_max_tokens":       {contextTool + "\ncontext_model: " + aModel, "", "context_max_tokens: 50", "lamp"},
		"context_concurrency":      {contextTool + "\ncontext_model: " + aModel, "", "context_concurrency: 1", "lamp"},
		"context_model":            {contextTool, "context_model: " + aModel, "context_model: {provider: openai, name: large, api_key: x}", "lamp"},
		"embedding_model":          {sections, "", "embedding_model: other", "lamp"},
		"extract_definitions":      {sections, "", "extract_definitions: false", "hang"},
		"extract_cross_references": {sections, "", "extract_cross_references: false", "hang"},
		"enable_reranking":         {sections, "", "enable_reranking: true\nreranker_model: " + aModel, "lamp"},
		"reranker_model":           {sections + "\nenable_reranking: true", "", "reranker_model: " + aModel, "lamp"},
		"database":                 {sections, "", "database: {provider: in-memory}", "lamp"},
		"keyword_index":            {sections, "", "keyword_index: {provider: opensearch, endpoint: 'http://127.0.0.1:1', index_name: x}", "lamp"},
		"language":                 {sections, "", "language: none", "lamps"},
		"max_passages":             {sections, "", "max_passages: 1", "lamp"},
		"max_file_mb":              {"type: hierarchical_document\nsource: large.txt", "", "max_file_mb: 1", "lamp"},
	},
}

// keyFiles are what the cases search.
func keyFiles() map[string]string {
	return map[string]string{
		"docs/a.md": "# Use\n\n## 1 Hanging\n\n\"Lamp\" means any light. See section 2.\n\nStep 1 Open\n\nTurn the screw.\n\n1.1 Close\n\nTurn the screw back.\n\n" +
			"## 2 Cleaning\n\nThe brass lamp is wiped. Hang a lamp up as section 1 says.\n",
		"docs/b.md":    "# Shop\n\nA copper kettle beside the brass lamps, and one lamp more.\n\nAnother lamp of steel.\n",
		"long.md":      "# Long\n\n" + strings.Repeat("A lamp stands on the desk beside the window. ", 60),
		"large.txt":    strings.Repeat("A lamp.\n", 1<<17+1),
		"lamps.csv":    "id,text,more\n1,brass lamp,tall\n2,steel lamp,small\n",
		"bars.csv":     "id|text|a,b,c,d\n1|brass lamp|x,y,z,w\n",
		"records.json": `{"shop": {"city": "Kiel", "lamps": [{"id": 1, "title": "One", "text": "brass lamp"}], "other": [{"id": 2, "text": "brass kettle"}]}}`,
	}
}

// TestNoKeyIsIgnored writes each key of the search tools, and fails where nothing
// comes of it. A key without a case fails, too.
func TestNoKeyIsIgnored(t *testing.T) {
	for kind, typ := range map[string]reflect.Type{
		"vectorstore":           reflect.TypeFor[config.VectorstoreTool](),
		"hierarchical_document": reflect.TypeFor[config.HierarchicalDocumentTool](),
	} {
		for _, key := range keysOf(typ) {
			if heldElsewhere[key] != "" {
				continue
			}
			tt, ok := keyCases[kind][key]
			if !ok {
				t.Errorf("%s: the key %s has no case here: it may be ignored", kind, key)
				continue
			}
			t.Run(kind+"/"+key, func(t *testing.T) {
				without, with := outcomeOf(t, tt.tool+"\n"+tt.without, tt.query), outcomeOf(t, tt.tool+"\n"+tt.with, tt.query)
				if without == with {
					t.Errorf("%q is ignored: with and without it there is\n%s", tt.with, with)
				}
			})
		}
	}
}

// keysOf returns the keys of a section, those of embedded ones included.
func keysOf(typ reflect.Type) []string {
	var keys []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		if key := f.Tag.Get("key"); key != "" {
			keys = append(keys, key)
		} else if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[config.Block]() {
			keys = append(keys, keysOf(f.Type)...)
		}
	}
	return keys
}

// outcomeOf returns all that a user could notice of a tool: what is checked, what
// the model is told, what a search finds, what the index is, which texts were
// embedded, and what a model was asked and how long that took.
func outcomeOf(t *testing.T, keys, query string) string {
	t.Helper()
	d := newDesk(t, keyFiles())
	d.rename = strings.Contains(keys, "\nname: ")
	d.redescribe = strings.Contains(keys, "\ndescription: ")
	a, tool := d.load(keys)
	var out []string
	_, problems := config.Load(d.dir, config.Options{Environ: []string{}})
	for _, p := range append(problems, knowledge.Check(a)...) {
		out = append(out, p.Text)
	}
	choice, err := embed.Resolve(a)
	out = append(out, choice.Model.Name, fmt.Sprint(err))
	w := &slowWriter{}
	d.opts.Writer = func(c *config.Model) (knowledge.Writer, error) { w.model = c.Name; return w, nil }
	if strings.Contains(keys, "context_model") {
		synctest.Test(t, func(t *testing.T) { out = append(out, d.outcome(t, a, tool, query)) })
	} else {
		out = append(out, d.outcome(t, a, tool, query))
	}
	out = append(out, w.asked()...)
	return strings.ReplaceAll(strings.Join(out, "\n"), d.dir, "DIR")
}

// outcome opens a tool and searches with it.
func (d *desk) outcome(t *testing.T, a *config.Agent, tool config.Tool, query string) string {
	begin := time.Now()
	opened, err := knowledge.Open(t.Context(), d.env(), a, tool, d.emb, d.opts)
	if err != nil {
		return err.Error()
	}
	var took time.Duration
	if strings.Contains(fmt.Sprint(opened.Stats().Location), "memory") {
		took = time.Since(begin).Round(time.Second)
	}
	hits, err := opened.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	s := opened.Stats()
	text := fmt.Sprint(opened.Definition().Name, opened.Definition().Description, s.Location, s.Passages, s.Sources, d.told, d.emb.counted(), took, "\n") +
		fmt.Sprintf("%+v\n", hits) + search(t, opened, query).Text()
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
	return text
}

// slowWriter writes contexts, each in a second.
type slowWriter struct {
	model string

	mu      sync.Mutex
	prompts []string
}

// Name implements knowledge.Writer.
func (w *slowWriter) Name() string { return "test/" + w.model }

// Write implements knowledge.Writer.
func (w *slowWriter) Write(_ context.Context, p knowledge.Prompt) (knowledge.Answer, error) {
	w.mu.Lock()
	w.prompts = append(w.prompts, fmt.Sprint(p.MaxTokens, p.System, p.Text))
	w.mu.Unlock()
	time.Sleep(time.Second)
	return knowledge.Answer{Text: "Of the shop's manual.", Usage: agent.Usage{Prompt: 100, Completion: 10}}, nil
}

// asked returns the prompts in a fixed order.
func (w *slowWriter) asked() []string { return slices.Sorted(slices.Values(w.prompts)) }
