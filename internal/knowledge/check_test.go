package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge"
)

func TestCheck(t *testing.T) {
	files := docsFiles()
	files["a.csv"] = "id,text\n1,x\n"
	files["a.pdf"], files["a.zip"] = "x", "x"
	const faq = "type: vectorstore\nsource: a.csv\nvector_field: text\nid_field: id"
	for _, tt := range []struct {
		name, keys string
		offline    bool
		want       []string // severity code key
	}{
		{"nothing to say", docs + "\nchunk_size: 100\nchunk_overlap: 99\ndatabase: {provider: local}", false, nil},
		{"records", faq + "\nmeta_fields: [text]\ndelimiter: ','\nrecord_prefix: ''", false, nil},
		{"in memory", docs + "\ndatabase: {provider: in-memory}", false, nil},
		{"another store", docs + "\ndatabase: {provider: chromadb}", false, []string{"warning unsupported database"}},
		{"another store offline", docs + "\ndatabase: {provider: chromadb}", true, nil},
		{"remote", "type: vectorstore\nsource: https://example.com/a.md", false, nil},
		{"a bucket", "type: vectorstore\nsource: s3://bucket/a.md", false, []string{"warning unsupported source"}},
		{"a pattern", "type: vectorstore\nsource: docs/**/*.md", false, nil},
		{"a pattern that is none", "type: vectorstore\nsource: 'docs/[a.md'", false, []string{"error value source"}},
		{"records of a pattern", "type: vectorstore\nsource: 'docs/*.csv'\nvector_field: text\nid_field: id", false, []string{"error conflict source"}},
		{"another kind of file", "type: vectorstore\nsource: a.zip", false, []string{"warning unsupported source"}},
		{"postgres", docs + "\ndatabase: {provider: postgres, connection_string: 'postgres://x/y', db_schema: kb}", false, nil},
		{"postgres without a connection", docs + "\ndatabase: {provider: postgres}", false, []string{"error missing database"}},
		{"keys no store knows", docs + "\ndatabase: {provider: postgres, connection_string: 'postgres://x/y', db_schema: 7, colour: red}", false,
			[]string{"warning no_effect database", "error type database"}},
		{"an option of a local index", docs + "\ndatabase: {provider: local, path: x}", false, []string{"warning no_effect database"}},
		{"a connection of a local index", docs + "\ndatabase: {provider: local, connection_string: x}", false, []string{"warning no_effect database"}},
		{"hierarchical", sections, false, nil},
		{"hierarchical offline", sections, true, nil},
		{"hierarchical in another store", sections + "\ndatabase: {provider: qdrant}", false, []string{"warning unsupported database"}},
		{"reranking", sections + "\nenable_reranking: true\nreranker_model: {provider: offline, name: offline}", false,
			[]string{"warning unsupported enable_reranking"}},
		{"another keyword index", sections + "\nkeyword_index: {provider: opensearch, endpoint: 'http://x', index_name: x}", false,
			[]string{"warning unsupported keyword_index"}},
		{"a connection that is none", docs + "\ndatabase: {provider: postgres, connection_string: 'postgres://u@ho st/y'}", false, []string{"error value database"}},
		{"keys no keyword index knows", sections + "\nkeyword_index: {provider: in-memory, shards: 3, username: x}", false,
			[]string{"warning no_effect keyword_index.username", "warning no_effect keyword_index.shards"}},
		{"the keyword index there is", sections + "\nkeyword_index: {provider: in-memory}", false, nil},
		{"weights of one leg", sections + "\nsearch_mode: exact\nexact_weight: 0.2\nrrf_k: 9", false,
			[]string{"warning no_effect exact_weight", "warning no_effect rrf_k"}},
		{"a constant of another fusion", sections + "\nfusion: minmax\nrrf_k: 9", false, []string{"warning no_effect rrf_k"}},
		{"contexts by nobody", sections + "\ncontextual_embeddings: true", false, []string{"warning no_effect contextual_embeddings"}},
		{"contexts", sections + "\ncontext_model: {provider: offline, name: offline}\ncontext_max_tokens: 50", false, nil},
		{"two bounds of contexts", sections + "\ncontext_model: {provider: openai, name: x, max_tokens: 9}", false, []string{"warning no_effect context_model.max_tokens"}},
		{"contexts that are off", sections + "\ncontextual_embeddings: false\ncontext_max_tokens: 50", false,
			[]string{"warning no_effect context_max_tokens"}},
		{"a depth of nothing", sections + "\nmax_subsection_depth: 2", false, []string{"error conflict max_subsection_depth"}},
		{"too great a depth", sections + "\ndocument_domain: technical\nmax_subsection_depth: 9", false, []string{"error conflict max_subsection_depth"}},
		{"overlap of sections", sections + "\nmax_chunk_tokens: 100\nchunk_overlap: 51", false, []string{"error conflict chunk_overlap"}},
		{"overlap", docs + "\nchunk_size: 5\nchunk_overlap: 5", false, []string{"error conflict chunk_overlap"}},
		{"overlap of the default size", docs + "\nchunk_overlap: 512", false, []string{"error conflict chunk_overlap"}},
		{"chunks of records", faq + "\nchunk_size: 5\nchunk_overlap: 5\nmeta_prefix: x", false,
			[]string{"warning no_effect chunk_size", "warning no_effect chunk_overlap", "warning no_effect meta_prefix"}},
		{"records of a folder", docs + "\nvector_field: text\nid_field: id", false, []string{"error conflict source"}},
		{"records of a pdf", "type: vectorstore\nsource: a.pdf\nvector_field: text\nid_field: id", false, []string{"error conflict source"}},
		{"a path in a csv", faq + "\nrecord_path: x", false, []string{"error conflict source"}},
		{"a delimiter of two characters", faq + "\ndelimiter: ';;'", false, []string{"error value delimiter"}},
		{"a missing source is config's to tell", "type: vectorstore\nsource: gone", false, nil},
		{"another tool", "type: function\nfile: f.py\nfunction: f", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := newDesk(t, files).load(tt.keys)
			a.Offline = tt.offline
			var got []string
			for _, p := range knowledge.Check(a) {
				if p.Pos.Line == 0 || !strings.HasPrefix(p.Path, "tools[0].") || p.Text == "" {
					t.Errorf("%+v has no place or text", p)
				}
				got = append(got, fmt.Sprintf("%s %s %s", p.Severity, p.Code, strings.TrimPrefix(p.Path, "tools[0].")))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
		})
	}
}
