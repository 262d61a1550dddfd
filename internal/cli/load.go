package cli

import (
	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

// loadOptions returns what loading an agent takes from the process.
func (a *app) loadOptions() check.Options {
	return check.Options{Options: config.Options{Environ: a.Environ, Home: a.Home, WorkDir: a.WorkDir}}
}

// heed takes from the execution section how much is said, where no flag says it.
func (a *app) heed(e config.Execution) {
	if a.quiet || a.verbose > 0 {
		return
	}
	a.quiet = e.Quiet
	if e.Verbose {
		a.verbose = 1
	}
}
