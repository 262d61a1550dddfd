package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// openOptions is what the flags of a command say on opening an agent.
type openOptions struct {
	offline     bool          // --offline
	forceIngest bool          // --force-ingest
	parallel    bool          // cases run side by side, as the execution section says
	execution   []config.Flag // settings of the execution section
}

// set adds a setting of the execution section.
func (o *openOptions) set(flag, key, value string) {
	o.execution = append(o.execution, config.Flag{Name: flag, Key: key, Value: value})
}

// openedAgent is an agent that can be talked to.
type openedAgent struct {
	config  *config.Agent
	backend agent.Backend
	set     *tool.Set
}

// openAgent loads the agent at path and opens it. Whoever calls it closes what
// it returns.
func (a *app) openAgent(ctx context.Context, path string, opts openOptions) (*openedAgent, error) {
	loaded, err := a.loadAgent(path, opts)
	if err != nil {
		return nil, err
	}
	return a.open(ctx, loaded, opts)
}

// loadAgent loads the agent at path. Warnings go to stderr. A file with errors
// is a *config.Error.
func (a *app) loadAgent(path string, opts openOptions) (*config.Agent, error) {
	load := a.loadOptions()
	load.Offline = opts.offline
	load.Flags = opts.execution
	loaded, problems := check.Load(path, load)
	if loaded != nil {
		a.mask(loaded.Redactor)
	}
	if config.HasErrors(problems) {
		return nil, &config.Error{Problems: problems}
	}
	if !a.quiet {
		for _, p := range problems {
			fmt.Fprintln(a.Stderr, p)
		}
	}
	return loaded, nil
}

// open opens a loaded agent. What is being waited for goes to stderr.
func (a *app) open(ctx context.Context, loaded *config.Agent, opts openOptions) (*openedAgent, error) {
	progress := &indexProgress{w: a.Stderr, terminal: a.StderrTerminal && a.escapes(), quiet: a.quiet}
	set, err := tool.Open(ctx, a.env, loaded, tool.Options{
		Getenv:      a.variable,
		ForceIngest: opts.forceIngest,
		Progress:    progress.report,
		OnWait:      progress.say,
	})
	progress.done()
	if err != nil {
		return nil, fmt.Errorf("open the tools of %s: %w", loaded.File, err)
	}
	models, err := a.models(loaded, opts)
	if err != nil {
		return nil, errors.Join(err, set.Close())
	}
	b, err := backend.Open(ctx, a.env, loaded, set, models)
	if err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return &openedAgent{config: loaded, backend: b, set: set}, nil
}

// models returns the models of the command that opens an agent.
func (a *app) models(loaded *config.Agent, opts openOptions) (*llm.Models, error) {
	prices, err := price.Open(a.variable, a.Home)
	if err != nil {
		return nil, err // loading has said so, unless the file was changed since
	}
	o := llm.Options{Prices: prices, Redactor: loaded.Redactor}
	if opts.parallel {
		o.Parallel = loaded.Execution.ParallelTestCases
	}
	return llm.Open(a.env, o), nil
}

// variable returns a variable of the process's environment, or "".
func (a *app) variable(name string) string {
	value, _ := a.getenv(name)
	return value
}

// Close closes the backend, and then the tools it used.
func (o *openedAgent) Close() error {
	return errors.Join(o.backend.Close(), o.set.Close())
}

// printLeftOut says what --offline replaced and left out, and what each would
// have needed.
func printLeftOut(w io.Writer, list []config.LeftOut) error {
	if len(list) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w, "Offline, these were replaced or left out:"); err != nil {
		return err
	}
	for _, l := range list {
		if _, err := fmt.Fprintf(w, "  %s: %s: %s (needs %s)\n", l.Path, l.What, l.Now, l.Need); err != nil {
			return err
		}
	}
	return nil
}
