package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/claudecode"
)

// talker is who the CLI's part of a turn comes from.
type talker interface {
	Turn(ctx context.Context, said ...claudecode.Content) iter.Seq2[claudecode.Message, error]
}

// recordedTurn is a turn as a cassette has it.
type recordedTurn struct {
	Messages []json.RawMessage `json:"messages"`
	Names    map[string]string `json:"names"` // of our tools, by wire name
	Failed   string            `json:"error,omitempty"`
	Timeout  string            `json:"timeout,omitempty"` // which deadline passed
}

func (r *cliTurn) place() cassette.Place {
	return cassette.Place{Session: r.id, Kind: cassette.Claude, Turn: r.turn.Number(), Ordinal: 1}
}

// fields are what of a turn must be as it was recorded. What the CLI sends its
// model has dates and paths in it, and is not among them.
func (r *cliTurn) fields(said []claudecode.Content) []cassette.Field {
	return []cassette.Field{
		{Name: "model", Value: r.backend.info.Name}, {Name: "system", Value: r.backend.options.System},
		{Name: "message", Value: said}, {Name: "tools", Value: r.tools.Definitions()},
	}
}

// recorder records a turn.
type recorder struct {
	talker
	of  *cliTurn
	rec *cassette.Recorder
}

func (r *cliTurn) recorded(t talker, rec *cassette.Recorder) talker { return recorder{t, r, rec} }

// Turn implements talker. A turn that its caller cancelled is not recorded: nothing
// follows from it.
func (t recorder) Turn(ctx context.Context, said ...claudecode.Content) iter.Seq2[claudecode.Message, error] {
	return func(yield func(claudecode.Message, error) bool) {
		out := recordedTurn{Names: t.of.servers.names}
		for m, err := range t.talker.Turn(ctx, said...) {
			if err != nil {
				out.Failed = err.Error()
			} else if frame, failed := claudecode.MarshalMessage(m); failed == nil {
				out.Messages = append(out.Messages, json.RawMessage(t.rec.Redact(string(frame))))
			}
			if !yield(m, err) {
				break
			}
		}
		if ctx.Err() != nil {
			late, ok := errors.AsType[*agent.BackendTimeoutError](context.Cause(ctx))
			if !ok {
				return
			}
			out.Failed, out.Timeout = "", late.What
		}
		t.rec.Add(t.of.place(), t.of.fields(said), out)
	}
}

// player plays a turn from a record. Our tools are called as the CLI would call
// them.
type player struct {
	of *cliTurn
	p  *cassette.Player
}

func (r *cliTurn) played(p *cassette.Player) (talker, error) { return player{r, p}, nil }

// Turn implements talker.
func (t player) Turn(ctx context.Context, said ...claudecode.Content) iter.Seq2[claudecode.Message, error] {
	return func(yield func(claudecode.Message, error) bool) {
		var in recordedTurn
		if err := t.p.Next(t.of.place(), t.of.fields(said), &in); err != nil {
			yield(nil, err)
			return
		}
		t.of.servers.names = in.Names
		var asked []*claudecode.ToolUsed
		for _, frame := range in.Messages {
			m, err := claudecode.UnmarshalMessage(frame)
			if err != nil {
				yield(nil, fmt.Errorf("replay: %w; record it again", err))
				return
			}
			t.of.observe(m)
			if !yield(m, ctx.Err()) || ctx.Err() != nil {
				return
			}
			used, ok := m.(*claudecode.ToolUsed)
			if ok && in.Names[used.Name] != "" {
				asked = append(asked, used)
			}
			if _, ended := m.(*claudecode.ModelCall); ended || ok && used.Parent != "" {
				for _, used := range asked { // of all of them the turn has been told now
					t.of.play(used, in.Names[used.Name])
				}
				asked = nil
			}
		}
		switch {
		case in.Timeout != "":
			yield(nil, &agent.BackendTimeoutError{Backend: t.of.backend.options.Backend, What: in.Timeout, Err: context.DeadlineExceeded})
		case in.Failed != "":
			yield(nil, &agent.BackendSessionError{Backend: t.of.backend.options.Backend, Err: errors.New(in.Failed)})
		}
	}
}

// play makes a call that a record tells of.
func (r *cliTurn) play(m *claudecode.ToolUsed, name string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.call(r.ctx, m.ID, name, m.Input)
	}()
	<-done // one after the other: what they did stands in the record
}
