package claude

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Open opens an agent on our own loop. o is what is the same on every runtime; the claude
// section says the rest.
func Open(a *config.Agent, o loop.Options) (agent.Backend, error) {
	if s := a.Claude; s != nil {
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
	if text := tookAPI(a); text != "" {
		o.Notices = append(o.Notices, agent.Notice{Code: agent.NoticeSubstitute, Text: text})
	}
	b, err := loop.New(o)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Substitute says which of the two ways runs the agent, or returns "" where the
// file says so.
func Substitute(a *config.Agent) string {
	if UsesCLI(a) {
		return tookCLI(a)
	}
	return tookAPI(a)
}

// tookCLI says that the CLI was taken, where the file leaves it open.
func tookCLI(a *config.Agent) string {
	if way(a) != config.ClaudeAuto {
		return ""
	}
	return fmt.Sprintf("the Claude Code CLI runs %s (claude.runtime: cli asks for that)", a.Model.Name)
}

// tookAPI says that our own loop was taken, where the file leaves it open.
func tookAPI(a *config.Agent) string {
	switch {
	case way(a) == config.ClaudeAPI:
		return ""
	case a.Model.Provider == config.ProviderOffline:
		return "the offline model runs on HoloDeck's own loop, which stands in for backend claude"
	}
	return fmt.Sprintf("without a Claude Code CLI, HoloDeck's own loop runs %s over the API of %s (claude.runtime: api asks for that)", a.Model.Name, a.Model.Provider)
}
