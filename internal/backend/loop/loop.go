package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// DefaultMaxTurns is how many model responses a turn may have when no limit is
// set.
const DefaultMaxTurns = dialog.DefaultMaxTurns

// Tools is what the loop needs of a set of tools. It is safe for concurrent use.
type Tools interface {
	// Definitions are what the model is told, under canonical names.
	Definitions() []agent.Definition
	// Call runs a tool. Every failure, an unknown name included, is in what it
	// returns. It returns soon after ctx has ended.
	Call(ctx context.Context, c tool.Call) agent.ToolCallFinished
}

// SessionTools are the tools of one session.
type SessionTools interface {
	Tools
	// BeginTurn is called at the start of each turn, from 1. It brings the tools
	// up to date, and returns what a person should know of them.
	BeginTurn(ctx context.Context, turn int) ([]agent.Notice, error)
	// Close is called when the session ends.
	Close() error
}

// Options is an agent, as the loop sees it.
type Options struct {
	Env agent.Env
	// Backend is the runtime the agent file names; errors and snapshots carry it.
	Backend string
	Model   llm.Model
	Tools   Tools
	// ForSession returns Tools as a session of that id has them, with a caller's own
	// beside them. Nil: all sessions have Tools as they are, and no caller has any.
	ForSession func(ctx context.Context, id string, more []agent.Tool) (SessionTools, error)
	// WireName returns the name under which the model sees a tool. Nil keeps
	// canonical names.
	WireName func(agent.Definition) string
	// Selector chooses the tools that a turn offers; nil offers all.
	Selector Selector
	// Compactor shortens what the model reads of a long conversation; nil does
	// not.
	Compactor Compactor

	System string
	Schema json.RawMessage // what answers must match, or nil
	// SchemaName is what the model is told that the schema is called; empty
	// leaves it to the model.
	SchemaName string
	Sampling   llm.Sampling

	Limits Limits
	// Notices are said at the beginning of every session's first turn.
	Notices []agent.Notice
}

// Limits bounds what an agent may do. MaxTurns is DefaultMaxTurns where it is zero.
type Limits = dialog.Limits

// Backend is an agent that runs on the loop.
type Backend struct {
	options  Options
	names    names
	format   *dialog.Format
	sessions turn.Sessions
}

// New returns a Backend. The error says what of o cannot be used.
func New(o Options) (*Backend, error) {
	if o.Limits.MaxTurns == 0 {
		o.Limits.MaxTurns = DefaultMaxTurns
	}
	b := &Backend{options: o}
	if err := b.prepare(); err != nil {
		return nil, &agent.BackendInitError{Backend: o.Backend, Err: err}
	}
	return b, nil
}

// prepare makes ready what every session shares.
func (b *Backend) prepare() (err error) {
	o := b.options
	if err := o.Limits.Check(o.Model.Info()); err != nil {
		return err
	}
	if b.format, err = dialog.NewFormat(o.Schema); err != nil {
		return err
	}
	b.names, err = newNames(o.Tools.Definitions(), o.WireName)
	return err
}

// Capabilities implements agent.Backend: those of the model, and what the loop
// adds.
func (b *Backend) Capabilities() agent.Capabilities {
	c := b.options.Model.Info().Capabilities
	c.ClientTools = b.options.ForSession != nil
	c.Snapshot = true
	return c
}

// NewSession implements agent.Backend.
func (b *Backend) NewSession(ctx context.Context, opts agent.SessionOptions) (agent.Session, error) {
	s, err := b.newSession(ctx, opts)
	if err != nil {
		return nil, &agent.BackendSessionError{Backend: b.options.Backend, Err: err}
	}
	return s, nil
}

func (b *Backend) newSession(ctx context.Context, opts agent.SessionOptions) (_ *session, err error) {
	s := &session{
		backend: b, id: opts.ID, user: opts.User, mode: opts.Mode, approver: opts.Approver,
		tools: b.options.Tools, names: b.names,
		limits: b.options.Limits.Tighten(opts.Limits),
	}
	if s.id == "" {
		s.id = b.options.Env.NewID()
	}
	s.env = b.options.Env.Scope(s.id)
	if err := s.limits.Check(b.options.Model.Info()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeTools())
		}
	}()
	if err := s.openTools(ctx, opts.Tools); err != nil {
		return nil, err
	}
	turns := 0
	if len(opts.Resume) > 0 {
		snap, err := dialog.ReadSnapshot(opts.Resume, b.options.Backend)
		if err != nil {
			return nil, fmt.Errorf("resume session: %w", err)
		}
		s.history, s.spentUSD, s.used, turns = snap.Messages, snap.SpentUSD, snap.Used, snap.Turns
	}
	s.sequencer = turn.NewSequencer(b.options.Backend, s.env.Now, s.limits.Turn, turns)
	if err := b.sessions.Add(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Close implements agent.Backend.
func (b *Backend) Close() error { return b.sessions.Close() }
