package loop

import (
	"context"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Selector chooses which of its tools an agent offers in a turn. It is safe for
// concurrent use. What is not offered is not forbidden: a model that calls a
// tool it remembers from an earlier turn is served.
type Selector interface {
	// Select returns the canonical names of the tools to offer. Names that are
	// not among the situation's tools are passed over.
	Select(ctx context.Context, s Situation) ([]string, error)
}

// Situation is what a Selector chooses by.
type Situation struct {
	Session string
	Turn    int                // from 1
	Message string             // the words of the person's message
	Tools   []agent.Definition // all of them, under canonical names
	Used    map[string]int     // how often each was called in the session so far
}

// selectTools chooses the tools of the turn. When that fails all are offered,
// and a Notice says so.
func (r *run) selectTools(ctx context.Context) error {
	r.offered = r.names.wire
	s := r.backend.options.Selector
	if s == nil || len(r.offered) == 0 {
		return nil
	}
	message := r.history[len(r.history)-1]
	names, err := s.Select(ctx, Situation{
		Session: r.id, Turn: r.turn.Number(),
		Message: agent.JoinText(message.Parts),
		Tools:   r.tools.Definitions(), Used: r.used,
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return r.turn.Emit(agent.Notice{
			Code: agent.NoticeDegraded,
			Text: fmt.Sprintf("the tools of this turn could not be chosen, and all %d are offered: %v", len(r.offered), err),
		})
	}
	chosen := make(map[string]bool, len(names))
	for _, name := range names {
		chosen[name] = true
	}
	r.offered = r.names.among(chosen)
	return nil
}

// countUse counts a call of a tool, for the turns that follow.
func (r *run) countUse(name string) {
	if r.used == nil {
		r.used = map[string]int{}
	}
	r.used[name]++
}
