package tool

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// Handler runs a call. Its error is what the model is told, and never ends a
// turn.
type Handler func(ctx context.Context, c Call) (agent.ToolResult, error)

// Link is one step of the chain: it does its part before or after next, or
// does not call next at all.
type Link func(next Handler) Handler

// chain returns the way of a call to a tool and of its result back. The links
// stand from the outside in, so what a result passes is read from the bottom.
func (s *Set) chain(m member, r rule, arguments *schema.Schema) Handler {
	settle := newSettler(m.tool.Definition(), s.redactor)
	links := []Link{
		settled(settle),
		s.before(m, r, settle),
		permission(r), // behind what changes the call: consent is given to what runs
		s.after(m),    // outside redaction, so that no secret reaches them
		redaction(s.redactor),
		schemaCheck(arguments, s.redactor),
		s.cassette(m.tool), // inside redaction: it masks what it writes itself
		deadline(m.bound, s.running),
		sizeLimit,
	}
	h := call(m.tool, s.env.Log)
	for i := len(links) - 1; i >= 0; i-- {
		h = links[i](h)
	}
	return h
}

// passThrough keeps the place of a link.
func passThrough(next Handler) Handler { return next }

// call is the end of the chain. A panic of the tool is its error.
func call(t agent.Tool, log *slog.Logger) Handler {
	return func(ctx context.Context, c Call) (result agent.ToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				log.ErrorContext(ctx, "a tool panicked", "tool", c.Name, "panic", p, "stack", string(debug.Stack()))
				result, err = agent.ToolResult{}, fmt.Errorf("the tool crashed: %v", p)
			}
		}()
		if d, ok := t.(agent.Delegate); ok {
			return d.Delegate(ctx, c.Arguments, behalfOf(ctx, c))
		}
		return t.Call(ctx, c.Arguments)
	}
}

// behalfOf returns what a tool that has models at work for it knows of its call.
// What it tells is heard until ctx, that of the call, has ended.
func behalfOf(ctx context.Context, c Call) agent.Behalf {
	emit := func(parent string, e agent.Event) error {
		if err := ctx.Err(); err != nil || c.Events == nil {
			return err
		}
		return c.Events(ctx, parent, e)
	}
	return agent.Behalf{
		CallID: c.ID, Session: fmt.Sprintf("%s/%s %d.%d", c.Session, c.Name, c.Turn, c.Ordinal),
		User: c.User, Mode: c.Mode, Approver: c.Approver, Limits: c.Limits, Emit: emit,
	}
}
