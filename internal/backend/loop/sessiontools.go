package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
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

// Begin tells, at the beginning of a turn, what is to be told at that of a session,
// and brings the tools of the session up to date; own is nil where it has none of
// its own.
func (o *Options) Begin(ctx context.Context, t *turn.Turn, own SessionTools) error {
	tell := func(notices []agent.Notice) error {
		for _, n := range notices {
			if err := t.Emit(n); err != nil {
				return err
			}
		}
		return nil
	}
	if t.Number() == 1 {
		if err := tell(o.Notices); err != nil {
			return err
		}
	}
	if own == nil {
		return nil
	}
	notices, err := own.BeginTurn(ctx, t.Number())
	if err != nil {
		return err
	}
	return tell(notices)
}

// begin begins a turn, with the tools as they are then.
func (r *run) begin(ctx context.Context) error {
	if err := r.backend.options.Begin(ctx, r.turn, r.own); err != nil || r.own == nil {
		return err
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
