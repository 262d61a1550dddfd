package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// retrying makes a call again that failed for a reason that may pass, as package
// provider says. It does not once a piece of the response was handed on: nobody is told two beginnings.
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
				text := fmt.Sprintf("%v; attempt %d of %d follows in %s", pause.after, attempt+1, provider.Attempts, pause.wait.Round(time.Millisecond))
				if !yield(Notice{Code: agent.NoticeRetry, Text: m.mask(text)}, nil) {
					return
				}
				err = provider.Sleep(ctx, pause.wait)
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
	if refused, ok := errors.AsType[*ProviderError](failed); begun && ok && refused.Retryable() && ctx.Err() == nil {
		return pause{}, fmt.Errorf("%w (part of the response was shown, so it is not asked for again)", failed)
	}
	wait, err := provider.Pause(ctx, failed, attempt, m.rand)
	return pause{failed, wait}, err
}
