package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/knowledge/index"
)

// queries returns questions of one to eight words of a corpus.
func queries(texts []string, n int) []string {
	r := rand.New(rand.NewPCG(5, 6))
	out := make([]string, n)
	for i := range out {
		words := strings.Fields(texts[r.IntN(len(texts))])
		at := r.IntN(len(words) - 8)
		out[i] = strings.Join(words[at:at+1+r.IntN(8)], " ")
	}
	return out
}

// unitVectors returns n random vectors of length one, one after the other.
func unitVectors(n, dimensions int) []float32 {
	r := rand.New(rand.NewPCG(7, 8))
	out := make([]float32, n*dimensions)
	for i := range n {
		v := out[i*dimensions : (i+1)*dimensions]
		sum := 0.0
		for j := range v {
			v[j] = r.Float32() - 0.5
			sum += float64(v[j]) * float64(v[j])
		}
		for j := range v {
			v[j] = float32(float64(v[j]) / math.Sqrt(sum))
		}
	}
	return out
}

// reportTimes adds the median and the 99th percentile of the times of b.
func reportTimes(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkKeyword5k searches 5,000 passages of 80 words by their words, on one
// processor.
func BenchmarkKeyword5k(b *testing.B) {
	texts := corpus(5000)
	ix, err := index.New([]index.Part{{Words: index.Analyzer{}.Analyze(texts)}}, index.Options{})
	if err != nil {
		b.Fatal(err)
	}
	asked := queries(texts, 500)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		q := index.Query{Text: asked[i%len(asked)], Ranking: index.Ranking{Mode: index.Keyword}, Limit: 10}
		if _, err := ix.Search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
}

// BenchmarkNearest compares a vector with all others.
func BenchmarkNearest(b *testing.B) {
	for _, size := range []struct{ passages, dimensions int }{{10_000, 384}, {10_000, 1536}, {100_000, 384}, {100_000, 1536}} {
		b.Run(fmt.Sprintf("%dk×%d", size.passages/1000, size.dimensions), func(b *testing.B) {
			flat, err := index.NewFlat(size.dimensions, unitVectors(size.passages, size.dimensions))
			if err != nil {
				b.Fatal(err)
			}
			query := unitVectors(1, size.dimensions)
			for b.Loop() {
				if _, err := flat.Nearest(b.Context(), query, 150); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHybrid searches by meaning and words, and tells the memory of the
// index.
func BenchmarkHybrid(b *testing.B) {
	for _, size := range []struct{ passages, dimensions int }{{10_000, 384}, {10_000, 1536}, {100_000, 384}, {100_000, 1536}} {
		b.Run(fmt.Sprintf("%dk×%d", size.passages/1000, size.dimensions), func(b *testing.B) {
			before := heap()
			texts := corpus(size.passages)
			flat, err := index.NewFlat(size.dimensions, unitVectors(size.passages, size.dimensions))
			if err != nil {
				b.Fatal(err)
			}
			ix, err := index.New([]index.Part{{Words: index.Analyzer{}.Analyze(texts), Texts: texts}}, index.Options{Vectors: flat})
			if err != nil {
				b.Fatal(err)
			}
			memory := heap() - before
			asked, vector := queries(texts, 500), unitVectors(1, size.dimensions)
			times := make([]time.Duration, 0, 1000)
			i := 0
			for b.Loop() {
				i++
				q := index.Query{Text: asked[i%len(asked)], Vector: vector, Limit: 10,
					Ranking: index.Ranking{Fusion: index.RRF, Semantic: 0.5, Keyword: 0.3, Exact: 0.2, K: 60}}
				begin := time.Now()
				if _, err := ix.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begin))
			}
			reportTimes(b, times)
			b.ReportMetric(float64(memory)/1e6, "MB")
		})
	}
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
