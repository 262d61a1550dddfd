package backend

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
)

// hooked is a backend whose sessions and turns have hooks.
type hooked struct {
	agent.Backend
	hooks *hook.Hooks
}

// withHooks returns b with the hooks that are for sessions, turns and
// notifications; those for tool calls are the chain's.
func withHooks(b agent.Backend, h *hook.Hooks) agent.Backend {
	if !h.Concern(config.HookSessionStart, config.HookStop, config.HookNotification) {
		return b
	}
	return &hooked{b, h}
}

// NewSession implements agent.Backend. Hooks run when there is a session.
func (b *hooked) NewSession(ctx context.Context, opts agent.SessionOptions) (agent.Session, error) {
	about := hook.Report{Mode: opts.Mode, User: opts.User}
	var approver *asking
	if opts.Approver != nil {
		approver = &asking{Approver: opts.Approver, hooks: b.hooks}
		opts.Approver = approver
	}
	s, err := b.Backend.NewSession(ctx, opts)
	if err != nil {
		return nil, err
	}
	about.Session = s.ID()
	if approver != nil {
		approver.about = about
	}
	start := about
	start.Event, start.Resumed = config.HookSessionStart, len(opts.Resume) > 0
	b.hooks.Tell(ctx, start)
	return &hookedSession{s, b.hooks, about}, nil
}

// asking tells of permissions that a person is asked for.
type asking struct {
	agent.Approver
	hooks *hook.Hooks
	about hook.Report
}

// Approve implements agent.Approver.
func (a *asking) Approve(ctx context.Context, req agent.ApprovalRequest) error {
	r := a.about
	r.Event, r.Code = config.HookNotification, codePermission
	r.Text = fmt.Sprintf("%s waits for a person's consent (%s)", req.Tool, req.Reason)
	a.hooks.Tell(ctx, r)
	return a.Approver.Approve(ctx, req)
}

// codePermission is the code of a notification that a person is asked.
const codePermission = "permission"

// hookedSession is a session whose turns have hooks.
type hookedSession struct {
	agent.Session
	hooks *hook.Hooks
	about hook.Report
}

// Send implements agent.Session. What hooks do comes after the event that they
// are told of has reached the reader: nobody waits for them to read an answer.
func (s *hookedSession) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	turn := s.Session.Send(ctx, m)
	var ranged atomic.Bool
	return func(yield func(agent.Event, error) bool) {
		if ranged.Swap(true) {
			turn(yield) // says that a turn runs once
			return
		}
		end := s.about
		end.Event, end.StopReason = config.HookStop, agent.StopCancelled
		// The turn is over, and what its caller has cancelled with it.
		defer func() { s.hooks.Tell(context.WithoutCancel(ctx), end) }()
		for e, err := range turn {
			s.note(&end, e, err)
			if !yield(e, err) {
				return
			}
			if n, ok := e.(agent.Notice); ok {
				r := s.about
				r.Event, r.Turn, r.Code, r.Text = config.HookNotification, n.Head.Turn, n.Code, n.Text
				s.hooks.Tell(ctx, r)
			}
		}
	}
}

// note keeps what an event says of the end of a turn.
func (s *hookedSession) note(end *hook.Report, e agent.Event, err error) {
	if err != nil {
		end.Reason = err.Error()
		if !errors.Is(err, context.Canceled) {
			end.StopReason = stopFailed
		}
		return
	}
	end.Turn = e.Header().Turn
	if f, ok := e.(agent.TurnFinished); ok {
		end.Response, end.StopReason, end.Reason = f.Response, f.StopReason, f.Reason
	}
}

// stopFailed is why a turn ended in an error.
const stopFailed agent.StopReason = "error"
