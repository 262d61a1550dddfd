package knowledge

import (
	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Definition returns what a model is told of a retrieval tool, which is known
// before the tool is opened. It is false for a tool of another kind.
func Definition(a *config.Agent, t config.Tool) (agent.Definition, bool) {
	if !config.IsRetrieval(t) {
		return agent.Definition{}, false
	}
	s, _ := newSettings(a, t) // what is wrong with the rest says nothing of the definition
	return s.definition(), true
}
