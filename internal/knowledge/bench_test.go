package knowledge_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/knowledge"
)

const benchFiles, benchPassages = 500, 10_000

// benchDesk is an agent folder whose documents make 10,000 passages of some 480
// characters: 500 files with 20 sections each, of words that are as unevenly
// frequent as those of a language.
func benchDesk(b *testing.B) (*desk, string) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 8, 30_000)
	syllables := strings.Fields("ba ce di fo gu ha ke li mo nu pa re si to vu za")
	word := func() string {
		var w strings.Builder
		for n := zipf.Uint64() + 1; n > 0; n /= 16 {
			w.WriteString(syllables[n%16])
		}
		return w.String()
	}
	files := map[string]string{}
	for i := range benchFiles {
		var text strings.Builder
		for j := range benchPassages / benchFiles {
			fmt.Fprintf(&text, "## Section %d\n\n", j)
			for n := 0; n < 440; {
				w := word()
				text.WriteString(w + " ")
				n += len(w) + 1
			}
			text.WriteString("\n\n")
		}
		files[fmt.Sprintf("docs/%03d.md", i)] = text.String()
	}
	d := newDesk(b, files)
	for name := range files {
		d.age(name)
	}
	return d, docs + "\nchunk_size: 120\nmin_similarity_score: 0.3"
}

// requirePassages checks that the benchmark measures what it says.
func requirePassages(b *testing.B, tool knowledge.Tool) {
	b.Helper()
	if n := tool.Stats().Passages; n < benchPassages || n > benchPassages+benchPassages/10 {
		b.Fatalf("%d passages, want about %d", n, benchPassages)
	}
}

func BenchmarkBuild10k(b *testing.B) {
	d, keys := benchDesk(b)
	d.opts.ForceIngest = true
	a, t := d.load(keys)
	b.ReportAllocs()
	for b.Loop() {
		tool, err := knowledge.Open(b.Context(), d.env(), a, t, d.emb, d.opts)
		if err != nil {
			b.Fatal(err)
		}
		requirePassages(b, tool)
		tool.Close()
	}
}

func BenchmarkOpenUnchanged10k(b *testing.B) {
	d, keys := benchDesk(b)
	requirePassages(b, d.open(keys))
	a, t := d.load(keys)
	b.ReportAllocs()
	for b.Loop() {
		tool, err := knowledge.Open(b.Context(), d.env(), a, t, d.emb, d.opts)
		if err != nil {
			b.Fatal(err)
		}
		tool.Close()
	}
}

func BenchmarkOneFileChanged10k(b *testing.B) {
	d, keys := benchDesk(b)
	requirePassages(b, d.open(keys))
	a, t := d.load(keys)
	i := 0
	for b.Loop() {
		i++
		d.write("docs/changed.md", fmt.Sprintf("# Change %d\n\nlamp %d", i, i))
		tool, err := knowledge.Open(b.Context(), d.env(), a, t, d.emb, d.opts)
		if err != nil {
			b.Fatal(err)
		}
		tool.Close()
	}
}

func BenchmarkSearch10k(b *testing.B) {
	d, keys := benchDesk(b)
	tool := d.open(keys)
	requirePassages(b, tool)
	args := json.RawMessage(`{"query":"where do I find the cedi of a baba and how many gugu are in the modi"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Call(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}
