package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// openAIRefusal is OpenAI's form of an error.
func openAIRefusal(e script.Error) any {
	kind := "invalid_request_error"
	if e.Status >= 500 {
		kind = "server_error"
	}
	return object{"error": object{"message": e.Message, "type": kind, "param": nil, "code": nil}}
}

// deployment returns the name in /openai/deployments/NAME/…, or "".
func deployment(path string) string {
	_, rest, _ := strings.Cut(path, "/openai/deployments/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// chat is OpenAI's Chat Completions, which many servers speak.
type chat struct{}

func (chat) refusal(e script.Error) any { return openAIRefusal(e) }

func (chat) read(r *http.Request, body []byte) (exchange, error) {
	var req struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	x := exchange{model: req.Model, stream: req.Stream}
	if name := deployment(r.URL.Path); name != "" {
		x.model = name
	}
	open := map[string]bool{} // calls without a result
	for i, m := range req.Messages {
		text, err := openAIText(m.Content)
		if err != nil {
			return exchange{}, fmt.Errorf("messages[%d]: %w", i, err)
		}
		if m.Role != "tool" && len(open) > 0 {
			return exchange{}, fmt.Errorf("messages[%d]: %d tool calls before it have no results", i, len(open))
		}
		switch m.Role {
		case "system", "developer":
		case "user":
			x.messages = append(x.messages, message{from: person, text: text})
		case "assistant":
			if text == "" && len(m.ToolCalls) == 0 {
				return exchange{}, fmt.Errorf("messages[%d]: an assistant's message has text or tool calls", i)
			}
			for _, c := range m.ToolCalls {
				open[c.ID] = true
			}
			x.messages = append(x.messages, message{from: model, text: text})
		case "tool":
			if !open[m.ToolCallID] {
				return exchange{}, fmt.Errorf("messages[%d]: tool_call_id %q is of no call before it", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			x.messages = append(x.messages, message{from: tools, results: []string{text}})
		default:
			return exchange{}, fmt.Errorf("messages[%d]: unknown role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return exchange{}, fmt.Errorf("%d tool calls have no results", len(open))
	}
	return x, nil
}

// openAIText returns the text of a content: a string, or a list of parts.
func openAIText(content json.RawMessage) (string, error) {
	if len(content) == 0 || string(content) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", fmt.Errorf("content is neither a string nor a list of parts")
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, p.Text)
		case "image_url", "file", "input_image", "input_file":
		default:
			return "", fmt.Errorf("unknown part type %q", p.Type)
		}
	}
	return joined(texts), nil
}

func (chat) voice(w *writer, x exchange) voice {
	v := &chatVoice{w: w, exchange: x}
	if x.stream {
		v.events = newEvents(w)
	}
	return v
}

// chatVoice writes a chat completion.
type chatVoice struct {
	events   events
	w        *writer
	exchange exchange
	begun    bool
	words    string // of a response that is not streamed
	thoughts string
	calls    []object
	index    int // of the next call
}

// chunk sends a piece of a streamed response.
func (v *chatVoice) chunk(delta object, finish any) {
	v.events.send("", encode(object{
		"id": fmt.Sprintf("chatcmpl-%d", v.exchange.serial), "object": "chat.completion.chunk", "created": 1, "model": v.exchange.model,
		"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}},
	}))
}

// begin sends the piece that names the role.
func (v *chatVoice) begin() {
	if !v.begun {
		v.chunk(object{"role": "assistant", "content": ""}, nil)
	}
	v.begun = true
}

func (v *chatVoice) text(s string) {
	if v.words += s; v.exchange.stream {
		v.begin()
		v.chunk(object{"content": s}, nil)
	}
}

func (v *chatVoice) thinking(s string) {
	if v.thoughts += s; v.exchange.stream {
		v.begin()
		v.chunk(object{"reasoning_content": s}, nil)
	}
}

func (v *chatVoice) call(id string, c script.Call) {
	defer func() { v.index++ }()
	if !v.exchange.stream {
		v.calls = append(v.calls, object{"id": id, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
		return
	}
	v.begin()
	v.chunk(object{"tool_calls": []object{{"index": v.index, "id": id, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
	half := len(c.Args) / 2
	for _, piece := range []string{c.Args[:half], c.Args[half:]} {
		v.chunk(object{"tool_calls": []object{{"index": v.index, "function": object{"arguments": piece}}}}, nil)
	}
}

func (v *chatVoice) garbage(s string) {
	if v.exchange.stream {
		v.events.send("", []byte(s))
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Write([]byte(s))
}

func (v *chatVoice) fail(e script.Error) { v.events.send("", encode(openAIRefusal(e))) }

func (v *chatVoice) finish(reason string, u agent.Usage) {
	refusal := any(nil)
	switch {
	case reason == script.FinishRefusal:
		refusal, reason = "I would rather not.", "stop"
	case reason == script.FinishStop && v.index > 0:
		reason = "tool_calls"
	}
	usage := object{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Total,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
	if v.exchange.stream {
		v.begin()
		if refusal != nil {
			v.chunk(object{"refusal": refusal}, nil)
		}
		v.chunk(object{}, reason)
		v.events.send("", encode(object{"id": fmt.Sprintf("chatcmpl-%d", v.exchange.serial), "object": "chat.completion.chunk", "created": 1, "model": v.exchange.model, "choices": []object{}, "usage": usage}))
		v.events.send("", []byte("[DONE]"))
		return
	}
	message := object{"role": "assistant", "content": v.words, "refusal": refusal}
	if v.thoughts != "" {
		message["reasoning_content"] = v.thoughts
	}
	if len(v.calls) > 0 {
		message["tool_calls"] = v.calls
	}
	writeJSON(v.w, http.StatusOK, object{
		"id": fmt.Sprintf("chatcmpl-%d", v.exchange.serial), "object": "chat.completion", "created": 1, "model": v.exchange.model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": reason}}, "usage": usage,
	})
}

// openAIEmbeddings is OpenAI's API of vectors.
type openAIEmbeddings struct{}

func (openAIEmbeddings) refusal(e script.Error) any { return openAIRefusal(e) }

func (openAIEmbeddings) read(r *http.Request, body []byte) (exchange, error) {
	var req struct {
		Model      string
		Input      []string
		Dimensions int
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	if len(req.Input) == 0 || len(req.Input) > 2048 {
		return exchange{}, fmt.Errorf("input has %d texts, want 1 to 2048", len(req.Input))
	}
	x := exchange{model: req.Model, embed: &embedding{req.Input, req.Dimensions}}
	if name := deployment(r.URL.Path); name != "" {
		x.model = name
	}
	return x, nil
}

func (openAIEmbeddings) voice(w *writer, x exchange) voice {
	return &vectorVoice{w: w, vectors: func(u agent.Usage) any {
		data := make([]object, len(x.embed.texts))
		for i, text := range x.embed.texts {
			data[i] = object{"object": "embedding", "index": i, "embedding": vector(text, x.embed.dimensions)}
		}
		return object{"object": "list", "model": x.model, "data": data, "usage": object{"prompt_tokens": u.Prompt, "total_tokens": u.Prompt}}
	}}
}
