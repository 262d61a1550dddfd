package index

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

const (
	// exactBelow is the exact leg's score of a passage within the section that
	// is asked for, but of a section below.
	exactBelow = 0.9
	// exactMention is that of a passage that names the section.
	exactMention = 0.5
	// exactLift is the share of what is missing to 1 that a passage gets, in a
	// hybrid search, for being what is asked for to the letter.
	exactLift = 0.9
	// exactRest is what the scores of the others are then multiplied by, which
	// keeps them below.
	exactRest = 0.8
	// mostDemands is how many phrases and sections of a query are looked for.
	mostDemands = 8
	// phraseWords is how many words a query without quotation marks has that may
	// be a phrase as a whole: two stand together by chance.
	phraseWords = 3
)

// quoted matches what a query has in quotation marks.
var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»`)
})

// place is a passage under a heading.
type place struct {
	section
	passage int
	own     bool // the passage's own section, not one above
}

// places returns, for every number of a section, the passages in it.
func places(parts []Part) map[string][]place {
	out := map[string][]place{}
	known := map[string]section{} // many passages are under one heading
	add := func(headings [][]string, first int, own bool) {
		for i, list := range headings {
			for _, heading := range list {
				s, ok := known[heading]
				if !ok {
					s, _ = sectionOf(heading)
					known[heading] = s
				}
				if s.number != "" {
					out[s.number] = append(out[s.number], place{s, first + i, own})
				}
			}
		}
	}
	first := 0
	for _, part := range parts {
		add(part.Own, first, true)
		add(part.Above, first, false)
		first += part.Words.Len()
	}
	return out
}

// exactMatches are the passages that a query asks for to the letter.
type exactMatches struct {
	// asked reports whether the query asks for something exact: a quoted phrase,
	// a section by its number, or passages that have it word for word.
	asked bool
	// scores are the exact leg's. letter is how well a passage meets the demand
	// that it meets best, of those that meet one in full or from a section below.
	scores, letter map[int]float64
}

// exact returns what a query asks for to the letter. With whole, one that names
// neither phrase nor section is a phrase as a whole, also when no passage has it.
func (ix *Index) exact(query string, whole bool) exactMatches {
	if ix.texts == nil {
		return exactMatches{}
	}
	var demands []map[int]float64
	seen := map[string]bool{}
	fresh := func(key string) bool {
		if seen[key] || len(seen) == mostDemands {
			return false
		}
		seen[key] = true
		return true
	}
	demand := func(phrase []string) {
		if len(phrase) > 0 && fresh(strings.Join(phrase, " ")) {
			demands = append(demands, ix.withPhrase(phrase))
		}
	}
	for _, m := range quoted().FindAllStringSubmatch(query, -1) {
		demand(lowerWords(strings.Join(m[1:], "")))
	}
	for _, ref := range references(quoted().ReplaceAllString(query, " ")) {
		if !fresh("§" + ref.kind + " " + ref.number) {
			continue
		}
		if found := ix.inSection(ref); !ref.bare || len(found) > 0 {
			demands = append(demands, found)
		}
	}
	if len(demands) == 0 {
		if all := lowerWords(query); whole {
			demand(all)
		} else if len(all) >= phraseWords {
			if found := ix.withPhrase(all); len(found) > 0 {
				demands = append(demands, found)
			}
		}
	}
	m := exactMatches{asked: len(demands) > 0, scores: map[int]float64{}, letter: map[int]float64{}}
	for _, demand := range demands {
		for passage, score := range demand {
			m.scores[passage] += score / float64(len(demands))
			if score >= exactBelow {
				m.letter[passage] = max(m.letter[passage], score)
			}
		}
	}
	for passage, score := range m.scores {
		m.scores[passage] = Round(score) // sums of thirds
	}
	return m
}

// inSection returns the passages in a section and those that name it.
func (ix *Index) inSection(ref reference) map[int]float64 {
	found := map[int]float64{}
	for _, p := range ix.sections[ref.number] {
		if !p.same(ref.section) {
			continue
		}
		score := exactBelow
		if p.own {
			score = 1
		}
		found[p.passage] = max(found[p.passage], score)
	}
	if ref.bare && len(found) == 0 {
		return nil
	}
	for passage := range ix.withPhrase(lowerWords(ref.text)) {
		found[passage] = max(found[passage], exactMention)
	}
	return found
}

// withPhrase returns the passages whose text has the words, one after another
// and in the same form.
func (ix *Index) withPhrase(phrase []string) map[int]float64 {
	found := map[int]float64{}
	for _, passage := range ix.withAll(phrase) {
		if hasPhrase(ix.texts[passage], phrase) {
			found[int(passage)] = 1
		}
	}
	return found
}

// withAll returns the passages that have all the words, in any order.
func (ix *Index) withAll(phrase []string) []uint32 {
	var lists [][]uint32
	for _, w := range phrase {
		for stemmed := range ix.analyzer.words(w) {
			passages, _, _ := ix.words.of(string(stemmed.Stem))
			lists = append(lists, passages)
		}
	}
	slices.SortFunc(lists, func(a, b []uint32) int { return len(a) - len(b) })
	if len(lists) == 0 {
		return nil
	}
	common := slices.Clone(lists[0])
	for _, list := range lists[1:] {
		common = slices.DeleteFunc(common, func(passage uint32) bool {
			_, has := slices.BinarySearch(list, passage)
			return !has
		})
	}
	return common
}

// lowerWords returns the words of text in lower case.
func lowerWords(text string) []string {
	var out []string
	for w := range words.Lower(text) {
		out = append(out, string(w))
	}
	return out
}

// hasPhrase reports whether text has the words of phrase one after another.
func hasPhrase(text string, phrase []string) bool {
	var begun []int // how many words of the phrase each place that may be one has
	for w := range words.Lower(text) {
		next := begun[:0]
		for _, n := range begun {
			if string(w) == phrase[n] {
				next = append(next, n+1)
			}
		}
		if string(w) == phrase[0] {
			next = append(next, 1)
		}
		if slices.Contains(next, len(phrase)) {
			return true
		}
		begun = next
	}
	return false
}
