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
	// holds a Snapshot of the same runtime. Its error is a *BackendSessionError:
	// the backend is closed, opts ask for what Capabilities denies, or the
	// Snapshot is of another runtime or an unknown version. Whoever opens a
	// session closes it. ctx bounds the opening, not the session.
	NewSession(ctx context.Context, opts SessionOptions) (Session, error)

	// Capabilities says what this runtime, with this model, can do. The
	// answer does not change while the backend is open.
	Capabilities() Capabilities

	// Close closes the sessions that are open and frees what the runtime holds. It
	// is idempotent, cancels turns that are under way, and returns when they have
	// ended: in a *BackendSessionError, as every Send after it does.
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
	// What ends a turn on the model's side is no error, but a TurnFinished with
	// IsError: see StopReason. The error is
	//   - context.Canceled itself, when ctx was cancelled,
	//   - a *BackendTimeoutError, when the deadline of ctx, of the turn or of a
	//     model call passed,
	//   - a *BackendSessionError for everything else: the model could not be
	//     reached, the session is closed, or m is empty or has parts that the
	//     model cannot read. Such a message is not kept.
	//
	// After a cancelled or failed turn the history stays well-formed (the user
	// message is kept and every tool call has a result) and the next Send
	// works. A model response that was not complete is not kept.
	Send(ctx context.Context, m Message) iter.Seq2[Event, error]

	// Snapshot returns the conversation so far as versioned JSON that
	// SessionOptions.Resume of the same runtime takes back, in this process or in
	// another. It waits for a turn that is under way. Where Capabilities.Snapshot
	// is false it returns a *BackendSessionError.
	Snapshot(ctx context.Context) (json.RawMessage, error)

	// Close frees what the runtime keeps for the session. It is idempotent,
	// cancels a turn that is under way and returns when it has ended. Within the
	// range over a turn, break out first: Close would wait for its own caller.
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
	// ID names the session; empty, it gets one of Env.NewID. It does not come
	// from Resume.
	ID string
	// User says on whose behalf the conversation is, for runtimes that tell a
	// provider of it; empty is nobody in particular.
	User string
	// Resume is a Snapshot of the same runtime, or empty for a new conversation.
	Resume json.RawMessage
	// Mode is the kind of consumer; empty means ModeRun.
	Mode Mode
	// Tools are the caller's own tools, for this session only and beside those of
	// the agent; a name that the agent has already is an error of NewSession, and
	// so are tools at all where Capabilities.ClientTools is false. The caller
	// keeps them until the session is closed.
	Tools []Tool
	// Approver answers permissions of kind "ask"; nil means no.
	Approver Approver
	// Limits may only tighten what the agent file says.
	Limits Limits
}

// Limits bounds a turn. A zero field leaves the agent file's value in force, and
// one that is wider than that has no effect.
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
	Streaming        bool `json:"streaming"`         // text arrives as it is made; if not, in one delta
	Thinking         bool `json:"thinking"`          // ThinkingDelta events occur
	StructuredOutput bool `json:"structured_output"` // response_format is obeyed
	ClientTools      bool `json:"client_tools"`      // SessionOptions.Tools are offered to the model
	Snapshot         bool `json:"snapshot"`          // Snapshot and Resume work
	Cost             bool `json:"cost"`              // the price of its model calls is known
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
