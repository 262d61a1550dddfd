package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// openTools gets the session its tools, with the caller's own among them.
func (s *session) openTools(ctx context.Context, more []agent.Tool) error {
	o := &s.backend.options
	if o.ForSession == nil {
		if len(more) > 0 {
			return errors.New("this agent takes no tools of its caller")
		}
		return nil
	}
	own, err := o.ForSession(ctx, s.id, more)
	if err != nil {
		return fmt.Errorf("open the session's tools: %w", err)
	}
	s.tools, s.own = own, own
	return s.nameTools()
}

// nameTools names the tools for the model, as they are now.
func (s *session) nameTools() (err error) {
	s.names, err = newNames(s.tools.Definitions(), s.backend.options.WireName)
	return err
}

// beginTools brings the tools of the turn up to date.
func (r *run) beginTools(ctx context.Context) error {
	if r.own == nil {
		return nil
	}
	notices, err := r.own.BeginTurn(ctx, r.turn.Number())
	if err != nil {
		return err
	}
	for _, n := range notices {
		if err := r.turn.Emit(n); err != nil {
			return err
		}
	}
	return r.nameTools()
}

// closeTools closes the tools that are the session's own.
func (s *session) closeTools() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}
