package testrun

import (
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
)

// Check finds what the test cases ask for and a run cannot do: matchers that
// cannot be compiled are errors; schemas that cannot be checked whole are
// warnings, since they stop nobody from using the agent.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	check := func(tools []config.ExpectedTool) {
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
	}
	for _, tc := range a.TestCases.Special() {
		c, _ := tc.Expand(0) // what is wrong with one combination of its vars mostly is with all
		check(c.ExpectedTools)
		for _, t := range c.Turns {
			check(t.ExpectedTools)
		}
	}
	return problems
}
