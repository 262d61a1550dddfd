package backend

import (
	"github.com/holodeck-go/holodeck/internal/backend/adk"
	"github.com/holodeck-go/holodeck/internal/backend/agentframework"
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/backend/semantickernel"
	"github.com/holodeck-go/holodeck/internal/backend/toolfilter"
	"github.com/holodeck-go/holodeck/internal/config"
)

// ReachesModel reports whether the runtime of an agent reaches the agent's model by
// itself, and takes none of ours.
func ReachesModel(a *config.Agent) bool { return claude.UsesCLI(a) }

// OfflineNeeds says what the runtime of an agent needs that is not there under
// --offline, so that our own loop stands in for it; "" where it runs as it is.
func OfflineNeeds(a *config.Agent) string {
	switch {
	case a.Runtime == config.BackendClaude:
		return "Claude Code"
	case a.Runtime == config.BackendGoogleADK && adk.Absent != "":
		return "a build without the tag noadk"
	}
	return ""
}

// Check says what an agent file asks of its runtime and this build does not do.
// Under --offline, where the runtime is replaced as a whole, it has nothing to
// say.
func Check(a *config.Agent) []config.Problem {
	if a.Offline || a.Model == nil {
		return nil
	}
	problems := toolfilter.Check(a)
	switch a.Runtime {
	case config.BackendAgentFramework:
		problems = append(problems, agentframework.Check(a)...)
	case config.BackendSemanticKernel:
		problems = append(problems, semantickernel.Check(a)...)
	case config.BackendClaude:
		problems = append(problems, claude.Check(a)...)
	case config.BackendGoogleADK:
		problems = append(problems, adk.Check(a)...)
	}
	return problems
}
