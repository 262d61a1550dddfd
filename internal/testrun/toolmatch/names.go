package toolmatch

import (
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Names knows the tools of an agent and under which other names runtimes offer
// them. It is safe for concurrent use.
type Names struct {
	wire map[string][]wireName // by canonical name
}

// wireName is a name on some runtime: own is the tool's own name within it.
type wireName struct{ prefix, own string }

// toolServer is the name of the in-process server by which one runtime offers
// an agent's own tools.
const toolServer = "mcp__holodeck_tools__"

// NewNames returns the names of an agent's tools.
func NewNames(tools []config.Tool) *Names {
	n := &Names{wire: map[string][]wireName{}}
	for _, t := range tools {
		base := t.Base()
		switch base.Type {
		case config.ToolVectorstore, config.ToolHierarchical:
			canonical := base.Name + "_search"
			n.wire[canonical] = []wireName{{toolServer, canonical}, {string(base.Type) + "-", base.Name}}
		case config.ToolFunction:
			n.wire[base.Name] = []wireName{{toolServer, base.Name}, {"function_tools-", base.Name}}
		}
	}
	return n
}

// Match reports whether an expected name names the call of that canonical name.
func (n *Names) Match(expected, canonical string) bool {
	if strings.Contains(canonical, expected) {
		return true
	}
	for _, w := range n.wireNames(canonical) {
		full := w.prefix + w.own
		if i := strings.LastIndex(full, expected); i >= 0 && i+len(expected) > len(w.prefix) {
			return true
		}
	}
	return false
}

// wireNames returns the names of a tool on other runtimes. A tool that the
// agent file does not name itself is one of a server, or of a sub-agent.
func (n *Names) wireNames(canonical string) []wireName {
	if known, ok := n.wire[canonical]; ok {
		return known
	}
	if server, own, ok := strings.Cut(canonical, "__"); ok {
		return []wireName{{"mcp__", canonical}, {server + "-", own}}
	}
	return []wireName{{toolServer, canonical}}
}
