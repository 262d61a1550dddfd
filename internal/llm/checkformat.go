package llm

import (
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// CheckFormat finds a response format that is no JSON Schema, and warns of what
// it says that answers are not held to.
func CheckFormat(a *config.Agent) []config.Problem {
	if a.Schema == nil {
		return nil
	}
	const key = "response_format"
	s, err := schema.Compile(a.Schema)
	if err != nil {
		return []config.Problem{a.Problem(config.SeverityError, key, config.CodeValue,
			"is not a JSON Schema that can be used: "+strings.TrimPrefix(err.Error(), "JSON Schema: "), "see json-schema.org")}
	}
	var problems []config.Problem
	for _, what := range s.Unchecked() {
		problems = append(problems, a.Problem(config.SeverityWarning, key, config.CodeUnsupported,
			what+" is not checked here", "the model is told of it; patterns that are checked are those of RE2, and references stay within the schema"))
	}
	return problems
}
