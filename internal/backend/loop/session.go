package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
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
		if err := s.readable(m); err != nil {
			return agent.TurnFinished{}, err
		}
		s.history = append(s.history, llm.Message{Role: llm.RoleUser, Parts: slices.Clone(m.Parts)})
		r := &run{session: s, turn: t}
		return r.run(ctx)
	})
}

// readable refuses a message of which the model would not see everything.
func (s *session) readable(m agent.Message) error {
	info := s.backend.options.Model.Info()
	empty := true
	for _, p := range m.Parts {
		switch p.Kind {
		case agent.PartText:
			empty = empty && strings.TrimSpace(p.Text) == ""
			continue
		case agent.PartImage:
			if !info.Capabilities.Images {
				return fmt.Errorf("%s model %s reads no images; send the message without %s", info.Provider, info.Name, p.Name)
			}
		case agent.PartDocument:
			if !info.Capabilities.Documents {
				return fmt.Errorf("%s model %s reads no documents; send the message without %s", info.Provider, info.Name, p.Name)
			}
		default:
			return fmt.Errorf("a person's message has no parts of kind %q", p.Kind)
		}
		empty = false
	}
	if empty {
		return errors.New("the message is empty")
	}
	return nil
}

// Snapshot implements agent.Session.
func (s *session) Snapshot(ctx context.Context) (data json.RawMessage, err error) {
	err = s.sequencer.Do(ctx, func() error {
		data, err = json.Marshal(snapshot{
			Schema: snapshotSchema, Backend: s.backend.options.Backend,
			Turns: s.sequencer.Turns(), SpentUSD: s.spentUSD, Used: s.used, Messages: s.history,
		})
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
