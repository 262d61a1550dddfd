package agent

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Backend is one opened agent on one runtime. It is safe for concurrent use.
//
// Whoever opens a backend closes it, and closes the tool set it was opened
// with only after that.
type Backend interface {
	// NewSession begins a conversation, or continues one when opts.Resume
	// holds a Snapshot of the same runtime. A Snapshot of another runtime or
	// of an unknown version is a *BackendSessionError.
	NewSession(ctx context.Context, opts SessionOptions) (Session, error)

	// Capabilities says what this runtime, with this model, can do. The
	// answer does not change while the backend is open.
	Capabilities() Capabilities

	// Close frees what the runtime holds. It is idempotent, cancels turns that
	// are under way, and returns when they have ended.
	Close() error
}

// Session is one conversation. Its methods may be called from any goroutine;
// turns are serialised.
type Session interface {
	// ID names the session; it does not change.
	ID() string

	// Send runs one turn while the caller ranges over the result. Not ranging
	// runs nothing; ranging twice yields an error.
	//
	// The sequence yields events and then ends in exactly one of two ways:
	// with a TurnFinished, or with a non-nil error after which nothing
	// follows. A second Send waits for the first, or for its own ctx. Breaking
	// out of the range, or cancelling ctx, cancels the turn.
	//
	// After a cancelled or failed turn the history stays well-formed (the user
	// message is kept and every tool call has a result) and the next Send
	// works.
	Send(ctx context.Context, m Message) iter.Seq2[Event, error]

	// Snapshot returns the conversation so far as versioned JSON that
	// SessionOptions.Resume of the same runtime takes back. It waits for a turn
	// that is under way.
	Snapshot(ctx context.Context) (json.RawMessage, error)

	// Close frees what the runtime keeps for the session. It is idempotent and
	// cancels a turn that is under way.
	Close() error
}

// Mode says on whose behalf a session runs, for runtimes that must tell an
// attended session from an unattended one.
type Mode string

// The modes, one for each kind of consumer.
const (
	ModeRun   Mode = "run"
	ModeTest  Mode = "test"
	ModeChat  Mode = "chat"
	ModeServe Mode = "serve"
)

// SessionOptions says how a session begins.
type SessionOptions struct {
	// ID and User name the session and whose it is; empty means Env.NewID.
	ID, User string
	// Resume is a Snapshot of the same runtime, or empty for a new conversation.
	Resume json.RawMessage
	// Mode is the kind of consumer; empty means ModeRun.
	Mode Mode
	// Tools are the caller's own tools, for this session only.
	Tools []Tool
	// Approver answers permissions of kind "ask"; nil means no.
	Approver Approver
	// Limits may only tighten what the agent file says.
	Limits Limits
}

// Limits bounds a turn. A zero field leaves the agent file's value in force.
type Limits struct {
	// MaxTurns is the number of model responses the main agent may give in one turn.
	MaxTurns int
	// MaxCostUSD bounds what the model calls of one turn may cost, in US dollars.
	MaxCostUSD float64
	// ModelTimeout bounds one model call.
	ModelTimeout time.Duration
	// TurnTimeout bounds the turn.
	TurnTimeout time.Duration
}

// Tighten returns l with every bound of other that is narrower.
func (l Limits) Tighten(other Limits) Limits {
	l.MaxTurns = narrower(l.MaxTurns, other.MaxTurns)
	l.MaxCostUSD = narrower(l.MaxCostUSD, other.MaxCostUSD)
	l.ModelTimeout = narrower(l.ModelTimeout, other.ModelTimeout)
	l.TurnTimeout = narrower(l.TurnTimeout, other.TurnTimeout)
	return l
}

// narrower returns the smaller of two bounds, where zero or less is no bound.
func narrower[T int | float64 | time.Duration](a, b T) T {
	switch {
	case b <= 0:
		return a
	case a <= 0:
		return b
	}
	return min(a, b)
}

// Capabilities says what a runtime can do with its model. A consumer asks
// here, never for the runtime's name.
type Capabilities struct {
	Streaming        bool `json:"streaming"`         // text arrives in more than one delta
	Thinking         bool `json:"thinking"`          // ThinkingDelta events occur
	StructuredOutput bool `json:"structured_output"` // response_format is obeyed
	ClientTools      bool `json:"client_tools"`      // SessionOptions.Tools are offered to the model
	Snapshot         bool `json:"snapshot"`          // Snapshot and Resume work
	Cost             bool `json:"cost"`              // Result.CostUSD is known
	Images           bool `json:"images"`            // image parts reach the model
	Documents        bool `json:"documents"`         // document parts reach the model
	Sampling         bool `json:"sampling"`          // temperature, top_p and max_tokens reach the model
}

// Approver is asked whether a tool call that needs permission may run.
type Approver interface {
	// Approve returns nil to allow the call. An error refuses it, and its text
	// is what the model is told.
	Approve(ctx context.Context, req ApprovalRequest) error
}

// ApprovalRequest is a tool call that waits for permission.
type ApprovalRequest struct {
	Tool      string          // canonical tool name
	CallID    string          // the call's id
	Arguments json.RawMessage // as the model gave them
	Reason    string          // why permission is needed
}
