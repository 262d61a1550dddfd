package agent

import (
	"encoding/json"
	"fmt"
	"time"
)

// EventSchema tags the JSON form of an event.
const EventSchema = "holodeck.event/v1"

// Event is one thing that happened in a turn. The set is closed: TextDelta,
// ThinkingDelta, ToolCallStarted, ToolCallFinished, ModelCall, Notice and
// TurnFinished. All events of a turn come from one goroutine, and their headers
// from the Stamper of that turn: a runtime leaves Head empty.
//
// A model response is its deltas, then its ModelCall, then a ToolCallStarted for
// each tool it asked for. Calls that run side by side finish in any order, and
// all of them before the next response begins. Events of sub-agents stand
// between those of their caller.
type Event interface {
	// Header returns the fields every event has.
	Header() Header
	// Type is the event's name in its JSON form.
	Type() string

	withHeader(Header) Event
}

// Header is what every event carries.
type Header struct {
	// Seq counts the events of a turn from 1.
	Seq int `json:"seq"`
	// Time is when the event happened, from Env.Now.
	Time time.Time `json:"time"`
	// Turn counts the turns of a session from 1.
	Turn int `json:"turn"`
	// Parent is the call id of the sub-agent the event belongs to, empty for
	// the main agent.
	Parent string `json:"parent,omitempty"`
}

// TextDelta is a piece of the text of a model response. Only that of the last
// response of the main agent is the answer.
type TextDelta struct {
	Head Header `json:"-"`
	Text string `json:"text"`
}

// ThinkingDelta is a piece of the model's reasoning.
type ThinkingDelta struct {
	Head Header `json:"-"`
	Text string `json:"text"`
}

// ToolCallStarted says that the model asked for a tool.
type ToolCallStarted struct {
	Head Header `json:"-"`
	// CallID pairs the call with its ToolCallFinished. It is the call's own within
	// the turn, also where a model uses one twice, and is never empty.
	CallID string `json:"call_id"`
	// Name is the canonical tool name, or what the model said when there is no
	// such tool.
	Name string `json:"name"`
	// Arguments are as the model gave them; not an object, or not JSON, only
	// when the model erred (then a JSON string of what it said).
	Arguments json.RawMessage `json:"arguments"`
}

// ToolCallFinished says how a call ended. Every ToolCallStarted has exactly
// one, also in a cancelled turn.
type ToolCallFinished struct {
	Head   Header `json:"-"`
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	// Arguments are those that the agent's hooks made of the call's, where they made
	// others; nil where it ran with what the model gave.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    ToolResult      `json:"result"`
	// Err is why the call failed, empty when it did not. Result is then what the
	// model was told of it, with IsError set.
	Err   string    `json:"error,omitempty"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// ModelCall says that one call of the model ended. It follows the deltas of
// that call and precedes the tool calls it asked for.
type ModelCall struct {
	Head     Header `json:"-"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Purpose is empty for a response of the conversation, else what the call
	// was for: one of the Purpose constants. A call with a purpose of its own has
	// no deltas; it counts in usage and cost, and not among the turn's responses.
	Purpose string `json:"purpose,omitempty"`
	Usage   Usage  `json:"usage"`
	// CostUSD is nil when the price is not known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// FinishReason is the provider's own word for why the model stopped.
	FinishReason string    `json:"finish_reason,omitempty"`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
}

// PurposeCompaction marks a ModelCall that shortened the conversation.
const PurposeCompaction = "compaction"

// PurposeAside marks a ModelCall that sums up what a runtime had models do beside
// the main agent's responses and does not tell one by one, such as the calls of
// its own sub-agents.
const PurposeAside = "aside"

// Notice tells of something a person may want to know: a retry, a fallback, a
// compaction, a degraded tool, a wait for a limit.
type Notice struct {
	Head Header `json:"-"`
	// Code is one of the Notice constants.
	Code string `json:"code"`
	Text string `json:"text"`
}

// The codes of a Notice.
const (
	NoticeRetry      = "retry"
	NoticeFallback   = "fallback"
	NoticeCompaction = "compaction"
	NoticeDegraded   = "degraded_tool"
	NoticeWaiting    = "waiting"
	NoticeSubstitute = "substitute" // something stands in for what the file names
)

// TurnFinished ends a turn that was not cut by an error.
type TurnFinished struct {
	Head Header `json:"-"`
	// Response is the answer: the text of the main agent's last model
	// response, which its TextDeltas add up to. When a limit ended the turn it
	// is the partial text.
	Response string `json:"response"`
	// Structured is the answer as a value, when response_format asked for one.
	Structured json.RawMessage `json:"structured_output,omitempty"`
	// StopReason is never empty.
	StopReason StopReason `json:"stop_reason"`
	// IsError says that the turn ended in a limit or refusal, and Reason why, for
	// a person to read; it is set then and only then.
	IsError bool   `json:"is_error"`
	Reason  string `json:"error_reason,omitempty"`
}

// StopReason is why a turn ended.
type StopReason string

// The reasons. All but StopEnd make an error result, save that StopMaxTokens makes
// none of an answer that is of use as far as it goes: it does of one that was cut
// while it asked for tools, before it said anything, or before it matched
// response_format.
const (
	StopEnd             StopReason = "end"              // the model has answered
	StopMaxTurns        StopReason = "max_turns"        // Limits.MaxTurns
	StopBudget          StopReason = "budget"           // Limits.MaxCostUSD, or the agent file's
	StopMaxTokens       StopReason = "max_tokens"       // model.max_tokens cut the answer
	StopRefusal         StopReason = "refusal"          // the model would not answer
	StopBlocked         StopReason = "blocked"          // a filter of the provider kept the answer back
	StopContextOverflow StopReason = "context_overflow" // the conversation is longer than the model reads
	StopEmpty           StopReason = "empty"            // the model answered without a word
	StopSchema          StopReason = "schema"           // the answer does not match response_format
	// StopCancelled is for whoever shows a turn that ended in context.Canceled as a
	// Result. No TurnFinished has it.
	StopCancelled StopReason = "cancelled"
)

// Header implements Event.
func (e TextDelta) Header() Header        { return e.Head }
func (e ThinkingDelta) Header() Header    { return e.Head }
func (e ToolCallStarted) Header() Header  { return e.Head }
func (e ToolCallFinished) Header() Header { return e.Head }
func (e ModelCall) Header() Header        { return e.Head }
func (e Notice) Header() Header           { return e.Head }
func (e TurnFinished) Header() Header     { return e.Head }

// Type implements Event.
func (TextDelta) Type() string        { return "text_delta" }
func (ThinkingDelta) Type() string    { return "thinking_delta" }
func (ToolCallStarted) Type() string  { return "tool_call_started" }
func (ToolCallFinished) Type() string { return "tool_call_finished" }
func (ModelCall) Type() string        { return "model_call" }
func (Notice) Type() string           { return "notice" }
func (TurnFinished) Type() string     { return "turn_finished" }

func (e TextDelta) withHeader(h Header) Event        { e.Head = h; return e }
func (e ThinkingDelta) withHeader(h Header) Event    { e.Head = h; return e }
func (e ToolCallStarted) withHeader(h Header) Event  { e.Head = h; return e }
func (e ToolCallFinished) withHeader(h Header) Event { e.Head = h; return e }
func (e ModelCall) withHeader(h Header) Event        { e.Head = h; return e }
func (e Notice) withHeader(h Header) Event           { e.Head = h; return e }
func (e TurnFinished) withHeader(h Header) Event     { e.Head = h; return e }

// Under returns e as an event of the sub-agent that the call named parent
// started, before it has the rest of its header.
func Under(parent string, e Event) Event { return e.withHeader(Header{Parent: parent}) }

// Stamper gives the events of one turn their headers. It belongs to the
// goroutine that yields them.
type Stamper struct {
	now  func() time.Time
	turn int
	seq  int
}

// NewStamper returns a Stamper for the turn of that number, counted from 1.
func NewStamper(now func() time.Time, turn int) *Stamper {
	return &Stamper{now: now, turn: turn}
}

// Stamp returns e with the turn's next sequence number and the present time.
// parent is the call id of the sub-agent it belongs to, or empty.
func (s *Stamper) Stamp(e Event, parent string) Event {
	s.seq++
	return e.withHeader(Header{Seq: s.seq, Time: s.now(), Turn: s.turn, Parent: parent})
}

// envelope is the fixed part of an event's JSON form.
type envelope struct {
	Schema string `json:"schema"`
	Type   string `json:"type"`
	Header
}

// MarshalEvent returns e as one JSON object in the form [EventSchema].
func MarshalEvent(e Event) ([]byte, error) {
	head, err := json.Marshal(envelope{Schema: EventSchema, Type: e.Type(), Header: e.Header()})
	if err != nil {
		return nil, fmt.Errorf("encode header of %s event: %w", e.Type(), err)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode %s event: %w", e.Type(), err)
	}
	if len(body) == len("{}") {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}

// UnmarshalEvent reads what MarshalEvent wrote.
func UnmarshalEvent(data []byte) (Event, error) {
	var env envelope
	if err := json.Unmarshal(data, &env); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	if env.Schema != EventSchema {
		return nil, fmt.Errorf("decode event: schema is %q, want %q", env.Schema, EventSchema)
	}
	switch env.Type {
	case TextDelta{}.Type():
		return decodeEvent[TextDelta](data, env.Header)
	case ThinkingDelta{}.Type():
		return decodeEvent[ThinkingDelta](data, env.Header)
	case ToolCallStarted{}.Type():
		return decodeEvent[ToolCallStarted](data, env.Header)
	case ToolCallFinished{}.Type():
		return decodeEvent[ToolCallFinished](data, env.Header)
	case ModelCall{}.Type():
		return decodeEvent[ModelCall](data, env.Header)
	case Notice{}.Type():
		return decodeEvent[Notice](data, env.Header)
	case TurnFinished{}.Type():
		return decodeEvent[TurnFinished](data, env.Header)
	}
	return nil, fmt.Errorf("decode event: unknown type %q", env.Type)
}

func decodeEvent[E Event](data []byte, h Header) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("decode %s event: %w", e.Type(), err)
	}
	return e.withHeader(h), nil
}
