package index

import "fmt"

// Mode says which legs of a search count.
type Mode string

// The modes.
const (
	Hybrid   Mode = "hybrid"
	Semantic Mode = "semantic"
	Keyword  Mode = "keyword"
	Exact    Mode = "exact"
)

// Fusion is how a hybrid search makes one score of its legs'. The package
// documentation has the formulas.
type Fusion string

// The fusions.
const (
	// Strongest takes the highest leg, and a share of the next.
	Strongest Fusion = "strongest"
	// RRF is reciprocal rank fusion: what counts is the rank in each leg.
	RRF Fusion = "rrf"
	// MinMax is the weighted mean of the legs, each between its lowest and its
	// highest possible score.
	MinMax Fusion = "minmax"
)

// Ranking says how passages are ordered. The zero Ranking is a hybrid search by
// the strongest leg.
type Ranking struct {
	Mode   Mode
	Fusion Fusion // of a hybrid search
	// Weights of the legs, at least 0. Strongest has none.
	Semantic, Keyword, Exact float64
	// K is RRF's constant, at least 1: how little the first ranks stand out.
	K int
}

// withDefaults returns the ranking with its empty fields filled in, or says
// what is wrong with it.
func (r Ranking) withDefaults() (Ranking, error) {
	if r.Mode == "" {
		r.Mode = Hybrid
	}
	if r.Fusion == "" {
		r.Fusion = Strongest
	}
	if r.Fusion == Strongest || r.Mode != Hybrid {
		r.Semantic, r.Keyword, r.Exact = 1, 1, 1
	}
	switch r.Mode {
	case Semantic:
		r.Keyword, r.Exact = 0, 0
	case Keyword:
		r.Semantic, r.Exact = 0, 0
	case Exact:
		r.Semantic, r.Keyword = 0, 0
	case Hybrid:
		if r.Fusion == RRF && r.K < 1 {
			return r, fmt.Errorf("the constant of reciprocal rank fusion is %d and must be at least 1", r.K)
		}
	default:
		return r, fmt.Errorf("there is no search mode %q", r.Mode)
	}
	return r, nil
}

// NeedsVector reports whether a search needs the vector of its query.
func (r Ranking) NeedsVector() bool {
	r, err := r.withDefaults()
	return err == nil && r.Semantic > 0
}

// byRank reports whether ranks count, and not scores.
func (r Ranking) byRank() bool { return r.Mode == Hybrid && r.Fusion == RRF }

// leg is one way of finding passages, as far as a query has gone down it.
type leg struct {
	name   string
	weight float64
	// ranked are the passages with a score, best first; whole says that there are
	// no others, also for what stands behind a score.
	ranked []scored
	whole  bool
	score  map[int]float64 // of passages, as far as they are known
	rank   map[int]int     // of ranked; equal scores share one
	letter map[int]float64 // of the exact leg: exactMatches.letter
}

// newLeg returns a leg that ranks passages.
func newLeg(name string, weight float64, ranked []scored, whole bool) *leg {
	l := &leg{name: name, weight: weight, ranked: ranked, whole: whole,
		score: make(map[int]float64, len(ranked)), rank: make(map[int]int, len(ranked))}
	rank := 0
	for i, s := range ranked {
		if i == 0 || s.score < ranked[i-1].score {
			rank = i + 1
		}
		l.score[s.passage], l.rank[s.passage] = s.score, rank
	}
	return l
}

// rest bounds the score of a passage that the leg does not rank.
func (l *leg) rest() float64 {
	if l.whole || len(l.ranked) == 0 {
		return 0
	}
	return l.ranked[len(l.ranked)-1].score
}

// fuse makes one score of those that legs have.
func (r Ranking) fuse(legs []*leg, score func(*leg) float64) float64 {
	if r.Mode != Hybrid || r.Fusion == Strongest {
		return strongest(legs, score)
	}
	sum, weights := 0.0, 0.0
	for _, l := range legs {
		sum += l.weight * score(l)
		weights += l.weight
	}
	if weights == 0 {
		return 0
	}
	return min(Round(sum/weights), 1)
}

// ofPassage returns the score of a passage that legs rank.
func (r Ranking) ofPassage(legs []*leg, passage int) float64 {
	score := func(l *leg) float64 { return l.score[passage] }
	if r.byRank() {
		score = func(l *leg) float64 {
			rank, ok := l.rank[passage]
			switch {
			case !ok:
				return 0
			case l.name == string(Exact): // a match, or a part of one: not a better or worse one
				return l.score[passage]
			}
			return float64(r.K+1) / float64(r.K+rank) // 1 for the first
		}
	}
	fused := r.fuse(legs, score)
	if r.Mode != Hybrid || r.Fusion == Strongest {
		return fused
	}
	return lift(fused, legs, passage)
}

// lift puts passages that are what the query asks for to the letter, or one of
// several such things, before those that are not, however little the exact leg
// weighs.
func lift(fused float64, legs []*leg, passage int) float64 {
	for _, l := range legs {
		if len(l.letter) == 0 {
			continue // it asks for nothing to the letter, or nothing is
		}
		if score, ok := l.letter[passage]; ok {
			return Round(1 - (1-fused)*(1-exactLift*score))
		}
		return Round(fused * exactRest)
	}
	return fused
}

// bound returns what a passage that no leg ranks can score at most.
func (r Ranking) bound(legs []*leg) float64 { return r.fuse(legs, (*leg).rest) }

// strongest takes the highest of the legs and some of the next. Exact matches
// are matches of words, too: they and the keyword leg are one.
func strongest(legs []*leg, score func(*leg) float64) float64 {
	var semantic, inWords float64
	for _, l := range legs {
		if l.name == string(Semantic) {
			semantic = score(l)
		} else {
			inWords = max(inWords, score(l))
		}
	}
	hi, lo := max(semantic, inWords), min(semantic, inWords)
	return min(Round(hi+(1-hi)*lo*agreement), 1)
}
