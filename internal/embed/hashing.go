package embed

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

const (
	// hashingName is the offline embedding model as a file names it.
	hashingName = "hashing"
	// hashingVersion changes when the vector of any text changes.
	hashingVersion = "offline/hashing-1"
	// HashingDimensions is the default length of an offline vector.
	HashingDimensions = 384
	// wordBuckets is how many buckets a word goes to.
	wordBuckets = 4
	// gramWeight is the weight of a trigram beside its word's.
	gramWeight = 0.3
	// chanceDeviations is how many standard deviations of an accidental cosine
	// count as chance.
	chanceDeviations = 3
)

// Hashing is the offline embedder; see the package documentation.
type Hashing struct{ dimensions int }

// NewHashing returns the offline embedder with vectors of the given length, or
// of HashingDimensions when it is not positive.
func NewHashing(dimensions int) Hashing {
	if dimensions <= 0 {
		dimensions = HashingDimensions
	}
	return Hashing{dimensions: dimensions}
}

// Model implements Embedder.
func (h Hashing) Model() string { return hashingVersion + "+" + words.Version }

// Dimensions implements Embedder.
func (h Hashing) Dimensions() int { return h.dimensions }

// Chance implements Embedder: three standard deviations of an accidental
// cosine, that is 3/√D, and never more than 0.9.
func (h Hashing) Chance() float64 {
	return min(chanceDeviations/math.Sqrt(float64(h.dimensions)), 0.9)
}

// Embed implements Embedder. It spreads the texts over the processors.
func (h Hashing) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	workers := min(runtime.GOMAXPROCS(0), len(texts))
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			s := sketch{h: h}
			for i := w; i < len(texts) && ctx.Err() == nil; i += workers {
				vectors[i] = s.vector(texts[i])
			}
		})
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), context.Cause(ctx))
	}
	return vectors, nil
}

// sketch is the working memory of one text's vector.
type sketch struct {
	h       Hashing
	index   map[string]int // of a feature, in features
	feature []feature      // distinct, in order of appearance: sums must not depend on a map's order
	buckets []float64
	gram    []byte
}

// feature is a distinct word of a text.
type feature struct {
	text  string
	count int
}

// vector returns the vector of text, of length one.
func (s *sketch) vector(text string) []float32 {
	s.buckets = make([]float64, s.h.dimensions)
	s.collect(text, false)
	if len(s.feature) == 0 {
		s.collect(text, true)
	}
	if len(s.feature) == 0 {
		s.collectRunes(text)
	}
	for _, f := range s.feature {
		weight := 1 + math.Log(float64(f.count))
		for i := range wordBuckets {
			s.add(hash(byte(i), f.text), weight/math.Sqrt(wordBuckets))
		}
		s.addGrams(f.text, gramWeight*weight)
	}
	return normalised(s.buckets)
}

// collect counts the words of text: those that are stop words, or the others.
func (s *sketch) collect(text string, stops bool) {
	s.index, s.feature = map[string]int{}, s.feature[:0]
	for w := range words.All(text) {
		if w.Stop == stops {
			s.count(w.Stem)
		}
	}
}

// collectRunes counts the characters of a text without words. Blanks count as
// one, so that a blank text has a feature too.
func (s *sketch) collectRunes(text string) {
	s.index, s.feature = map[string]int{}, s.feature[:0]
	for _, field := range strings.Fields(text) {
		for _, r := range field {
			s.count(utf8.AppendRune(nil, r))
		}
	}
	if len(s.feature) == 0 {
		s.count([]byte(" "))
	}
}

func (s *sketch) count(word []byte) {
	i, ok := s.index[string(word)]
	if !ok {
		i = len(s.feature)
		text := string(word)
		s.index[text] = i
		s.feature = append(s.feature, feature{text: text})
	}
	s.feature[i].count++
}

// addGrams adds the trigrams of a word of a to z.
func (s *sketch) addGrams(word string, weight float64) {
	const shortest = 4
	if len(word) < shortest {
		return
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return
		}
	}
	s.gram = append(append(append(s.gram[:0], '^'), word...), '$')
	for i := range len(s.gram) - 2 {
		s.add(hash('g', string(s.gram[i:i+3])), weight)
	}
}

// add puts a feature's weight into its bucket, with its sign.
func (s *sketch) add(hash uint64, weight float64) {
	if hash>>63 == 1 {
		weight = -weight
	}
	s.buckets[hash%uint64(len(s.buckets))] += weight
}

// hash returns the 64-bit FNV-1a hash of kind and text, mixed once more so that
// its high and low bits are independent (the finaliser of SplitMix64).
func hash(kind byte, text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := (uint64(offset) ^ uint64(kind)) * prime
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// normalised returns v scaled to length one. Features whose signs cancel out in
// every bucket leave a zero vector; the first bucket stands in for them.
func normalised(v []float64) []float32 {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	out := make([]float32, len(v))
	if sum == 0 {
		out[0] = 1
		return out
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(x * scale)
	}
	return out
}
