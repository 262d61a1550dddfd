package claude

import (
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
)

// noCLI is what claude.runtime: cli is told.
const noCLI = "the Claude Code CLI runtime is not in this build"

// Open opens an agent. o is what is the same on every runtime; the claude
// section says the rest.
func Open(a *config.Agent, o loop.Options) (agent.Backend, error) {
	if s := a.Claude; s != nil {
		if s.Runtime == config.ClaudeCLI && !a.Offline {
			return nil, &agent.BackendInitError{Backend: o.Backend, Err: errors.New(noCLI + "; set claude.runtime to api or auto")}
		}
		if s.MaxTurns != nil {
			o.Limits.MaxTurns = *s.MaxTurns
		}
		if s.MaxBudgetUSD != nil {
			o.Limits.MaxTurnCostUSD = *s.MaxBudgetUSD
		}
		if s.Effort != nil {
			o.Sampling.Effort = string(*s.Effort)
		}
		if t := s.ExtendedThinking; t != nil && t.Enabled {
			o.Sampling.ThinkingTokens = &t.BudgetTokens
		}
	}
	if text := Substitute(a); text != "" {
		o.Notices = append(o.Notices, agent.Notice{Code: agent.NoticeSubstitute, Text: text})
	}
	b, err := loop.New(o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Substitute says what runs the agent in place of the CLI, or returns "" where
// the file does not leave room for it.
func Substitute(a *config.Agent) string {
	switch {
	case a.Claude != nil && a.Claude.Runtime == config.ClaudeAPI:
		return ""
	case a.Model.Provider == config.ProviderOffline:
		return "the offline model runs on HoloDeck's own loop, which stands in for backend claude"
	}
	return fmt.Sprintf("%s, so HoloDeck's own loop runs %s over the API of %s (claude.runtime: api asks for that)", noCLI, a.Model.Name, a.Model.Provider)
}
