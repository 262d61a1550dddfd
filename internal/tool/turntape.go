package tool

import (
	"reflect"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
)

// turnTools is what a cassette has of the beginning of a turn: the tools, when
// they are others than before, and what was told.
type turnTools struct {
	Tools   []described    `json:"tools,omitempty"`
	Changed bool           `json:"changed,omitempty"`
	Notices []agent.Notice `json:"notices,omitempty"`
}

// placeOfTurn returns where in a cassette the tools of a turn stand.
func (s *Set) placeOfTurn(turn int) cassette.Place {
	return cassette.Place{Session: s.session, Kind: cassette.Tools, Turn: turn, Ordinal: 1}
}

// recordTurn records what the tools of a turn are.
func (s *Set) recordTurn(turn int, notices []agent.Notice) {
	if s.recorder == nil {
		return
	}
	record := turnTools{Notices: notices}
	if now := s.now.Load().described(); !reflect.DeepEqual(now, s.recorded) {
		record.Changed, record.Tools = true, now
		s.recorded = now
	}
	s.recorder.Add(s.placeOfTurn(turn), nil, record)
}

// playTurn makes the tools those that a turn had when it was recorded.
func (s *Set) playTurn(turn int) ([]agent.Notice, error) {
	var record turnTools
	if err := s.player.Next(s.placeOfTurn(turn), nil, &record); err != nil {
		return nil, err
	}
	if !record.Changed {
		return record.Notices, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.parts {
		p := &s.parts[i]
		if p.config == nil {
			continue
		}
		var tools []agent.Tool
		for _, d := range record.Tools {
			if d.Tool == p.config.Name {
				tools = append(tools, onTape{d.Definition})
			}
		}
		p.members = membersOf(p.config, tools)
		s.enter(p)
	}
	t, _ := tableOf(s.parts)
	s.now.Store(t)
	return record.Notices, nil
}
