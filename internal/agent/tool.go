package agent

import (
	"context"
	"encoding/json"
)

// Tool is something the model may call. A tool is safe for concurrent use, and
// two tools never share an instance.
//
// No runtime calls a Tool itself: every call goes through the dispatch chain
// of the tool set, which turns an error into a result the model can read.
type Tool interface {
	// Definition says what the model is told of the tool. It does not change
	// while the tool is open.
	Definition() Definition

	// Call runs the tool. args is a JSON object that the chain has checked
	// against Definition().Schema. It returns soon when ctx ends. The model reads
	// the text of the error: it says what went wrong and what to do, and is not
	// wrapped in the tool's name. A tool that is not ready returns a
	// *BackendSessionError.
	Call(ctx context.Context, args json.RawMessage) (ToolResult, error)
}

// Delegate is a Tool that has models at work for it: one that it asks, or a child
// agent. The dispatch chain calls Delegate in place of Call, which serves those
// who have no turn to tell of it.
type Delegate interface {
	Tool
	// Delegate is Call, on behalf of somebody.
	Delegate(ctx context.Context, args json.RawMessage, b Behalf) (ToolResult, error)
	// Basis is what results depend on beside the arguments, such as the template
	// of a prompt: a value that encodes to JSON. A record of calls has it, so that
	// a replay finds out when it has changed.
	Basis() any
}

// Behalf says for which call of which turn a Delegate works, and within which
// bounds.
type Behalf struct {
	CallID string
	// Session names the work: the caller's session, a slash and what sets it apart
	// from all else that is done on behalf of that session.
	Session string
	User    string
	Mode    Mode
	// Approver answers permissions of kind "ask"; nil means no.
	Approver Approver
	// Limits are what the caller's turn has left.
	Limits Limits
	// Emit tells the caller's turn of an event and waits until it has been taken.
	// Parent is the CallID, or the call id of a sub-agent further down, which
	// begins with CallID and a slash; so do the ids of calls that the event is
	// about. The error says that nobody listens any more. Emit is never nil, and
	// no event follows the return of Delegate.
	Emit func(parent string, e Event) error
}

// Definition describes a tool.
type Definition struct {
	// Name is canonical: what events, reports, permissions and expected_tools see.
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments, an object
	// ReadOnly says that a call changes nothing outside.
	ReadOnly bool `json:"read_only,omitempty"`
	// Retrieval says that results carry passages for retrieval metrics.
	Retrieval bool `json:"retrieval,omitempty"`
	// Source is the tool's type in the agent file, such as "vectorstore", or
	// "mcp:<server>".
	Source string `json:"source,omitempty"`
}

// ToolResult is what a call returned.
type ToolResult struct {
	// Parts are what the model reads.
	Parts []Part `json:"parts"`
	// Passages are what was retrieved, best first, for metrics that must not
	// parse text.
	Passages []Passage `json:"passages,omitempty"`
	// Structured is the result as a value, for tools that give one.
	Structured json.RawMessage `json:"structured,omitempty"`
	// IsError marks a result that tells the model of a failure.
	IsError bool `json:"is_error,omitempty"`
}

// TextResult returns a result of one text part.
func TextResult(s string) ToolResult {
	return ToolResult{Parts: []Part{{Kind: PartText, Text: s}}}
}

// Text returns the result's text parts, joined by blank lines.
func (r ToolResult) Text() string { return JoinText(r.Parts) }

// Passage is a piece of a source that a retrieval tool found.
type Passage struct {
	// ID names the passage within its tool's index.
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
	// Source is where the passage stands: a path relative to the agent
	// folder, with forward slashes, or a URL.
	Source string `json:"source"`
	// Score is between 0 and 1; higher is better.
	Score float64 `json:"score"`
	// Metadata holds the fields the index was told to keep.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// NothingFound is what a search tool tells the model when nothing was found,
// the same on every runtime.
const NothingFound = "No results found."
