package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// ErrClosed is why a turn of a closed session fails.
var ErrClosed = errors.New("the session is closed")

var (
	errRangedTwice = errors.New("a turn runs once; call Send again for another")
	errReaderLeft  = errors.New("the reader of the turn left")
)

// Deadline bounds a turn. The zero Deadline does not.
type Deadline struct {
	After time.Duration
	Key   string // what sets it, such as "execution.turn_timeout"
}

// Func runs one turn. It emits the turn's events on t, from the goroutine it
// was called on, and returns how the turn finished. ctx ends when the turn is
// cut short, whoever cut it; Func then returns soon, with any error, after the
// work it began has stopped.
type Func func(ctx context.Context, t *Turn) (agent.TurnFinished, error)

// Sequencer runs the turns of one session, one at a time. Its methods may be
// called from any goroutine.
type Sequencer struct {
	backend  string
	now      func() time.Time
	deadline Deadline

	life  context.Context // ends when Close begins
	end   context.CancelFunc
	slot  chan struct{} // holds one token while a turn or a Do is under way
	close sync.Once
	turns int // turns that began; whoever holds the slot may use it
}

// NewSequencer returns a Sequencer of a session that has had some turns
// already. backend names the runtime in errors.
func NewSequencer(backend string, now func() time.Time, deadline Deadline, turns int) *Sequencer {
	life, end := context.WithCancel(context.Background())
	return &Sequencer{
		backend: backend, now: now, deadline: deadline, turns: turns,
		life: life, end: end, slot: make(chan struct{}, 1),
	}
}

// Send returns the turn that run makes, as agent.Session.Send promises. When
// its last event or its error reaches the reader, the turn is over: the next
// may begin, and the reader may call Do or Close.
func (s *Sequencer) Send(ctx context.Context, run Func) iter.Seq2[agent.Event, error] {
	var ranged atomic.Bool
	return func(yield func(agent.Event, error) bool) {
		if ranged.Swap(true) {
			yield(nil, s.failure(errRangedTwice))
			return
		}
		end, reading, err := s.turn(ctx, run, yield)
		if reading {
			yield(end, err)
		}
	}
}

// turn waits for its place, runs a turn and returns its end, and whether the
// reader is still there to read it.
func (s *Sequencer) turn(caller context.Context, run Func, yield func(agent.Event, error) bool) (end agent.Event, reading bool, err error) {
	if err := s.acquire(caller); err != nil {
		return nil, true, err
	}
	defer s.release()
	s.turns++
	ctx, cut := context.WithCancelCause(caller)
	defer cut(nil)
	defer context.AfterFunc(s.life, func() { cut(ErrClosed) })()
	if d := s.deadline; d.After > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, d.After, &agent.BackendTimeoutError{
			Backend: s.backend, What: fmt.Sprintf("turn (limit %s, %s)", d.After, d.Key), Err: context.DeadlineExceeded,
		})
		defer stop()
	}
	t := &Turn{number: s.turns, yield: yield, cut: cut, stamper: agent.NewStamper(s.now, s.turns)}
	finished, err := run(ctx, t)
	switch {
	case t.left:
		return nil, false, nil
	case err != nil:
		return nil, true, s.explain(caller, ctx, err)
	}
	return t.stamper.Stamp(finished, ""), true, nil
}

// Do calls f while no turn is under way, and after the turns that were sent
// before.
func (s *Sequencer) Do(ctx context.Context, f func() error) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	return f()
}

// Turns returns how many turns began. Only the f of Do may call it.
func (s *Sequencer) Turns() int { return s.turns }

// Close cancels the turn that is under way, waits until it has ended, and lets
// none begin after it. It is idempotent. Called while ranging over a turn that
// has not ended, it would wait for its own caller: break out first.
func (s *Sequencer) Close() {
	s.close.Do(func() {
		s.end()
		s.slot <- struct{}{} // for good
	})
}

// acquire waits until no turn is under way, for the caller or for the session
// to end.
func (s *Sequencer) acquire(ctx context.Context) error {
	// A caller that has gone, or a closed session, never wins against a free slot.
	if ctx.Err() != nil {
		return s.gone(ctx, "turn")
	}
	if s.life.Err() != nil {
		return s.failure(ErrClosed)
	}
	select {
	case s.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return s.gone(ctx, "wait for the turn before")
	case <-s.life.Done():
		return s.failure(ErrClosed)
	}
}

func (s *Sequencer) release() { <-s.slot }

// explain returns the error of a turn that failed with err: who cut it short,
// or else the failure itself.
func (s *Sequencer) explain(caller, ctx context.Context, err error) error {
	if caller.Err() != nil {
		return s.gone(caller, "turn")
	}
	if timeout, ok := errors.AsType[*agent.BackendTimeoutError](context.Cause(ctx)); ok {
		return timeout
	}
	if ctx.Err() != nil {
		return s.failure(context.Cause(ctx))
	}
	return s.failure(err)
}

// gone returns the error of a caller whose ctx ended. A cancelled caller gets
// context.Canceled itself.
func (s *Sequencer) gone(ctx context.Context, what string) error {
	if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &agent.BackendTimeoutError{Backend: s.backend, What: what + " (deadline of its caller)", Err: context.DeadlineExceeded}
}

// failure returns err as an error of the contract.
func (s *Sequencer) failure(err error) error {
	var (
		session *agent.BackendSessionError
		timeout *agent.BackendTimeoutError
		init    *agent.BackendInitError
	)
	switch {
	case errors.As(err, &session), errors.As(err, &timeout), errors.As(err, &init):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		what := strings.TrimSuffix(err.Error(), ": "+context.DeadlineExceeded.Error())
		return &agent.BackendTimeoutError{Backend: s.backend, What: what, Err: err}
	}
	return &agent.BackendSessionError{Backend: s.backend, Err: err}
}

// Turn is a turn under way. It belongs to the goroutine that Func runs on.
type Turn struct {
	number  int
	yield   func(agent.Event, error) bool
	cut     context.CancelCauseFunc
	stamper *agent.Stamper
	left    bool
}

// Number is the number of the turn in its session, from 1.
func (t *Turn) Number() int { return t.number }

// Emit hands an event of the main agent to the reader and waits until it has
// been taken. The error says that the reader is gone; the turn's ctx has then
// ended, and further events go nowhere.
func (t *Turn) Emit(e agent.Event) error { return t.EmitUnder("", e) }

// EmitUnder is Emit for an event of the sub-agent that the call named parent
// started.
func (t *Turn) EmitUnder(parent string, e agent.Event) error {
	if t.left {
		return errReaderLeft
	}
	if !t.yield(t.stamper.Stamp(e, parent), nil) {
		t.left = true
		t.cut(errReaderLeft)
		return errReaderLeft
	}
	return nil
}
