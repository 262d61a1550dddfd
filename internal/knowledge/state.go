package knowledge

import (
	"path/filepath"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
)

// stateDir returns the folder in which what is kept for the agent is.
func stateDir(a *config.Agent, opts Options) (string, error) {
	if opts.StateDir != "" {
		return opts.StateDir, nil
	}
	getenv := opts.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return durable.StateDir(a.Dir, getenv)
}

// cacheDir returns the folder of a cache, or "" where nothing can be kept: a
// cache only saves time.
func cacheDir(a *config.Agent, opts Options, name string) string {
	dir, err := stateDir(a, opts)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "cache", name)
}
