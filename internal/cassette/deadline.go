package cassette

import (
	"context"
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Deadline is a deadline that passed during an exchange, as a cassette has it.
type Deadline struct {
	Backend string `json:"backend,omitempty"` // empty: it was the caller's
	What    string `json:"what"`
}

// DeadlineOf returns the deadline by which ctx has ended, or nil when it has not
// ended or was cancelled.
func DeadlineOf(ctx context.Context) *Deadline {
	var passed *agent.BackendTimeoutError
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.As(context.Cause(ctx), &passed):
		return &Deadline{passed.Backend, passed.What}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Deadline{What: "turn (deadline of its caller)"}
	}
	return nil
}

// Err returns the error that the deadline was.
func (d *Deadline) Err() error {
	if d.Backend == "" {
		return fmt.Errorf("%s: %w", d.What, context.DeadlineExceeded)
	}
	return &agent.BackendTimeoutError{Backend: d.Backend, What: d.What, Err: context.DeadlineExceeded}
}
