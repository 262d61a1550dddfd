package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) refusal(e script.Error) any { return openAIRefusal(e) }

func (responses) read(_ *http.Request, body []byte) (exchange, error) {
	var req struct {
		Model  string
		Stream bool
		Input  []struct {
			Type, Role string
			Content    json.RawMessage
			CallID     string          `json:"call_id"`
			Output     json.RawMessage `json:"output"`
			// Of a reasoning item.
			EncryptedContent string `json:"encrypted_content"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	x := exchange{model: req.Model, stream: req.Stream}
	open := map[string]bool{} // calls without a result
	said := func() bool { n := len(x.messages); return n > 0 && x.messages[n-1].from == model }
	for i, item := range req.Input {
		switch {
		case item.Type == "reasoning":
			if item.EncryptedContent != reasoningSeal {
				return exchange{}, fmt.Errorf("input[%d]: encrypted_content is not what it was", i)
			}
		case item.Type == "function_call":
			open[item.CallID] = true
			if !said() { // a response may be several items
				x.messages = append(x.messages, message{from: model})
			}
		case item.Type == "function_call_output":
			if !open[item.CallID] {
				return exchange{}, fmt.Errorf("input[%d]: call_id %q is of no call before it", i, item.CallID)
			}
			delete(open, item.CallID)
			text, err := openAIText(item.Output)
			if err != nil {
				return exchange{}, fmt.Errorf("input[%d]: %w", i, err)
			}
			x.messages = append(x.messages, message{from: tools, results: []string{text}})
		case item.Role == "user", item.Role == "assistant":
			text, err := openAIText(item.Content)
			if err != nil {
				return exchange{}, fmt.Errorf("input[%d]: %w", i, err)
			}
			from := person
			if item.Role == "assistant" {
				from = model
			}
			x.messages = append(x.messages, message{from: from, text: text})
		case item.Role == "system", item.Role == "developer":
		default:
			return exchange{}, fmt.Errorf("input[%d]: unknown item %q", i, item.Type)
		}
	}
	if len(open) > 0 {
		return exchange{}, fmt.Errorf("%d function calls have no output", len(open))
	}
	return x, nil
}

// reasoningSeal stands for reasoning that only the provider can read.
const reasoningSeal = "sealed-reasoning"

func (responses) voice(w *writer, x exchange) voice {
	v := &responsesVoice{w: w, exchange: x}
	if x.stream {
		v.events = newEvents(w)
	}
	return v
}

// responsesVoice writes a response, which is a list of items.
type responsesVoice struct {
	events   events
	w        *writer
	exchange exchange
	begun    bool
	kind     string // of the item under way: message, reasoning or none
	words    string // of that item
	items    []object
	sequence int
}

// send sends an event of a streamed response.
func (v *responsesVoice) send(kind string, fields object) {
	if !v.exchange.stream {
		return
	}
	if !v.begun {
		v.begun = true
		v.send("response.created", object{"response": v.response("in_progress", nil)})
	}
	fields["type"], fields["sequence_number"] = kind, v.sequence
	v.sequence++
	v.events.send(kind, encode(fields))
}

// response is the object that the events are about.
func (v *responsesVoice) response(status string, more object) object {
	items := v.items
	if items == nil {
		items = []object{}
	}
	r := object{
		"id": fmt.Sprintf("resp_%d", v.exchange.serial), "object": "response", "created_at": 1, "status": status,
		"model": v.exchange.model, "output": items, "error": nil, "incomplete_details": nil,
	}
	for key, value := range more {
		r[key] = value
	}
	return r
}

// item begins an item, unless one of that kind is under way.
func (v *responsesVoice) item(kind string) {
	if v.kind == kind {
		return
	}
	v.end()
	v.kind = kind
	v.send("response.output_item.added", object{"output_index": len(v.items), "item": object{"type": kind, "id": v.id()}})
	if kind == "reasoning" {
		v.send("response.reasoning_summary_part.added", object{"item_id": v.id(), "output_index": len(v.items), "summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	}
}

func (v *responsesVoice) id() string {
	return fmt.Sprintf("item_%d_%d", v.exchange.serial, len(v.items))
}

// end ends the item under way.
func (v *responsesVoice) end() {
	item := object{"type": v.kind, "id": v.id()}
	switch v.kind {
	case "":
		return
	case "message":
		item["role"], item["status"] = "assistant", "completed"
		item["content"] = []object{{"type": "output_text", "text": v.words, "annotations": []object{}}}
	case "reasoning":
		item["summary"] = []object{{"type": "summary_text", "text": v.words}}
		item["encrypted_content"] = reasoningSeal
	}
	v.done(item)
	v.kind, v.words = "", ""
}

func (v *responsesVoice) done(item object) {
	v.send("response.output_item.done", object{"output_index": len(v.items), "item": item})
	v.items = append(v.items, item)
}

func (v *responsesVoice) text(s string) {
	v.item("message")
	v.words += s
	v.send("response.output_text.delta", object{"item_id": v.id(), "output_index": len(v.items), "content_index": 0, "delta": s})
}

func (v *responsesVoice) thinking(s string) {
	v.item("reasoning")
	v.words += s
	v.send("response.reasoning_summary_text.delta", object{"item_id": v.id(), "output_index": len(v.items), "summary_index": 0, "delta": s})
}

func (v *responsesVoice) call(id string, c script.Call) {
	v.end()
	item := object{"type": "function_call", "id": v.id(), "call_id": id, "name": c.Name, "arguments": "", "status": "in_progress"}
	v.send("response.output_item.added", object{"output_index": len(v.items), "item": item})
	v.send("response.function_call_arguments.delta", object{"item_id": v.id(), "output_index": len(v.items), "delta": c.Args})
	item["arguments"], item["status"] = c.Args, "completed"
	v.done(item)
}

func (v *responsesVoice) garbage(s string) {
	if v.exchange.stream {
		v.events.send("response.output_text.delta", []byte(s))
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Write([]byte(s))
}

func (v *responsesVoice) fail(e script.Error) {
	code := "invalid_request_error"
	if e.Status >= 500 {
		code = "server_error"
	}
	if e.Status == http.StatusTooManyRequests {
		code = "rate_limit_exceeded"
	}
	v.send("response.failed", object{"response": v.response("failed", object{"error": object{"code": code, "message": e.Message}})})
}

func (v *responsesVoice) finish(reason string, u agent.Usage) {
	if reason == script.FinishRefusal {
		const words = "I would rather not."
		v.item("message")
		v.send("response.refusal.delta", object{"item_id": v.id(), "output_index": len(v.items), "content_index": 1, "delta": words})
	}
	v.end()
	more := object{"usage": object{
		"input_tokens": u.Prompt, "output_tokens": u.Completion, "total_tokens": u.Total,
		"input_tokens_details":  object{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}}
	status := "completed"
	switch reason {
	case script.FinishLength:
		status, more["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case script.FinishContentFilter:
		status, more["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	if v.exchange.stream {
		v.send("response."+status, object{"response": v.response(status, more)})
		return
	}
	writeJSON(v.w, http.StatusOK, v.response(status, more))
}
