package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// thinkingSeal signs thoughts in a way that only the provider can check.
const thinkingSeal = "sealed-thinking=="

// messages is Anthropic's Messages API, which Ollama speaks, too.
type messages struct{}

func (messages) refusal(e script.Error) any {
	return object{"type": "error", "error": object{"type": anthropicKind(e.Status), "message": e.Message}, "request_id": "req_1"}
}

// anthropicKind returns what Anthropic calls an error of that status.
func anthropicKind(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusServiceUnavailable, 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// block is a piece of a message.
type block struct {
	Type, Text, Thinking, Signature, ID string
	ToolUseID                           string          `json:"tool_use_id"`
	Content                             json.RawMessage `json:"content"`
	Input                               json.RawMessage `json:"input"`
}

func (messages) read(r *http.Request, body []byte) (exchange, error) {
	var req struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		Version   string `json:"anthropic_version"`
		Messages  []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	x := exchange{model: req.Model, stream: req.Stream}
	if name, verb, vertex := afterModels(r.URL.Path); vertex {
		if req.Model != "" || req.Version == "" {
			return exchange{}, fmt.Errorf("on Vertex AI the body has anthropic_version, and no model")
		}
		x.model, x.stream = name, verb == "streamRawPredict"
	} else if r.Header.Get("Anthropic-Version") == "" {
		return exchange{}, fmt.Errorf("anthropic-version: header is required")
	}
	if req.MaxTokens < 1 {
		return exchange{}, fmt.Errorf("max_tokens: field required")
	}
	var open []string // calls without a result
	for i, m := range req.Messages {
		blocks, err := blocksOf(m.Content)
		if err != nil {
			return exchange{}, fmt.Errorf("messages.%d: %w", i, err)
		}
		converted, calls, err := readBlocks(m.Role, blocks, open)
		if err != nil {
			return exchange{}, fmt.Errorf("messages.%d: %w", i, err)
		}
		open = calls
		x.messages = append(x.messages, converted)
	}
	if len(open) > 0 {
		return exchange{}, fmt.Errorf("tool_use ids were found without tool_result blocks: %s", strings.Join(open, ", "))
	}
	return x, nil
}

// afterModels returns NAME and VERB of a path that ends in /models/NAME:VERB.
func afterModels(path string) (name, verb string, ok bool) {
	i := strings.LastIndex(path, "/models/")
	if i < 0 {
		return "", "", false
	}
	return strings.Cut(path[i+len("/models/"):], ":")
}

// blocksOf returns the blocks of a content, which may be a string.
func blocksOf(content json.RawMessage) ([]block, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	var blocks []block
	if err := json.Unmarshal(content, &blocks); err != nil || len(blocks) == 0 {
		return nil, fmt.Errorf("content must be a string or a list of blocks that is not empty")
	}
	return blocks, nil
}

// readBlocks reads a message. open are the calls of the message before; calls
// are its own.
func readBlocks(role string, blocks []block, open []string) (m message, calls []string, err error) {
	var texts []string
	answered := map[string]bool{}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				return m, nil, fmt.Errorf("text content blocks must contain non-whitespace text")
			}
			texts = append(texts, b.Text)
		case "image", "document", "redacted_thinking":
		case "thinking":
			if b.Signature != thinkingSeal {
				return m, nil, fmt.Errorf("invalid signature in thinking block")
			}
		case "tool_use":
			if len(b.Input) == 0 || b.Input[0] != '{' {
				return m, nil, fmt.Errorf("tool_use.input: Input should be a valid dictionary")
			}
			calls = append(calls, b.ID)
		case "tool_result":
			answered[b.ToolUseID] = true
			m.results = append(m.results, resultOf(b.Content))
		default:
			return m, nil, fmt.Errorf("unknown block type %q", b.Type)
		}
	}
	for _, id := range open {
		if !answered[id] {
			return m, nil, fmt.Errorf("tool_use ids were found without tool_result blocks immediately after: %s", id)
		}
		delete(answered, id)
	}
	if len(answered) > 0 {
		return m, nil, fmt.Errorf("unexpected tool_use_id found in tool_result blocks")
	}
	m.text, m.pieces = joined(texts), texts
	switch {
	case role == "assistant":
		m.from = model
	case len(m.results) > 0:
		m.from = tools
	case role != "user":
		return m, nil, fmt.Errorf("role %q is neither user nor assistant", role)
	}
	return m, calls, nil
}

// resultOf returns the text of a tool's result.
func resultOf(content json.RawMessage) string {
	if len(content) == 0 {
		return ""
	}
	blocks, err := blocksOf(content)
	if err != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return joined(texts)
}

func (messages) voice(w *writer, x exchange) voice {
	v := &messagesVoice{w: w, exchange: x}
	if x.stream {
		v.events = newEvents(w)
	}
	return v
}

// messagesVoice writes a message, which is a list of blocks.
type messagesVoice struct {
	events   events
	w        *writer
	exchange exchange
	begun    bool
	kind     string // of the block under way, or empty
	words    string // of it
	blocks   []object
	called   bool
}

func (v *messagesVoice) send(kind string, fields object) {
	if !v.exchange.stream {
		return
	}
	if !v.begun {
		v.begun = true
		v.send("message_start", object{"message": v.message(nil, object{"input_tokens": counted(v.exchange).Prompt, "output_tokens": 1})})
		v.send("ping", object{})
	}
	fields["type"] = kind
	v.events.send(kind, encode(fields))
}

func (v *messagesVoice) message(stop any, usage object) object {
	content := v.blocks
	if content == nil {
		content = []object{}
	}
	return object{
		"id": fmt.Sprintf("msg_%d", v.exchange.serial), "type": "message", "role": "assistant", "model": v.exchange.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
}

// block begins a block, unless one of that kind is under way.
func (v *messagesVoice) block(kind string, begin object) {
	if v.kind == kind {
		return
	}
	v.end()
	v.kind = kind
	v.send("content_block_start", object{"index": len(v.blocks), "content_block": begin})
}

func (v *messagesVoice) delta(d object) {
	v.send("content_block_delta", object{"index": len(v.blocks), "delta": d})
}

// end ends the block under way.
func (v *messagesVoice) end() {
	switch v.kind {
	case "":
		return
	case "text":
		v.done(object{"type": "text", "text": v.words})
	case "thinking":
		v.delta(object{"type": "signature_delta", "signature": thinkingSeal})
		v.done(object{"type": "thinking", "thinking": v.words, "signature": thinkingSeal})
	}
}

func (v *messagesVoice) done(block object) {
	v.send("content_block_stop", object{"index": len(v.blocks)})
	v.blocks = append(v.blocks, block)
	v.kind, v.words = "", ""
}

func (v *messagesVoice) text(s string) {
	v.block("text", object{"type": "text", "text": ""})
	v.words += s
	v.delta(object{"type": "text_delta", "text": s})
}

func (v *messagesVoice) thinking(s string) {
	v.block("thinking", object{"type": "thinking", "thinking": "", "signature": ""})
	v.words += s
	v.delta(object{"type": "thinking_delta", "thinking": s})
}

func (v *messagesVoice) call(id string, c script.Call) {
	v.end()
	v.called = true
	v.send("content_block_start", object{"index": len(v.blocks), "content_block": object{"type": "tool_use", "id": id, "name": c.Name, "input": object{}}})
	half := len(c.Args) / 2
	for _, piece := range []string{c.Args[:half], c.Args[half:]} {
		v.delta(object{"type": "input_json_delta", "partial_json": piece})
	}
	var input any = json.RawMessage(c.Args)
	if !json.Valid([]byte(c.Args)) {
		input = object{}
	}
	v.done(object{"type": "tool_use", "id": id, "name": c.Name, "input": input})
}

func (v *messagesVoice) garbage(s string) {
	if v.exchange.stream {
		v.events.send("content_block_delta", []byte(s))
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Write([]byte(s))
}

func (v *messagesVoice) fail(e script.Error) {
	v.send("error", object{"error": object{"type": anthropicKind(e.Status), "message": e.Message}})
}

func (v *messagesVoice) finish(reason string, u agent.Usage) {
	v.end()
	stop := "end_turn"
	switch {
	case reason == script.FinishLength:
		stop = "max_tokens"
	case reason == script.FinishRefusal, reason == script.FinishContentFilter: // it knows no other
		stop = "refusal"
	case v.called:
		stop = "tool_use"
	}
	usage := object{
		"input_tokens":            u.Prompt - u.Cached - u.CacheWrite,
		"cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.CacheWrite,
		"output_tokens": u.Completion, "output_tokens_details": object{"thinking_tokens": u.Reasoning},
	}
	if !v.exchange.stream {
		writeJSON(v.w, http.StatusOK, v.message(stop, usage))
		return
	}
	v.send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	v.send("message_stop", object{})
}
