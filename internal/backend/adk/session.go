//go:build !noadk

package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	adksession "google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// session is one conversation on ADK. What a turn changes (spentUSD, used, calls)
// belongs to whoever holds the sequencer's slot.
type session struct {
	backend   *Backend
	id        string
	user      string // ADK's for this session alone
	env       agent.Env
	opts      agent.SessionOptions
	tools     loop.Tools
	own       loop.SessionTools // tools, when they are the session's own; else nil
	limits    dialog.Limits
	sequencer *turn.Sequencer
	close     sync.Once

	// The service is the session's own: one that is shared keeps something of every
	// user for ever.
	service adksession.Service
	runner  *runner.Runner

	calls    int // ids handed to ADK so far
	spentUSD float64
	used     map[string]int // how often each tool was called
}

func (b *Backend) newSession(ctx context.Context, opts agent.SessionOptions) (_ *session, err error) {
	o := &b.options
	s := &session{
		backend: b, id: opts.ID, opts: opts, tools: o.Tools,
		limits: b.limits.Tighten(opts.Limits),
	}
	if s.id == "" {
		s.id = o.Env.NewID()
	}
	s.env = o.Env.Scope(s.id)
	s.user = s.env.NewID()
	if err := s.limits.Check(o.Model.Info()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeTools())
		}
	}()
	if err := s.openTools(ctx); err != nil {
		return nil, err
	}
	var past dialog.Snapshot
	if len(opts.Resume) > 0 {
		if past, err = dialog.ReadSnapshot(opts.Resume, o.Backend); err != nil {
			return nil, fmt.Errorf("resume session: %w", err)
		}
		s.spentUSD, s.used = past.SpentUSD, past.Used
	}
	if err := s.begin(ctx, past.Messages); err != nil {
		return nil, err
	}
	s.sequencer = turn.NewSequencer(o.Backend, s.env.Now, s.limits.Turn, past.Turns)
	if err := b.sessions.Add(s); err != nil {
		return nil, err
	}
	return s, nil
}

// openTools gets the session its tools, with the caller's own among them.
func (s *session) openTools(ctx context.Context) error {
	o := &s.backend.options
	if o.ForSession == nil {
		if len(s.opts.Tools) > 0 {
			return errors.New("this agent takes no tools of its caller")
		}
		return nil
	}
	own, err := o.ForSession(ctx, s.id, s.opts.Tools)
	if err != nil {
		return fmt.Errorf("open the session's tools: %w", err)
	}
	s.tools, s.own = own, own
	return nil
}

// closeTools closes the tools that are the session's own.
func (s *session) closeTools() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

// begin makes ADK's session, which begins with what was said before.
func (s *session) begin(ctx context.Context, past []llm.Message) (err error) {
	name := s.backend.agent.Name()
	s.service = adksession.InMemoryService()
	_, err = s.service.Create(ctx, &adksession.CreateRequest{AppName: name, UserID: s.user, SessionID: s.id})
	if err != nil {
		return fmt.Errorf("make ADK's session: %w", err)
	}
	s.runner, err = runner.New(runner.Config{
		AppName: name, Agent: s.backend.agent, SessionService: s.service,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{s.backend.plugin}},
	})
	if err != nil {
		return fmt.Errorf("make ADK's runner: %w", err)
	}
	var ids []string // of the last calls
	for _, m := range past {
		author := name
		switch m.Role {
		case llm.RoleUser:
			author = genai.RoleUser
		case llm.RoleAssistant:
			ids = s.callIDs(len(m.Calls))
		}
		if err := s.append(ctx, author, contentOf(m, ids)); err != nil {
			return err
		}
	}
	return nil
}

// callIDs returns n ids for calls, which ADK tells apart in the whole session.
func (s *session) callIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		s.calls++
		ids[i] = "call:" + strconv.Itoa(s.calls)
	}
	return ids
}

// stored returns ADK's session as it is now.
func (s *session) stored(ctx context.Context) (adksession.Session, error) {
	got, err := s.service.Get(ctx, &adksession.GetRequest{AppName: s.backend.agent.Name(), UserID: s.user, SessionID: s.id})
	if err != nil {
		return nil, fmt.Errorf("read ADK's session: %w", err)
	}
	return got.Session, nil
}

// append puts something into ADK's session that did not come from its runner.
func (s *session) append(ctx context.Context, author string, c *genai.Content) error {
	stored, err := s.stored(ctx)
	if err != nil {
		return err
	}
	e := adksession.NewEvent(ctx, "")
	e.Author, e.Content = author, c
	if err := s.service.AppendEvent(ctx, stored, e); err != nil {
		return fmt.Errorf("write ADK's session: %w", err)
	}
	return nil
}

// ID implements agent.Session.
func (s *session) ID() string { return s.id }

// Send implements agent.Session.
func (s *session) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return s.sequencer.Send(ctx, func(ctx context.Context, t *turn.Turn) (agent.TurnFinished, error) {
		if err := dialog.Readable(s.backend.options.Model.Info(), m); err != nil {
			return agent.TurnFinished{}, err
		}
		return newRun(ctx, s, t).run(llm.Message{Role: llm.RoleUser, Parts: slices.Clone(m.Parts)})
	})
}

// Snapshot implements agent.Session.
func (s *session) Snapshot(ctx context.Context) (data json.RawMessage, err error) {
	err = s.sequencer.Do(ctx, func() error {
		stored, err := s.stored(ctx)
		if err != nil {
			return &agent.BackendSessionError{Backend: s.backend.options.Backend, Err: err}
		}
		var history []llm.Message
		for e := range stored.Events().All() {
			if m, ok := messageOf(e.Content); ok {
				history = append(history, m)
			}
		}
		data, err = dialog.Snapshot{
			Backend: s.backend.options.Backend, Turns: s.sequencer.Turns(),
			SpentUSD: s.spentUSD, Used: s.used, Messages: history,
		}.Write()
		return err
	})
	return data, err
}

// Close implements agent.Session.
func (s *session) Close() (err error) {
	s.close.Do(func() {
		s.sequencer.Close()
		err = errors.Join(s.closeTools(), s.service.Delete(context.Background(),
			&adksession.DeleteRequest{AppName: s.backend.agent.Name(), UserID: s.user, SessionID: s.id}))
		s.backend.sessions.Remove(s)
		llm.EndSession(s.backend.options.Model, s.id)
	})
	return err
}
