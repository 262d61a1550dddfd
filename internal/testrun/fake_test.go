package testrun_test

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// fake is a backend whose turns are a function of what is said.
type fake struct {
	// turn plays a turn, counted from 1, of a session.
	turn func(ctx context.Context, s *session, turn int, said string) ([]agent.Event, error)
	open func() error // what NewSession returns as an error; nil for none
	can  agent.Capabilities

	sessions atomic.Int32
	closed   atomic.Int32
}

// answers returns a backend that gives an answer to each thing said.
func answers(answer func(said string) string) *fake {
	return &fake{turn: func(_ context.Context, _ *session, _ int, said string) ([]agent.Event, error) {
		return reply(answer(said)), nil
	}}
}

// reply returns the events of a turn that says text.
func reply(text string) []agent.Event {
	return []agent.Event{
		agent.TextDelta{Text: text},
		agent.ModelCall{Provider: "fake", Model: "m", Usage: agent.Usage{Prompt: 3, Completion: 2, Total: 5}},
		agent.TurnFinished{Response: text, StopReason: agent.StopEnd},
	}
}

// calls returns the events of a turn that calls tools, each with its arguments
// as JSON, and then says text.
func calls(text string, nameArgs ...string) []agent.Event {
	events := []agent.Event{agent.ModelCall{Provider: "fake", Model: "m"}}
	var ends []agent.Event
	for i := 0; i < len(nameArgs); i += 2 {
		id := strconv.Itoa(i / 2)
		start := time.Unix(100, 0)
		events = append(events, agent.ToolCallStarted{CallID: id, Name: nameArgs[i], Arguments: json.RawMessage(nameArgs[i+1])})
		ends = append([]agent.Event{agent.ToolCallFinished{
			CallID: id, Name: nameArgs[i], Result: agent.TextResult("result " + id),
			Start: start, End: start.Add(20 * time.Millisecond),
		}}, ends...) // the last call ends first
	}
	return append(append(events, ends...), reply(text)...)
}

func (f *fake) NewSession(_ context.Context, opts agent.SessionOptions) (agent.Session, error) {
	if f.open != nil {
		if err := f.open(); err != nil {
			return nil, err
		}
	}
	return &session{fake: f, options: opts, id: strconv.Itoa(int(f.sessions.Add(1)))}, nil
}

func (f *fake) Capabilities() agent.Capabilities { return f.can }
func (f *fake) Close() error                     { return nil }

// session is one conversation with a fake.
type session struct {
	fake    *fake
	options agent.SessionOptions
	id      string
	turns   int
	heard   []string
	parts   []agent.Part // of the last message
}

func (s *session) ID() string { return s.id }

func (s *session) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		s.turns++
		s.heard = append(s.heard, m.Text())
		s.parts = m.Parts
		stamp := agent.NewStamper(time.Now, s.turns)
		events, err := s.fake.turn(ctx, s, s.turns, m.Text())
		for _, e := range events {
			if !yield(stamp.Stamp(e, ""), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func (s *session) Snapshot(context.Context) (json.RawMessage, error) { return nil, nil }

func (s *session) Close() error {
	s.fake.closed.Add(1)
	return nil
}

// testEnv returns an Env for tests.
func testEnv() agent.Env {
	return agent.Env{
		Now:   time.Now,
		NewID: func() string { return "id" },
		Rand:  rand.New(rand.NewPCG(1, 2)),
		Log:   slog.New(slog.DiscardHandler),
	}
}
