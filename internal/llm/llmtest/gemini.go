package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// thoughtSeal signs a thought in a way that only the provider can check; Google
// wants bytes in base64.
const thoughtSeal = "c2VhbGVk" // sealed

// gemini is Google's generateContent.
type gemini struct{ stream bool }

func (gemini) refusal(e script.Error) any {
	return object{"error": object{"code": e.Status, "message": e.Message, "status": googleStatus(e.Status)}}
}

// googleStatus returns what Google calls an HTTP status.
func googleStatus(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	if status >= 500 {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

func (g gemini) read(r *http.Request, body []byte) (exchange, error) {
	var req struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				Thought          bool
				ThoughtSignature string
				InlineData       json.RawMessage
				FunctionCall     *struct {
					Name string
					Args json.RawMessage
				}
				FunctionResponse *struct {
					Name     string
					Response map[string]string
				}
			}
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	x := exchange{stream: g.stream}
	x.model, _, _ = afterModels(r.URL.Path)
	if g.stream && r.URL.Query().Get("alt") != "sse" {
		return exchange{}, fmt.Errorf("this server streams with alt=sse alone")
	}
	open := 0 // calls of the content before, without a result
	for i, c := range req.Contents {
		var (
			m       message
			texts   []string
			calls   int
			answers int
		)
		if len(c.Parts) == 0 {
			return exchange{}, fmt.Errorf("contents[%d].parts: must not be empty", i)
		}
		for _, p := range c.Parts {
			switch {
			case p.ThoughtSignature != "" && p.ThoughtSignature != thoughtSeal:
				return exchange{}, fmt.Errorf("contents[%d]: thought signature is not valid", i)
			case p.FunctionCall != nil:
				calls++
			case p.FunctionResponse != nil:
				answers++
				for _, text := range p.FunctionResponse.Response {
					m.results = append(m.results, text)
				}
			case !p.Thought && p.Text != "":
				texts = append(texts, p.Text)
			}
		}
		if open != answers {
			return exchange{}, fmt.Errorf("contents[%d]: %d function response parts for %d function call parts", i, answers, open)
		}
		open = calls
		m.text = joined(texts)
		switch {
		case c.Role == "model":
			m.from = model
		case answers > 0:
			m.from = tools
		case c.Role != "user":
			return exchange{}, fmt.Errorf("contents[%d]: role %q is neither user nor model", i, c.Role)
		}
		x.messages = append(x.messages, m)
	}
	if open > 0 {
		return exchange{}, fmt.Errorf("%d function calls have no response", open)
	}
	return x, nil
}

func (g gemini) voice(w *writer, x exchange) voice {
	v := &geminiVoice{w: w, exchange: x}
	if x.stream {
		v.events = newEvents(w)
	}
	return v
}

// geminiVoice writes a response of parts.
type geminiVoice struct {
	events   events
	w        *writer
	exchange exchange
	parts    []object // of a response that is not streamed
	thought  bool     // the last part was one
}

// part writes a part. A thought is signed by the part that follows it.
func (v *geminiVoice) part(p object) {
	thought := p["thought"] == true
	if v.thought && !thought {
		p["thoughtSignature"] = thoughtSeal
	}
	v.thought = thought
	if v.exchange.stream {
		v.chunk([]object{p}, object{})
		return
	}
	v.parts = append(v.parts, p)
}

func (v *geminiVoice) chunk(parts []object, more object) {
	v.events.send("", encode(v.response(parts, more)))
}

// response is a response, or a piece of one.
func (v *geminiVoice) response(parts []object, more object) object {
	candidate := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	if reason, there := more["finishReason"]; there {
		candidate["finishReason"] = reason
		delete(more, "finishReason")
	}
	out := object{"candidates": []object{candidate}, "modelVersion": v.exchange.model, "responseId": fmt.Sprint(v.exchange.serial)}
	for key, value := range more {
		out[key] = value
	}
	return out
}

func (v *geminiVoice) text(s string)     { v.part(object{"text": s}) }
func (v *geminiVoice) thinking(s string) { v.part(object{"text": s, "thought": true}) }

// call writes a call. Google reads the arguments itself: what it cannot read
// never comes as a call. It gives no ids, save where the script does.
func (v *geminiVoice) call(_ string, c script.Call) {
	args := json.RawMessage(c.Args)
	var whole map[string]json.RawMessage
	if json.Unmarshal(args, &whole) != nil {
		args = json.RawMessage("{}")
	}
	call := object{"name": c.Name, "args": args}
	if c.ID != "" {
		call["id"] = c.ID
	}
	v.part(object{"functionCall": call})
}

func (v *geminiVoice) garbage(s string) {
	if v.exchange.stream {
		v.events.send("", []byte(s))
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Write([]byte(s))
}

func (v *geminiVoice) fail(e script.Error) { v.events.send("", encode(gemini{}.refusal(e))) }

func (v *geminiVoice) finish(reason string, u agent.Usage) {
	finish := "STOP"
	switch reason {
	case script.FinishLength:
		finish = "MAX_TOKENS"
	case script.FinishRefusal, script.FinishContentFilter: // it knows no other
		finish = "SAFETY"
	}
	usage := object{
		"promptTokenCount": u.Prompt, "candidatesTokenCount": u.Completion - u.Reasoning, "thoughtsTokenCount": u.Reasoning,
		"cachedContentTokenCount": u.Cached, "totalTokenCount": u.Total,
	}
	more := object{"finishReason": finish, "usageMetadata": usage}
	if v.exchange.stream {
		v.chunk([]object{{"text": ""}}, more)
		return
	}
	writeJSON(v.w, http.StatusOK, v.response(v.parts, more))
}

// geminiEmbeddings is Google's batchEmbedContents.
type geminiEmbeddings struct{}

func (geminiEmbeddings) refusal(e script.Error) any { return gemini{}.refusal(e) }

func (geminiEmbeddings) read(r *http.Request, body []byte) (exchange, error) {
	var req struct {
		Requests []struct {
			Model                string
			Content              struct{ Parts []struct{ Text string } }
			OutputDimensionality int
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	if len(req.Requests) == 0 || len(req.Requests) > 100 {
		return exchange{}, fmt.Errorf("at most 100 requests can be in one batch, and at least 1; there are %d", len(req.Requests))
	}
	e := &embedding{}
	x := exchange{embed: e}
	x.model, _, _ = afterModels(r.URL.Path)
	for _, one := range req.Requests {
		if one.Model != "models/"+x.model {
			return exchange{}, fmt.Errorf("model %q is not the one in the address", one.Model)
		}
		var texts []string
		for _, p := range one.Content.Parts {
			texts = append(texts, p.Text)
		}
		e.texts = append(e.texts, strings.Join(texts, ""))
		e.dimensions = one.OutputDimensionality
	}
	return x, nil
}

func (geminiEmbeddings) voice(w *writer, x exchange) voice {
	return &vectorVoice{w: w, vectors: func(agent.Usage) any {
		list := make([]object, len(x.embed.texts))
		for i, text := range x.embed.texts {
			list[i] = object{"values": vector(text, x.embed.dimensions)}
		}
		return object{"embeddings": list}
	}}
}

// vertexEmbeddings is Vertex AI's predict, which takes one text at a time.
type vertexEmbeddings struct{}

func (vertexEmbeddings) refusal(e script.Error) any { return gemini{}.refusal(e) }

func (vertexEmbeddings) read(r *http.Request, body []byte) (exchange, error) {
	var req struct {
		Instances  []struct{ Content string }
		Parameters struct{ OutputDimensionality int }
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return exchange{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	if len(req.Instances) != 1 {
		return exchange{}, fmt.Errorf("there are %d instances, want 1", len(req.Instances))
	}
	x := exchange{embed: &embedding{[]string{req.Instances[0].Content}, req.Parameters.OutputDimensionality}}
	x.model, _, _ = afterModels(r.URL.Path)
	return x, nil
}

func (vertexEmbeddings) voice(w *writer, x exchange) voice {
	return &vectorVoice{w: w, vectors: func(agent.Usage) any {
		return object{"predictions": []object{{"embeddings": object{"values": vector(x.embed.texts[0], x.embed.dimensions)}}}}
	}}
}
