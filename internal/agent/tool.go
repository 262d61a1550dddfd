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
