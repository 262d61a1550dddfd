package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// How a call is tried again, on every provider alike: what a client of theirs
// brings of its own is switched off.
const (
	// Attempts is how often a call is made at most.
	Attempts = 3
	// firstWait bounds the first pause where the provider does not say how long
	// to wait; each further one may take twice as long as the one before.
	firstWait = time.Second
	// longestWait is the longest pause that is made at a provider's wish.
	longestWait = 2 * time.Minute
)

// retrying makes a call again that failed for a reason that may pass. It does
// not once a piece of the response was handed on: nobody is told two beginnings.
type retrying struct {
	Model
	rand *rand.Rand
	mask func(string) string
}

// Unwrap returns the model that is called.
func (m *retrying) Unwrap() Model { return m.Model }

// Stream implements Model.
func (m *retrying) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for attempt := 1; ; attempt++ {
			begun, reading, err := relay(m.Model.Stream(ctx, req), yield)
			if err == nil || !reading {
				return
			}
			pause, err := m.pause(ctx, err, begun, attempt)
			if err == nil {
				text := fmt.Sprintf("%v; attempt %d of %d follows in %s", pause.after, attempt+1, Attempts, pause.wait.Round(time.Millisecond))
				if !yield(Notice{Code: agent.NoticeRetry, Text: m.mask(text)}, nil) {
					return
				}
				err = sleep(ctx, pause.wait)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// relay hands on the chunks of a call, but not its error, which it returns.
// begun says that a piece of the response was among the chunks, reading that
// the reader did not leave.
func relay(call iter.Seq2[Chunk, error], yield func(Chunk, error) bool) (begun, reading bool, failed error) {
	for chunk, err := range call {
		if err != nil {
			return begun, true, err
		}
		if _, beside := chunk.(Notice); !beside {
			begun = true
		}
		if !yield(chunk, nil) {
			return begun, false, nil
		}
	}
	return begun, true, nil
}

// pause is what comes between two attempts.
type pause struct {
	after error // why the first of them failed
	wait  time.Duration
}

// pause returns what comes before the next attempt of a call that failed, or
// the error the call ends in because there is none.
func (m *retrying) pause(ctx context.Context, failed error, begun bool, attempt int) (pause, error) {
	refused, ok := errors.AsType[*ProviderError](failed)
	switch {
	case !ok || !refused.Retryable() || ctx.Err() != nil:
		return pause{}, failed
	case begun:
		return pause{}, fmt.Errorf("%w (part of the response was shown, so it is not asked for again)", failed)
	case attempt == Attempts:
		return pause{}, fmt.Errorf("%w (tried %d times)", failed, Attempts)
	}
	p := pause{failed, m.wait(refused.RetryAfter, attempt)}
	if deadline, ok := ctx.Deadline(); p.wait > longestWait || ok && time.Until(deadline) < p.wait {
		return pause{}, fmt.Errorf("%w (that is longer than the call may take)", failed)
	}
	return p, nil
}

// wait returns how long to wait after the attempt of that number. Chance spreads
// the calls that failed together, so that they do not come back together.
func (m *retrying) wait(asked time.Duration, attempt int) time.Duration {
	if asked > 0 {
		return asked + time.Duration(m.rand.Float64()*float64(asked)/10)
	}
	bound := firstWait << (attempt - 1)
	return bound/2 + time.Duration(m.rand.Float64()*float64(bound)/2)
}

// sleep returns after d, or with the error of ctx when that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
