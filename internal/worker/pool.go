package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/proc"
)

// Bounds of the work.
const (
	// MaxResult is the longest result of a call, in characters of JSON.
	MaxResult = 16 << 20
	// startTime bounds the start of an interpreter, which has none of the user's
	// code to run yet.
	startTime = 30 * time.Second
)

// Options says how user code runs.
type Options struct {
	// Dir is the agent's folder: the working folder of all code, and where Python
	// looks for modules first.
	Dir string
	// Lookup knows the variables of this process, of which code gets what
	// proc.Inherited says; nil knows none.
	Lookup func(name string) (string, bool)
	// MemoryLimit bounds the memory of a process, in bytes; 0 is no bound. Where the
	// system cannot bound it there is none.
	MemoryLimit int64
	// Log is told each line that code prints; nil is told nothing.
	Log *slog.Logger
}

// Pool runs the code of one agent. It starts nothing by itself. It is safe for
// concurrent use; whoever makes one closes it, after all that uses it.
type Pool struct {
	opts Options
	open context.Context // until Close
	end  context.CancelFunc
	wg   sync.WaitGroup // of every interpreter
	// alone is held by a call that has an interpreter to itself.
	alone chan struct{}

	mu     sync.Mutex
	closed bool
	starts map[string]*startup // the newest, by environment
}

// ErrClosed is the error of a call of a closed Pool.
var ErrClosed = errors.New("the agent was closed")

// New returns a Pool.
func New(opts Options) *Pool {
	if abs, err := filepath.Abs(opts.Dir); err == nil {
		opts.Dir = abs
	}
	if opts.Lookup == nil {
		opts.Lookup = func(string) (string, bool) { return "", false }
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if !proc.CanLimitMemory() {
		opts.MemoryLimit = 0
	}
	p := &Pool{opts: opts, starts: map[string]*startup{}, alone: make(chan struct{}, 1)}
	p.open, p.end = context.WithCancel(context.Background())
	return p
}

// Close ends every interpreter, with the calls that are under way, and returns
// when they are gone. It is idempotent.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end()
	p.wg.Wait()
	return nil
}

// startup is an interpreter that was started or is about to be.
type startup struct {
	done    chan struct{} // closed when the fields below are set
	process *process
	err     error
}

// useful reports whether calls may wait for it or be made in it.
func (s *startup) useful() bool {
	select {
	case <-s.done:
		return s.err == nil && s.process.takesCalls()
	default:
		return true
	}
}

// interpreter returns an interpreter for code of an environment, started if need
// be. Who waits for the start of another's does so under ctx.
func (p *Pool) interpreter(ctx context.Context, env Env) (*process, error) {
	key := strings.Join(env.entries(), "\x00")
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	s := p.starts[key]
	if s == nil || !s.useful() {
		s = &startup{done: make(chan struct{})}
		p.starts[key] = s
		p.wg.Go(func() { p.start(s, env) })
	}
	p.mu.Unlock()
	select {
	case <-s.done:
		return s.process, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start starts an interpreter and stays with it to its end.
func (p *Pool) start(s *startup, env Env) {
	s.process, s.err = p.startProcess(env)
	if s.err != nil && p.open.Err() != nil {
		s.err = ErrClosed
	}
	close(s.done)
	if s.err == nil {
		s.process.supervise(p.open)
	}
}

// Env is what an agent file declares of the environment of a piece of code.
type Env map[string]string

// entries returns the variables as KEY=VALUE, in order.
func (e Env) entries() []string {
	entries := make([]string, 0, len(e))
	for name, value := range e {
		entries = append(entries, name+"="+value)
	}
	slices.Sort(entries)
	return entries
}

// environment returns the whole environment of code. What the file declares wins.
func (p *Pool) environment(env Env) []string {
	all := slices.DeleteFunc(proc.Inherited(p.opts.Lookup), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, declared := env[name]
		return declared
	})
	return append(all, env.entries()...)
}

// Python returns the interpreter that runs the agent's Python code: its path and
// the arguments that come first. The error says where it was looked for.
func (p *Pool) Python() (string, error) {
	if named, ok := p.opts.Lookup("HOLODECK_PYTHON"); ok && named != "" {
		path, err := p.program(named)
		if err != nil {
			return "", fmt.Errorf("HOLODECK_PYTHON names no Python interpreter: %w", err)
		}
		return path, nil
	}
	for _, inVenv := range []string{".venv/bin/python", ".venv/Scripts/python.exe"} {
		if path, err := p.program(filepath.Join(p.opts.Dir, filepath.FromSlash(inVenv))); err == nil {
			return path, nil
		}
	}
	var failed error
	for _, name := range pythonNames() {
		path, err := p.program(name)
		if err == nil {
			return path, nil
		}
		failed = cmp.Or(failed, err)
	}
	return "", fmt.Errorf("no Python interpreter: %w, and %s is not there; install Python 3.9 or later, or set HOLODECK_PYTHON",
		failed, filepath.Join(p.opts.Dir, ".venv"))
}
