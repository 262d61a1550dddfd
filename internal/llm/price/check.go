package price

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Check refuses a budget that could not be kept, because what the agent's model
// or the one that stands in for it costs is not known.
func Check(a *config.Agent, t *Table) []config.Problem {
	if a.Offline || a.Model == nil || a.Model.Provider == config.ProviderOffline {
		return nil // costs nothing
	}
	b, ok := budgetOf(a)
	if !ok {
		return nil
	}
	var problems []config.Problem
	models := []string{a.Model.Name}
	if other := a.FallbackModel(); other != "" {
		models = append(models, other)
	}
	for _, model := range models {
		if _, known := t.Of(string(a.Model.Provider), model); !known {
			problems = append(problems, b.Problem(config.SeverityError, "max_budget_usd", config.CodeUnsupported,
				fmt.Sprintf("the budget could not be kept: the price of %s model %s is not known", a.Model.Provider, model),
				fmt.Sprintf(`give it in ~/.holodeck/prices.json, or a file that %s names, as {"models": {"%s/%s": {"input": USD, "output": USD}}}, for a million tokens; the built-in prices are of %s`,
					Variable, a.Model.Provider, model, t.Date)))
		}
	}
	return problems
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
