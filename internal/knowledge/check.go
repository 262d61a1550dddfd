package knowledge

import "github.com/holodeck-go/holodeck/internal/config"

// Check says what this build cannot do with an agent's retrieval tools, and
// which of their keys are without effect. Stores, sources and kinds of tool it
// does not have are warnings, so that a file meant for another build validates;
// opening such a tool is an error.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	for _, t := range a.Tools {
		if config.IsRetrieval(t) {
			_, found := newSettings(a, t)
			problems = append(problems, found...)
		}
	}
	return problems
}
