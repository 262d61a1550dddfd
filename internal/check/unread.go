package check

import (
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/config"
)

// unread warns of what an agent file asks for and no room of this build reads.
// This is the one list of it: a room that arrives takes its line out. Under
// --offline, where such things are expected to be left out, it has nothing to
// say.
func unread(a *config.Agent) []config.Problem {
	if a.Offline {
		return nil
	}
	var problems []config.Problem
	warn := func(b config.Block, key, text string) {
		problems = append(problems, b.Problem(config.SeverityWarning, key, config.CodeUnsupported, text, ""))
	}
	if e := a.Evaluations; e != nil && e.Optimizer != nil {
		warn(e.Block, "optimizer", "this build does not optimize yet: the section has no effect")
	}
	if a.Deployment != nil {
		warn(a.Block, "deployment", "this build does not deploy yet: the section has no effect")
	}
	serving := func(b config.Block) {
		for _, key := range []string{"max_concurrent_sessions", "session_memory_estimate_mib"} {
			if b.Wrote(key) {
				warn(b, key, "this build serves no sessions yet: the key has no effect")
			}
		}
	}
	if a.OpenAI != nil {
		serving(a.OpenAI.Block)
	}
	if a.Claude != nil && !claude.UsesCLI(a) { // which bounds its processes by them
		serving(a.Claude.Block)
	}
	return problems
}
