package check

import (
	"slices"

	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/testrun"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// Options says how an agent is loaded.
type Options struct {
	config.Options
	// Offline replaces every model, embedder and store by what needs no
	// account, and leaves out what cannot do without one.
	Offline bool
}

// Load loads the agent file at path, or the one in the folder at path, and
// checks it. It returns all problems, sorted by position. When one of them is
// an error the agent must not be used; it is nil when the file could not be
// read at all.
func Load(path string, opts Options) (*config.Agent, []config.Problem) {
	agent, problems := config.Load(path, opts.Options)
	if agent == nil {
		return nil, problems
	}
	if opts.Offline {
		problems = excuse(problems, takeOffline(agent))
	}
	for _, check := range rooms() {
		for _, p := range check(agent) {
			if !known(problems, p) {
				problems = append(problems, p)
			}
		}
	}
	config.SortProblems(problems)
	return agent, problems
}

// rooms returns the checks of the rooms that know limits of their own. Each is
// given the agent even when it has errors, so that all problems come at once:
// what could not be decoded is absent from it.
func rooms() []func(*config.Agent) []config.Problem {
	return []func(*config.Agent) []config.Problem{
		llm.Check, backend.Check, tool.Check, knowledge.Check, embed.Check, eval.Check, testrun.Check,
	}
}

// known reports whether the key that p is about has an error already.
func known(problems []config.Problem, p config.Problem) bool {
	return slices.ContainsFunc(problems, func(have config.Problem) bool {
		return have.Path == p.Path && have.Pos == p.Pos && (have.Severity == config.SeverityError || have.Code == p.Code)
	})
}
