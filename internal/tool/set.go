package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
)

// DefaultTimeout bounds a call of a tool that no agent file speaks of. It is
// the default of tools[].timeout.
const DefaultTimeout = 60 * time.Second

// Set is the tools of one agent, or, made from that, those of one of its sessions
// or of the child agent of a skill. It is safe for concurrent use. Whoever opens a set closes it, after
// every backend that uses it.
type Set struct {
	env         agent.Env
	redactor    *secret.Redactor
	permissions permissions
	hooks       *hook.Hooks       // nil when there are none
	within      bool              // calls are made within another, which is recorded as a whole
	running     *running          // shared with sets made from this one
	closers     []io.Closer       // what is closed with the set
	root        *Set              // the set that this one was made from; nil when Open made it
	keep        func(*entry) bool // which tools of the agent file the set has; nil is all
	session     string            // whose the set is, when it was made by ForSession
	observe     Observer          // nil: nobody watches
	// needsServers says that no turn begins without a server of the agent file.
	needsServers bool
	recorder     *cassette.Recorder
	player       *cassette.Player

	mu    sync.Mutex            // held while parts change
	parts []part                // in the order of the agent file
	told  map[string]string     // by server, what the session was last told of it
	now   atomic.Pointer[table] // what the parts come to
	// recorded is what a cassette has of the tools so far.
	recorded []described

	closing  sync.Once
	closeErr error
}

// Call is a tool call a model asked for.
type Call struct {
	ID        string
	Name      string          // canonical
	Arguments json.RawMessage // as the model gave them
	// Session, Turn and Ordinal say which call of which turn it is; Turn and
	// Ordinal count from 1.
	Session       string
	Turn, Ordinal int
	// User and Mode are those of the session.
	User string
	Mode agent.Mode
	// Approver is asked where permissions say so; nil refuses.
	Approver agent.Approver
	// Limits are what the turn has left, for a tool that asks models itself.
	Limits agent.Limits
	// Events is told of what such a tool does: model calls, and what a child agent
	// does. It hands an event of the sub-agent that the call named parent started
	// to the turn and waits until it has been taken, or until ctx has ended. It is
	// called before the call returns, from any goroutine. What it is told of counts
	// for the usage and the cost of the turn. nil is told nothing.
	Events func(ctx context.Context, parent string, e agent.Event) error
	// changed is told of the arguments that hooks made of the model's.
	changed func(json.RawMessage)
	// Now is where the call's times come from: calls run side by side, and each
	// has an Env scope of its own. nil means the Env the Set was opened with.
	Now func() time.Time
	// EndTurn is told, at most once and before the call returns, of a deadline of
	// the turn that had passed when the call was recorded: in a replay no time
	// passes. nil is told nothing.
	EndTurn func(error)
}

// Observer watches calls: it is told of the beginning of each, with the tool's
// definition or nil where there is no such tool, and returns the context the call
// runs in and what is told of its end. It is called from several goroutines at
// once.
type Observer func(ctx context.Context, c Call, def *agent.Definition) (context.Context, func(agent.ToolCallFinished))

// New returns a Set of tools that no agent file speaks of: all may be called,
// each call is bounded by DefaultTimeout, and closing the Set leaves the tools
// alone. Two tools of one name are an error.
func New(env agent.Env, tools ...agent.Tool) (*Set, error) {
	s := newSet(env, &config.Agent{})
	if err := s.begin([]part{{members: callersOwn(tools, false)}}); err != nil {
		return nil, err
	}
	return s, nil
}

// newSet returns a set without tools, under the permissions of an agent.
func newSet(env agent.Env, a *config.Agent) *Set {
	s := &Set{env: env, redactor: a.Redactor, permissions: permissionsOf(a), running: newRunning()}
	s.now.Store(&table{})
	return s
}

// Definitions returns what a model is told of the tools, in the order of the
// agent file. A tool that may never be called is not among them.
func (s *Set) Definitions() []agent.Definition {
	var defs []agent.Definition
	for _, e := range s.now.Load().order {
		if !e.rule.never() {
			defs = append(defs, e.def)
		}
	}
	return defs
}

// Has reports whether there is a tool, also one that may never be called.
func (s *Set) Has(canonical string) bool {
	_, ok := s.now.Load().entries[canonical]
	return ok
}

// Call runs a tool and returns when it has ended, was refused, or ran out of
// time. Cancelling ctx cancels the call. Many calls may run at once.
func (s *Set) Call(ctx context.Context, c Call) agent.ToolCallFinished {
	now := c.Now
	if now == nil {
		now = s.env.Now
	}
	f := agent.ToolCallFinished{CallID: c.ID, Name: c.Name, Start: now()}
	if s.observe != nil {
		var def *agent.Definition
		if e, ok := s.now.Load().entries[c.Name]; ok {
			def = &e.def
		}
		var ended func(agent.ToolCallFinished)
		ctx, ended = s.observe(ctx, c, def)
		defer func() { ended(f) }()
	}
	c.changed = func(args json.RawMessage) { f.Arguments = s.redactor.JSON(args) }
	result, err := s.dispatch(ctx, c)
	f.End = now()
	f.Result = result
	switch {
	case err != nil:
		f.Err = err.Error()
		f.Result = agent.TextResult("Error: " + f.Err)
		f.Result.IsError = true
	case result.IsError:
		f.Err = firstLine(result.Text())
	}
	return f
}

func (s *Set) dispatch(ctx context.Context, c Call) (agent.ToolResult, error) {
	e, ok := s.now.Load().entries[c.Name]
	if !ok {
		return agent.ToolResult{}, s.unknown(c.Name)
	}
	return e.handle(ctx, c)
}

// unknown is the error of a call of a tool that does not exist.
func (s *Set) unknown(name string) error {
	var names []string
	for _, d := range s.Definitions() {
		names = append(names, d.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no tool called %q; this agent has no tools", name)
	}
	return fmt.Errorf("there is no tool called %q; there are: %s", name, strings.Join(names, ", "))
}

// firstLine returns the first line of s, cut to what fits in a report.
func firstLine(s string) string {
	const longest = 200 // runes
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line == "" {
		return "the tool reported an error without saying which"
	}
	if runes := []rune(line); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return line
}

// Close cancels the calls that are under way, waits up to CloseGrace for them
// and closes what was opened with the set. A call that has still not returned is
// left behind, and the error names its tool: no Go program can stop a function
// that does not listen. Closing the set of a session leaves the calls to the set
// it is of. Close is idempotent.
func (s *Set) Close() error {
	s.closing.Do(func() {
		var stopped error
		if s.root == nil {
			stopped = s.running.stop()
		}
		s.closeErr = errors.Join(stopped, closeAll(s.closers))
	})
	return s.closeErr
}

// closeAll closes things side by side: a server may take its time to end.
func closeAll(closers []io.Closer) error {
	errs := make([]error, len(closers))
	var wg sync.WaitGroup
	for i, c := range closers {
		wg.Go(func() { errs[i] = c.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
