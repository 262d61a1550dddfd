package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/claudecode"
)

// cliSession is one conversation on the CLI. What a turn changes belongs to
// whoever holds the sequencer's slot.
type cliSession struct {
	backend   *cli
	id        string
	env       agent.Env
	opts      agent.SessionOptions
	tools     loop.Tools
	own       loop.SessionTools // tools, when they are the session's own; else nil
	limits    dialog.Limits
	sequencer *turn.Sequencer
	closing   sync.Once

	busy atomic.Bool             // a turn is under way
	turn atomic.Pointer[cliTurn] // that turn, for calls of tools

	mu      sync.Mutex // held while the process is started or ended
	client  *claudecode.Client
	offered []agent.Definition // what the process was started with
	idle    *time.Timer

	told     bool // a process was told something
	past     past
	servers  servers
	spentUSD float64
}

// past is where a conversation stands, in the CLI's words.
type past struct {
	Session string `json:"session,omitempty"` // its id; empty before the first turn has ended
	At      string `json:"at,omitempty"`      // of the last message
	Fork    bool   `json:"-"`                 // others may go on from there, too
}

// snapshotSchema tags the JSON form of a conversation on the CLI. The
// conversation itself is with the CLI, in the agent's state folder.
const snapshotSchema = "holodeck.snapshot.claude/v1"

type snapshot struct {
	Schema   string  `json:"schema"`
	Backend  string  `json:"backend"`
	Turns    int     `json:"turns"`
	SpentUSD float64 `json:"spent_usd,omitempty"`
	past
}

func (b *cli) newSession(ctx context.Context, opts agent.SessionOptions) (_ *cliSession, err error) {
	o := &b.options
	s := &cliSession{backend: b, id: opts.ID, opts: opts, tools: o.Tools, limits: b.limits.Tighten(opts.Limits)}
	if s.id == "" {
		s.id = o.Env.NewID()
	}
	s.env = o.Env.Scope(s.id)
	if err := s.limits.Check(b.info); err != nil {
		return nil, err
	}
	turns := 0
	if len(opts.Resume) > 0 {
		snap, err := readSnapshot(opts.Resume, o.Backend)
		if err != nil {
			return nil, fmt.Errorf("resume session: %w", err)
		}
		s.past, s.spentUSD, turns = snap.past, snap.SpentUSD, snap.Turns
		s.past.Fork = true
	}
	if o.ForSession != nil {
		own, err := o.ForSession(ctx, s.id, opts.Tools)
		if err != nil {
			return nil, fmt.Errorf("open the session's tools: %w", err)
		}
		s.tools, s.own = own, own
	} else if len(opts.Tools) > 0 {
		return nil, errors.New("this agent takes no tools of its caller")
	}
	s.sequencer = turn.NewSequencer(o.Backend, s.env.Now, s.limits.Turn, turns)
	if err := b.sessions.Add(s); err != nil {
		return nil, errors.Join(err, s.closeTools())
	}
	return s, nil
}

func readSnapshot(data json.RawMessage, backend string) (snapshot, error) {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read snapshot: %w", err)
	}
	switch {
	case s.Schema != snapshotSchema:
		return s, fmt.Errorf("the snapshot's schema is %q, want %q: it is of another runtime, or of claude.runtime: api; begin a new session", s.Schema, snapshotSchema)
	case s.Backend != backend:
		return s, fmt.Errorf("the snapshot is of backend %q and this is %s; begin a new session", s.Backend, backend)
	case s.Turns < 0 || s.SpentUSD < 0:
		return s, fmt.Errorf("the snapshot counts %d turns and %g USD, which cannot be", s.Turns, s.SpentUSD)
	case s.Turns > 0 && s.Session == "":
		return s, errors.New("the snapshot does not say which conversation it is of")
	}
	return s, nil
}

// ID implements agent.Session.
func (s *cliSession) ID() string { return s.id }

// Send implements agent.Session.
func (s *cliSession) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return s.sequencer.Send(ctx, func(ctx context.Context, t *turn.Turn) (agent.TurnFinished, error) {
		if err := dialog.Readable(s.backend.info, m); err != nil {
			return agent.TurnFinished{}, err
		}
		s.busy.Store(true)
		defer s.busy.Store(false)
		return newCLITurn(ctx, s, t).run(m)
	})
}

// Snapshot implements agent.Session.
func (s *cliSession) Snapshot(ctx context.Context) (data json.RawMessage, err error) {
	err = s.sequencer.Do(ctx, func() error {
		turns := s.sequencer.Turns()
		if s.past.Session == "" && turns > 0 {
			turns = 0 // no turn came to an end the CLI could store
		}
		data, err = json.Marshal(snapshot{snapshotSchema, s.backend.options.Backend, turns, s.spentUSD, s.past})
		return err
	})
	return data, err
}

// Close implements agent.Session.
func (s *cliSession) Close() (err error) {
	s.closing.Do(func() {
		s.sequencer.Close()
		s.mu.Lock()
		err = s.end()
		s.mu.Unlock()
		err = errors.Join(err, s.closeTools())
		s.backend.sessions.Remove(s)
	})
	return err
}

func (s *cliSession) closeTools() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

// end ends the process. The caller holds mu.
func (s *cliSession) end() error {
	if s.idle != nil {
		s.idle.Stop()
	}
	if s.client == nil {
		return nil
	}
	err := s.client.Close()
	s.client = nil
	s.backend.pool.leave(s)
	return err
}

// rest ends the process where no turn is under way, and reports whether it did.
func (s *cliSession) rest() bool {
	if s.busy.Load() || !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.busy.Load() || s.client == nil {
		return false
	}
	if err := s.end(); err != nil {
		s.env.Log.Warn("the Claude Code CLI of a session that is idle could not be ended", "session", s.id, "error", err)
	}
	return true
}

// begin returns the process of the session, which it starts where there is none
// or where it was started with other tools.
func (s *cliSession) begin(ctx context.Context, offered []agent.Definition, wait func() error) (*claudecode.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
	if s.client != nil && (!s.client.Alive() || !reflect.DeepEqual(offered, s.offered)) {
		if err := s.end(); err != nil {
			return nil, err
		}
	}
	if s.client != nil {
		return s.client, nil
	}
	if err := s.backend.pool.enter(ctx, s, time.Now(), wait); err != nil {
		return nil, err
	}
	client, err := s.start(ctx)
	if err != nil {
		s.backend.pool.leave(s)
		return nil, err
	}
	s.client, s.offered = client, offered
	return client, nil
}

// start starts a process.
func (s *cliSession) start(ctx context.Context) (*claudecode.Client, error) {
	b := s.backend
	adapters, err := NewAdapters(b.agent.Tools, instances{s.tools}, s.call)
	if err != nil {
		return nil, err
	}
	s.servers = newServers(adapters)
	o := b.launch
	o.Servers = s.servers.instances()
	o.AllowedTools = append(append([]string{}, s.servers.allowed...), o.AllowedTools...)
	o.PermissionMode = permissionMode(b.agent.Claude, s.opts.Mode)
	o.MaxTurns = s.limits.MaxTurns
	o.Resume, o.Fork = s.past.Session, s.past.Fork
	if s.past.Fork {
		o.At = s.past.At
	}
	o.CanUseTool = s.permit
	o.Hooks = s.hooks()
	o.Observe = s.observe
	o.Env = append(append([]string{}, o.Env...), traceVariables(ctx)...)
	client, err := claudecode.Start(ctx, o)
	if err != nil && o.Resume != "" && strings.Contains(err.Error(), "No conversation found") {
		return nil, fmt.Errorf("the Claude Code CLI does not have the conversation %s any more; begin a new session", o.Resume)
	}
	if err != nil {
		return nil, fmt.Errorf("start the Claude Code CLI: %w", err)
	}
	return client, nil
}

// instances are the tools of a session. What has no way to say whether it has a
// tool that may never be called has those that may.
type instances struct{ loop.Tools }

// Has implements Instances.
func (i instances) Has(name string) bool {
	if known, ok := i.Tools.(interface{ Has(string) bool }); ok {
		return known.Has(name)
	}
	for _, d := range i.Definitions() {
		if d.Name == name {
			return true
		}
	}
	return false
}

// observe tells the turn under way of a message as it comes.
func (s *cliSession) observe(m claudecode.Message) {
	if t := s.turn.Load(); t != nil {
		t.observe(m)
	}
}

// call runs a call of the CLI, of a tool of ours.
func (s *cliSession) call(ctx context.Context, id, name string, arguments json.RawMessage) (agent.ToolResult, error) {
	t := s.turn.Load()
	if t == nil {
		return agent.ToolResult{}, errors.New("no turn is under way")
	}
	return t.call(ctx, id, name, arguments)
}

// ended notes that a turn has ended, and lets the process rest after a while.
func (s *cliSession) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return
	}
	s.backend.pool.used(s, time.Now())
	if s.idle == nil {
		s.idle = time.AfterFunc(s.backend.pool.idle, func() { s.rest() })
		return
	}
	s.idle.Reset(s.backend.pool.idle)
}
