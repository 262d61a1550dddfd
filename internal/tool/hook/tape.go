package hook

import (
	"encoding/json"
	"errors"

	"github.com/holodeck-go/holodeck/internal/cassette"
)

// tape records what the hooks before one call answered that reach out, or plays
// it.
type tape struct {
	recorder *cassette.Recorder
	player   *cassette.Player
	place    cassette.Place
	fields   []cassette.Field
	answers  []answer
	played   bool  // the record was asked for
	err      error // why it cannot be played
}

// answer is what a hook that reaches out came to. One that failed may have said
// something before.
type answer struct {
	Said  json.RawMessage `json:"said,omitempty"`
	Error string          `json:"error,omitempty"`
}

// tape returns the tape of a call.
func (h *Hooks) tape(c Call) *tape {
	if h == nil || c.Within {
		return &tape{}
	}
	return &tape{
		recorder: h.options.Recorder, player: h.options.Player,
		place:  cassette.Place{Session: c.Session, Kind: cassette.Hook, Turn: c.Turn, Ordinal: c.Ordinal},
		fields: []cassette.Field{{Name: "name", Value: c.Tool}, {Name: "arguments", Value: c.Arguments}},
	}
}

// outside returns what run comes to, or what the record says that it came to.
func (t *tape) outside(run func() (json.RawMessage, error)) (json.RawMessage, error) {
	if t.player != nil {
		return t.next()
	}
	said, err := run()
	a := answer{Said: said}
	if err != nil {
		a.Error = err.Error()
	}
	t.answers = append(t.answers, a)
	return said, err
}

// next returns the next recorded answer.
func (t *tape) next() (json.RawMessage, error) {
	if !t.played {
		t.played = true
		t.err = t.player.Next(t.place, t.fields, &t.answers)
	}
	if t.err != nil {
		return nil, t.err
	}
	if len(t.answers) == 0 {
		t.err = errors.New("replay: the hooks of this call are not those that were recorded; record it again")
		return nil, t.err
	}
	a := t.answers[0]
	t.answers = t.answers[1:]
	if a.Error != "" {
		return a.Said, errors.New(a.Error)
	}
	return a.Said, nil
}

// end records what there is. Its error says that the record could not be played.
func (t *tape) end() error {
	if t.recorder != nil && len(t.answers) > 0 {
		t.recorder.Add(t.place, t.fields, t.answers)
	}
	return t.err
}
