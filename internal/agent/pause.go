package agent

import "context"

// pauseKey is where a context has what stops its clock.
type pauseKey struct{}

// WithPause returns the context of a call whose bound of time can be held up: pause
// stops the clock and returns what starts it again.
func WithPause(ctx context.Context, pause func() (resume func())) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// Pause stops the clock of the call that ctx belongs to and returns what starts it
// again; ok is false when there is no such clock. A tool stops it while a person
// is asked something on its behalf: the bound of a call is for the tool, and not
// for who has to think.
func Pause(ctx context.Context) (resume func(), ok bool) {
	pause, ok := ctx.Value(pauseKey{}).(func() func())
	if !ok {
		return func() {}, false
	}
	return pause(), true
}

// CanPause says whether the call that ctx belongs to has a clock for Pause.
func CanPause(ctx context.Context) bool {
	_, ok := ctx.Value(pauseKey{}).(func() func())
	return ok
}
