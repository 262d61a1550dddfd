package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/viterin/vek/vek32"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

const (
	// bm25K1 and bm25B are BM25's constants: how soon a word that occurs again
	// stops to count, and how much a long passage is held against it.
	bm25K1 = 0.9
	bm25B  = 0.4
	// FullMatch is how many of a query's words, the weightiest, make a full
	// match.
	FullMatch = 5
	// unknownWeight is what a word that no passage has weighs, beside a word
	// of one passage.
	unknownWeight = 0.5
	// emptyWords is what the keyword score of a query of nothing but stop words
	// is multiplied by.
	emptyWords = 0.5
	// firmness is the share of the keyword score that depends on how firmly a
	// passage has the words it has.
	firmness = 0.2
	// agreement is the share of what is missing to 1 that the weaker leg can
	// add.
	agreement = 0.25
	// precision is what scores are rounded to, so that processors that add in
	// another order rank alike.
	precision = 1e6
	// least is the lowest score of a hit: less would be shown as 0.00.
	least = 0.005
)

// Part is some passages of an index.
type Part struct {
	Words *Segment
	// Vectors holds one vector of length one for each passage, one after the
	// other.
	Vectors []float32
}

// Index finds passages. It is safe for concurrent use.
type Index struct {
	dimensions int
	chance     float64
	vectors    [][]float32 // of each part
	passages   int

	terms   map[string]int
	begins  []uint32 // where the occurrences of each term begin, and the end of the last
	where   []uint32 // passage of each occurrence
	counts  []uint32 // its count
	idf     []float64
	norms   []float64 // k1·(1 - b + b·dl/avgdl) of each passage
	foreign float64   // weight of a word that no passage has
}

// New returns the index of parts, whose passages are numbered from 0 in order.
// Vectors have the given number of dimensions; chance is the cosine that is
// taken for no likeness, at least 0 and less than 1.
func New(dimensions int, chance float64, parts []Part) (*Index, error) {
	if dimensions < 1 {
		return nil, fmt.Errorf("vectors of %d dimensions cannot be compared", dimensions)
	}
	ix := &Index{dimensions: dimensions, chance: chance, terms: map[string]int{}}
	for i, p := range parts {
		if want := p.Words.Len() * dimensions; len(p.Vectors) != want {
			return nil, fmt.Errorf("part %d has %d numbers in its vectors, want %d", i, len(p.Vectors), want)
		}
		ix.vectors = append(ix.vectors, p.Vectors)
		ix.passages += p.Words.Len()
	}
	ix.invert(parts)
	return ix, nil
}

// invert turns the words of each passage into the passages of each word.
func (ix *Index) invert(parts []Part) {
	local := make([][]int, len(parts)) // the index's number of each part's terms
	var occurrences []uint32           // of each term
	total := 0.0
	for i, p := range parts {
		local[i] = make([]int, len(p.Words.terms))
		for j, term := range p.Words.terms {
			id, ok := ix.terms[term]
			if !ok {
				id = len(occurrences)
				ix.terms[term] = id
				occurrences = append(occurrences, 0)
			}
			local[i][j] = id
		}
		for _, posting := range p.Words.postings {
			occurrences[local[i][posting.term]]++
		}
		for _, n := range p.Words.lengths {
			total += float64(n)
		}
	}
	ix.begins = make([]uint32, len(occurrences)+1)
	ix.idf = make([]float64, len(occurrences))
	for id, n := range occurrences {
		ix.begins[id+1] = ix.begins[id] + n
		ix.idf[id] = idf(ix.passages, int(n))
	}
	ix.foreign = unknownWeight * idf(ix.passages, 1)

	ix.where = make([]uint32, ix.begins[len(occurrences)])
	ix.counts = make([]uint32, len(ix.where))
	ix.norms = make([]float64, 0, ix.passages)
	mean := max(total/float64(max(ix.passages, 1)), 1)
	next := slices.Clone(ix.begins)
	for i, p := range parts {
		for j, length := range p.Words.lengths {
			for _, posting := range p.Words.of(j) {
				id := local[i][posting.term]
				ix.where[next[id]], ix.counts[next[id]] = uint32(len(ix.norms)), posting.count
				next[id]++
			}
			ix.norms = append(ix.norms, bm25K1*(1-bm25B+bm25B*float64(length)/mean))
		}
	}
}

// idf is the weight of a word that n of total passages have.
func idf(total, n int) float64 {
	return math.Log1p((float64(total-n) + 0.5) / (float64(n) + 0.5))
}

// Len is the number of passages.
func (ix *Index) Len() int { return ix.passages }

// Query is what is looked for.
type Query struct {
	Text string
	// Vector is the text's vector, of length one and of the index's dimensions.
	Vector []float32
}

// Hit is a passage that was found.
type Hit struct {
	Passage int     // its number
	Score   float64 // as the package documentation defines it
}

// Search returns the passages with the highest scores, at most limit of them
// and none below threshold, best first.
func (ix *Index) Search(q Query, limit int, threshold float64) []Hit {
	if ix.passages == 0 || limit <= 0 {
		return nil
	}
	keyword := ix.keyword(q.Text)
	threshold = max(threshold, least)
	var best []Hit
	passage := -1
	for _, vectors := range ix.vectors {
		for vector := range slices.Chunk(vectors, ix.dimensions) {
			passage++
			cosine := float64(vek32.Dot(q.Vector, vector))
			score := fuse(keyword[passage], ix.semantic(cosine))
			if score < threshold || len(best) == limit && score <= best[limit-1].Score {
				continue
			}
			// Passages come in order, so that of equal scores the earlier stays first.
			at := sort.Search(len(best), func(k int) bool { return best[k].Score < score })
			if len(best) == limit {
				best = best[:limit-1]
			}
			best = slices.Insert(best, at, Hit{Passage: passage, Score: score})
		}
	}
	return best
}

// semantic returns the semantic leg's score of a cosine.
func (ix *Index) semantic(cosine float64) float64 {
	return max(0, (cosine-ix.chance)/(1-ix.chance))
}

// fuse makes one score of two.
func fuse(keyword, semantic float64) float64 {
	hi, lo := max(keyword, semantic), min(keyword, semantic)
	score := math.Round((hi+(1-hi)*lo*agreement)*precision) / precision
	return min(score, 1)
}

// queryTerms returns the distinct words of a query in order: without stop
// words, unless it has no others and is empty of meaning.
func queryTerms(text string) (terms []string, empty bool) {
	var content, stops []string
	seen := map[string]bool{}
	for w := range words.All(text) {
		if seen[string(w.Stem)] {
			continue
		}
		term := string(w.Stem)
		seen[term] = true
		if w.Stop {
			stops = append(stops, term)
		} else {
			content = append(content, term)
		}
	}
	if len(content) == 0 {
		return stops, true
	}
	return content, false
}

// keyword returns the keyword leg's score of every passage.
func (ix *Index) keyword(query string) []float64 {
	terms, empty := queryTerms(query)
	most := 1.0
	if empty {
		most = emptyWords
	}
	scores := make([]float64, ix.passages)
	bm25, matched := ix.bm25(terms)
	full := ix.fullMatch(terms)
	for passage, weight := range matched {
		if weight > 0 {
			scores[passage] = most * min(1, weight/full) * (1 - firmness + firmness*bm25[passage]/weight)
		}
	}
	return scores
}

// bm25 returns the BM25 score of every passage, and the weight of the terms it
// has.
func (ix *Index) bm25(terms []string) (scores, matched []float64) {
	scores, matched = make([]float64, ix.passages), make([]float64, ix.passages)
	for _, term := range terms {
		id, ok := ix.terms[term]
		if !ok {
			continue
		}
		weight := ix.idf[id]
		for i := ix.begins[id]; i < ix.begins[id+1]; i++ {
			passage, tf := ix.where[i], float64(ix.counts[i])
			scores[passage] += weight * tf / (tf + ix.norms[passage])
			matched[passage] += weight
		}
	}
	return scores, matched
}

// fullMatch returns the weight of the terms that make a full match.
func (ix *Index) fullMatch(terms []string) float64 {
	weights := make([]float64, len(terms))
	for i, term := range terms {
		weights[i] = ix.foreign
		if id, ok := ix.terms[term]; ok {
			weights[i] = ix.idf[id]
		}
	}
	slices.SortFunc(weights, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, w := range weights[:min(len(weights), FullMatch)] {
		sum += w
	}
	return sum
}
