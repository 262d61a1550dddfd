package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/netclient"
	"github.com/holodeck-go/holodeck/internal/telemetry"
	"github.com/holodeck-go/holodeck/internal/tool"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// openOptions is what the flags of a command say on opening an agent.
type openOptions struct {
	offline     bool          // --offline
	forceIngest bool          // --force-ingest
	reindex     bool          // --reindex
	searchOnly  bool          // nothing is opened but search tools
	model       string        // --model, or ""
	degrade     bool          // an agent whose servers cannot be reached is opened, too
	elicitor    *elicitor     // asks a person what servers want to know; nil where there is none
	parallel    bool          // cases run side by side, as the execution section says
	tape        tapeOptions   // --record and --replay
	execution   []config.Flag // settings of the execution section
}

// set adds a setting of the execution section.
func (o *openOptions) set(flag, key, value string) {
	o.execution = append(o.execution, config.Flag{Name: flag, Key: key, Value: value})
}

// openedAgent is an agent that can be talked to.
type openedAgent struct {
	config *config.Agent
	// env is where the run takes its times and ids from: those of the record, if
	// there is one.
	env     agent.Env
	backend agent.Backend
	set     *tool.Set
	code    *worker.Pool // of functions, graders and hook scripts
	models  *llm.Models
	tape    *tape
	trace   *telemetry.Telemetry // nil when it is off
	http    *http.Client         // of models and embedders
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
	load.Replay = opts.tape.replay != ""
	load.Open = true
	load.Flags = opts.execution
	load.Model = opts.model
	loaded, problems := check.Load(path, load)
	if loaded != nil {
		a.mask(loaded.Redactor)
		a.heed(loaded.Execution)
	}
	if opts.searchOnly && loaded != nil {
		problems = withoutUnusedKeys(loaded, problems)
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

// open opens a loaded agent. What a person should know of it goes to stderr.
func (a *app) open(ctx context.Context, loaded *config.Agent, opts openOptions) (_ *openedAgent, err error) {
	o := &openedAgent{config: loaded}
	if o.http, err = netclient.New(loaded.Variable); err != nil {
		return nil, &config.Error{Problems: []config.Problem{{Severity: config.SeverityError, Code: config.CodeValue, Text: err.Error()}}}
	}
	if o.tape, err = a.openTape(loaded, opts.tape); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	if o.trace, err = telemetry.Open(ctx, a.env, loaded, telemetry.Options{
		Version: versionNumber(a.Version), HTTP: o.http, Console: a.Stderr, Quiet: a.quiet, Getenv: a.variable, Notice: a.notice,
	}); err != nil {
		return nil, err
	}
	o.http = &http.Client{Transport: o.trace.Transport(o.http.Transport)}
	env := a.env
	env.Log = o.trace.Log(env.Log)
	o.env = o.tape.env(env)
	if o.models, err = a.models(env, o, opts); err != nil {
		return nil, err
	}
	o.code = worker.New(worker.Options{
		Dir: loaded.Dir, MemoryLimit: int64(loaded.Execution.CodeMemoryMB) << 20, Log: env.Log,
		Lookup: func(name string) (string, bool) {
			value := loaded.Variable(name)
			return value, value != ""
		},
	})
	progress := &indexProgress{w: a.Stderr, terminal: a.StderrTerminal && a.escapes(), quiet: a.quiet}
	o.set, err = tool.Open(ctx, env, loaded, tool.Options{
		Getenv:      a.variable,
		HTTP:        o.http,
		Models:      o.models,
		Code:        o.code,
		ForceIngest: opts.forceIngest,
		Version:     versionNumber(a.Version),
		Degrade:     opts.degrade,
		Elicit:      opts.elicitor.function(),
		Progress:    progress.report,
		Notice:      progress.say,
		Observe: func(ctx context.Context, c tool.Call, def *agent.Definition) (context.Context, func(agent.ToolCallFinished)) {
			return o.trace.ToolCall(ctx, c.Name, c.ID, c.Arguments, def)
		},
		Recorder: o.tape.recorder,
		Player:   o.tape.player,
	})
	progress.done()
	if err != nil && ctx.Err() != nil {
		return nil, &cutShort{"the index of every tool is the last that was complete", err}
	}
	if err != nil {
		return nil, fmt.Errorf("open the tools of %s: %w", loaded.File, err)
	}
	if o.backend, err = o.openBackend(ctx, loaded); err != nil {
		return nil, err
	}
	return o, nil
}

// openBackend opens the agent on its runtime, with the tools that are open.
func (o *openedAgent) openBackend(ctx context.Context, loaded *config.Agent) (agent.Backend, error) {
	b, err := backend.Open(ctx, o.env, loaded, o.set, o.models, backend.Options{
		HTTP: o.http, Recorder: o.tape.recorder, Player: o.tape.player,
	})
	if err != nil {
		return nil, err
	}
	return o.trace.Backend(b), nil
}

// notice tells a person something that is no result.
func (a *app) notice(message string) {
	if !a.quiet {
		fmt.Fprintln(a.Stderr, message)
	}
}

// models returns the models of the command that opens an agent.
func (a *app) models(env agent.Env, opened *openedAgent, opts openOptions) (*llm.Models, error) {
	o := llm.Options{
		Decorators: []llm.Decorator{opened.trace.Model},
		Getenv:     opened.config.Variable, HTTP: opened.http,
		Redactor: opened.config.Redactor, Recorder: opened.tape.recorder, Player: opened.tape.player,
	}
	if opts.parallel {
		o.Parallel = opened.config.Execution.ParallelTestCases
	}
	var err error
	if o.Prices, err = price.Open(a.variable, a.Home); err != nil && o.Player == nil {
		return nil, err // loading has said so, unless the file was changed since
	}
	return llm.Open(env, o), nil
}

// variable returns a variable of the process's environment, or "".
func (a *app) variable(name string) string {
	value, _ := a.getenv(name)
	return value
}

// Close closes the backend, then the tools and the code it used, ends a recording, and
// delivers what telemetry is left.
func (o *openedAgent) Close() error {
	var errs []error
	if o.backend != nil {
		errs = append(errs, o.backend.Close())
	}
	if o.set != nil {
		errs = append(errs, o.set.Close())
	}
	if o.code != nil {
		errs = append(errs, o.code.Close())
	}
	errs = append(errs, o.tape.Close(), o.trace.Close())
	o.http.CloseIdleConnections()
	return errors.Join(errs...)
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
