package loop

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// names are the tools as the model sees them, and the way back from the names
// it uses.
type names struct {
	wire      []agent.Definition
	canonical map[string]string // by wire name; nil when they are the same
}

// newNames names tools for the model. Two tools that would look alike to it are
// an error.
func newNames(defs []agent.Definition, wireName func(agent.Definition) string) (names, error) {
	if wireName == nil {
		return names{wire: defs}, nil
	}
	n := names{wire: make([]agent.Definition, len(defs)), canonical: make(map[string]string, len(defs))}
	for i, d := range defs {
		wire := wireName(d)
		if other, taken := n.canonical[wire]; taken {
			return names{}, fmt.Errorf("the model would see both %s and %s as %s; rename one of them", other, d.Name, wire)
		}
		n.canonical[wire] = d.Name
		d.Name = wire
		n.wire[i] = d
	}
	return n, nil
}

// among returns the tools of those canonical names, as the model sees them, in
// the order of all.
func (n names) among(chosen map[string]bool) []agent.Definition {
	var list []agent.Definition
	for _, d := range n.wire {
		if chosen[n.of(d.Name)] {
			list = append(list, d)
		}
	}
	return list
}

// of returns the canonical name of what the model calls wire. A name that it
// made up stays as it is, for the tools to refuse.
func (n names) of(wire string) string {
	if c, ok := n.canonical[wire]; ok {
		return c
	}
	return wire
}
