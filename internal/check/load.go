package check

import (
	"github.com/holodeck-go/holodeck/internal/config"
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
	return agent, problems
}
