package adk

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Check refuses code execution where there is none, and warns of a runtime that
// this build cannot open.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	if Absent != "" {
		block, key := a.Model.Block, "provider" // which chose it
		if a.Wrote("backend") {
			block, key = a.Block, "backend"
		}
		problems = append(problems, block.Problem(config.SeverityWarning, key, config.CodeUnsupported, "google_adk cannot be opened: "+Absent, ""))
	}
	s := a.GoogleADK
	if s == nil || !s.CodeExecution {
		return problems
	}
	if p := a.Model.Provider; p != config.ProviderGoogle {
		problems = append(problems, s.Problem(config.SeverityError, "code_execution", config.CodeUnsupported,
			fmt.Sprintf("code is executed by Gemini, and the model is one of %s", p), "use a model of google, or set it to false"))
	}
	return problems
}
