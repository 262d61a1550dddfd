package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// CloseGrace is how long Close waits for calls that were cancelled.
const CloseGrace = 5 * time.Second

// bound is how long one call may take, and which key says so.
type bound struct {
	limit time.Duration
	key   string // such as "tools[2].timeout"; empty when no file says it
	// asks says that the tool may ask a person, whose time does not count.
	asks bool
}

var (
	errCancelled = errors.New("cancelled")
	errTurnOver  = errors.New("cancelled: the turn ran out of time before the tool answered")
	errClosed    = errors.New("cancelled: the agent was closed")
	errNoResult  = errors.New("the tool ended without a result")
)

// deadline ends a call after a bound. It returns then even when the tool does
// not: the goroutine of such a call belongs to running, which waits for it.
func deadline(b bound, r *running) Link {
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			type outcome struct {
				result agent.ToolResult
				err    error
			}
			if err := context.Cause(ctx); err != nil {
				return agent.ToolResult{}, cancelled(ctx)
			}
			if !r.begin(c.Name) {
				return agent.ToolResult{}, errClosed
			}
			callCtx, cancel := b.start(ctx)
			defer cancel()
			defer context.AfterFunc(r.open, cancel)()

			done := make(chan outcome, 1)
			go func() {
				defer r.end(c.Name)
				o := outcome{err: errNoResult} // when the tool ends its goroutine
				defer func() { done <- o }()
				o.result, o.err = next(callCtx, c)
			}()

			var o outcome
			select {
			case o = <-done:
			case <-callCtx.Done():
				o.err = callCtx.Err()
				select {
				case o = <-done: // it made it at the last moment, or says why not
				case <-time.After(b.lastWord()):
				}
			}
			switch {
			case o.err == nil:
				return o.result, nil
			case ctx.Err() != nil:
				return agent.ToolResult{}, cancelled(ctx)
			case errors.Is(context.Cause(callCtx), context.DeadlineExceeded):
				if saysWhy(o.err) {
					return agent.ToolResult{}, o.err
				}
				return agent.ToolResult{}, b.passed(c.Name)
			case callCtx.Err() != nil:
				return agent.ToolResult{}, errClosed
			}
			return agent.ToolResult{}, o.err
		}
	}
}

// start returns the context of a call, which ends when the bound has passed.
func (b bound) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.asks {
		return withStopwatch(ctx, b.limit)
	}
	return context.WithTimeout(ctx, b.limit)
}

// lastWord is how long a call that took too long may take to say why: a server has
// more to tell than that it did not answer.
func (b bound) lastWord() time.Duration {
	if b.asks {
		return 250 * time.Millisecond
	}
	return 0
}

// saysWhy reports whether the error of a call that took too long is a tool's own.
func saysWhy(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && errors.As(err, new(*agent.ToolError))
}

// passed is the error of a call that took too long.
func (b bound) passed(name string) error {
	if b.key == "" {
		return fmt.Errorf("%s did not answer within %s", name, b.limit)
	}
	return fmt.Errorf("%s did not answer within %s, the bound of %s; ask it for less, or raise the bound", name, b.limit, b.key)
}

// cancelled says why a call was cancelled whose ctx has ended.
func cancelled(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTurnOver
	}
	return errCancelled
}

// running owns the goroutines of the calls that are under way.
type running struct {
	open  context.Context // until stop
	close context.CancelFunc

	mu      sync.Mutex
	stopped bool
	calls   map[string]int // by tool
	idle    chan struct{}  // closed when stopped and no call is left
}

func newRunning() *running {
	open, cancel := context.WithCancel(context.Background())
	return &running{open: open, close: cancel, calls: map[string]int{}, idle: make(chan struct{})}
}

// begin takes a call on, unless stop was called.
func (r *running) begin(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	r.calls[name]++
	return true
}

// end says that a call that was begun has returned.
func (r *running) end(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[name]--
	if r.calls[name] == 0 {
		delete(r.calls, name)
	}
	if r.stopped && len(r.calls) == 0 {
		close(r.idle)
	}
}

// stop cancels all calls and waits up to CloseGrace for them. It is called once.
func (r *running) stop() error {
	r.close()
	r.mu.Lock()
	r.stopped = true
	if len(r.calls) == 0 {
		close(r.idle)
	}
	r.mu.Unlock()

	grace := time.NewTimer(CloseGrace)
	defer grace.Stop()
	select {
	case <-r.idle:
		return nil
	case <-grace.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(r.calls))
	return fmt.Errorf("close tools: %s did not return within %s of being cancelled and was left behind", strings.Join(names, ", "), CloseGrace)
}
