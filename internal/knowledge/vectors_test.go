package knowledge_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/knowledge"
)

// measuring is an embedder that does not know its width before the first vector.
type measuring struct {
	*countingEmbedder
	width int
}

func (e *measuring) Dimensions() int { return e.width }

func (e *measuring) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.countingEmbedder.Embed(ctx, texts)
	if err == nil && len(vectors) > 0 {
		e.width = len(vectors[0])
	}
	return vectors, err
}

// openWith opens the tool of a desk with an embedder of a provider.
func (d *desk) openWith(emb embed.Embedder, p config.Provider, keys string) (knowledge.Tool, error) {
	d.t.Helper()
	a, tool := d.load(keys)
	a.EmbeddingProvider = &config.Model{Provider: p, Name: "m"}
	opened, err := knowledge.Open(d.t.Context(), d.env(), a, tool, emb, d.opts)
	if err == nil {
		d.t.Cleanup(func() {
			if err := opened.Close(); err != nil {
				d.t.Error(err)
			}
		})
	}
	return opened, err
}

func TestAnUnchangedIndexOpensWithoutItsEmbedder(t *testing.T) {
	d := newDesk(t, docsFiles())
	if _, err := d.openWith(&measuring{countingEmbedder: d.emb}, config.ProviderOpenAI, docs); err != nil {
		t.Fatal(err)
	}
	d.emb.counted()
	down := errors.New("the embedder is down")
	d.emb.hook = func(context.Context, int) error { return down }
	tool, err := d.openWith(&measuring{countingEmbedder: d.emb}, config.ProviderOpenAI, docs)
	if err != nil {
		t.Fatal(err)
	}
	requireChange(t, d, tool, 0, 0, 0, len(docsFiles()), 0)
	if _, err := tool.Search(t.Context(), "returns"); !errors.Is(err, down) {
		t.Errorf("a search by vectors says %v", err)
	}
	// A file that goes needs no vector, and the index keeps its width.
	d.emb.hook = nil
	if err := os.Remove(d.path("docs/returns.md")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if tool, err = d.openWith(&measuring{countingEmbedder: d.emb}, config.ProviderOpenAI, docs); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tool.Search(t.Context(), "returns"); err != nil {
		t.Error(err)
	}
}

func TestNothingIsEmbeddedForWordsAndLetters(t *testing.T) {
	for _, keys := range []string{"\nsearch_mode: keyword", "\nsearch_mode: exact", "\nsemantic_weight: 0\nkeyword_weight: 0.7\nexact_weight: 0.3"} {
		for _, where := range []string{"", "\ndatabase: {provider: in-memory}"} {
			d := newDesk(t, docsFiles())
			tool, err := d.openWith(nil, config.ProviderOpenAI, sections+keys+where)
			if err != nil {
				t.Fatalf("%s: %v", keys, err)
			}
			d.write("docs/new.md", "A kettle boils in three minutes.")
			if err := tool.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if hits, err := tool.Search(t.Context(), "kettle boils"); err != nil || len(hits) != 1 || hits[0].Source != "docs/new.md" {
				t.Errorf("%s: found %+v, %v", keys, hits, err)
			}
		}
	}
}

func TestVectorsComeWhenTheyAreNeeded(t *testing.T) {
	d := newDesk(t, docsFiles())
	d.open(sections + "\nsearch_mode: keyword")
	if n := d.emb.counted(); n != 0 {
		t.Errorf("%d texts were embedded", n)
	}
	all := d.open(sections).Stats()
	if n := d.emb.counted(); n == 0 || n != all.Passages || all.Rebuilt != "it is searched by vectors now" {
		t.Errorf("%d texts were embedded of %+v", n, all)
	}
	// Back and forth costs nothing as long as the source stays.
	d.open(sections + "\nsearch_mode: keyword")
	d.open(sections)
	if n := d.emb.counted(); n != 0 {
		t.Errorf("%d texts were embedded again", n)
	}
	d.write("docs/new.md", "A kettle boils in three minutes.")
	if got := d.open(sections + "\nsearch_mode: keyword").Stats().Rebuilt; got != "it is searched without vectors now" {
		t.Errorf("rebuilt: %q", got)
	}
}

func TestWhatIsPaidForIsMadeAnewOnDemand(t *testing.T) {
	for _, tt := range []struct {
		name, keys, want string
		change           func(*measuring)
	}{
		{"another model", docs, "the embedding model was offline/hashing-1+", func(e *measuring) { e.model = "other/1" }},
		{"other passages", docs + "\nchunk_size: 9", "the way sources are read or cut has changed", func(*measuring) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, docsFiles())
			if _, err := d.openWith(&measuring{countingEmbedder: d.emb}, config.ProviderOpenAI, docs); err != nil {
				t.Fatal(err)
			}
			d.emb.counted()
			e := &measuring{countingEmbedder: d.emb}
			tt.change(e)
			_, err := d.openWith(e, config.ProviderOpenAI, tt.keys)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "run 'holodeck index ") || d.emb.counted() != 0 {
				t.Errorf("error %v", err)
			}
			d.opts.Reindex = true
			if _, err := d.openWith(e, config.ProviderOpenAI, tt.keys); err != nil || d.emb.counted() == 0 {
				t.Errorf("with --reindex: %v", err)
			}
			d.opts.Reindex = false
			if _, err := d.openWith(e, config.ProviderOllama, docs); err != nil {
				t.Errorf("on a machine of one's own: %v", err)
			}
		})
	}
}

func TestAModelThatHasAnotherWidthIsNotMixedIn(t *testing.T) {
	d := newDesk(t, docsFiles())
	if _, err := d.openWith(&measuring{countingEmbedder: d.emb}, config.ProviderOpenAI, docs); err != nil {
		t.Fatal(err)
	}
	d.write("docs/new.md", "A kettle boils in three minutes.")
	narrow := &measuring{countingEmbedder: &countingEmbedder{Embedder: embed.NewHashing(16)}}
	_, err := d.openWith(narrow, config.ProviderOpenAI, docs)
	if err == nil || !strings.Contains(err.Error(), "gives vectors of 16 numbers, and those of the index have 384; run 'holodeck index ") {
		t.Fatalf("error %v", err)
	}
	d.opts.Reindex = true
	narrow.width = 0
	tool, err := d.openWith(narrow, config.ProviderOpenAI, docs)
	if err == nil {
		_, err = tool.Search(t.Context(), "kettle")
	}
	if err != nil {
		t.Errorf("made anew: %v", err)
	}
}
