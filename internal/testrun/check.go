package testrun

import (
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
)

// Check finds what the test cases ask for and a run cannot do: matchers that
// cannot be compiled are errors; schemas that cannot be checked whole, and files
// of a kind that this build cannot read, are
// warnings, since they stop nobody from using the agent.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	check := func(tools []config.ExpectedTool, files []config.FileInput) {
		for _, e := range tools {
			x, err := toolmatch.Compile(e, a.Redactor)
			if err != nil {
				problems = append(problems, e.Problem(config.SeverityError, "args", config.CodeValue, err.Error(), ""))
				continue
			}
			for _, what := range x.Doubts() {
				problems = append(problems, e.Problem(config.SeverityWarning, "args", config.CodeValue, what, ""))
			}
		}
		for _, f := range files {
			if f.Path == nil && f.URL == nil {
				continue // loading has said so
			}
			if why := unreadable(f); why != "" {
				problems = append(problems, f.Problem(config.SeverityWarning, "", config.CodeUnsupported,
					why, "its case will fail"))
			}
		}
	}
	for _, tc := range a.TestCases.Special() {
		c, _ := tc.Expand(0) // what is wrong with one combination of its vars mostly is with all
		check(c.ExpectedTools, c.Files)
		for _, t := range c.Turns {
			check(t.ExpectedTools, t.Files)
		}
	}
	return problems
}
