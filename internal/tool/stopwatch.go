package tool

import (
	"context"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// withStopwatch returns a context that ends, with the cause
// context.DeadlineExceeded, when limit has passed, not counting the time in which
// agent.Pause has stopped the clock.
func withStopwatch(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stopwatch{left: limit, since: time.Now()}
	s.timer = time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	return agent.WithPause(ctx, s.pause), func() {
		s.timer.Stop()
		cancel(nil)
	}
}

// stopwatch is a timer that can be stopped for a while.
type stopwatch struct {
	timer *time.Timer

	mu     sync.Mutex
	left   time.Duration // when the clock was last started
	since  time.Time     // when that was
	paused int           // how many have stopped it
}

// pause stops the clock until resume is called.
func (s *stopwatch) pause() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused == 0 && s.timer.Stop() {
		s.left = max(s.left-time.Since(s.since), 0)
	}
	s.paused++
	return sync.OnceFunc(s.resume)
}

func (s *stopwatch) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused--; s.paused == 0 {
		s.since = time.Now()
		s.timer.Reset(s.left)
	}
}
