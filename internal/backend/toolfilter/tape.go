package toolfilter

import (
	"context"
	"errors"

	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/cassette"
)

// choice is what was chosen, as a cassette has it.
type choice struct {
	Tools  []string `json:"tools"`
	Failed string   `json:"error,omitempty"`
}

// placeOf returns where in a cassette a choice stands: a turn has one.
func placeOf(s loop.Situation) cassette.Place {
	return cassette.Place{Session: s.Session, Kind: cassette.Selection, Turn: s.Turn, Ordinal: 1}
}

// fieldsOf returns what of a situation must be as it was recorded.
func fieldsOf(s loop.Situation) []cassette.Field {
	names := make([]string, len(s.Tools))
	for i, d := range s.Tools {
		names[i] = d.Name
	}
	return []cassette.Field{{Name: "message", Value: s.Message}, {Name: "tools", Value: names}}
}

// Recorded returns s so that what it chooses is recorded.
func Recorded(s loop.Selector, r *cassette.Recorder) loop.Selector { return recorded{s, r} }

type recorded struct {
	loop.Selector
	recorder *cassette.Recorder
}

// Select implements loop.Selector. A choice that was cancelled is not recorded:
// nothing follows from it.
func (r recorded) Select(ctx context.Context, s loop.Situation) ([]string, error) {
	names, err := r.Selector.Select(ctx, s)
	if ctx.Err() != nil {
		return names, err
	}
	c := choice{Tools: names}
	if err != nil {
		c.Failed = err.Error()
	}
	r.recorder.Add(placeOf(s), fieldsOf(s), c)
	return names, err
}

// Played returns a Selector that chooses what a record says.
func Played(p *cassette.Player) loop.Selector { return played{p} }

type played struct{ player *cassette.Player }

// Select implements loop.Selector.
func (p played) Select(_ context.Context, s loop.Situation) ([]string, error) {
	var c choice
	if err := p.player.Next(placeOf(s), fieldsOf(s), &c); err != nil {
		return nil, err
	}
	if c.Failed != "" {
		return nil, errors.New(c.Failed)
	}
	return c.Tools, nil
}
