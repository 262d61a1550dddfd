package backend

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Check warns of what an agent file asks of its runtime and this build does
// not do. Under --offline, where the runtime is replaced as a whole, it has
// nothing to say.
func Check(a *config.Agent) []config.Problem {
	if a.Offline || a.Model == nil {
		return nil
	}
	var problems []config.Problem
	if s := a.AgentFramework; a.Runtime == config.BackendAgentFramework && s != nil && s.CompactionStrategy != "none" {
		problems = append(problems, s.Problem(config.SeverityWarning, "compaction_strategy", config.CodeUnsupported,
			fmt.Sprintf("%s is not done by this build: the whole conversation is sent at every turn", s.CompactionStrategy), "remove it, or keep conversations short"))
	}
	if a.Model.Provider != config.ProviderOffline {
		return problems
	}
	switch a.Runtime {
	case config.BackendClaude:
		if s := a.Claude; s != nil {
			problems = append(problems, idle(s, s.Block, a.Runtime, "max_turns", "max_budget_usd")...)
		}
	case config.BackendGoogleADK:
		if s := a.GoogleADK; s != nil {
			problems = append(problems, idle(s, s.Block, a.Runtime, "max_iterations")...)
		}
	}
	return problems
}

// idle warns of the keys of a runtime's section that the loop, which stands in
// for it, does not heed. section is a pointer to the section's struct.
func idle(section any, block config.Block, runtime config.Backend, heeded ...string) []config.Problem {
	var problems []config.Problem
	for _, field := range reflect.VisibleFields(reflect.TypeOf(section).Elem()) {
		key := field.Tag.Get("key")
		if key == "" || slices.Contains(heeded, key) || !block.Wrote(key) {
			continue
		}
		problems = append(problems, block.Problem(config.SeverityWarning, key, config.CodeNoEffect,
			fmt.Sprintf("has no effect: with provider offline our own loop stands in for %s", runtime), ""))
	}
	return problems
}
