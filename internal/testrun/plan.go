package testrun

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"iter"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// Plan is the attempts that a run makes, in order: those at the first case, and
// so on. It holds no case, so that its size does not depend on their number.
type Plan struct {
	agent *config.Agent
	sel   Selection
	// All is how many cases the agent has; each combination of the vars of a test
	// case is one.
	All int
	// Cases is how many of them run, and Attempts how often in all.
	Cases, Attempts int
}

// NewPlan returns what a selection makes of the agent's test cases. The error
// says which name or tag no case has.
func NewPlan(a *config.Agent, sel Selection) (*Plan, error) {
	p := &Plan{agent: a, sel: sel}
	f := newFilter(sel)
	for c := range testCases(a) {
		p.All++
		if f.picks(c) {
			p.Cases++
			p.Attempts += p.repeats(c)
		}
	}
	if err := f.unmatched(a); err != nil {
		return nil, err
	}
	return p, nil
}

// Missing yields the titles of the cases of which an attempt is missing, in
// order. has reports whether an attempt, counted from 1, is there.
func (p *Plan) Missing(has func(index, attempt int) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		told := -1
		for a := range p.attempts() {
			if a.index == told || has(a.index, a.number) {
				continue
			}
			told = a.index
			if !yield(a.title) {
				return
			}
		}
	}
}

// attempt is one attempt at a case.
type attempt struct {
	*testCase
	number  int // from 1
	repeats int
}

// repeats is how often a case runs.
func (p *Plan) repeats(c *testCase) int {
	if p.sel.Repeat > 0 {
		return p.sel.Repeat
	}
	return max(1, c.tc.Repeat)
}

// attempts yields the attempts of the plan.
func (p *Plan) attempts() iter.Seq[attempt] {
	return func(yield func(attempt) bool) {
		f := newFilter(p.sel)
		for c := range testCases(p.agent) {
			if !f.picks(c) {
				if f.done() {
					return
				}
				continue
			}
			repeats := p.repeats(c)
			for n := range repeats {
				if !yield(attempt{c, n + 1, repeats}) {
					return
				}
			}
		}
	}
}

// testCase is a case with its vars put in.
type testCase struct {
	index   int // among all cases of the agent
	id      string
	name    string // with what tells it from the other combinations; empty when it has none
	written string // the name as the file has it
	title   string // what results call it: its name, or the beginning of what is said
	tc      *config.TestCase
}

// testCases yields the cases of an agent: each combination of the vars of a test
// case. Secrets are masked in ids, names and titles.
func testCases(a *config.Agent) iter.Seq[*testCase] {
	return func(yield func(*testCase) bool) {
		ids := identities{}
		index := 0
		for _, tc := range a.TestCases.All() {
			for n := range tc.Combinations() {
				expanded, label := tc.Expand(n)
				c := &testCase{index: index, tc: &expanded}
				if tc.Name != nil {
					c.name, c.written = *expanded.Name, *tc.Name
					if label != "" && c.name == c.written { // the name does not say the values
						c.name += " [" + label + "]"
					}
				}
				c.title = c.name
				if c.title == "" {
					// Masked before it is cut: half a secret cannot be told any more.
					c.title = runs.Title(a.Redactor.String(firstInput(&expanded)))
				}
				for _, text := range []*string{&c.name, &c.written, &c.title} {
					*text = a.Redactor.String(*text)
				}
				c.id = ids.next(a.Redactor.String(identity(&expanded, label)))
				if !yield(c) {
					return
				}
				index++
			}
		}
	}
}

// firstInput returns what is said first in a case.
func firstInput(tc *config.TestCase) string {
	switch {
	case tc.Input != nil:
		return *tc.Input
	case len(tc.Turns) > 0:
		return tc.Turns[0].Input
	}
	return ""
}

// hashLen is how many hex digits of a hash stand for a case without a name.
const hashLen = 12

// identity returns what a case is known by in every run: its id, else its name,
// else a hash of what is said, and the label of the combination of its vars.
func identity(tc *config.TestCase, label string) string {
	id := ""
	switch {
	case tc.ID != nil:
		id = *tc.ID
	case tc.Name != nil:
		id = *tc.Name
	default:
		var said []string
		if tc.Input != nil {
			said = append(said, *tc.Input)
		}
		for _, turn := range tc.Turns {
			said = append(said, turn.Input)
		}
		sum := sha256.Sum256([]byte(strings.Join(said, "\n---\n")))
		id = "case-" + hex.EncodeToString(sum[:])[:hashLen]
	}
	if label != "" {
		id += "[" + label + "]"
	}
	return id
}

// identities tells cases of one identity apart by their order. It keeps a hash
// of each, which is small and the same in every run.
type identities map[uint64]int

// next returns an id that no case before has.
func (s identities) next(id string) string {
	for {
		h := fnv.New64a()
		h.Write([]byte(id)) // never fails
		key := h.Sum64()
		s[key]++
		if s[key] == 1 {
			return id
		}
		id = fmt.Sprintf("%s#%d", id, s[key])
	}
}
