package tool

import (
	"bytes"
	"context"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
)

// Hooks returns the hooks of the agent, for those who know of its sessions and
// turns.
func (s *Set) Hooks() *hook.Hooks { return s.hooks }

// before runs the hooks that come before a call. The first that rejects it ends
// it. Of a call that is refused as the model made it no hook is told; what they
// make of another is settled again, and permissions see it after them.
func (s *Set) before(m member, r rule, settle settler) Link {
	if !s.hooks.Concern(config.HookPreToolUse) {
		return passThrough
	}
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			if err := r.refuse(c); err != nil {
				return agent.ToolResult{}, err
			}
			args, err := s.hooks.Before(ctx, s.hooked(m, c))
			if err == nil {
				args, err = settle.settle(c.Name, args)
			}
			if err != nil {
				return agent.ToolResult{}, err
			}
			if !bytes.Equal(args, c.Arguments) {
				c.Arguments = args
				c.changed(args)
			}
			return next(ctx, c)
		}
	}
}

// after runs the hooks that come after a call.
func (s *Set) after(m member) Link {
	if !s.hooks.Concern(config.HookPostToolUse, config.HookPostToolUseFailure) {
		return passThrough
	}
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			result, err := next(ctx, c)
			h := s.hooked(m, c)
			switch {
			case err != nil:
				h.Error = err.Error()
			case result.IsError:
				h.Error = firstLine(result.Text())
			}
			h.Result = result.Text()
			s.hooks.After(ctx, h)
			return result, err
		}
	}
}

// hooked returns a call as hooks see it.
func (s *Set) hooked(m member, c Call) hook.Call {
	return hook.Call{
		Report: hook.Report{
			Session: c.Session, Turn: c.Turn, Mode: c.Mode, User: c.User,
			Tool: c.Name, CallID: c.ID, Arguments: c.Arguments,
		},
		Names: namesOf(m, m.tool.Definition()).all(), Ordinal: c.Ordinal, Within: s.within,
	}
}
