package price

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Check refuses a budget that could not be kept, because what one of the models
// that count for it costs is not known.
func Check(a *config.Agent, t *Table) []config.Problem {
	if a.Offline || a.Model == nil || a.Model.Provider == config.ProviderOffline {
		return nil // costs nothing
	}
	b, ok := budgetOf(a)
	if !ok {
		return nil
	}
	var problems []config.Problem
	for _, m := range models(a) {
		name := fmt.Sprintf("%s/%s", m.Provider, m.Name)
		if _, known := t.Of(string(m.Provider), m.Name); known || m.Provider == config.ProviderOffline {
			continue
		}
		problems = append(problems, b.Problem(config.SeverityError, "max_budget_usd", config.CodeUnsupported,
			fmt.Sprintf("the budget could not be kept: the price of %s model %s is not known", m.Provider, m.Name),
			fmt.Sprintf(`give it in ~/.holodeck/prices.json, or a file that %s names, as {"models": {"%s": {"input": USD, "output": USD}}}, for a million tokens; the built-in prices are of %s`,
				Variable, name, t.Date)))
	}
	return problems
}

// models returns the models whose calls count for the agent's budget: its own,
// the one that stands in for it, and those of its prompt tools.
func models(a *config.Agent) []config.Model {
	list := []config.Model{*a.Model}
	if other := a.FallbackModel(); other != "" {
		second := *a.Model
		second.Name = other
		list = append(list, second)
	}
	for _, t := range a.Tools {
		if p, ok := t.(*config.PromptTool); ok && p.Model != nil && p.Chat != nil {
			list = append(list, *p.Chat)
		}
	}
	return list
}

// budgetOf returns the section that sets the agent's budget, if one does.
func budgetOf(a *config.Agent) (config.Block, bool) {
	switch {
	case a.Runtime == config.BackendClaude && a.Claude != nil && a.Claude.MaxBudgetUSD != nil:
		return a.Claude.Block, true
	case a.Runtime == config.BackendAgentFramework && a.OpenAI != nil && a.OpenAI.MaxBudgetUSD != nil && a.UsesOpenAI():
		return a.OpenAI.Block, true
	}
	return config.Block{}, false
}
