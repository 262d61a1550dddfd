package llm

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Model is one model at one provider. It is safe for concurrent use.
type Model interface {
	// Info says which model it is and what it can do.
	Info() Info

	// Stream makes one call while the caller ranges over the result. It yields
	// chunks and then ends with one Done, or with a non-nil error after which
	// nothing follows. Breaking out, or cancelling ctx, cancels the call. A
	// slow reader slows the stream.
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Info describes a Model.
type Info struct {
	Provider string // as agent.yaml names it
	Name     string
	// Capabilities are the model's share of a backend's: Streaming, Thinking,
	// StructuredOutput, Cost, Images, Documents, Sampling.
	Capabilities agent.Capabilities
}

// Request is one call.
type Request struct {
	// Session is the id of the session the call belongs to, for what a Model
	// keeps for a session. What is asked on a session's behalf beside its own
	// conversation, such as by a judge, has that id, a slash and a name of its
	// own: by it a record finds the call again. A call outside of any session has
	// none. It is never sent to a provider.
	Session string
	// Turn and Ordinal say which call of which turn it is, both from 1; zero
	// where the caller does not count. They are never sent to a provider.
	Turn, Ordinal int

	System   string
	Messages []Message
	// Tools are what the model may call. Their names are wire names: what the
	// runtime wants this model to see.
	Tools []agent.Definition
	// Schema is the JSON Schema the answer must follow, or nil, and SchemaName
	// what it is called where a provider wants a name; empty leaves that to the
	// Model. Letters, digits, _ and -, at most 64.
	Schema     json.RawMessage
	SchemaName string
	// CodeExecution lets the provider run code that the model writes; for Models of
	// google alone.
	CodeExecution bool
	Sampling      Sampling
}

// Sampling is how the model chooses its words, and how hard it thinks about
// them; nil and "" leave it to the provider. Its JSON form is part of a cassette.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
	// Effort is low, medium, high or max. Models that do not think pass it over.
	Effort string `json:"effort,omitempty"`
	// ThinkingTokens bounds the reasoning before an answer; nil is no more of it
	// than the model does anyway. Providers that know no such bound pass it over.
	ThinkingTokens *int `json:"thinking_tokens,omitempty"`
}

// Role says whose a Message is.
type Role string

// The roles. A RoleTool message holds the results of the calls of the
// assistant message before it.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a history. Its JSON form is part of a Snapshot.
type Message struct {
	Role Role `json:"role"`
	// Auto marks a user message that the runtime wrote and no person said, such
	// as the request to correct an answer. It does not begin a turn.
	Auto bool `json:"auto,omitempty"`
	// Parts are the words of a user or assistant message, opaque parts included.
	Parts []agent.Part `json:"parts,omitempty"`
	// Calls are the tools an assistant message asks for.
	Calls []Call `json:"calls,omitempty"`
	// Results answer the calls, in their order.
	Results []Result `json:"results,omitempty"`
}

// Call is a tool call a model asks for.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"` // wire name
	// Arguments are as the model gave them. When they are not JSON they are a
	// JSON string of what it said.
	Arguments json.RawMessage `json:"arguments"`
	// Opaque goes back to the provider untouched.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Result is what a call returned.
type Result struct {
	CallID string           `json:"call_id"`
	Name   string           `json:"name"` // wire name
	Result agent.ToolResult `json:"result"`
}

// Chunk is a piece of a response (Text, Thinking or Done), or a Notice beside
// it.
type Chunk interface{ chunk() }

// Notice tells of something that happened around a call and that a person may
// want to know: a retry, a wait, a model that stands in for another. Notices
// come from decorators and are no part of the response. A caller that cannot
// show them passes them over.
type Notice struct {
	Code string `json:"code"` // one of the agent.Notice constants
	Text string `json:"text"`
}

// Text is a piece of the answer.
type Text string

// Thinking is a piece of the model's reasoning.
type Thinking string

// Done ends a response. Its JSON form is part of a cassette.
type Done struct {
	// Provider and Model say who answered, where it was not the Model that was
	// asked but one that stood in for it; empty otherwise.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Message is the whole response as the history keeps it: its text parts
	// add up to the Text chunks, and its Calls are complete.
	Message Message     `json:"message"`
	Usage   agent.Usage `json:"usage"`
	// CostUSD is nil when the price is not known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Stop is StopEnd unless the response was cut; a response that asks for
	// tools is StopEnd too.
	Stop agent.StopReason `json:"stop"`
	// FinishReason is the provider's own word.
	FinishReason string `json:"finish_reason,omitempty"`
	// PromptBlocked says of StopBlocked that it was what the model was asked that a
	// filter kept back, and not its answer.
	PromptBlocked bool `json:"prompt_blocked,omitempty"`
}

func (Notice) chunk()   {}
func (Text) chunk()     {}
func (Thinking) chunk() {}
func (Done) chunk()     {}
