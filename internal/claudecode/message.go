package claudecode

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Message is something that happens in a turn: *Started, *CallStarted, *TextDelta, *Thinking,
// *ModelCall, *ToolUsed, *ToolResult, *SubagentText, *Retry, *Fallback or *Result,
// which is the last.
type Message interface{ message() }

// Started says that the program took the turn up.
type Started struct {
	SessionID string
	Model     string
	Tools     []string
	Servers   []ServerStatus
	Version   string
}

// ServerStatus is how an MCP server stands.
type ServerStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"` // connected, failed, pending, needs-auth, disabled
}

// TextDelta is a piece of the answer. Where Options.Schema asks for one that is
// JSON, one that does not follow it is asked for again.
type TextDelta struct{ Text string }

// Thinking is a piece of the reasoning.
type Thinking struct{ Text string }

// CallStarted says that a model call of the main agent began. One that did not end
// before was cut off, and is made again.
type CallStarted struct{ Model string }

// ModelCall says that a model call of the main agent ended.
type ModelCall struct {
	Model      string
	StopReason string
	Usage      Usage
}

// Usage counts tokens as the API does: Input has neither those that were read
// from the cache nor those written to it.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// Plus returns the sum of two counts.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// ToolUsed says that the model calls a tool. Parent is the call of the sub-agent
// that does, or empty.
type ToolUsed struct {
	ID, Name, Parent string
	Input            json.RawMessage
}

// ToolResult is what a tool returned.
type ToolResult struct {
	ID, Parent string
	Text       string
	IsError    bool
}

// SubagentText is what a sub-agent wrote.
type SubagentText struct{ Parent, Text string }

// Retry says that the program asks the API again.
type Retry struct {
	Attempt    int    `json:"attempt"`
	MaxRetries int    `json:"max_retries"`
	DelayMS    int    `json:"retry_delay_ms"`
	Status     *int   `json:"error_status"`
	Error      string `json:"error"`
}

// Fallback says that another model takes over.
type Fallback struct {
	From string `json:"original_model"`
	To   string `json:"fallback_model"`
}

// Result ends a turn.
type Result struct {
	Subtype        string
	IsError        bool
	Text           string // the last piece of the answer; the deltas are the whole
	Structured     json.RawMessage
	SessionID      string
	NumTurns       int // as the program counts, which is not model calls
	StopReason     string
	TerminalReason string
	APIStatus      int    // of the API's last refusal, or 0
	APIError       string // its kind, such as rate_limit, or empty
	Errors         []string
	// LastMessage is the id of the last message of the main agent, see Options.At.
	LastMessage string
	// CostUSD and Models are those of this turn.
	CostUSD float64
	Models  map[string]ModelUsage
}

// ModelUsage is what a model was used for.
type ModelUsage struct {
	Input      int     `json:"inputTokens"`
	Output     int     `json:"outputTokens"`
	CacheRead  int     `json:"cacheReadInputTokens"`
	CacheWrite int     `json:"cacheCreationInputTokens"`
	CostUSD    float64 `json:"costUSD"`
}

func (u ModelUsage) minus(v ModelUsage) ModelUsage {
	return ModelUsage{u.Input - v.Input, u.Output - v.Output, u.CacheRead - v.CacheRead, u.CacheWrite - v.CacheWrite, u.CostUSD - v.CostUSD}
}

func (*Started) message()      {}
func (*CallStarted) message()  {}
func (*TextDelta) message()    {}
func (*Thinking) message()     {}
func (*ModelCall) message()    {}
func (*ToolUsed) message()     {}
func (*ToolResult) message()   {}
func (*SubagentText) message() {}
func (*Retry) message()        {}
func (*Fallback) message()     {}
func (*Result) message()       {}

// AnswerTool is the tool by which the program takes an answer that must follow
// Options.Schema. It is no tool of anybody's, and hooks see it.
const AnswerTool = "StructuredOutput"

// reader makes messages of frames. It keeps what one message takes from several
// frames, and belongs to the goroutine that reads.
type reader struct {
	call     ModelCall // under way
	apiError string    // of the last message that stands for a refusal
	last     string    // id of the main agent's last message
	hidden   map[string]bool
	answers  bool                  // the block under way is an answer that must follow a schema
	totals   map[string]ModelUsage // as of the last result
}

// read returns the messages of a frame.
func (r *reader) read(frame []byte) ([]Message, error) {
	var head struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Parent  string `json:"parent_tool_use_id"`
	}
	if err := json.Unmarshal(frame, &head); err != nil {
		return nil, fmt.Errorf("read a message of the program: %w", err)
	}
	switch head.Type {
	case "system":
		return readSystem(head.Subtype, frame)
	case "stream_event":
		if head.Parent == "" {
			return r.readStream(frame)
		}
	case "assistant":
		return r.readAssistant(frame, head.Parent)
	case "user":
		return r.readUser(frame, head.Parent)
	case "result":
		return r.readResult(frame)
	}
	return nil, nil
}

func readSystem(subtype string, frame []byte) ([]Message, error) {
	switch subtype {
	case "init":
		var m struct {
			SessionID string         `json:"session_id"`
			Model     string         `json:"model"`
			Tools     []string       `json:"tools"`
			Servers   []ServerStatus `json:"mcp_servers"`
			Version   string         `json:"claude_code_version"`
		}
		if err := json.Unmarshal(frame, &m); err != nil {
			return nil, fmt.Errorf("read system/init: %w", err)
		}
		return []Message{&Started{m.SessionID, m.Model, m.Tools, m.Servers, m.Version}}, nil
	case "api_retry":
		m := new(Retry)
		if err := json.Unmarshal(frame, m); err != nil {
			return nil, fmt.Errorf("read system/api_retry: %w", err)
		}
		return []Message{m}, nil
	case "model_fallback":
		m := new(Fallback)
		if err := json.Unmarshal(frame, m); err != nil {
			return nil, fmt.Errorf("read system/model_fallback: %w", err)
		}
		return []Message{m}, nil
	}
	return nil, nil
}

// streamEvent is an event of the API's own stream.
type streamEvent struct {
	Event struct {
		Type    string `json:"type"`
		Message struct {
			Model string `json:"model"`
			Usage Usage  `json:"usage"`
		} `json:"message"`
		Block block `json:"content_block"`
		Delta struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			JSON       string `json:"partial_json"`
			Thinking   string `json:"thinking"`
			StopReason string `json:"stop_reason"`
		} `json:"delta"`
		Usage *struct { // what is said here counts
			Input      *int `json:"input_tokens"`
			Output     *int `json:"output_tokens"`
			CacheRead  *int `json:"cache_read_input_tokens"`
			CacheWrite *int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"event"`
}

func (r *reader) readStream(frame []byte) ([]Message, error) {
	var m streamEvent
	if err := json.Unmarshal(frame, &m); err != nil {
		return nil, fmt.Errorf("read a stream_event: %w", err)
	}
	switch e := m.Event; e.Type {
	case "message_start":
		r.call = ModelCall{Model: e.Message.Model, Usage: e.Message.Usage}
		return []Message{&CallStarted{e.Message.Model}}, nil
	case "content_block_start":
		r.answers = e.Block.Type == "tool_use" && e.Block.Name == AnswerTool
	case "content_block_delta":
		switch {
		case r.answers && e.Delta.JSON != "":
			return []Message{&TextDelta{e.Delta.JSON}}, nil
		case e.Delta.Type == "text_delta" && e.Delta.Text != "":
			return []Message{&TextDelta{e.Delta.Text}}, nil
		case e.Delta.Type == "thinking_delta" && e.Delta.Thinking != "":
			return []Message{&Thinking{e.Delta.Thinking}}, nil
		}
	case "message_delta":
		if u, own := e.Usage, &r.call.Usage; u != nil {
			own.Input, own.Output = or(u.Input, own.Input), or(u.Output, own.Output)
			own.CacheRead, own.CacheWrite = or(u.CacheRead, own.CacheRead), or(u.CacheWrite, own.CacheWrite)
		}
		if e.Delta.StopReason != "" {
			r.call.StopReason = e.Delta.StopReason
		}
	case "message_stop":
		call := r.call
		r.call = ModelCall{}
		return []Message{&call}, nil
	}
	return nil, nil
}

// or returns the number at p, or n where there is none.
func or(p *int, n int) int {
	if p != nil {
		return *p
	}
	return n
}

// content is the content of a message: a text, or blocks.
type content []block

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   content         `json:"content"`
	IsError   bool            `json:"is_error"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(data, &blocks); err != nil {
		*c = nil // a form that is to come: what it holds is not for us
		return nil
	}
	*c = blocks
	return nil
}

// text returns the text of the blocks.
func (c content) text() string {
	var texts []string
	for _, b := range c {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func (r *reader) readAssistant(frame []byte, parent string) ([]Message, error) {
	var m struct {
		Message struct {
			Content content `json:"content"`
		} `json:"message"`
		Error string `json:"error"`
		UUID  string `json:"uuid"`
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return nil, fmt.Errorf("read an assistant message: %w", err)
	}
	if parent == "" && m.UUID != "" {
		r.last = m.UUID
	}
	if m.Error != "" {
		r.apiError = m.Error
		return nil, nil
	}
	var messages []Message
	for _, b := range m.Message.Content {
		switch {
		case b.Type == "tool_use" && b.Name == AnswerTool:
			if r.hidden == nil {
				r.hidden = map[string]bool{}
			}
			r.hidden[b.ID] = true
		case b.Type == "tool_use":
			messages = append(messages, &ToolUsed{b.ID, b.Name, parent, b.Input})
		case b.Type == "text" && parent != "" && b.Text != "":
			messages = append(messages, &SubagentText{parent, b.Text})
		}
	}
	return messages, nil
}

func (r *reader) readUser(frame []byte, parent string) ([]Message, error) {
	var m struct {
		Message struct {
			Content content `json:"content"`
		} `json:"message"`
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return nil, fmt.Errorf("read a user message: %w", err)
	}
	var messages []Message
	for _, b := range m.Message.Content {
		if b.Type == "tool_result" && !r.hidden[b.ToolUseID] {
			messages = append(messages, &ToolResult{b.ToolUseID, parent, b.Content.text(), b.IsError})
		}
	}
	return messages, nil
}

func (r *reader) readResult(frame []byte) ([]Message, error) {
	var m struct {
		Subtype        string                `json:"subtype"`
		IsError        bool                  `json:"is_error"`
		Result         string                `json:"result"`
		Structured     json.RawMessage       `json:"structured_output"`
		SessionID      string                `json:"session_id"`
		NumTurns       int                   `json:"num_turns"`
		StopReason     string                `json:"stop_reason"`
		TerminalReason string                `json:"terminal_reason"`
		APIStatus      *int                  `json:"api_error_status"`
		Errors         []string              `json:"errors"`
		Models         map[string]ModelUsage `json:"modelUsage"`
		Since          map[string]ModelUsage `json:"model_usage_since_last_result"`
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return nil, fmt.Errorf("read a result: %w", err)
	}
	out := &Result{
		Subtype: m.Subtype, IsError: m.IsError || strings.HasPrefix(m.Subtype, "error"), Text: m.Result, Structured: m.Structured,
		SessionID: m.SessionID, NumTurns: m.NumTurns, StopReason: m.StopReason, TerminalReason: m.TerminalReason,
		APIError: r.apiError, Errors: m.Errors, LastMessage: r.last, Models: m.Since,
	}
	if string(out.Structured) == "null" {
		out.Structured = nil
	}
	if m.APIStatus != nil {
		out.APIStatus = *m.APIStatus
	}
	if out.Models == nil { // older versions tell totals only
		out.Models = map[string]ModelUsage{}
		for name, total := range m.Models {
			if used := total.minus(r.totals[name]); used != (ModelUsage{}) {
				out.Models[name] = used
			}
		}
	}
	for _, u := range out.Models {
		out.CostUSD += u.CostUSD
	}
	r.totals = m.Models
	r.apiError, r.hidden, r.call = "", nil, ModelCall{}
	return []Message{out}, nil
}
