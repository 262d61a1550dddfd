package config

import (
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// report collects the problems of one load, each once.
type report struct {
	problems []Problem
	seen     map[seenKey]int // index in problems
	settled  map[*node]bool  // values that were found wrong before they are decoded
}

// settle reports a problem of a value, which the decoder then passes over.
func (r *report) settle(n *node, p Problem) {
	if r.settled == nil {
		r.settled = map[*node]bool{}
	}
	r.settled[n] = true
	r.add(p)
}

// seenKey is what makes two problems the same although their paths differ: a
// value that an alias or merging put in two places is reported once.
type seenKey struct {
	pos             Pos
	key, code, text string
}

// add reports a problem. A value whose problem is only a warning in one of its
// places and an error in another is an error.
func (r *report) add(p Problem) {
	// A path holds keys of the user's choice, and one may be a credential that
	// was pasted into the wrong place. Texts are masked when loading ends.
	var byShape *secret.Redactor
	p.Path = byShape.String(p.Path)
	key := seenKey{p.Pos, p.Path[strings.LastIndexByte(p.Path, '.')+1:], p.Code, p.Text}
	if i, ok := r.seen[key]; ok {
		if p.Severity == SeverityError {
			r.problems[i].Severity = SeverityError
		}
		return
	}
	if r.seen == nil {
		r.seen = map[seenKey]int{}
	}
	r.seen[key] = len(r.problems)
	r.problems = append(r.problems, p)
}
