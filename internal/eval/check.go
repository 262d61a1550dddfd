package eval

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Check warns of metrics that this build cannot compute, and of keys that do
// nothing for the metric they stand at. With --offline, where such a metric is
// expected to be skipped, only the latter remain.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	check := func(list []config.Metric) {
		for _, entry := range list {
			if entry.Base().Enabled && entry.Name() != "" { // without a name loading has complained already
				problems = append(problems, checkMetric(entry, a.Offline)...)
			}
		}
	}
	if a.Evaluations != nil {
		check(a.Evaluations.Metrics)
	}
	for _, c := range a.TestCases.Special() {
		check(c.Evaluations)
		for _, turn := range c.Turns {
			check(turn.Evaluations)
		}
	}
	return problems
}

func checkMetric(entry config.Metric, offline bool) []config.Problem {
	if m, ok := entry.(*config.StandardMetric); ok && newScorer(m) != nil {
		return checkKeys(m)
	}
	if offline {
		return nil
	}
	consequence, hint := ", which fails a case it applies to", "set enabled: false or on_missing: ignore, or run with --offline, where it does not count"
	if m, err := newMetric(entry, Options{}); err == nil && m.ignoreMissing {
		consequence, hint = " without counting", ""
	}
	return []config.Problem{entry.Base().Problem(config.SeverityWarning, "", config.CodeUnsupported,
		fmt.Sprintf("this build cannot compute %s yet, so %s will be skipped%s", describe(entry), entry.Name(), consequence), hint)}
}

// checkKeys warns of keys that mean nothing to a metric which is computed from
// the text alone, at once and the same every time.
func checkKeys(m *config.StandardMetric) []config.Problem {
	var problems []config.Problem
	for _, key := range []string{"retry_on_failure", "timeout_ms"} {
		if m.Wrote(key) {
			problems = append(problems, m.Problem(config.SeverityWarning, key, config.CodeNoEffect,
				fmt.Sprintf("has no effect on %s, which asks nobody", m.Metric), "remove it"))
		}
	}
	return problems
}
