package adk

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Check refuses code execution where there is none, or none beside tools, and warns of a runtime that
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
	refuse := func(text, hint string) {
		problems = append(problems, s.Problem(config.SeverityError, "code_execution", config.CodeUnsupported, text, hint))
	}
	switch p := a.Model.Provider; {
	case p != config.ProviderGoogle:
		refuse(fmt.Sprintf("code is executed by Gemini, and the model is one of %s", p), "use a model of google, or set it to false")
	case len(a.Tools) > 0 && !llm.RunsCodeBesideTools(a.Model):
		refuse(a.Model.Name+" executes no code beside tools, as Gemini does from its third version on", "use a newer model, remove the tools, or set it to false")
	}
	return problems
}
