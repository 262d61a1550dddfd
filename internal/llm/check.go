package llm

import (
	"fmt"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// Check says what is wrong with the scripts of an agent's models, what is missing
// to reach the agent's own and those of its prompt tools, and what they cannot do;
// it warns of keys a model does not heed. What --offline replaced it leaves alone.
func Check(a *config.Agent) []config.Problem { return check(a, a.Model) }

// CheckBeside is Check for an agent whose runtime reaches the agent's own model by
// itself. What else asks that model is reached from here.
func CheckBeside(a *config.Agent) []config.Problem {
	for _, t := range a.Tools {
		if p, ok := t.(*config.PromptTool); ok && p.Model == nil {
			return check(a, a.Model)
		}
	}
	return check(a, nil)
}

func check(a *config.Agent, own *config.Model) []config.Problem {
	var problems []config.Problem
	for _, m := range append(models(a), promptModels(a)...) {
		if m != nil && m.Provider == config.ProviderOffline && !a.Offline {
			problems = append(problems, idle(m)...)
		}
	}
	for _, m := range models(a) {
		_, found := readScript(m)
		for _, p := range found {
			if p.Code != config.CodeReference { // config has said that already
				problems = append(problems, p)
			}
		}
	}
	for _, m := range append([]*config.Model{own}, promptModels(a)...) {
		if m == nil || m.Provider == "" || m.Provider == config.ProviderOffline {
			continue
		}
		access, missing := provider.Resolve(m, a.Variable)
		if !a.Replay { // what is played from a record needs none
			problems = append(problems, missing...)
		}
		problems = append(problems, limits(m, access.Route)...)
	}
	return problems
}

// promptModels returns the models that prompt tools have for themselves.
func promptModels(a *config.Agent) []*config.Model {
	var list []*config.Model
	for _, t := range a.Tools {
		if p, ok := t.(*config.PromptTool); ok && p.Model != nil {
			list = append(list, p.Chat)
		}
	}
	return list
}

// limits says what a section asks of its model and the model cannot do.
func limits(m *config.Model, route provider.Route) []config.Problem {
	var problems []config.Problem
	warn := func(key, why string) {
		if m.Wrote(key) {
			problems = append(problems, m.Problem(config.SeverityWarning, key, config.CodeNoEffect, "has no effect: "+why, ""))
		}
	}
	switch m.Provider {
	case config.ProviderOpenAI, config.ProviderAzureOpenAI:
		if isReasoning(m.Name) {
			warn("temperature", fmt.Sprintf("%s thinks before it answers, and takes none", m.Name))
			warn("top_p", fmt.Sprintf("%s thinks before it answers, and takes none", m.Name))
		}
		if route == provider.AzureDeployment && m.API != nil && *m.API == config.APIResponses {
			problems = append(problems, m.Problem(config.SeverityError, "api", config.CodeUnsupported,
				"Azure speaks responses only without a dated api_version", "remove api_version, or api"))
		}
	case config.ProviderAnthropic:
		if m.Wrote("temperature") && takesOneOfTemperatureAndTopP(m.Name) {
			warn("top_p", fmt.Sprintf("%s takes temperature or top_p, not both", m.Name))
		}
		if m.Temperature != nil && *m.Temperature > 1 {
			problems = append(problems, m.Problem(config.SeverityError, "temperature", config.CodeUnsupported,
				fmt.Sprintf("is %g, and anthropic takes 0 to 1", *m.Temperature), "lower it"))
		}
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
	for _, m := range promptModels(a) {
		if m != nil && (m.Wrote("script") || m.Wrote("script_file")) {
			list = append(list, m)
		}
	}
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
