package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// RecordSchema tags the JSON form of a conversation.
const RecordSchema = "holodeck.chat/v1"

// What is kept of a conversation's earlier states, by which /undo goes back.
const (
	maxSnapshots     = 20      // states
	maxSnapshotBytes = 8 << 20 // of all but the newest
)

// Record is a conversation as it is kept. What it holds is masked.
type Record struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	About
	Began     time.Time  `json:"began"`
	Changed   time.Time  `json:"changed"`
	Exchanges []Exchange `json:"exchanges"`
	Undone    Spent      `json:"undone,omitzero"` // on what was taken back
	// Snapshots are the states of the session after so many exchanges, the oldest
	// first; the last is that after all of them.
	Snapshots []Snapshot `json:"snapshots"`
}

// About is what a conversation was held with.
type About struct {
	Agent     string `json:"agent"`
	AgentFile string `json:"agent_file,omitempty"` // its name, for a folder may hold several
	Runtime   string `json:"runtime"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
}

// Exchange is a message and what came of it.
type Exchange struct {
	At      time.Time     `json:"at"`
	Said    string        `json:"said"`
	Files   []string      `json:"files,omitempty"` // that went with it, absolute
	Result  agent.Result  `json:"result"`
	Error   string        `json:"error,omitempty"` // that the turn ended in, or cancelled
	Elapsed time.Duration `json:"elapsed_ns"`
}

// Snapshot is a state of the session.
type Snapshot struct {
	After int             `json:"after"` // exchanges
	State json.RawMessage `json:"state"` // of agent.Session.Snapshot
}

// state returns the state after so many exchanges, nil when it is not kept.
func (r *Record) state(after int) json.RawMessage {
	for _, s := range r.Snapshots {
		if s.After == after {
			return s.State
		}
	}
	return nil
}

// keep adds the state after all exchanges, and drops the oldest where there are
// too many, or they are too large.
func (r *Record) keep(state json.RawMessage) {
	r.Snapshots = append(r.Snapshots, Snapshot{After: len(r.Exchanges), State: state})
	size, first := 0, len(r.Snapshots)-1
	for first > 0 && len(r.Snapshots)-first < maxSnapshots {
		if size += len(r.Snapshots[first-1].State); size > maxSnapshotBytes {
			break
		}
		first--
	}
	r.Snapshots = r.Snapshots[first:]
}

// truncate goes back to so many exchanges. What the others took stays spent.
func (r *Record) truncate(exchanges int) {
	for _, e := range r.Exchanges[exchanges:] {
		r.Undone.add(e)
	}
	r.Exchanges = r.Exchanges[:exchanges]
	for len(r.Snapshots) > 0 && r.Snapshots[len(r.Snapshots)-1].After > exchanges {
		r.Snapshots = r.Snapshots[:len(r.Snapshots)-1]
	}
}

// cancelled is the Error of an exchange that the person interrupted.
const cancelled = "cancelled"

// Spent is what exchanges took.
type Spent struct {
	Messages  int           `json:"messages"`
	ToolCalls int           `json:"tool_calls"`
	Usage     agent.Usage   `json:"usage"`
	CostUSD   float64       `json:"cost_usd"`
	Unpriced  bool          `json:"unpriced,omitempty"` // it cost more than that: how much is not known
	Elapsed   time.Duration `json:"elapsed_ns"`
}

// add adds an exchange. What a turn cost that was cancelled is not known: the
// model tells at the end.
func (s *Spent) add(e Exchange) {
	s.Messages++
	s.ToolCalls += len(e.Result.ToolCalls)
	s.Usage = s.Usage.Add(e.Result.Usage)
	s.Elapsed += e.Elapsed
	if e.Result.CostUSD != nil {
		s.CostUSD += *e.Result.CostUSD
	}
	if e.Error == cancelled || e.Result.CostUSD == nil && e.Result.Usage.Total > 0 {
		s.Unpriced = true
	}
}

// spent returns what the whole conversation took, with what was taken back.
func (r *Record) spent() Spent {
	sum := r.Undone
	for _, e := range r.Exchanges {
		sum.add(e)
	}
	return sum
}

// masked returns the record with every secret in it masked, as it is kept. What
// goes back to a model from there has the masks, too.
func (r *Record) masked(m *secret.Redactor) (json.RawMessage, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	return m.JSON(data), nil
}

// readRecord reads what masked wrote.
func readRecord(data []byte) (*Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	switch {
	case r.Schema == "":
		return nil, errors.New("it is no conversation that holodeck chat has kept")
	case r.Schema != RecordSchema:
		return nil, fmt.Errorf("its form is %q, and this version of holodeck reads %s; use the version that wrote it", r.Schema, RecordSchema)
	case r.ID == "" || len(r.Exchanges) == 0:
		return nil, errors.New("it is damaged: it has no id, or nothing was said in it")
	case r.state(len(r.Exchanges)) == nil:
		return nil, errors.New("it is damaged: the state of its session is not in it")
	}
	return &r, nil
}

// fits refuses to continue the conversation with another agent or runtime.
func (r *Record) fits(a About) error {
	switch {
	case r.Agent != a.Agent:
		return fmt.Errorf("it was held with the agent %s, and this is %s", r.Agent, a.Agent)
	case r.Runtime != a.Runtime:
		return fmt.Errorf("it was held on the runtime %s, and the agent now runs on %s; write backend: %s to continue it, or begin a new one",
			r.Runtime, a.Runtime, r.Runtime)
	case r.Provider != a.Provider:
		return fmt.Errorf("it was held with a model of %s, and the agent's is now of %s (%s); begin a new one", r.Provider, a.Provider, a.Model)
	}
	return nil
}
