package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// say is a turn of one delta.
func say(text string) Func {
	return func(_ context.Context, t *Turn) (agent.TurnFinished, error) {
		if err := t.Emit(agent.TextDelta{Text: text}); err != nil {
			return agent.TurnFinished{}, err
		}
		return agent.TurnFinished{Response: text, StopReason: agent.StopEnd}, nil
	}
}

// hang is a turn of one delta that then waits until it is cut short.
func hang(ctx context.Context, t *Turn) (agent.TurnFinished, error) {
	if err := t.Emit(agent.TextDelta{Text: "began"}); err != nil {
		return agent.TurnFinished{}, err
	}
	<-ctx.Done()
	return agent.TurnFinished{}, ctx.Err()
}

func newSequencer(t *testing.T, d Deadline) *Sequencer {
	s := NewSequencer("agent_framework", time.Now, d, 0)
	t.Cleanup(s.Close)
	return s
}

func TestEventsCarryHeadersAndEndOnce(t *testing.T) {
	s := newSequencer(t, Deadline{})
	for turn := 1; turn <= 2; turn++ {
		var events []agent.Event
		for e, err := range s.Send(t.Context(), func(ctx context.Context, u *Turn) (agent.TurnFinished, error) {
			if u.Number() != turn {
				t.Errorf("the turn is number %d, want %d", u.Number(), turn)
			}
			if err := u.EmitUnder("call-7", agent.Notice{Text: "below"}); err != nil {
				return agent.TurnFinished{}, err
			}
			return say("hi")(ctx, u)
		}) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if len(events) != 3 {
			t.Fatalf("got %d events, want 3", len(events))
		}
		for i, e := range events {
			h := e.Header()
			if h.Seq != i+1 || h.Turn != turn || h.Time.IsZero() {
				t.Errorf("event %d of turn %d has the header %+v", i+1, turn, h)
			}
		}
		if p := events[0].Header().Parent; p != "call-7" {
			t.Errorf("the event of the sub-agent has the parent %q", p)
		}
		if _, ok := events[2].(agent.TurnFinished); !ok {
			t.Errorf("the last event is %T", events[2])
		}
	}
}

func TestNotRangingRunsNothingAndRangingTwiceIsAnError(t *testing.T) {
	s := newSequencer(t, Deadline{})
	ran := 0
	seq := s.Send(t.Context(), func(context.Context, *Turn) (agent.TurnFinished, error) {
		ran++
		return agent.TurnFinished{}, nil
	})
	if ran != 0 {
		t.Error("Send ran the turn before anybody ranged over it")
	}
	if _, err := agent.Collect(seq); err != nil {
		t.Fatal(err)
	}
	_, err := agent.Collect(seq)
	if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok || ran != 1 {
		t.Errorf("ranging twice ran %d times and gave %v", ran, err)
	}
}

func TestBreakingOutCancelsTheTurn(t *testing.T) {
	s := newSequencer(t, Deadline{})
	var after error
	for range s.Send(t.Context(), func(ctx context.Context, u *Turn) (agent.TurnFinished, error) {
		if err := u.Emit(agent.TextDelta{Text: "first"}); err == nil {
			t.Error("Emit did not say that the reader left")
		}
		after = ctx.Err()
		return agent.TurnFinished{}, u.Emit(agent.TextDelta{Text: "to nobody"})
	}) {
		break
	}
	if after == nil {
		t.Error("the turn's ctx went on after its reader left")
	}
	if r, err := agent.Collect(s.Send(t.Context(), say("next"))); err != nil || r.Response != "next" {
		t.Errorf("the next turn gave %q, %v", r.Response, err)
	}
}

func TestWhoeverCutsATurnShortIsNamed(t *testing.T) {
	cancelled := func(ctx context.Context, s *Sequencer) (context.Context, func()) {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel
	}
	tests := map[string]struct {
		deadline Deadline
		// prepare returns the ctx of the turn and what cuts it short once it runs.
		prepare func(context.Context, *Sequencer) (context.Context, func())
		check   func(error) bool
		want    string
	}{
		"its caller": {
			prepare: cancelled,
			check:   func(err error) bool { return err == context.Canceled },
			want:    "context canceled",
		},
		"the deadline of its caller": {
			prepare: func(ctx context.Context, _ *Sequencer) (context.Context, func()) {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				return ctx, func() { context.AfterFunc(ctx, cancel) }
			},
			check: isTimeout,
			want:  "backend agent_framework: turn (deadline of its caller) timed out",
		},
		"its own deadline": {
			deadline: Deadline{After: time.Minute, Key: "execution.turn_timeout"},
			prepare:  func(ctx context.Context, _ *Sequencer) (context.Context, func()) { return ctx, func() {} },
			check:    isTimeout,
			want:     "backend agent_framework: turn (limit 1m0s, execution.turn_timeout) timed out",
		},
		"the end of the session": {
			prepare: func(ctx context.Context, s *Sequencer) (context.Context, func()) {
				return ctx, func() { go s.Close() }
			},
			check: func(err error) bool { return errors.Is(err, ErrClosed) },
			want:  "backend agent_framework: the session is closed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSequencer(t, tt.deadline)
				ctx, cut := tt.prepare(t.Context(), s)
				var got error
				for _, err := range s.Send(ctx, hang) {
					if err == nil {
						cut()
					}
					got = err
				}
				if got == nil || !tt.check(got) || got.Error() != tt.want {
					t.Errorf("got %v, want %s", got, tt.want)
				}
			})
		})
	}
}

func isTimeout(err error) bool {
	_, ok := errors.AsType[*agent.BackendTimeoutError](err)
	return ok && errors.Is(err, context.DeadlineExceeded)
}

func TestAFailureIsAnErrorOfTheContract(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"any":                {errors.New("boom"), "backend agent_framework: boom"},
		"session error":      {&agent.BackendSessionError{Backend: "x", Err: errors.New("boom")}, "backend x: boom"},
		"deadline elsewhere": {fmt.Errorf("fetch: %w", context.DeadlineExceeded), "backend agent_framework: fetch timed out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSequencer(t, Deadline{})
			_, err := agent.Collect(s.Send(t.Context(), func(context.Context, *Turn) (agent.TurnFinished, error) {
				return agent.TurnFinished{}, tt.err
			}))
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestTurnsWaitForOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSequencer(t, Deadline{})
		var (
			mu      sync.Mutex
			running int
			order   []string
			wg      sync.WaitGroup
		)
		for i := range 5 {
			wg.Go(func() {
				name := fmt.Sprint(i)
				_, err := agent.Collect(s.Send(t.Context(), func(context.Context, *Turn) (agent.TurnFinished, error) {
					mu.Lock()
					running++
					if running > 1 {
						t.Error("two turns run at once")
					}
					order = append(order, name)
					mu.Unlock()
					time.Sleep(time.Second) // lets the others try, in the test's own time
					mu.Lock()
					running--
					mu.Unlock()
					return agent.TurnFinished{}, nil
				}))
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // until it runs or waits
		}
		wg.Wait()
		if !slices.IsSorted(order) || len(order) != 5 {
			t.Errorf("the turns ran in the order %v", order)
		}
	})
}

func TestWaitingForATurnEndsWithTheWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSequencer(t, Deadline{})
		first, stopFirst := context.WithCancel(t.Context())
		defer stopFirst()
		go func() {
			for range s.Send(first, hang) {
			}
		}()
		synctest.Wait()

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := agent.Collect(s.Send(ctx, say("never"))); err != context.Canceled {
			t.Errorf("a caller that had left got %v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := agent.Collect(s.Send(ctx, say("never")))
		if !isTimeout(err) || !strings.Contains(err.Error(), "wait for the turn before") {
			t.Errorf("a caller whose deadline passed got %v", err)
		}
		closed := make(chan error, 1)
		go func() {
			_, err := agent.Collect(s.Send(t.Context(), say("never")))
			closed <- err
		}()
		synctest.Wait()
		s.Close()
		if err := <-closed; !errors.Is(err, ErrClosed) {
			t.Errorf("a caller whose session was closed got %v", err)
		}
	})
}

func TestCloseWaitsForTheTurnAndMayBeCalledTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSequencer("x", time.Now, Deadline{}, 0)
		unwound := false
		go func() {
			for range s.Send(t.Context(), func(ctx context.Context, _ *Turn) (agent.TurnFinished, error) {
				<-ctx.Done()
				time.Sleep(time.Second) // unwinding takes a while, in the test's own time
				unwound = true
				return agent.TurnFinished{}, ctx.Err()
			}) {
			}
		}()
		synctest.Wait()
		s.Close()
		if !unwound {
			t.Error("Close returned before the turn had ended")
		}
		s.Close()
		if _, err := agent.Collect(s.Send(t.Context(), say("late"))); !errors.Is(err, ErrClosed) {
			t.Errorf("a turn after Close gave %v", err)
		}
		if err := s.Do(t.Context(), func() error { return nil }); !errors.Is(err, ErrClosed) {
			t.Errorf("Do after Close gave %v", err)
		}
	})
}

func TestTheReaderMayUseTheSessionAtTheEndOfATurn(t *testing.T) {
	s := newSequencer(t, Deadline{})
	for e := range s.Send(t.Context(), say("hi")) {
		if _, ok := e.(agent.TurnFinished); !ok {
			continue
		}
		err := s.Do(t.Context(), func() error {
			if s.Turns() != 1 {
				t.Errorf("%d turns began, want 1", s.Turns())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := agent.Collect(s.Send(t.Context(), say("nested"))); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

func TestTurnsAreCountedOnFromAResumedSession(t *testing.T) {
	s := NewSequencer("x", time.Now, Deadline{}, 4)
	defer s.Close()
	for e, err := range s.Send(t.Context(), say("hi")) {
		if err != nil || e.Header().Turn != 5 {
			t.Errorf("got turn %d, %v; want 5", e.Header().Turn, err)
		}
	}
}

// closer counts how often it is closed.
type closer struct{ n int }

func (c *closer) Close() error {
	c.n++
	return fmt.Errorf("closed %d", c.n)
}

func TestSessionsCloseWhatIsOpenAndTakeNoMore(t *testing.T) {
	var s Sessions
	a, b := new(closer), new(closer)
	for _, c := range []*closer{a, b} {
		if err := s.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	s.Remove(b)
	if err := s.Close(); err == nil || err.Error() != "closed 1" {
		t.Errorf("Close gave %v, want the error of the one that was open", err)
	}
	if a.n != 1 || b.n != 0 {
		t.Errorf("closed %d and %d times, want 1 and 0", a.n, b.n)
	}
	if err := s.Add(b); !errors.Is(err, ErrBackendClosed) {
		t.Errorf("Add after Close gave %v", err)
	}
}
