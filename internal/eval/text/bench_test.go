package text

import (
	"strings"
	"testing"
)

// benchmark times a score on an answer and a reference of about 85 words each,
// and on the same texts twenty times over.
func benchmark(b *testing.B, score func(hypothesis, reference string) float64) {
	var hypothesis, reference string
	for _, c := range readGolden(b).Cases {
		if c.Name == "long answer" {
			hypothesis, reference = c.Hypothesis+" ", c.Reference+" "
		}
	}
	for _, size := range []struct {
		name  string
		times int
	}{{"answer", 1}, {"20answers", 20}} {
		h, r := strings.Repeat(hypothesis, size.times), strings.Repeat(reference, size.times)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(h) + len(r)))
			for b.Loop() {
				score(h, r)
			}
		})
	}
}

func BenchmarkBLEU(b *testing.B)        { benchmark(b, BLEU) }
func BenchmarkROUGE1(b *testing.B)      { benchmark(b, ROUGE1) }
func BenchmarkROUGE2(b *testing.B)      { benchmark(b, ROUGE2) }
func BenchmarkROUGEL(b *testing.B)      { benchmark(b, ROUGEL) }
func BenchmarkMETEOR(b *testing.B)      { benchmark(b, METEOR) }
func BenchmarkF1(b *testing.B)          { benchmark(b, F1) }
func BenchmarkLevenshtein(b *testing.B) { benchmark(b, Levenshtein) }
