package cli

import (
	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

// loadOptions returns what loading an agent takes from the process.
func (a *app) loadOptions() check.Options {
	return check.Options{Options: config.Options{Environ: a.Environ, Home: a.Home, WorkDir: a.WorkDir}}
}
