package testrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// Options says how a run goes.
type Options struct {
	// Parallel is how many cases run at once; 0 means what the agent file says.
	Parallel int
	// Code runs graders; an agent that has one needs it.
	Code *worker.Pool
	// HTTP fetches files of test cases at addresses; nil is http.DefaultClient.
	HTTP *http.Client
	// NoFetch says that no file is fetched: those that were fetched before are
	// there.
	NoFetch bool
	// CacheDir is where fetched files are kept; empty means what the agent file
	// says.
	CacheDir string
	// Plan says what runs; nil means every case of the agent, as often as it
	// says. It is one of NewPlan for the same agent.
	Plan *Plan
	// FailFast says that no further case starts once one has failed. Those under
	// way are finished.
	FailFast bool
	// Progress is told of cases as they start and finish; nil means nobody.
	Progress Progress
	// Earlier returns what an earlier part of the run has of an attempt, counted
	// from 1, or nil. Such an attempt does not run and is shown to nobody, but it
	// is counted and goes to Results. An error ends the run. nil means that this
	// is the first part.
	Earlier func(index, attempt int) (*runs.Case, error)
	// Finished takes each attempt as soon as it has finished, before Progress is
	// told; nil means nobody.
	Finished func(*runs.Case)
	// Shared names the server that all cases share and that a call of a tool may
	// change, by the tool's canonical name; empty when there is none. nil knows of
	// none.
	Shared func(tool string) string
	// Results takes each finished case, in the order of the agent file. An error
	// ends the run. nil means nobody.
	Results func(*runs.Case) error
}

// Progress is told how a run goes, attempt by attempt; number counts the attempts
// of the run from 0, in the order in which they start. Its methods are called
// from one goroutine and never after Run returned. They must not keep the case.
type Progress interface {
	CaseStarted(number int, title string)
	CaseFinished(number int, c *runs.Case)
}

// Run runs the agent's test cases on b and returns the counts. Secrets are
// masked in everything that is handed on.
//
// When ctx is cancelled, the cases under way are given up, those that finished
// are handed on, and the error is the cause. An error of Results, or an agent
// that cannot be opened (*agent.BackendInitError) or lost tools that it needs
// (*agent.ToolsLostError), ends the run in the same way.
// A failed case is no error.
func Run(ctx context.Context, env agent.Env, a *config.Agent, b agent.Backend, opts Options) (_ runs.Summary, err error) {
	r, err := newRunner(env, a, b, opts.Code)
	if err != nil {
		return runs.Summary{}, err
	}
	r.files = newFiles(a, b.Capabilities(), opts)
	defer func() { err = errors.Join(err, r.files.Close()) }()
	plan := opts.Plan
	if plan == nil {
		if plan, err = NewPlan(a, Selection{}); err != nil {
			return runs.Summary{}, err
		}
	}
	parallel := opts.Parallel
	if parallel <= 0 {
		parallel = max(1, a.Execution.ParallelTestCases)
	}
	r.slots = make(chan struct{}, metricsAtOnce*parallel)
	start := env.Now()
	s := schedule{
		runner:   r,
		plan:     plan,
		parallel: min(parallel, max(1, plan.Attempts)),
		failFast: opts.FailFast,
		progress: opts.Progress,
		earlier:  opts.Earlier,
		finished: opts.Finished,
		results:  opts.Results,
		sharing:  sharing{serverOf: opts.Shared},
		early:    map[int]*runs.Case{},
		summary:  runs.Summary{Total: plan.Cases, Attempts: runs.Attempts{Total: plan.Attempts}},
	}
	err = s.run(ctx)
	s.summary.Elapsed = env.Now().Sub(start)
	s.summary.Notes = s.sharing.notes()
	return s.summary, err
}

// runner is what the cases of a run share.
type runner struct {
	env     agent.Env
	agent   *config.Agent
	backend agent.Backend
	names   *toolmatch.Names
	files   *files
	metrics []*eval.Metric // of the agent, for cases that have none of their own
	search  bool           // the agent has a tool that retrieves
	eval    eval.Options
	slots   chan struct{} // one for each metric at work
}

// metricsAtOnce is how many metrics work at once for each case that runs at
// once. It bounds those that wait for somebody else.
const metricsAtOnce = 4

func newRunner(env agent.Env, a *config.Agent, b agent.Backend, code *worker.Pool) (*runner, error) {
	r := &runner{
		env:     env,
		agent:   a,
		backend: b,
		names:   toolmatch.NewNames(a.Tools),
		search:  hasSearch(a.Tools),
		eval:    eval.Options{Offline: a.Offline, Code: code},
	}
	if a.Evaluations != nil {
		metrics, err := eval.NewMetrics(a.Evaluations.Metrics, r.eval)
		if err != nil {
			return nil, fmt.Errorf("evaluations: %w", err)
		}
		r.metrics = metrics
	}
	return r, nil
}

// hasSearch reports whether one of the tools retrieves.
func hasSearch(tools []config.Tool) bool {
	for _, t := range tools {
		switch t := t.(type) {
		case *config.VectorstoreTool, *config.HierarchicalDocumentTool:
			return true
		case *config.MCPTool:
			if t.IsRetrieval {
				return true
			}
		}
	}
	return false
}
