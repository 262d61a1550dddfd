package llm

import (
	"fmt"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Check says what is wrong with the scripts of an agent's models, and warns of
// keys the offline model does not heed and where this build cannot reach the
// agent's model. What --offline replaced it leaves alone.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	for _, m := range models(a) {
		if m.Provider == config.ProviderOffline && !a.Offline {
			problems = append(problems, idle(m)...)
		}
		_, found := readScript(m)
		for _, p := range found {
			if p.Code != config.CodeReference { // config has said that already
				problems = append(problems, p)
			}
		}
	}
	if m := a.Model; m != nil && m.Provider != config.ProviderOffline && !a.Offline {
		problems = append(problems, m.Problem(config.SeverityWarning, "provider", config.CodeUnsupported,
			fmt.Sprintf("this build has no client for provider %s yet", m.Provider),
			"run with --offline to let the built-in model stand in, or set provider: offline"))
	}
	return problems
}

// idle warns of what a model section says and the offline model does not heed.
func idle(m *config.Model) []config.Problem {
	var problems []config.Problem
	for _, key := range []string{"temperature", "max_tokens", "top_p", "endpoint", "api_key"} {
		if m.Wrote(key) {
			problems = append(problems, m.Problem(config.SeverityWarning, key, config.CodeNoEffect,
				"has no effect on the offline model", ""))
		}
	}
	return problems
}

// models returns every model of an agent that answers in words, and so may
// carry a script.
func models(a *config.Agent) []*config.Model {
	list := []*config.Model{a.Model}
	for _, t := range a.Tools {
		if h, ok := t.(*config.HierarchicalDocumentTool); ok {
			list = append(list, h.ContextModel, h.RerankerModel)
		}
	}
	if a.Evaluations != nil {
		list = append(list, a.Evaluations.Model)
		list = append(list, judges(a.Evaluations.Metrics)...)
	}
	for _, c := range a.TestCases.Special() {
		list = append(list, judges(c.Evaluations)...)
		for j := range c.Turns {
			list = append(list, judges(c.Turns[j].Evaluations)...)
		}
	}
	return slices.DeleteFunc(list, func(m *config.Model) bool { return m == nil })
}

// judges returns the models that metrics name for themselves.
func judges(metrics []config.Metric) []*config.Model {
	var list []*config.Model
	for _, m := range metrics {
		switch m := m.(type) {
		case *config.StandardMetric:
			list = append(list, m.Model)
		case *config.GEvalMetric:
			list = append(list, m.Model)
		case *config.RAGMetric:
			list = append(list, m.Model)
		}
	}
	return list
}
