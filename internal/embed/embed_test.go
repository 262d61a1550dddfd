package embed_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
)

func embedAll(t testing.TB, e embed.Embedder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestHashingIsDeterministicAndOfLengthOne(t *testing.T) {
	e := embed.NewHashing(0)
	texts := []string{"How do I reset my password?", "退货政策", "the of and", "!!! 😀", "", " \n\t", strings.Repeat("x ", 10_000), "\xff\xfe"}
	first := embedAll(t, e, texts...)
	for i, text := range texts {
		again := embedAll(t, e, text)[0]
		if !slices.Equal(first[i], again) {
			t.Errorf("%q has two vectors", text)
		}
		if len(again) != e.Dimensions() {
			t.Errorf("%q: %d numbers, want %d", text, len(again), e.Dimensions())
		}
		if n := dot(again, again); math.Abs(n-1) > 1e-5 {
			t.Errorf("%q: length %v, want 1", text, math.Sqrt(n))
		}
	}
}

// TestHashingNeverChanges fails when a change of the code changes vectors that
// users have stored: then the version must change too.
func TestHashingNeverChanges(t *testing.T) {
	v := embedAll(t, embed.NewHashing(8), "Refunds reach your card within 5 days.")[0]
	want := []float32{-0.15569979, 0.38924947, -0.077849895, 0.23354968, -0.31139958, 0.46709937, -0.38924947, 0.54494923}
	for i := range want {
		if math.Abs(float64(v[i]-want[i])) > 1e-6 {
			t.Fatalf("the vector is %v, was %v", v, want)
		}
	}
}

func TestHashingRanksByCommonWords(t *testing.T) {
	e := embed.NewHashing(0)
	v := embedAll(t, e,
		"How do I get a refund for a cancelled order?",
		"Refunds for cancelled orders reach your card within five days.",
		"Our office is open from nine to five, Monday to Friday.",
		"How do I get a refnud for a canceled ordr?")
	related, unrelated, misspelt := dot(v[0], v[1]), dot(v[0], v[2]), dot(v[0], v[3])
	if related < 0.4 || unrelated > e.Chance() || misspelt < 0.4 {
		t.Errorf("cosines: related %.2f, unrelated %.2f (chance %.2f), misspelt %.2f", related, unrelated, e.Chance(), misspelt)
	}
}

func TestChanceBoundsUnrelatedTexts(t *testing.T) {
	e := embed.NewHashing(0)
	next := '一'
	text := func(words int) string { // of words that occur in no other
		var b strings.Builder
		for range words {
			b.WriteString(string(next) + " ")
			next++
		}
		return b.String()
	}
	var queries, passages []string
	for i := range 60 { // from a word to a page
		queries = append(queries, text(1+i%6))
		passages = append(passages, text(1+i*i/20))
	}
	q, p := embedAll(t, e, queries...), embedAll(t, e, passages...)
	above := 0
	for i := range q {
		for j := range p {
			if dot(q[i], p[j]) > e.Chance() {
				above++
			}
		}
	}
	if share := float64(above) / float64(len(q)*len(p)); share > 0.005 {
		t.Errorf("%.2f%% of unrelated pairs are above chance, want under 0.5%%", 100*share)
	}
}

func TestEmbedStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := embed.NewHashing(0).Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("vectors %v, error %v", v, err)
	}
}

func TestOpen(t *testing.T) {
	e, err := embed.Open(embed.Choice{Model: config.Model{Provider: config.ProviderOffline}, Dimensions: 64}, embed.Options{})
	if err != nil || e.Dimensions() != 64 {
		t.Fatalf("%v, %v", e, err)
	}
	_, err = embed.Open(embed.Choice{Model: config.Model{Provider: config.ProviderOpenAI, Name: "text-embedding-3-small"}}, embed.Options{})
	if _, ok := errors.AsType[*config.Error](err); !ok {
		t.Fatalf("without a key: %v", err)
	}
	for _, want := range []string{"openai", "text-embedding-3-small", "--offline", "OPENAI_API_KEY"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %s", err, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func tool(name, model string, dimensions int) config.Tool {
	t := &config.VectorstoreTool{ToolBase: config.ToolBase{Name: name}}
	if model != "" {
		t.EmbeddingModel = &model
	}
	if dimensions != 0 {
		t.EmbeddingDimensions = &dimensions
	}
	return t
}

func TestResolve(t *testing.T) {
	model := func(p config.Provider) *config.Model { return &config.Model{Provider: p, Name: "chat"} }
	for _, tt := range []struct {
		name       string
		agent      config.Agent
		want       string // provider/model
		dimensions int
		err        string
	}{
		{"openai's default", config.Agent{Model: model("openai")}, "openai/text-embedding-3-small", 0, ""},
		{"azure's default", config.Agent{Model: model("azure_openai")}, "azure_openai/text-embedding-3-small", 0, ""},
		{"ollama's default", config.Agent{Model: model("ollama")}, "ollama/nomic-embed-text:latest", 0, ""},
		{"offline", config.Agent{Model: model("offline")}, "offline/hashing", 0, ""},
		{"the section's name", config.Agent{Model: model("anthropic"), EmbeddingProvider: &config.Model{Provider: "ollama", Name: "mxbai"}}, "ollama/mxbai", 0, ""},
		{"the section wins over model", config.Agent{Model: model("openai"), EmbeddingProvider: &config.Model{Provider: "google"}}, "google/gemini-embedding-001", 0, ""},
		{"the tool's model wins", config.Agent{
			Model: model("openai"), EmbeddingProvider: &config.Model{Provider: "ollama", Name: "x"},
			Tools: []config.Tool{tool("a", "", 0), tool("b", "y", 256), &config.HierarchicalDocumentTool{EmbeddingModel: ptr("y")}, &config.MCPTool{}},
		}, "ollama/y", 256, ""},
		{"tools that disagree", config.Agent{Model: model("openai"), Tools: []config.Tool{tool("a", "x", 0), tool("b", "y", 0)}}, "", 0, "share one embedding model"},
		{"widths that disagree", config.Agent{Model: model("openai"), Tools: []config.Tool{tool("a", "", 3), tool("b", "", 4)}}, "", 0, "embedding_dimensions"},
		{"anthropic alone", config.Agent{Model: model("anthropic")}, "", 0, "embedding_provider is required"},
		{"google alone", config.Agent{Model: model("google")}, "", 0, "embedding_provider is required"},
		{"anthropic cannot embed", config.Agent{Model: model("openai"), EmbeddingProvider: model("anthropic")}, "", 0, "anthropic"},
		{"--offline", config.Agent{Offline: true, Model: model("google"), Tools: []config.Tool{tool("a", "x", 1536)}}, "offline/hashing", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := embed.Resolve(&tt.agent)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(c.Model.Provider) + "/" + c.Model.Name; got != tt.want || c.Dimensions != tt.dimensions {
				t.Errorf("%s of %d, want %s of %d", got, c.Dimensions, tt.want, tt.dimensions)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	model := func(p config.Provider) *config.Model { return &config.Model{Provider: p, Name: "chat"} }
	for _, tt := range []struct {
		name  string
		agent config.Agent
		want  []string
	}{
		{"no retrieval tools", config.Agent{Model: model("openai")}, nil},
		{"offline", config.Agent{Model: model("offline"), Tools: []config.Tool{tool("a", "", 0)}}, nil},
		{"--offline", config.Agent{Offline: true, Model: model("openai"), Tools: []config.Tool{tool("a", "x", 0)}}, nil},
		{"a missing key", config.Agent{Model: model("openai"), Tools: []config.Tool{tool("a", "", 0), tool("b", "", 0)}},
			[]string{"credential api_key: openai model text-embedding-3-small needs a key, and there is none"}},
		{"a missing key, to choose tools by meaning", config.Agent{Model: model("openai"), ToolFiltering: &config.ToolFiltering{Enabled: true, SearchMethod: "semantic"}},
			[]string{"credential api_key: openai model text-embedding-3-small needs a key, and there is none"}},
		{"choosing tools by words", config.Agent{Model: model("openai"), ToolFiltering: &config.ToolFiltering{Enabled: true, SearchMethod: "bm25"}}, nil},
		{"played from a record", config.Agent{Replay: true, Model: model("openai"), Tools: []config.Tool{tool("a", "", 0)}}, nil},
		{"a server that wants no key", config.Agent{Model: model("anthropic"), EmbeddingProvider: model("ollama"), Tools: []config.Tool{tool("a", "", 0)}}, nil},
		{"a model the offline embedder does not have", config.Agent{Model: model("offline"), Tools: []config.Tool{tool("a", "big", 0)}},
			[]string{`no_effect embedding_model: provider offline has one embedding model, and "big" is not used`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range embed.Check(&tt.agent) {
				if p.Hint == "" {
					t.Errorf("%v has no hint", p)
				}
				got = append(got, p.Code+" "+p.Path+": "+p.Text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func FuzzHashing(f *testing.F) {
	for _, s := range []string{"", "a", "reset password", "退货", "\xff", "😀"} {
		f.Add(s)
	}
	e := embed.NewHashing(16)
	f.Fuzz(func(t *testing.T, text string) {
		v := embedAll(t, e, text)[0]
		if n := dot(v, v); math.Abs(n-1) > 1e-4 {
			t.Errorf("%q: squared length %v", text, n)
		}
	})
}

func BenchmarkHashing(b *testing.B) {
	e := embed.NewHashing(0)
	text := strings.Repeat("You may cancel your subscription at any time in the billing settings of account number seven. ", 20)
	texts := slices.Repeat([]string{text}, 64)
	b.SetBytes(int64(len(text) * len(texts)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
