package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/sse"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// OpenAI's API is spoken here as it goes over the wire, without OpenAI's own Go
// module. Half of the program would be that module (23 of 55 MB), a streamed
// piece of text costs it sixteen times the work, and its minor versions break
// those who use it. What is needed of it are the few types in this file and in
// openai_responses.go.

// newOpenAI returns a model of OpenAI, of Azure, or of any server that speaks
// OpenAI's API.
func newOpenAI(a provider.Access, c *config.Model, client *http.Client) Model {
	reasons := isReasoning(a.Model)
	m := newRemote(a, c, client, agent.Capabilities{
		Streaming: true, Thinking: true, StructuredOutput: true,
		Images: true, Documents: true, Sampling: !reasons,
	})
	if speaksResponses(a, c) {
		return &responsesModel{remote: m, reasons: reasons}
	}
	return &chatModel{remote: m, reasons: reasons}
}

// isReasoning reports whether a model of OpenAI thinks before it answers: it
// takes no temperature and no top_p, and counts its thoughts against the longest
// answer. Only its name tells, which a router may have put a prefix to.
func isReasoning(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name[strings.LastIndex(name, "/")+1:]))
	return slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5"}, func(family string) bool { return strings.HasPrefix(name, family) })
}

// effortOf returns a reasoning effort as OpenAI calls it. The highest is of the
// newer models alone.
func effortOf(model, effort string) string {
	if effort != "max" {
		return effort
	}
	if name := strings.ToLower(model); strings.HasPrefix(name, "gpt-5.") && !strings.HasPrefix(name, "gpt-5.1") {
		return "xhigh"
	}
	return "high"
}

// chatModel speaks OpenAI's Chat Completions, which many servers do.
type chatModel struct {
	remote
	reasons bool
}

type chatRequest struct {
	Model               string         `json:"model"`
	Messages            []chatMessage  `json:"messages"`
	Tools               []chatTool     `json:"tools,omitempty"`
	ResponseFormat      map[string]any `json:"response_format,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	TopP                *float64       `json:"top_p,omitempty"`
	MaxTokens           *int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int           `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       map[string]any `json:"stream_options,omitempty"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // a string, a list of parts, or nil
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	// What some servers call the thoughts of a model that goes on with its tools.
	ReasoningContent string `json:"reasoning_content,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// chatChunk is a piece of a streamed response.
type chatChunk struct {
	Choices []struct {
		Delta struct {
			Content          string `json:"content"`
			Refusal          string `json:"refusal"`
			ReasoningContent string `json:"reasoning_content"`
			Reasoning        string `json:"reasoning"`
			ToolCalls        []struct {
				Index    *int         `json:"index"`
				ID       string       `json:"id"`
				Function calledByName `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() agent.Usage {
	if u == nil {
		return agent.Usage{}
	}
	return agent.Usage{
		Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.PromptTokens + u.CompletionTokens,
		Cached: u.PromptDetails.CachedTokens, CacheWrite: u.PromptDetails.CacheWriteTokens,
		Reasoning: u.CompletionDetails.ReasoningTokens,
	}
}

// Stream implements Model.
func (m *chatModel) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return exchange(ctx, m, req)
}

// ask sends a request.
func (m *chatModel) ask(ctx context.Context, body chatRequest) (*http.Response, error) {
	return m.events(ctx, "/chat/completions", body)
}

// request returns the body of a request.
func (m *chatModel) request(req Request) (chatRequest, error) {
	out := chatRequest{Model: m.info.Name, Stream: true, StreamOptions: map[string]any{"include_usage": true}}
	system := req.System
	if f, asked := newAnswerFormat(req.Schema); asked && f.object {
		out.ResponseFormat = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": cmp.Or(req.SchemaName, answerName), "schema": f.schema, "strict": f.strict,
		}}
	} else if asked {
		system = askFor(system, req.Schema)
	}
	if system != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: system})
	}
	for _, msg := range req.Messages {
		messages, err := m.messages(msg)
		if err != nil {
			return chatRequest{}, err
		}
		out.Messages = append(out.Messages, messages...)
	}
	for _, d := range req.Tools {
		out.Tools = append(out.Tools, chatTool{"function", chatFunction{d.Name, d.Description, parameters(d)}})
	}
	if !m.reasons {
		out.Temperature, out.TopP, out.MaxTokens = req.Sampling.Temperature, req.Sampling.TopP, req.Sampling.MaxTokens
		return out, nil
	}
	out.ReasoningEffort = effortOf(m.info.Name, req.Sampling.Effort)
	if !m.maxUnasked {
		out.MaxCompletionTokens = req.Sampling.MaxTokens
	}
	return out, nil
}

// answerName names the schema of an answer, which OpenAI wants named, when the
// caller has no name for it.
const answerName = "answer"

// messages returns a message of the history as the API has it, which may be
// several.
func (m *chatModel) messages(msg Message) ([]chatMessage, error) {
	switch msg.Role {
	case RoleUser:
		content, err := m.content(msg.Parts)
		return []chatMessage{{Role: "user", Content: content}}, err
	case RoleAssistant:
		return m.assistant(msg), nil
	}
	var out []chatMessage
	var seen []agent.Part // what the API takes from a person alone
	for _, r := range msg.Results {
		out = append(out, chatMessage{Role: "tool", ToolCallID: r.CallID, Content: resultText(r)})
		seen = append(seen, m.info.seenIn(r)...)
	}
	if len(seen) == 0 {
		return out, nil
	}
	content, err := m.content(append(agent.Text(shownByTools).Parts, seen...))
	return append(out, chatMessage{Role: "user", Content: content}), err
}

// shownByTools introduces what tools returned beside text, where an API takes it
// in a message of its own.
const shownByTools = "The tools returned these:"

// assistant returns a message of the model, or nothing when it said nothing.
func (m *chatModel) assistant(msg Message) []chatMessage {
	out := chatMessage{Role: "assistant"}
	if text := agent.JoinText(msg.Parts); text != "" {
		out.Content = text
	}
	for _, c := range msg.Calls {
		out.ToolCalls = append(out.ToolCalls, chatCall{c.ID, "function", calledByName{c.Name, argumentsText(c.Arguments)}})
	}
	if out.Content == nil && len(out.ToolCalls) == 0 {
		return nil
	}
	for _, p := range msg.Parts {
		// Thoughts go back to who thought them, and only while it is at work.
		if p.Kind != agent.PartThinking || p.Provider != m.info.Provider || len(out.ToolCalls) == 0 {
			continue
		}
		switch string(p.Opaque) {
		case reasoningContentField:
			out.ReasoningContent += p.Text
		case reasoningField:
			out.Reasoning += p.Text
		}
	}
	return []chatMessage{out}
}

// What a thinking part keeps: the field in which the server said it, as JSON.
const (
	reasoningContentField = `"reasoning_content"`
	reasoningField        = `"reasoning"`
)

// argumentsText returns the arguments of a call as the model gave them.
func argumentsText(args json.RawMessage) string {
	var broken string
	if json.Unmarshal(args, &broken) == nil {
		return broken
	}
	return string(args)
}

// content returns the parts of a person's message: a string where all is text.
func (m *chatModel) content(parts []agent.Part) (any, error) {
	var list []map[string]any
	plain := true
	for _, p := range parts {
		switch p.Kind {
		case agent.PartText:
			if p.Text != "" {
				list = append(list, map[string]any{"type": "text", "text": p.Text})
			}
			continue
		case agent.PartImage:
			list = append(list, map[string]any{"type": "image_url", "image_url": map[string]any{"url": dataURL(p)}})
		case agent.PartDocument:
			text, readable := documentText(p)
			switch {
			case readable:
				list = append(list, map[string]any{"type": "text", "text": text})
			case mediaType(p) == pdf:
				list = append(list, map[string]any{"type": "file", "file": map[string]any{"filename": p.Name, "file_data": dataURL(p)}})
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

// read reads a streamed response.
func (m *chatModel) read(ctx context.Context, resp *http.Response, r *reply) {
	s := chatStream{model: m, reply: r}
	for e, err := range sse.Events(resp.Body) {
		if err == nil {
			err = s.event(e)
		}
		if s.finished && err != nil && !errors.Is(err, errLeft) {
			break // all that mattered has come
		}
		if err != nil {
			hangUp(resp.Body, false)
			if !errors.Is(err, errLeft) {
				r.end(ctx, err)
			}
			return
		}
		if s.ended {
			break
		}
	}
	hangUp(resp.Body, s.ended)
	if !s.finished && !s.ended {
		r.end(ctx, m.access.BrokenOff())
		return
	}
	s.done()
}

// errLeft says that the reader of a response left.
var errLeft = errors.New("the reader left")

// chatStream is a response that is being read.
type chatStream struct {
	model    *chatModel
	reply    *reply
	calls    []Call // their arguments are text until the end
	args     []strings.Builder
	refusal  strings.Builder
	finish   string
	usage    *chatUsage
	field    string // in which thoughts come
	finished bool   // the reason to stop has come
	ended    bool   // the stream has said that it ends
}

// event reads one event. errLeft says that the reader left.
func (s *chatStream) event(e sse.Event) error {
	if string(e.Data) == "[DONE]" {
		s.ended = true
		return nil
	}
	var chunk chatChunk
	if err := s.model.decode(e.Data, &chunk); err != nil {
		return err
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return s.model.access.Refused(http.StatusInternalServerError, e.Data)
	}
	if chunk.Usage != nil {
		s.usage = chunk.Usage
	}
	if len(chunk.Choices) == 0 {
		return nil
	}
	choice := chunk.Choices[0]
	thought, field := choice.Delta.ReasoningContent, reasoningContentField
	if thought == "" {
		thought, field = choice.Delta.Reasoning, reasoningField
	}
	if thought != "" {
		s.field = field
	}
	if choice.Delta.Content != "" {
		s.endThought()
	}
	if !s.reply.say(agent.PartThinking, thought) || !s.reply.say(agent.PartText, choice.Delta.Content) {
		return errLeft
	}
	s.refusal.WriteString(choice.Delta.Refusal)
	for _, c := range choice.Delta.ToolCalls {
		s.call(c.Index, c.ID, c.Function)
	}
	if choice.FinishReason != "" {
		s.finish, s.finished = choice.FinishReason, true
	}
	return nil
}

// endThought notes in which field the thoughts came that are now complete.
func (s *chatStream) endThought() {
	if s.reply.kind == agent.PartThinking {
		s.reply.seal(agent.PartThinking, s.model.info.Provider, json.RawMessage(s.field))
	}
}

// call adds a piece of a call. Pieces of one call share an index; some servers
// give none and send each call whole.
func (s *chatStream) call(index *int, id string, f calledByName) {
	i := len(s.calls) - 1
	switch {
	case index != nil && *index >= 0 && *index <= len(s.calls):
		i = *index
	case index == nil && (id != "" || f.Name != "" || i < 0), index != nil:
		i = len(s.calls)
	}
	if i == len(s.calls) {
		s.calls = append(s.calls, Call{})
		s.args = append(s.args, strings.Builder{})
	}
	c := &s.calls[i]
	if id != "" {
		c.ID = id
	}
	if f.Name != "" {
		c.Name = f.Name
	}
	s.args[i].WriteString(f.Arguments)
}

// done ends the call.
func (s *chatStream) done() {
	s.endThought()
	for i, c := range s.calls {
		c.Arguments = arguments(s.args[i].String())
		s.reply.call(c)
	}
	d := Done{Usage: s.usage.usage(), FinishReason: s.finish, Stop: agent.StopEnd}
	switch s.finish {
	case "length":
		d.Stop = agent.StopMaxTokens
	case "content_filter":
		d.Stop = agent.StopBlocked
	}
	if s.refusal.Len() > 0 {
		d.Stop = agent.StopRefusal
		if s.reply.silent() && !s.reply.say(agent.PartText, s.refusal.String()) {
			return
		}
	}
	s.reply.done(d)
}
