package loop

import (
	"context"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
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

// Choose has o.Selector choose the tools of a turn, by their canonical names. When
// that fails the result is nil: all are offered, and a Notice says so.
func (o *Options) Choose(ctx context.Context, t *turn.Turn, s Situation) (map[string]bool, error) {
	names, err := o.Selector.Select(ctx, s)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, t.Emit(agent.Notice{
			Code: agent.NoticeDegraded,
			Text: fmt.Sprintf("the tools of this turn could not be chosen, and all %d are offered: %v", len(s.Tools), err),
		})
	}
	chosen := make(map[string]bool, len(names))
	for _, name := range names {
		chosen[name] = true
	}
	return chosen, nil
}

// selectTools chooses the tools of the turn.
func (r *run) selectTools(ctx context.Context) error {
	r.offered = r.names.wire
	if r.backend.options.Selector == nil || len(r.offered) == 0 {
		return nil
	}
	message := r.history[len(r.history)-1]
	chosen, err := r.backend.options.Choose(ctx, r.turn, Situation{
		Session: r.id, Turn: r.turn.Number(),
		Message: agent.JoinText(message.Parts),
		Tools:   r.tools.Definitions(), Used: r.used,
	})
	if err != nil || chosen == nil {
		return err
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
