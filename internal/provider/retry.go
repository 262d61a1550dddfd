package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// How a request is made again, at every provider alike, for models and embedders.
const (
	// Attempts is how often a request is made at most.
	Attempts = 3
	// firstWait bounds the first pause where the provider does not say how long
	// to wait; each further one may take twice as long as the one before.
	firstWait = time.Second
	// longestWait is the longest pause that is made at a provider's wish.
	longestWait = 2 * time.Minute
)

// Pause returns how long to wait before a request is made again that failed at
// the attempt of that number, from 1. The error is the one the request ends in
// because it is not made again. Chance spreads the requests that failed together,
// so that they do not come back together.
func Pause(ctx context.Context, failed error, attempt int, chance *rand.Rand) (time.Duration, error) {
	refused, ok := errors.AsType[*Error](failed)
	switch {
	case !ok || !refused.Retryable() || ctx.Err() != nil:
		return 0, failed
	case attempt >= Attempts:
		return 0, fmt.Errorf("%w (tried %d times)", failed, Attempts)
	}
	wait := refused.RetryAfter
	if wait > 0 {
		wait += time.Duration(chance.Float64() * float64(wait) / 10)
	} else {
		bound := firstWait << (attempt - 1)
		wait = bound/2 + time.Duration(chance.Float64()*float64(bound)/2)
	}
	if deadline, ok := ctx.Deadline(); wait > longestWait || ok && time.Until(deadline) < wait {
		return 0, fmt.Errorf("%w (that is longer than the call may take)", failed)
	}
	return wait, nil
}

// Sleep returns after d, or with the error of ctx when that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
