package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// ollama is Ollama's chat.
type ollama struct{}

func (ollama) refusal(e script.Error) any { return object{"error": e.Message} }

func (ollama) read(_ *http.Request, body []byte) (exchange, error) {
	var req struct {
		Model    string
		Stream   *bool
		Messages []struct {
			Role, Content string
			ToolCalls     []struct {
				Function struct{ Arguments map[string]any }
			} `json:"tool_calls"`
			ToolName string `json:"tool_name"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	x := exchange{model: req.Model, stream: req.Stream == nil || *req.Stream}
	for i, m := range req.Messages {
		switch m.Role {
		case "system":
		case "user":
			x.messages = append(x.messages, message{from: person, text: m.Content})
		case "assistant":
			x.messages = append(x.messages, message{from: model, text: m.Content})
		case "tool":
			if m.ToolName == "" {
				return exchange{}, fmt.Errorf("messages[%d]: tool_name is missing", i)
			}
			x.messages = append(x.messages, message{from: tools, results: []string{m.Content}})
		default:
			return exchange{}, fmt.Errorf("invalid role: %s, role must be one of [system, user, assistant, tool]", m.Role)
		}
	}
	return x, nil
}

func (ollama) voice(w *writer, x exchange) voice {
	if x.stream {
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
	return &ollamaVoice{w: w, exchange: x}
}

// ollamaVoice writes lines of JSON.
type ollamaVoice struct {
	w        *writer
	exchange exchange
	words    string // of a response that is not streamed
	thoughts string
	calls    []object
}

// line writes a line of a streamed response.
func (v *ollamaVoice) line(message, more object) {
	message["role"] = "assistant"
	if message["content"] == nil {
		message["content"] = ""
	}
	line := object{"model": v.exchange.model, "created_at": "2000-01-01T00:00:00Z", "message": message, "done": false}
	for key, value := range more {
		line[key] = value
	}
	v.w.Write(append(encode(line), '\n'))
	flush(v.w)
}

func (v *ollamaVoice) text(s string) {
	if v.words += s; v.exchange.stream {
		v.line(object{"content": s}, nil)
	}
}

func (v *ollamaVoice) thinking(s string) {
	if v.thoughts += s; v.exchange.stream {
		v.line(object{"thinking": s}, nil)
	}
}

// call writes a call. Ollama reads the arguments itself: what it cannot read
// never comes as a call.
func (v *ollamaVoice) call(id string, c script.Call) {
	args := json.RawMessage(c.Args)
	var whole map[string]json.RawMessage
	if json.Unmarshal(args, &whole) != nil {
		args = json.RawMessage("{}")
	}
	call := object{"id": id, "function": object{"index": len(v.calls), "name": c.Name, "arguments": args}}
	if v.calls = append(v.calls, call); v.exchange.stream {
		v.line(object{"tool_calls": []object{call}}, nil)
	}
}

func (v *ollamaVoice) garbage(s string) { v.w.Write([]byte(s + "\n")) }

func (v *ollamaVoice) fail(e script.Error) {
	v.w.Write(append(encode(object{"error": e.Message}), '\n'))
}

func (v *ollamaVoice) finish(reason string, u agent.Usage) {
	why := "stop" // it knows no refusal and no filter
	if reason == script.FinishLength {
		why = "length"
	}
	more := object{"done": true, "done_reason": why, "total_duration": 1, "prompt_eval_count": u.Prompt, "eval_count": u.Completion}
	message := object{}
	if !v.exchange.stream {
		message = object{"content": v.words}
		if v.thoughts != "" {
			message["thinking"] = v.thoughts
		}
		if len(v.calls) > 0 {
			message["tool_calls"] = v.calls
		}
		v.w.Header().Set("Content-Type", "application/json")
	}
	v.line(message, more)
}

// ollamaEmbeddings is Ollama's embed.
type ollamaEmbeddings struct{}

func (ollamaEmbeddings) refusal(e script.Error) any { return ollama{}.refusal(e) }

func (ollamaEmbeddings) read(_ *http.Request, body []byte) (exchange, error) {
	var req struct {
		Model      string
		Input      []string
		Dimensions int
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	return exchange{model: req.Model, embed: &embedding{req.Input, req.Dimensions}}, nil
}

func (ollamaEmbeddings) voice(w *writer, x exchange) voice {
	return &vectorVoice{w: w, vectors: func(u agent.Usage) any {
		list := make([][]float64, len(x.embed.texts))
		for i, text := range x.embed.texts {
			list[i] = vector(text, x.embed.dimensions)
		}
		return object{"model": x.model, "embeddings": list, "prompt_eval_count": u.Prompt}
	}}
}
