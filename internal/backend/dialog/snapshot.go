package dialog

import (
	"encoding/json"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/llm"
)

// snapshotSchema tags the JSON form of a session.
const snapshotSchema = "holodeck.snapshot/v1"

// Snapshot is a session as it is put away.
type Snapshot struct {
	Backend  string         // the runtime it is of
	Turns    int            // that began
	SpentUSD float64        // on its model calls
	Used     map[string]int // how often each tool was called, by canonical name
	Messages []llm.Message
}

// written is the JSON form of a Snapshot.
type written struct {
	Schema   string         `json:"schema"`
	Backend  string         `json:"backend"`
	Turns    int            `json:"turns"`
	SpentUSD float64        `json:"spent_usd,omitempty"`
	Used     map[string]int `json:"tools_used,omitempty"`
	Messages []llm.Message  `json:"messages"`
}

// Write returns the snapshot as versioned JSON.
func (s Snapshot) Write() (json.RawMessage, error) {
	return json.Marshal(written{snapshotSchema, s.Backend, s.Turns, s.SpentUSD, s.Used, s.Messages})
}

// ReadSnapshot reads what Write wrote of a session of the backend. What it
// returns is a history a model can be given.
func ReadSnapshot(data json.RawMessage, backend string) (Snapshot, error) {
	var s written
	if err := json.Unmarshal(data, &s); err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot: %w", err)
	}
	switch {
	case s.Schema != snapshotSchema:
		return Snapshot{}, fmt.Errorf("the snapshot's schema is %q, want %q", s.Schema, snapshotSchema)
	case s.Backend != backend:
		return Snapshot{}, fmt.Errorf("the snapshot is of backend %q and this is %s; begin a new session", s.Backend, backend)
	case s.Turns < 0 || s.SpentUSD < 0:
		return Snapshot{}, fmt.Errorf("the snapshot counts %d turns and %g USD, which cannot be", s.Turns, s.SpentUSD)
	}
	if err := WellFormed(s.Messages); err != nil {
		return Snapshot{}, fmt.Errorf("the snapshot's history is broken: %w", err)
	}
	return Snapshot{s.Backend, s.Turns, s.SpentUSD, s.Used, s.Messages}, nil
}

// WellFormed checks that every call of a history has its result, in order.
func WellFormed(history []llm.Message) error {
	var open []llm.Call // calls of the message before
	for i, m := range history {
		if m.Role != llm.RoleTool && len(open) > 0 {
			return fmt.Errorf("message %d: the calls before it have no results", i+1)
		}
		switch m.Role {
		case llm.RoleUser:
		case llm.RoleAssistant:
			open = m.Calls
		case llm.RoleTool:
			if len(m.Results) != len(open) || len(open) == 0 {
				return fmt.Errorf("message %d: %d results for %d calls", i+1, len(m.Results), len(open))
			}
			for j, r := range m.Results {
				if r.CallID != open[j].ID {
					return fmt.Errorf("message %d: result %d is of call %q, want %q", i+1, j+1, r.CallID, open[j].ID)
				}
			}
			open = nil
		default:
			return fmt.Errorf("message %d: unknown role %q", i+1, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last calls have no results")
	}
	return nil
}
