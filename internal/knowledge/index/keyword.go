package index

import (
	"cmp"
	"math"
	"slices"
)

// postings are the words of an index: for each, the passages that have it.
type postings struct {
	terms   map[string]int
	begins  []uint32 // where the occurrences of each term begin, and the end of the last
	where   []uint32 // passage of each occurrence, ascending within a term
	counts  []uint32 // its count
	idf     []float64
	norms   []float64 // k1·(1 - b + b·dl/avgdl) of each passage
	foreign float64   // weight of a word that no passage has
}

// invert turns the words of each passage into the passages of each word.
func invert(parts []Part, passages int) *postings {
	p := &postings{terms: map[string]int{}, norms: make([]float64, 0, passages)}
	local := make([][]int, len(parts)) // the index's number of each part's terms
	var occurrences []uint32           // of each term
	total := 0.0
	for i, part := range parts {
		local[i] = make([]int, len(part.Words.terms))
		for j, term := range part.Words.terms {
			id, ok := p.terms[term]
			if !ok {
				id = len(occurrences)
				p.terms[term] = id
				occurrences = append(occurrences, 0)
			}
			local[i][j] = id
		}
		for _, posting := range part.Words.postings {
			occurrences[local[i][posting.term]]++
		}
		for _, n := range part.Words.lengths {
			total += float64(n)
		}
	}
	p.begins = make([]uint32, len(occurrences)+1)
	p.idf = make([]float64, len(occurrences))
	for id, n := range occurrences {
		p.begins[id+1] = p.begins[id] + n
		p.idf[id] = idf(passages, int(n))
	}
	p.foreign = unknownWeight * idf(passages, 1)
	p.place(parts, local, max(total/float64(max(passages, 1)), 1))
	return p
}

// place writes the passages of each term. mean is the mean number of words.
func (p *postings) place(parts []Part, local [][]int, mean float64) {
	p.where = make([]uint32, p.begins[len(p.idf)])
	p.counts = make([]uint32, len(p.where))
	next := slices.Clone(p.begins)
	for i, part := range parts {
		for j, length := range part.Words.lengths {
			for _, posting := range part.Words.of(j) {
				id := local[i][posting.term]
				p.where[next[id]], p.counts[next[id]] = uint32(len(p.norms)), posting.count
				next[id]++
			}
			p.norms = append(p.norms, bm25K1*(1-bm25B+bm25B*float64(length)/mean))
		}
	}
}

// idf is the weight of a word that n of total passages have.
func idf(total, n int) float64 {
	return math.Log1p((float64(total-n) + 0.5) / (float64(n) + 0.5))
}

// of returns the passages that have a term, and how often.
func (p *postings) of(term string) (passages, counts []uint32, weight float64) {
	id, ok := p.terms[term]
	if !ok {
		return nil, nil, 0
	}
	begin, end := p.begins[id], p.begins[id+1]
	return p.where[begin:end], p.counts[begin:end], p.idf[id]
}

// tally gathers the scores of one query. It is used again and again: at rest
// its numbers are zero.
type tally struct {
	bm25    []float64 // of each passage
	matched []float64 // the weight of the query's words it has
	touched []uint32  // passages with any
}

// add counts the terms of a query.
func (t *tally) add(p *postings, terms []string) {
	for _, term := range terms {
		passages, counts, weight := p.of(term)
		for i, passage := range passages {
			if t.matched[passage] == 0 {
				t.touched = append(t.touched, passage)
			}
			tf := float64(counts[i])
			t.bm25[passage] += weight * tf / (tf + p.norms[passage])
			t.matched[passage] += weight
		}
	}
}

// clear puts the tally at rest.
func (t *tally) clear() {
	for _, passage := range t.touched {
		t.bm25[passage], t.matched[passage] = 0, 0
	}
	t.touched = t.touched[:0]
}

// keywordLeg scores the passages that have words of a query.
type keywordLeg struct {
	tally
	most float64 // what scores are multiplied by
	full float64 // weight of the words that make a full match
}

// score returns the leg's score of a passage.
func (l *keywordLeg) score(passage int) float64 {
	matched := l.matched[passage]
	if matched == 0 {
		return 0
	}
	return l.most * min(1, matched/l.full) * (1 - firmness + firmness*l.bm25[passage]/matched)
}

// keyword scores the passages that have words of the query. The leg is to be
// released.
func (ix *Index) keyword(query string) *keywordLeg {
	l := ix.tallies.Get().(*keywordLeg)
	terms, empty := ix.queryTerms(query)
	l.most = 1
	if empty {
		l.most = emptyWords
	}
	l.full = ix.words.fullMatch(terms)
	l.add(ix.words, terms)
	return l
}

// release gives the leg back.
func (ix *Index) release(l *keywordLeg) {
	l.clear()
	ix.tallies.Put(l)
}

// best returns the limit best passages of the leg, and whether there are no
// others.
func (l *keywordLeg) best(limit int) ([]scored, bool) {
	t := top{limit: limit}
	for _, passage := range l.touched {
		t.add(scored{int(passage), Round(l.score(int(passage)))})
	}
	return t.sorted(), len(l.touched) <= limit
}

// queryTerms returns the distinct words of a query in order: without stop
// words, unless it has no others and is empty of meaning.
func (ix *Index) queryTerms(text string) (terms []string, empty bool) {
	var content, stops []string
	seen := map[string]bool{}
	for w := range ix.analyzer.words(text) {
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

// fullMatch returns the weight of the terms that make a full match.
func (p *postings) fullMatch(terms []string) float64 {
	weights := make([]float64, len(terms))
	for i, term := range terms {
		weights[i] = p.foreign
		if id, ok := p.terms[term]; ok {
			weights[i] = p.idf[id]
		}
	}
	slices.SortFunc(weights, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, w := range weights[:min(len(weights), FullMatch)] {
		sum += w
	}
	return sum
}
