package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/sse"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// speaksResponses reports whether a model is spoken to over OpenAI's Responses
// API. Only there does a reasoning model keep its thoughts from one tool call to
// the next; but few servers beside OpenAI's own and Azure's speak it.
func speaksResponses(a provider.Access, c *config.Model) bool {
	if c.API != nil {
		return *c.API == config.APIResponses
	}
	return isReasoning(a.Model) && (a.Route == provider.AzureV1 || a.Route == provider.OpenAI && a.Default)
}

// responsesModel speaks OpenAI's Responses API. Nothing is kept at the provider:
// what it needs to go on, it hands over sealed and gets back.
type responsesModel struct {
	remote
	reasons bool
}

type responsesRequest struct {
	Model           string            `json:"model"`
	Instructions    string            `json:"instructions,omitempty"`
	Input           []any             `json:"input"`
	Tools           []responsesTool   `json:"tools,omitempty"`
	Text            map[string]any    `json:"text,omitempty"`
	Temperature     *float64          `json:"temperature,omitempty"`
	TopP            *float64          `json:"top_p,omitempty"`
	MaxOutputTokens *int              `json:"max_output_tokens,omitempty"`
	Reasoning       map[string]string `json:"reasoning,omitempty"`
	Include         []string          `json:"include,omitempty"`
	Store           bool              `json:"store"`
	Stream          bool              `json:"stream"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// The items of an input. What the provider sealed goes back as it came.
type (
	responsesMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a string or a list of parts
	}
	responsesCall struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	responsesOutput struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output any    `json:"output"` // a string or a list of parts
	}
)

// Stream implements Model.
func (m *responsesModel) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return exchange(ctx, m, req)
}

// ask sends a request.
func (m *responsesModel) ask(ctx context.Context, body responsesRequest) (*http.Response, error) {
	return m.events(ctx, "/responses", body)
}

// request returns the body of a request.
func (m *responsesModel) request(req Request) (responsesRequest, error) {
	out := responsesRequest{Model: m.info.Name, Instructions: req.System, Stream: true, Input: []any{}}
	if f, asked := newAnswerFormat(req.Schema); asked && f.object {
		out.Text = map[string]any{"format": map[string]any{
			"type": "json_schema", "name": cmp.Or(req.SchemaName, answerName), "schema": f.schema, "strict": f.strict,
		}}
	} else if asked {
		out.Instructions = askFor(req.System, req.Schema)
	}
	for _, msg := range req.Messages {
		items, err := m.items(msg)
		if err != nil {
			return responsesRequest{}, err
		}
		out.Input = append(out.Input, items...)
	}
	for _, d := range req.Tools {
		out.Tools = append(out.Tools, responsesTool{Type: "function", Name: d.Name, Description: d.Description, Parameters: parameters(d)})
	}
	if !m.reasons {
		out.Temperature, out.TopP, out.MaxOutputTokens = req.Sampling.Temperature, req.Sampling.TopP, req.Sampling.MaxTokens
		return out, nil
	}
	out.Include = []string{"reasoning.encrypted_content"}
	if effort := effortOf(m.info.Name, req.Sampling.Effort); effort != "" {
		// Who asks for an effort wants to see it. Unasked, a summary would be
		// refused to organizations that OpenAI has not verified.
		out.Reasoning = map[string]string{"effort": effort, "summary": "auto"}
	}
	if !m.maxUnasked {
		out.MaxOutputTokens = req.Sampling.MaxTokens
	}
	return out, nil
}

// items returns a message of the history as the API has it.
func (m *responsesModel) items(msg Message) ([]any, error) {
	switch msg.Role {
	case RoleUser:
		content, err := m.content(msg.Parts)
		return []any{responsesMessage{"user", content}}, err
	case RoleAssistant:
		return m.assistant(msg), nil
	}
	var items []any
	for _, r := range msg.Results {
		output := any(resultText(r))
		if seen := m.info.seenIn(r); len(seen) > 0 {
			content, err := m.content(append(agent.Text(resultText(r)).Parts, seen...))
			if err != nil {
				return nil, err
			}
			output = content
		}
		items = append(items, responsesOutput{"function_call_output", r.CallID, output})
	}
	return items, nil
}

// assistant returns a message of the model. Sealed items keep their places.
func (m *responsesModel) assistant(msg Message) []any {
	var items []any
	for _, p := range msg.Parts {
		switch {
		case len(p.Opaque) > 0 && p.Opaque[0] == '{' && p.Provider == m.info.Provider:
			items = append(items, p.Opaque)
		case p.Kind == agent.PartText && p.Text != "":
			items = append(items, responsesMessage{"assistant", p.Text})
		}
	}
	for _, c := range msg.Calls {
		var before []json.RawMessage
		if json.Unmarshal(c.Opaque, &before) == nil {
			for _, item := range before {
				items = append(items, item)
			}
		}
		items = append(items, responsesCall{"function_call", c.ID, c.Name, argumentsText(c.Arguments)})
	}
	return items
}

// content returns the parts of a message: a string where all is text.
func (m *responsesModel) content(parts []agent.Part) (any, error) {
	var list []map[string]any
	plain := true
	for _, p := range parts {
		switch p.Kind {
		case agent.PartText:
			if p.Text != "" {
				list = append(list, map[string]any{"type": "input_text", "text": p.Text})
			}
			continue
		case agent.PartImage:
			list = append(list, map[string]any{"type": "input_image", "image_url": dataURL(p)})
		case agent.PartDocument:
			text, readable := documentText(p)
			switch {
			case readable:
				list = append(list, map[string]any{"type": "input_text", "text": text})
			case mediaType(p) == pdf:
				list = append(list, map[string]any{"type": "input_file", "filename": p.Name, "file_data": dataURL(p)})
			default:
				return nil, m.info.unreadable(p)
			}
		}
		plain = false
	}
	if plain {
		return agent.JoinText(parts), nil
	}
	return list, nil
}

// responsesEvent is an event of a streamed response, as far as it is used.
type responsesEvent struct {
	Type     string          `json:"type"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Summary  int             `json:"summary_index"`
	Response struct {
		Usage             *responsesUsage `json:"usage"`
		IncompleteDetails struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
}

type responsesItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responsesUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	InputDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) usage() agent.Usage {
	if u == nil {
		return agent.Usage{}
	}
	return agent.Usage{
		Prompt: u.InputTokens, Completion: u.OutputTokens, Total: u.InputTokens + u.OutputTokens,
		Cached: u.InputDetails.CachedTokens, CacheWrite: u.InputDetails.CacheWriteTokens,
		Reasoning: u.OutputDetails.ReasoningTokens,
	}
}

// read reads a streamed response.
func (m *responsesModel) read(ctx context.Context, resp *http.Response, r *reply) {
	s := responsesStream{model: m, reply: r}
	for e, err := range sse.Events(resp.Body) {
		if err == nil {
			err = s.event(e)
		}
		if err != nil {
			hangUp(resp.Body, false)
			if !errors.Is(err, errLeft) {
				r.end(ctx, err)
			}
			return
		}
		if s.done != nil {
			break
		}
	}
	hangUp(resp.Body, s.done != nil)
	if s.done == nil {
		r.end(ctx, m.access.BrokenOff())
		return
	}
	s.end()
}

// responsesStream is a response that is being read.
type responsesStream struct {
	model   *responsesModel
	reply   *reply
	sealed  []json.RawMessage // items that came since the first call
	refusal strings.Builder
	summary int   // of the part of a summary that comes
	done    *Done // once the response is complete
}

// event reads one event. errLeft says that the reader left.
func (s *responsesStream) event(e sse.Event) error {
	var event responsesEvent
	if err := s.model.decode(e.Data, &event); err != nil {
		return err
	}
	switch event.Type {
	case "response.output_text.delta":
		return s.say(agent.PartText, event.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		if event.Summary != s.summary && s.reply.kind == agent.PartThinking {
			event.Delta = "\n\n" + event.Delta
		}
		s.summary = event.Summary
		return s.say(agent.PartThinking, event.Delta)
	case "response.refusal.delta":
		s.refusal.WriteString(event.Delta)
	case "response.output_item.done":
		return s.item(event.Item)
	case "response.completed":
		s.done = &Done{Usage: event.Response.Usage.usage(), Stop: agent.StopEnd, FinishReason: "completed"}
	case "response.incomplete":
		s.done = &Done{Usage: event.Response.Usage.usage(), Stop: agent.StopMaxTokens, FinishReason: event.Response.IncompleteDetails.Reason}
		if s.done.FinishReason == "content_filter" {
			s.done.Stop = agent.StopBlocked
		}
	case "response.failed", "error":
		return s.failed(event.Type, e.Data)
	}
	return nil
}

func (s *responsesStream) say(kind agent.PartKind, text string) error {
	if !s.reply.say(kind, text) {
		return errLeft
	}
	return nil
}

// item takes a complete item of the response.
func (s *responsesStream) item(raw json.RawMessage) error {
	var item responsesItem
	if err := s.model.decode(raw, &item); err != nil {
		return err
	}
	switch item.Type {
	case "reasoning":
		if len(s.reply.message.Calls) == 0 {
			s.reply.seal(agent.PartThinking, s.model.info.Provider, raw)
			return nil
		}
		s.sealed = append(s.sealed, raw) // it belongs before the next call
	case "function_call":
		c := Call{ID: item.CallID, Name: item.Name, Arguments: arguments(item.Arguments)}
		if len(s.sealed) > 0 {
			c.Opaque, _ = json.Marshal(s.sealed) // what was read as JSON
			s.sealed = nil
		}
		s.reply.call(c)
	}
	return nil
}

// statusOfCode returns the HTTP status that a code of an error within a response
// stands for.
func statusOfCode(code string) int {
	switch code {
	case "rate_limit_exceeded":
		return http.StatusTooManyRequests
	case "invalid_prompt", "invalid_request_error", "context_length_exceeded":
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// failed returns the error that the provider reports within the response.
func (s *responsesStream) failed(kind string, data []byte) error {
	var form struct {
		Response struct {
			Error json.RawMessage `json:"error"`
		} `json:"response"`
	}
	if kind == "response.failed" && json.Unmarshal(data, &form) == nil {
		data, _ = json.Marshal(map[string]any{"error": form.Response.Error}) // what was read as JSON
	}
	e := s.model.access.Refused(http.StatusInternalServerError, data)
	e.Status = statusOfCode(e.Code)
	return e
}

// end ends the call.
func (s *responsesStream) end() {
	if s.refusal.Len() > 0 {
		s.done.Stop, s.done.FinishReason = agent.StopRefusal, "refusal"
		if s.reply.silent() && !s.reply.say(agent.PartText, s.refusal.String()) {
			return
		}
	}
	s.reply.done(*s.done)
}
