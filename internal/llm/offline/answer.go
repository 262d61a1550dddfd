package offline

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

// The constants of ranking. They were chosen on documents of several trades and
// are the same for all of them.
const (
	// MostSentences is how many units an answer has: enough for a rule, its
	// exception and a hint, short enough to be read.
	MostSentences = 3
	// ContextWeight is what a word counts that stands in a unit's headings and
	// not in the unit. Below a heading that asks the question, the rule itself
	// often repeats none of its words.
	ContextWeight = 0.5
	// QuestionWeight is what a word counts that stands in the question a unit
	// answers: someone has asked the same before.
	QuestionWeight = 0.9
	// LeaningWeight is what a unit's overlap counts that begins with a pronoun: a
	// reader who does not see the sentence before will wonder who "it" is.
	LeaningWeight = 0.8
	// EarlierWeight is what a word of the turn before counts beside one of this
	// turn: it says what the talk is about, this turn says what is wanted.
	EarlierWeight = 0.5
	// LightWeight is what a word weighs that questions are made with whatever they
	// are about, such as "bring" or "allowed", as a share of what it would weigh
	// otherwise.
	LightWeight = 0.5
	// AbsentWeight is what a word that no unit has weighs, as a share of what it
	// would weigh if one had it. It cannot tell units apart, but a question full
	// of such words is about something else.
	AbsentWeight = 0.5
	// LeastOverlap is the overlap below which nothing was found. People tell
	// stories around their question; a quarter is enough.
	LeastOverlap = 0.25
	// LeastOverlapOfOne is the same where the overlap rests on one word of
	// several: one shared word is often chance. It lets the rarer word of two pass,
	// not the other, and not one of three that weigh the same.
	LeastOverlapOfOne = 0.5
	// RelativeOverlap is how much of the best unit's overlap another needs to be
	// said beside it.
	RelativeOverlap = 0.75
	// SameWords is the share of words two units have in common above which they
	// say the same.
	SameWords = 0.7
)

// mostTerms bounds the words of a query that are compared. A question has
// fewer; what is longer is a document someone pasted, and its first words stand
// for it.
const mostTerms = 64

// answer is what the offline model found to say.
type answer struct {
	plain   string // said instead of quoting
	quotes  []unit
	overlap float64 // of the best quote, from 0 to 1
}

// text returns the answer as a person reads it.
func (a answer) text() string {
	if len(a.quotes) == 0 {
		return cmp.Or(a.plain, NothingFound)
	}
	lines := make([]string, len(a.quotes))
	for i, q := range a.quotes {
		lines[i] = q.text
		if q.source != "" {
			lines[i] += " [" + q.source + "]"
		}
	}
	return strings.Join(lines, "\n")
}

// sources returns the sources of the quotes, each once.
func (a answer) sources() []string {
	var list []string
	for _, q := range a.quotes {
		if q.source != "" && !slices.Contains(list, q.source) {
			list = append(list, q.source)
		}
	}
	return list
}

// set is a set of terms, by their index.
type set uint64

// query is the words that are looked for.
type query struct {
	index  map[string]int
	weight []float64      // of each term
	now    set            // terms of this turn
	light  set            // terms of LightWeight
	seen   map[string]set // terms of texts that stand over many units
}

// newQuery reads the content words of a question and of the turn before.
func newQuery(now, earlier string) *query {
	q := &query{index: map[string]int{}, seen: map[string]set{}}
	q.add(now)
	q.now = 1<<len(q.index) - 1
	q.add(earlier)
	return q
}

// add makes terms of the content words of a text.
func (q *query) add(text string) {
	for w := range words.All(text) {
		if !content(w) || len(q.index) == mostTerms {
			continue
		}
		stem := string(w.Stem)
		if _, ok := q.index[stem]; ok {
			continue
		}
		if light(stem) {
			q.light |= 1 << len(q.index)
		}
		q.index[stem] = len(q.index)
	}
}

// in returns the terms that occur in a text. A function word is never a term
// that only sounds like it: cans are not can.
func (q *query) in(text string) set {
	var s set
	for w := range words.All(text) {
		if !content(w) {
			continue
		}
		if i, ok := q.index[string(w.Stem)]; ok {
			s |= 1 << i
		}
	}
	return s
}

// over is in for a text that stands over many units.
func (q *query) over(text string) set {
	s, ok := q.seen[text]
	if !ok {
		s = q.in(text)
		q.seen[text] = s
	}
	return s
}

// weigh sets the weight of each term by how many of the units have it.
func (q *query) weigh(units []candidate) {
	q.weight = make([]float64, len(q.index))
	for i := range q.weight {
		n := 0
		for _, c := range units {
			if c.own&(1<<i) != 0 {
				n++
			}
		}
		q.weight[i] = math.Log(1 + float64(len(units))/float64(1+n))
		if n == 0 && !inContext(units, i) {
			q.weight[i] *= AbsentWeight
		}
		if q.now&(1<<i) == 0 {
			q.weight[i] *= EarlierWeight
		}
		if q.light&(1<<i) != 0 {
			q.weight[i] *= LightWeight
		}
	}
}

// leansOn reports whether this turn asks about what the turn before was about:
// it has no content word ("and why?"), or one alone that no unit has ("and in
// which month?"). The units may then be about the turn before alone.
func (q *query) leansOn(units []candidate) bool {
	switch count(q.now) {
	case 0:
		return true
	case 1:
		return !slices.ContainsFunc(units, func(c candidate) bool { return c.has()&q.now != 0 })
	}
	return false
}

func inContext(units []candidate, i int) bool {
	return slices.ContainsFunc(units, func(c candidate) bool { return (c.asked|c.context)&(1<<i) != 0 })
}

// sum returns the weight of the terms in s.
func (q *query) sum(s set) float64 {
	total := 0.0
	for i, w := range q.weight {
		if s&(1<<i) != 0 {
			total += w
		}
	}
	return total
}

// candidate is a unit and what it has of the query.
type candidate struct {
	unit
	// own, asked and context are the terms in the unit, in the question it
	// answers and in its context, each counted where it weighs most.
	own, asked, context set
	// overlap is the share of the query's weight the unit has, and about the
	// weight of what stands over it, whether the unit repeats it or not.
	overlap, about float64
}

// has returns every term the unit has, wherever it stands.
func (c candidate) has() set { return c.own | c.asked | c.context }

// rank chooses the units that answer a question best.
func rank(now, earlier string, all []unit) answer {
	q := newQuery(now, earlier)
	list := make([]candidate, len(all))
	for i, u := range all {
		c := candidate{unit: u, own: q.in(u.text), asked: q.over(u.question)}
		for _, text := range u.context {
			c.context |= q.over(text)
		}
		if u.aside {
			c.own, c.context = 0, c.own
		}
		list[i] = c
	}
	q.weigh(list)
	whole := q.sum(^set(0))
	if whole == 0 {
		return answer{}
	}
	if !q.leansOn(list) {
		list = slices.DeleteFunc(list, func(c candidate) bool { return c.has()&q.now == 0 })
	}
	for i := range list {
		c := &list[i]
		c.about = q.sum(c.asked | c.context)
		c.overlap = (q.sum(c.own) + QuestionWeight*q.sum(c.asked&^c.own) + ContextWeight*q.sum(c.context&^c.own&^c.asked)) / whole
		if c.leans {
			c.overlap *= LeaningWeight
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.overlap, a.overlap), cmp.Compare(b.about, a.about))
	})
	if len(list) == 0 || !q.answers(list[0]) {
		return answer{}
	}
	return answer{quotes: inOrder(choose(list)), overlap: list[0].overlap}
}

// answers reports whether the best unit bears on the question.
func (q *query) answers(best candidate) bool {
	if count(best.has()) == 1 && count(q.now) > 1 {
		return best.overlap >= LeastOverlapOfOne
	}
	return best.overlap >= LeastOverlap
}

func count(s set) int { return bits.OnesCount64(uint64(s)) }

// choose returns the best unit and those worth saying beside it.
func choose(sorted []candidate) []candidate {
	var chosen []candidate
	var said []map[string]bool
	for _, c := range sorted {
		if len(chosen) == MostSentences || c.overlap < RelativeOverlap*sorted[0].overlap {
			break
		}
		has := wordSet(c.text)
		if slices.ContainsFunc(said, func(s map[string]bool) bool { return alike(s, has) }) {
			continue
		}
		chosen, said = append(chosen, c), append(said, has)
	}
	return chosen
}

// inOrder leaves the units in order of relevance, but puts neighbours in one
// text together, as they stand there.
func inOrder(chosen []candidate) []unit {
	var groups [][]candidate
	for _, u := range chosen {
		i := slices.IndexFunc(groups, func(g []candidate) bool { return slices.ContainsFunc(g, u.isNextTo) })
		if i < 0 {
			groups = append(groups, []candidate{u})
			continue
		}
		groups[i] = append(groups[i], u)
	}
	var units []unit
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b candidate) int { return cmp.Compare(a.place, b.place) })
		for _, c := range g {
			units = append(units, c.unit)
		}
	}
	return units
}

// isNextTo reports whether two units follow one another in a text.
func (u unit) isNextTo(v candidate) bool {
	return u.passage == v.passage && (u.place == v.place+1 || v.place == u.place+1)
}

// wordSet returns the words of a text, for comparing texts.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range words.All(text) {
		if content(w) {
			set[string(w.Stem)] = true
		}
	}
	return set
}

// alike reports whether two texts say the same: the words they share are most
// of the words of the shorter one.
func alike(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	shared := 0
	for w := range a {
		if b[w] {
			shared++
		}
	}
	return float64(shared) >= SameWords*float64(len(a))
}
