package loop

import (
	"context"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Compactor shortens what the model reads of a long conversation. It is safe
// for concurrent use.
type Compactor interface {
	// Compact is called before every model call with the conversation so far. It
	// returns a shorter one and what was done, for a person to read, or nil when
	// the conversation is short enough. It leaves history itself as it is. Every
	// call in what it returns has its result, the person's last message is there,
	// and a person's message or one marked Auto comes first.
	Compact(ctx context.Context, history []llm.Message, ask Ask) (shorter []llm.Message, done string, err error)
}

// Ask asks the agent's model something outside of the conversation, and returns
// what it answered.
type Ask func(ctx context.Context, system string, question agent.Message) (string, error)

// compact shortens the history, from now on. When that fails the conversation
// stays as it is, for the rest of the turn at least, and a Notice says so.
func (r *run) compact(ctx context.Context) error {
	c := r.backend.options.Compactor
	if c == nil || r.whole {
		return nil
	}
	notice := agent.Notice{Code: agent.NoticeCompaction}
	shorter, done, err := c.Compact(ctx, r.history[:len(r.history):len(r.history)], r.aside)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.whole = true
		notice.Text = fmt.Sprintf("the conversation could not be shortened and is sent whole: %v", err)
	case shorter == nil:
		return nil
	default:
		r.history = shorter
		notice.Text = done
	}
	return r.turn.Emit(notice)
}
