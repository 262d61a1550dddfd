package backend

import (
	"github.com/holodeck-go/holodeck/internal/backend/agentframework"
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/backend/semantickernel"
	"github.com/holodeck-go/holodeck/internal/backend/toolfilter"
	"github.com/holodeck-go/holodeck/internal/config"
)

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
		problems = append(problems, checkGoogleADK(a)...)
	}
	return problems
}

// checkGoogleADK warns that this build does not run google_adk and, with the
// offline model, for which the loop stands in for it, of the keys that the loop
// does not heed.
func checkGoogleADK(a *config.Agent) []config.Problem {
	if a.Model.Provider != config.ProviderOffline {
		block, key := a.Model.Block, "provider" // which chose it
		if a.Wrote("backend") {
			block, key = a.Block, "backend"
		}
		return []config.Problem{block.Problem(config.SeverityWarning, key, config.CodeUnsupported,
			"this build does not run google_adk yet", "run with --offline to let the built-in loop and model stand in")}
	}
	s := a.GoogleADK
	if s == nil {
		return nil
	}
	var problems []config.Problem
	for _, key := range []string{"streaming_mode", "code_execution", "output_key"} {
		if s.Wrote(key) {
			problems = append(problems, s.Problem(config.SeverityWarning, key, config.CodeNoEffect,
				"has no effect: with provider offline our own loop stands in for google_adk", ""))
		}
	}
	return problems
}
