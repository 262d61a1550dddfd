package loop

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// session is one conversation on the loop. What a turn changes (history,
// spentUSD, used) belongs to whoever holds the sequencer's slot.
type session struct {
	backend   *Backend
	id        string
	env       agent.Env // its own scope
	user      string
	mode      agent.Mode
	approver  agent.Approver
	tools     Tools
	own       SessionTools // tools, when they are the session's own; else nil
	names     names
	limits    Limits
	sequencer *turn.Sequencer
	close     sync.Once

	history  []llm.Message
	spentUSD float64
	used     map[string]int // how often each tool was called, by canonical name
}

// ID implements agent.Session.
func (s *session) ID() string { return s.id }

// Send implements agent.Session.
func (s *session) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return s.sequencer.Send(ctx, func(ctx context.Context, t *turn.Turn) (agent.TurnFinished, error) {
		if err := dialog.Readable(s.backend.options.Model.Info(), m); err != nil {
			return agent.TurnFinished{}, err
		}
		s.history = append(s.history, llm.Message{Role: llm.RoleUser, Parts: slices.Clone(m.Parts)})
		r := &run{session: s, turn: t}
		return r.run(ctx)
	})
}

// Snapshot implements agent.Session.
func (s *session) Snapshot(ctx context.Context) (data json.RawMessage, err error) {
	err = s.sequencer.Do(ctx, func() error {
		data, err = dialog.Snapshot{
			Backend: s.backend.options.Backend,
			Turns:   s.sequencer.Turns(), SpentUSD: s.spentUSD, Used: s.used, Messages: s.history,
		}.Write()
		return err
	})
	return data, err
}

// Close implements agent.Session.
func (s *session) Close() (err error) {
	s.close.Do(func() {
		s.sequencer.Close()
		err = s.closeTools()
		s.backend.sessions.Remove(s)
		llm.EndSession(s.backend.options.Model, s.id)
		llm.EndSession(s.backend.options.Model, s.id+beside)
	})
	return err
}
