package eval

import (
	"fmt"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
)

// Check finds metrics that cannot be used, and warns of those that this build
// cannot compute and of settings that do nothing for the metric they stand at.
// With --offline, where what cannot be computed is expected to be skipped, that
// is passed over.
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
	base := entry.Base()
	if code, ok := entry.(*config.CodeMetric); ok {
		if key, err := grader.Check(code); err != nil {
			return []config.Problem{base.Problem(config.SeverityError, key, config.CodeValue, err.Error(), "")}
		}
		return nil
	}
	m, err := newMetric(entry, Options{})
	if err != nil {
		if standard, ok := entry.(*config.StandardMetric); ok && standard.Metric == "json_schema" && standard.JSONSchema == nil {
			return nil // loading has said so
		}
		return []config.Problem{base.Problem(config.SeverityError, "", config.CodeValue, fmt.Sprintf("metric %s: %v", entry.Name(), err), "")}
	}
	var problems []config.Problem
	if standard, ok := entry.(*config.StandardMetric); ok {
		problems = checkSettings(standard, m)
	}
	if m.scorer != nil || offline {
		return problems
	}
	consequence, hint := ", which fails a case it applies to", "set enabled: false or on_missing: ignore, or run with --offline, where it does not count"
	if m.ignoreMissing {
		consequence, hint = " without counting", ""
	}
	return append(problems, base.Problem(config.SeverityWarning, "", config.CodeUnsupported,
		fmt.Sprintf("this build cannot compute %s yet, so %s will be skipped%s", describe(entry), entry.Name(), consequence), hint))
}

// settings are the keys that mean something to some standard metrics only.
func settings() []string {
	return []string{
		"model", "custom_prompt", "response_path", "case_insensitive", "strip_punctuation", "strip_whitespace",
		"absolute_tolerance", "relative_tolerance", "accept_percent", "accept_thousands_separators",
		"pattern", "schema", "min", "max",
	}
}

// checkSettings warns of settings of a standard metric that do nothing, and of a
// threshold that no score reaches.
func checkSettings(entry *config.StandardMetric, m *Metric) []config.Problem {
	var problems []config.Problem
	warn := func(key, text, hint string) {
		problems = append(problems, entry.Problem(config.SeverityWarning, key, config.CodeNoEffect, text, hint))
	}
	f, _ := newFamily(entry) // newMetric has seen its error
	for _, key := range settings() {
		if entry.Wrote(key) && !slices.Contains(f.keys, key) {
			warn(key, fmt.Sprintf("has no effect on %s", entry.Metric), "remove it")
		}
	}
	if f, ok := m.scorer.(follows); ok {
		for _, what := range f.schema.Unchecked() {
			problems = append(problems, entry.Problem(config.SeverityWarning, "schema", config.CodeUnsupported, what+"; this cannot be checked",
				"an answer that follows the rest ends in an error; patterns are those of RE2, and references stay within the schema"))
		}
	}
	if isJudge(entry) {
		return problems
	}
	if entry.Wrote("retry_on_failure") {
		warn("retry_on_failure", fmt.Sprintf("does not help %s, which asks nobody: its error is the same every time", entry.Metric), "remove it")
	}
	if m.threshold == nil {
		if entry.Wrote("scale") {
			warn("scale", "has no effect without a threshold", "give one, or remove it")
		}
		return problems
	}
	if *m.threshold > 1 {
		hint := "give a threshold between 0 and 1, or say scale: 100 if it is out of 100"
		if entry.Scale != nil {
			hint = fmt.Sprintf("give a threshold between 0 and the scale, %d", *entry.Scale)
		}
		warn("threshold", fmt.Sprintf("no score reaches %v: scores lie between 0 and 1", *m.threshold), hint)
	}
	return problems
}
