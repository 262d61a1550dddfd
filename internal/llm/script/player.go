package script

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Program is a script made ready to be played. It is safe for concurrent use.
type Program struct {
	rules   []Rule
	regexps []*regexp.Regexp // by rule; nil where the rule has none
	limited bool             // some rule has a Times
}

// Compile makes a script ready. The error names the rule whose Regex is not a
// regular expression.
func Compile(s Script) (*Program, error) {
	p := &Program{rules: s.Rules, regexps: make([]*regexp.Regexp, len(s.Rules))}
	for i, r := range s.Rules {
		p.limited = p.limited || r.Times > 0
		if r.When.Regex == "" {
			continue
		}
		re, err := regexp.Compile(r.When.Regex)
		if err != nil {
			return nil, fmt.Errorf("script rule %d: %w", i+1, err)
		}
		p.regexps[i] = re
	}
	return p, nil
}

// Limited reports whether some rule may be played only so often, so that what
// is played depends on what was played before in the session.
func (p *Program) Limited() bool { return p.limited }

// NewPlayer returns a Player for one session.
func (p *Program) NewPlayer() *Player {
	return &Player{program: p, uses: make([]int, len(p.rules))}
}

// Player plays a Program in one session: it counts how often each rule was
// played there. It is safe for concurrent use.
type Player struct {
	program *Program
	mu      sync.Mutex
	uses    []int
}

// Situation is what is known when a model is called.
type Situation struct {
	User   string // the turn's user message
	Turn   int    // number of the turn in the session, from 1
	Round  int    // number of the model call in the turn, from 1
	Result string // text of the tool results since the last model response of the turn
}

// Next returns the steps of the first rule that matches and is not used up,
// and counts that it was played. It returns false when there is none.
func (p *Player) Next(s Situation) ([]Step, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.program.rules {
		if r.Times > 0 && p.uses[i] >= r.Times {
			continue
		}
		if !r.When.holds(p.program.regexps[i], s) {
			continue
		}
		p.uses[i]++
		return r.Steps, true
	}
	return nil, false
}

// holds reports whether every field of w that is set holds in s.
func (w When) holds(re *regexp.Regexp, s Situation) bool {
	switch {
	case w.User != "" && !strings.Contains(strings.ToLower(s.User), strings.ToLower(w.User)),
		re != nil && !re.MatchString(s.User),
		w.Turn != 0 && w.Turn != s.Turn,
		w.Round != 0 && w.Round != s.Round,
		w.Result != "" && !strings.Contains(s.Result, w.Result):
		return false
	}
	return true
}
