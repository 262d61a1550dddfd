package index

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
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
	// poolSize and poolFactor say how many passages each leg hands to a fusion:
	// the former, or the latter times what is asked for.
	poolSize   = 150
	poolFactor = 10
	// deeper is how much further a search looks when it is not yet sure.
	deeper = 4
)

// Part is some passages of an index.
type Part struct {
	Words *Segment
	// Texts are what phrases are looked for in; nil where none are.
	Texts []string
	// Own are the headings of the sections that each passage is, or holds; Above
	// those of the sections around it. Nil where there are none.
	Own, Above [][]string
}

// Options says how passages are compared with queries.
type Options struct {
	// Analyzer is the one that made the words of the parts.
	Analyzer Analyzer
	// Vectors are those of the passages; with nil, nothing is like anything.
	Vectors Vectors
	// Chance is the cosine that is taken for no likeness, at least 0 and less
	// than 1.
	Chance float64
}

// Index finds passages. It is safe for concurrent use.
type Index struct {
	analyzer Analyzer
	vectors  Vectors
	chance   float64
	passages int
	words    *postings
	texts    []string // nil when there are none
	sections map[string][]place
	tallies  sync.Pool // of *keywordLeg, at rest
}

// New returns the index of parts, whose passages are numbered from 0 in order.
func New(parts []Part, o Options) (*Index, error) {
	ix := &Index{analyzer: o.Analyzer, vectors: o.Vectors, chance: o.Chance}
	texts := 0
	for i, p := range parts {
		n := p.Words.Len()
		for _, given := range []int{len(p.Texts), len(p.Own), len(p.Above)} {
			if given != 0 && given != n {
				return nil, fmt.Errorf("part %d has words of %d passages, and texts or headings of %d", i, n, given)
			}
		}
		ix.passages += n
		texts += len(p.Texts)
	}
	if texts == ix.passages {
		for _, p := range parts {
			ix.texts = append(ix.texts, p.Texts...)
		}
	}
	ix.words = invert(parts, ix.passages)
	ix.sections = places(parts)
	ix.tallies.New = func() any {
		return &keywordLeg{tally: tally{bm25: make([]float64, ix.passages), matched: make([]float64, ix.passages)}}
	}
	return ix, nil
}

// Len is the number of passages.
func (ix *Index) Len() int { return ix.passages }

// Query is what is looked for.
type Query struct {
	Text string
	// Vector is the text's vector, of length one; nil leaves the semantic leg out.
	Vector  []float32
	Ranking Ranking
	// Limit is the most hits, Threshold the lowest score of one.
	Limit     int
	Threshold float64
}

// Hit is a passage that was found.
type Hit struct {
	Passage int     // its number
	Score   float64 // as the package documentation defines it
	// Legs are the scores of the legs that were asked, 0 where a leg has not
	// found the passage.
	Legs []Leg
}

// Leg is what one leg says of a passage.
type Leg struct {
	Name  string  `json:"name"` // a Mode
	Score float64 `json:"score"`
}

// Search returns the passages with the highest scores, best first. It fails
// when the vectors cannot be compared.
func (ix *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	var err error
	if q.Ranking, err = q.Ranking.withDefaults(); err != nil {
		return nil, err
	}
	if ix.passages == 0 || q.Limit <= 0 {
		return nil, nil
	}
	q.Threshold = max(q.Threshold, least)
	words := ix.keyword(q.Text)
	defer ix.release(words)
	var exact exactMatches
	if q.Ranking.Exact > 0 {
		exact = ix.exact(q.Text, q.Ranking.Mode == Exact)
	}
	for depth := max(poolSize, poolFactor*q.Limit); ; depth *= deeper {
		legs, err := ix.legs(ctx, q, depth, words, exact)
		if err != nil {
			return nil, err
		}
		found := candidates(legs)
		if !q.Ranking.byRank() {
			if err := ix.fill(ctx, q, legs, words, found); err != nil {
				return nil, err
			}
		}
		best := top{limit: q.Limit}
		for _, passage := range found {
			if score := q.Ranking.ofPassage(legs, passage); score >= q.Threshold {
				best.add(scored{passage, score})
			}
		}
		if !sure(q, legs, &best) {
			continue
		}
		if err := ix.fill(ctx, q, legs, words, passagesOf(best.sorted())); err != nil {
			return nil, err
		}
		return hits(best.heap, legs), nil
	}
}

// legs asks each leg for its depth best passages.
func (ix *Index) legs(ctx context.Context, q Query, depth int, words *keywordLeg, exact exactMatches) ([]*leg, error) {
	var legs []*leg
	r := q.Ranking
	if r.Semantic > 0 && ix.vectors != nil && q.Vector != nil {
		near, err := ix.vectors.Nearest(ctx, q.Vector, depth)
		if err != nil {
			return nil, err
		}
		ranked, whole := make([]scored, 0, len(near)), len(near) < depth
		for _, n := range near {
			score := ix.semantic(n.Cosine)
			if score == 0 {
				whole = true // and so have all that follow
				break
			}
			ranked = append(ranked, scored{n.Passage, score})
		}
		legs = append(legs, newLeg(string(Semantic), r.Semantic, ranked, whole))
	}
	if r.Keyword > 0 {
		ranked, whole := words.best(depth)
		legs = append(legs, newLeg(string(Keyword), r.Keyword, ranked, whole))
	}
	if exact.asked {
		ranked := make([]scored, 0, len(exact.scores))
		for passage, score := range exact.scores {
			ranked = append(ranked, scored{passage, score})
		}
		slices.SortFunc(ranked, scored.compare)
		l := newLeg(string(Exact), r.Exact, ranked, true)
		l.letter = exact.letter
		legs = append(legs, l)
	}
	return legs, nil
}

// semantic returns the semantic leg's score of a cosine.
func (ix *Index) semantic(cosine float64) float64 {
	return Round(max(0, (cosine-ix.chance)/(1-ix.chance)))
}

// candidates returns the passages that any leg ranks.
func candidates(legs []*leg) []int {
	found := map[int]bool{}
	for _, l := range legs {
		for _, s := range l.ranked {
			found[s.passage] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// fill asks each leg for its scores of passages that it does not rank.
func (ix *Index) fill(ctx context.Context, q Query, legs []*leg, words *keywordLeg, passages []int) error {
	for _, l := range legs {
		if l.whole {
			continue
		}
		var open []int
		for _, passage := range passages {
			if _, ok := l.score[passage]; !ok {
				open = append(open, passage)
			}
		}
		if len(open) == 0 {
			continue
		}
		if l.name == string(Keyword) {
			for _, passage := range open {
				l.score[passage] = Round(words.score(passage))
			}
			continue
		}
		cosines, err := ix.vectors.Cosines(ctx, q.Vector, open)
		if err != nil {
			return err
		}
		for i, passage := range open {
			l.score[passage] = ix.semantic(cosines[i])
		}
	}
	return nil
}

// sure reports whether no passage that the legs have not come to can be among
// the best. Where ranks count, the passages that the legs rank are all there are.
func sure(q Query, legs []*leg, best *top) bool {
	if q.Ranking.byRank() {
		return true
	}
	whole := !slices.ContainsFunc(legs, func(l *leg) bool { return !l.whole })
	rest := q.Ranking.bound(legs)
	return whole || rest < q.Threshold || best.full(rest)
}

func passagesOf(list []scored) []int {
	passages := make([]int, len(list))
	for i, s := range list {
		passages[i] = s.passage
	}
	return passages
}

// hits returns what was found, with what each leg says of it.
func hits(best []scored, legs []*leg) []Hit {
	var out []Hit
	for _, s := range best {
		hit := Hit{Passage: s.passage, Score: s.score}
		for _, l := range legs {
			hit.Legs = append(hit.Legs, Leg{l.name, l.score[s.passage]})
		}
		out = append(out, hit)
	}
	return out
}
