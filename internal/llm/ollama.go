package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/sse"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// ollamaModel speaks Ollama's own API, which streams lines of JSON.
type ollamaModel struct{ remote }

func newOllama(a provider.Access, c *config.Model, client *http.Client) Model {
	return &ollamaModel{newRemote(a, c, client, agent.Capabilities{
		Streaming: true, Thinking: true, StructuredOutput: true, Images: true, Sampling: true,
	})}
}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Tools    []chatTool      `json:"tools,omitempty"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  ollamaOptions   `json:"options"`
	Think    string          `json:"think,omitempty"`
	// Truncate and Shift are off: what a model cannot read is told, and not left
	// out without a word.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`
	Stream   bool `json:"stream"`
}

type ollamaOptions struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	NumPredict  *int     `json:"num_predict,omitempty"`
}

type ollamaMessage struct {
	Role       string       `json:"role"`
	Content    string       `json:"content"`
	Thinking   string       `json:"thinking,omitempty"`
	Images     []string     `json:"images,omitempty"`
	ToolCalls  []ollamaCall `json:"tool_calls,omitempty"`
	ToolName   string       `json:"tool_name,omitempty"`
	ToolCallID string       `json:"tool_call_id,omitempty"`
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// Stream implements Model.
func (m *ollamaModel) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return exchange(ctx, m, req)
}

// ask sends a request.
func (m *ollamaModel) ask(ctx context.Context, body ollamaRequest) (*http.Response, error) {
	return m.post(ctx, "/api/chat", body)
}

// request returns the body of a request.
func (m *ollamaModel) request(req Request) (ollamaRequest, error) {
	out := ollamaRequest{
		Model: m.info.Name, Stream: true, Messages: []ollamaMessage{},
		Options: ollamaOptions{req.Sampling.Temperature, req.Sampling.TopP, req.Sampling.MaxTokens},
		Think:   req.Sampling.Effort,
	}
	if out.Think == "max" {
		out.Think = "high"
	}
	system := req.System
	// A format binds every word of the model, so that it could call no tool.
	if _, asked := newAnswerFormat(req.Schema); asked && len(req.Tools) == 0 {
		out.Format = req.Schema
	} else if asked {
		system = askFor(system, req.Schema)
	}
	if system != "" {
		out.Messages = append(out.Messages, ollamaMessage{Role: "system", Content: system})
	}
	for _, msg := range req.Messages {
		messages, err := m.messages(msg)
		if err != nil {
			return ollamaRequest{}, err
		}
		out.Messages = append(out.Messages, messages...)
	}
	for _, d := range req.Tools {
		out.Tools = append(out.Tools, chatTool{"function", chatFunction{d.Name, d.Description, parameters(d)}})
	}
	return out, nil
}

// messages returns a message of the history as the API has it, which may be
// several.
func (m *ollamaModel) messages(msg Message) ([]ollamaMessage, error) {
	switch msg.Role {
	case RoleUser:
		out, err := m.person(msg.Parts)
		return []ollamaMessage{out}, err
	case RoleAssistant:
		return m.assistant(msg), nil
	}
	var out []ollamaMessage
	var seen []agent.Part
	for _, r := range msg.Results {
		out = append(out, ollamaMessage{Role: "tool", Content: resultText(r), ToolName: r.Name, ToolCallID: r.CallID})
		seen = append(seen, m.info.seenIn(r)...)
	}
	if len(seen) == 0 {
		return out, nil
	}
	shown, err := m.person(append(agent.Text(shownByTools).Parts, seen...))
	return append(out, shown), err
}

// person returns a message of a person.
func (m *ollamaModel) person(parts []agent.Part) (ollamaMessage, error) {
	out := ollamaMessage{Role: "user"}
	var texts []string
	for _, p := range parts {
		switch p.Kind {
		case agent.PartText:
			texts = append(texts, p.Text)
		case agent.PartImage:
			out.Images = append(out.Images, base64Of(p))
		case agent.PartDocument:
			text, readable := documentText(p)
			if !readable {
				return ollamaMessage{}, m.info.unreadable(p)
			}
			texts = append(texts, text)
		}
	}
	out.Content = strings.Join(texts, "\n\n")
	return out, nil
}

// assistant returns what the model said, or nothing when it said nothing. Its
// thoughts go back while it is at work.
func (m *ollamaModel) assistant(msg Message) []ollamaMessage {
	out := ollamaMessage{Role: "assistant", Content: agent.JoinText(msg.Parts)}
	for _, c := range msg.Calls {
		call := ollamaCall{ID: c.ID}
		call.Function.Name, call.Function.Arguments = c.Name, argumentsObject(c.Arguments)
		out.ToolCalls = append(out.ToolCalls, call)
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		return nil
	}
	for _, p := range msg.Parts {
		if p.Kind == agent.PartThinking && p.Provider == m.info.Provider && len(msg.Calls) > 0 {
			out.Thinking += p.Text
		}
	}
	return []ollamaMessage{out}
}

// ollamaLine is a line of a streamed response.
type ollamaLine struct {
	Message         ollamaMessage `json:"message"`
	Done            bool          `json:"done"`
	DoneReason      string        `json:"done_reason"`
	PromptEvalCount int           `json:"prompt_eval_count"`
	EvalCount       int           `json:"eval_count"`
	// Error is a string; servers in Ollama's place say more.
	Error json.RawMessage `json:"error"`
}

// read reads a streamed response.
func (m *ollamaModel) read(ctx context.Context, resp *http.Response, r *reply) {
	var last ollamaLine
	for data, err := range lines(resp.Body) {
		var line ollamaLine
		if err == nil {
			err = m.decode(data, &line)
		}
		if err == nil {
			err = m.line(line, r)
		}
		if err != nil {
			hangUp(resp.Body, false)
			if !errors.Is(err, errLeft) {
				r.end(ctx, err)
			}
			return
		}
		if last = line; last.Done {
			break
		}
	}
	hangUp(resp.Body, last.Done)
	if !last.Done {
		r.end(ctx, m.access.BrokenOff())
		return
	}
	m.endThought(r)
	d := Done{
		Usage: agent.Usage{Prompt: last.PromptEvalCount, Completion: last.EvalCount, Total: last.PromptEvalCount + last.EvalCount},
		Stop:  agent.StopEnd, FinishReason: last.DoneReason,
	}
	if last.DoneReason == "length" {
		d.Stop = agent.StopMaxTokens
	}
	r.done(d)
}

// line takes a line of the response. errLeft says that the reader left.
func (m *ollamaModel) line(line ollamaLine, r *reply) error {
	if e := string(line.Error); e != "" && e != "null" && e != `""` {
		return m.access.Refused(http.StatusInternalServerError, []byte(`{"error":`+e+`}`))
	}
	if line.Message.Content != "" {
		m.endThought(r)
	}
	if !r.say(agent.PartThinking, line.Message.Thinking) || !r.say(agent.PartText, line.Message.Content) {
		return errLeft
	}
	for _, c := range line.Message.ToolCalls {
		r.call(Call{ID: c.ID, Name: c.Function.Name, Arguments: arguments(string(c.Function.Arguments))})
	}
	return nil
}

// endThought notes that the thoughts that are now complete are Ollama's.
func (m *ollamaModel) endThought(r *reply) {
	if r.kind == agent.PartThinking {
		r.seal(agent.PartThinking, m.info.Provider, json.RawMessage(`"thinking"`))
	}
}

// lines yields the lines of a stream that are not blank.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, sse.MaxEventBytes)
		for scanner.Scan() {
			if line := bytes.TrimSpace(scanner.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		switch err := scanner.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, sse.ErrTooLong)
		case err != nil:
			yield(nil, err)
		}
	}
}
