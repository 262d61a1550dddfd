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
func newNames(defs []agent.Definition, wireName func(string) string) (names, error) {
	if wireName == nil {
		return names{wire: defs}, nil
	}
	n := names{wire: make([]agent.Definition, len(defs)), canonical: make(map[string]string, len(defs))}
	for i, d := range defs {
		wire := wireName(d.Name)
		if other, taken := n.canonical[wire]; taken {
			return names{}, fmt.Errorf("the model would see both %s and %s as %s; rename one of them", other, d.Name, wire)
		}
		n.canonical[wire] = d.Name
		d.Name = wire
		n.wire[i] = d
	}
	return n, nil
}

// of returns the canonical name of what the model calls wire. A name that it
// made up stays as it is, for the tools to refuse.
func (n names) of(wire string) string {
	if c, ok := n.canonical[wire]; ok {
		return c
	}
	return wire
}
