package semantickernel

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Open opens an agent. o is what is the same on every runtime.
func Open(a *config.Agent, o loop.Options) (agent.Backend, error) {
	o.WireName = wireName
	o.SchemaName = cut(plain(a.Name))
	b, err := loop.New(o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Check refuses skills, which Semantic Kernel never had.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	for _, t := range a.Tools {
		if b := t.Base(); b.Type == config.ToolSkill {
			problems = append(problems, b.Problem(config.SeverityError, "type", config.CodeUnsupported,
				"backend semantic_kernel has no skills", "use backend agent_framework, claude or google_adk"))
		}
	}
	return problems
}

// maxName is the longest name, of a tool or a schema, that providers take.
const maxName = 64

// wireName returns the name of a tool's function behind that of its plugin.
func wireName(d agent.Definition) string {
	plugin, function := "function_tools", d.Name
	switch kind := config.ToolType(d.Source); kind {
	case config.ToolVectorstore, config.ToolHierarchical:
		plugin, function = string(kind), strings.TrimSuffix(d.Name, "_search")
	default:
		if server, ok := strings.CutPrefix(d.Source, "mcp:"); ok {
			// A server's name that is too long to stand before its tools' is cut there.
			plugin, function = server, strings.TrimPrefix(d.Name, server+"__")
		}
	}
	return cut(plain(plugin) + "-" + plain(function))
}

// plain returns name with a hyphen for every character that a provider does not
// take in a name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
}

// cut returns a name as long as providers take it. What is cut off is told apart
// by a hash.
func cut(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "-" + hex.EncodeToString(sum[:3])
	return name[:maxName-len(mark)] + mark
}
