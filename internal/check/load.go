package check

import (
	"strings"

	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/telemetry"
	"github.com/holodeck-go/holodeck/internal/testrun"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// Options says how an agent is loaded.
type Options struct {
	config.Options
	// Offline replaces every model, embedder and store by what needs no
	// account, and leaves out what cannot do without one.
	Offline bool
	// Replay says that the agent is played from a record, which needs none of the
	// credentials and addresses of what is outside.
	Replay bool
	// Open says that the agent is about to be opened: a key that is missing is an
	// error then, and a warning otherwise.
	Open bool
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
	if opts.Replay {
		agent.Replay = true
		problems = excuseReplay(problems)
	}
	known := map[subject]bool{} // the same problem was found already
	wrong := map[string]bool{}  // paths of what has an error, and of all that it is part of
	for _, p := range problems {
		known[subject{p.Pos, p.Path, p.Code}] = true
		if p.Severity == config.SeverityError {
			for path := p.Path; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
				wrong[path] = true
			}
		}
	}
	for _, check := range rooms() {
		for _, p := range check(agent) {
			if !known[subject{p.Pos, p.Path, p.Code}] && !wrong[p.Path] {
				problems = append(problems, p)
			}
		}
	}
	problems = append(problems, prices(agent, opts)...)
	for i := range problems {
		if problems[i].Code == config.CodeCredential && !opts.Open {
			problems[i].Severity = config.SeverityWarning
		}
	}
	config.SortProblems(problems)
	return agent, problems
}

// prices checks the agent's budget against what its models cost.
func prices(agent *config.Agent, opts Options) []config.Problem {
	if agent.Replay {
		return nil // what calls cost is part of the record
	}
	table, err := price.Open(opts.Getenv, opts.Home)
	if err != nil {
		return []config.Problem{{Severity: config.SeverityError, Code: config.CodeReference, Text: err.Error()}}
	}
	return price.Check(agent, table)
}

// rooms returns the checks of the rooms that know limits of their own. Each is
// given the agent even when it has errors, so that all problems come at once:
// what could not be decoded is absent from it.
func rooms() []func(*config.Agent) []config.Problem {
	return []func(*config.Agent) []config.Problem{
		models, llm.CheckFormat, backend.Check, tool.Check, knowledge.Check, embed.Check, eval.Check, testrun.Check, telemetry.Check, unread,
	}
}

// models checks the models of an agent: all but the one that its runtime reaches by
// itself.
func models(a *config.Agent) []config.Problem {
	if backend.ReachesModel(a) {
		return llm.CheckBeside(a)
	}
	return llm.Check(a)
}

// subject is what a problem is about. A room has nothing to add where the same
// problem was found, or about what has an error or holds something that has: it
// would speak of a value that is not there.
type subject struct {
	pos        config.Pos
	path, code string
}
