package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/sse"
	"github.com/holodeck-go/holodeck/internal/provider"
)

const (
	// anthropicVersion is the version of the Messages API that is spoken. It is
	// not the newest: this one takes temperature and top_p, and it is what
	// gateways, Bedrock, Foundry and Ollama understand.
	anthropicVersion = "2023-06-01"
	// vertexVersion says the same to Vertex AI, within the request.
	vertexVersion = "vertex-2023-10-16"
	// anthropicMaxTokens is the longest answer where nobody says; the API wants
	// to be told.
	anthropicMaxTokens = 4096
)

// anthropicModel speaks Anthropic's Messages API.
type anthropicModel struct {
	remote
	version modelVersion
}

func newAnthropic(a provider.Access, c *config.Model, client *http.Client) Model {
	return &anthropicModel{
		remote: newRemote(a, c, client, agent.Capabilities{
			Streaming: true, Thinking: true, StructuredOutput: true,
			Images: true, Documents: true, Sampling: true,
		}),
		version: claudeVersion(a.Model),
	}
}

// modelVersion is the version of a model, such as 4.5; zero when its name does
// not say.
type modelVersion struct{ major, minor int }

// from reports whether the version is that one or newer.
func (v modelVersion) from(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// claudeVersion reads the version from a name such as claude-sonnet-4-5-20250929
// or claude-3-5-haiku. A Claude without one is taken for newer than all; other
// models have none.
func claudeVersion(name string) modelVersion {
	_, rest, ok := strings.Cut(strings.ToLower(name), "claude")
	if !ok {
		return modelVersion{}
	}
	var numbers []int
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-.@:_", r) }) {
		n, err := strconv.Atoi(word)
		if err != nil && len(numbers) == 0 {
			continue // the family
		}
		if err != nil || len(word) > 2 { // a date
			break
		}
		numbers = append(numbers, n)
	}
	switch len(numbers) {
	case 0:
		return modelVersion{major: 99}
	case 1:
		return modelVersion{major: numbers[0]}
	}
	return modelVersion{numbers[0], numbers[1]}
}

type anthropicRequest struct {
	Version      string             `json:"anthropic_version,omitempty"` // on Vertex AI
	Model        string             `json:"model,omitempty"`             // but there
	MaxTokens    int                `json:"max_tokens"`
	System       []anthropicBlock   `json:"system,omitempty"`
	Messages     []anthropicMessage `json:"messages"`
	Tools        []anthropicTool    `json:"tools,omitempty"`
	Temperature  *float64           `json:"temperature,omitempty"`
	TopP         *float64           `json:"top_p,omitempty"`
	Thinking     map[string]any     `json:"thinking,omitempty"`
	OutputConfig map[string]any     `json:"output_config,omitempty"`
	Stream       bool               `json:"stream"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

// anthropicBlock is a piece of a message. Raw, if set, is the whole block.
type anthropicBlock struct {
	Type         string            `json:"type"`
	Text         string            `json:"text,omitempty"`
	Thinking     string            `json:"thinking,omitempty"`
	Signature    json.RawMessage   `json:"signature,omitempty"`
	ID           string            `json:"id,omitempty"`
	Name         string            `json:"name,omitempty"`
	Input        json.RawMessage   `json:"input,omitempty"`
	ToolUseID    string            `json:"tool_use_id,omitempty"`
	Content      []anthropicBlock  `json:"content,omitempty"`
	IsError      bool              `json:"is_error,omitempty"`
	Title        string            `json:"title,omitempty"`
	Source       map[string]string `json:"source,omitempty"`
	CacheControl map[string]string `json:"cache_control,omitempty"`

	raw json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (b anthropicBlock) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain anthropicBlock
	return json.Marshal(plain(b))
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Stream implements Model.
func (m *anthropicModel) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return exchange(ctx, m, req)
}

// ask sends a request to where the route wants it.
func (m *anthropicModel) ask(ctx context.Context, body anthropicRequest) (*http.Response, error) {
	if m.access.Route != provider.AnthropicVertex {
		return m.events(ctx, "/v1/messages", body, "Anthropic-Version", anthropicVersion)
	}
	body.Model, body.Version = "", vertexVersion
	return m.events(ctx, "/v1/projects/"+url.PathEscape(m.access.Project)+"/locations/"+url.PathEscape(m.access.Region)+
		"/publishers/anthropic/models/"+url.PathEscape(m.info.Name)+":streamRawPredict", body)
}

// request returns the body of a request.
func (m *anthropicModel) request(req Request) (anthropicRequest, error) {
	out := anthropicRequest{Model: m.info.Name, MaxTokens: anthropicMaxTokens, Stream: true}
	m.sample(&out, req.Sampling)
	system := req.System
	if f, asked := newAnswerFormat(req.Schema); asked && f.closed && m.version.from(4, 5) {
		out.configure("format", map[string]any{"type": "json_schema", "schema": f.schema})
	} else if asked {
		system = askFor(system, req.Schema)
	}
	if strings.TrimSpace(system) != "" {
		out.System = []anthropicBlock{{Type: "text", Text: system}}
	}
	for _, msg := range req.Messages {
		converted, err := m.message(msg)
		if err != nil {
			return anthropicRequest{}, err
		}
		if len(converted.Content) > 0 {
			out.Messages = append(out.Messages, converted)
		}
	}
	for _, d := range req.Tools {
		out.Tools = append(out.Tools, anthropicTool{d.Name, d.Description, parameters(d)})
	}
	out.cache()
	return out, nil
}

// sample says how the model shall choose its words. Newer models take no
// temperature, so that one nobody asked for is not sent.
func (m *anthropicModel) sample(out *anthropicRequest, s Sampling) {
	if s.MaxTokens != nil {
		out.MaxTokens = *s.MaxTokens
	}
	if s.Effort != "" && claudeHeedsEffort(m.info.Name) {
		out.configure("effort", s.Effort)
	}
	if s.ThinkingTokens != nil {
		// Thinking and an own choice of words exclude each other.
		if m.version.from(4, 6) {
			out.Thinking = map[string]any{"type": "adaptive", "display": "summarized"}
		} else {
			out.Thinking = map[string]any{"type": "enabled", "budget_tokens": *s.ThinkingTokens}
		}
		out.MaxTokens += *s.ThinkingTokens
		return
	}
	if !m.temperatureUnasked {
		out.Temperature = s.Temperature
	}
	if out.Temperature == nil || !takesOneOfTemperatureAndTopP(m.info.Name) {
		out.TopP = s.TopP
	}
}

// takesOneOfTemperatureAndTopP reports whether a model refuses a request that
// says both, as Claude does from 4.1 on.
func takesOneOfTemperatureAndTopP(name string) bool { return claudeVersion(name).from(4, 1) }

// claudeHeedsEffort reports whether a model takes an effort: Claude Opus from 4.5
// on, and the others from 4.6 on. Models that are not Claude are asked.
func claudeHeedsEffort(name string) bool {
	v := claudeVersion(name)
	return v == modelVersion{} || v.from(4, 6) || v.from(4, 5) && strings.Contains(strings.ToLower(name), "opus")
}

// configure sets a key of output_config.
func (r *anthropicRequest) configure(key string, value any) {
	if r.OutputConfig == nil {
		r.OutputConfig = map[string]any{}
	}
	r.OutputConfig[key] = value
}

// cache asks the provider to keep what the next request begins with: the tools
// and the system prompt, and in a conversation with tools, where the next
// request is near, all there is. What is too short to be kept costs nothing.
func (r *anthropicRequest) cache() {
	keep := map[string]string{"type": "ephemeral"}
	if n := len(r.System); n > 0 {
		r.System[n-1].CacheControl = keep
	}
	if n := len(r.Messages); n > 0 && len(r.Tools) > 0 {
		content := r.Messages[n-1].Content
		if last := &content[len(content)-1]; last.raw == nil && last.Type != "thinking" {
			last.CacheControl = keep
		}
	}
}

// message returns a message of the history as the API has it.
func (m *anthropicModel) message(msg Message) (anthropicMessage, error) {
	switch msg.Role {
	case RoleUser:
		content, err := m.content(msg.Parts)
		return anthropicMessage{"user", content}, err
	case RoleAssistant:
		return anthropicMessage{"assistant", m.assistant(msg)}, nil
	}
	out := anthropicMessage{Role: "user"}
	for _, r := range msg.Results {
		content, err := m.content(append(agent.Text(resultText(r)).Parts, m.info.seenIn(r)...))
		if err != nil {
			return anthropicMessage{}, err
		}
		out.Content = append(out.Content, anthropicBlock{Type: "tool_result", ToolUseID: r.CallID, Content: content, IsError: r.Result.IsError})
	}
	return out, nil
}

// assistant returns what the model said. Thoughts go back sealed, or not at all.
func (m *anthropicModel) assistant(msg Message) []anthropicBlock {
	var blocks []anthropicBlock
	for _, p := range msg.Parts {
		sealed := p.Provider == m.info.Provider && len(p.Opaque) > 0
		switch {
		case p.Kind == agent.PartText && strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, anthropicBlock{Type: "text", Text: p.Text})
		case p.Kind == agent.PartThinking && sealed:
			blocks = append(blocks, anthropicBlock{Type: "thinking", Thinking: p.Text, Signature: p.Opaque})
		case p.Kind == agent.PartOpaque && sealed:
			blocks = append(blocks, anthropicBlock{raw: p.Opaque})
		}
	}
	for _, c := range msg.Calls {
		blocks = append(blocks, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: argumentsObject(c.Arguments)})
	}
	return blocks
}

// argumentsObject returns the arguments of a call where an API takes none but an
// object; what the model said instead stands in it.
func argumentsObject(args json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) == nil && object != nil {
		return args
	}
	data, _ := json.Marshal(map[string]string{"unparsed": argumentsText(args)}) // a string always encodes
	return data
}

// content returns the parts of a message. Blank text is refused by the API.
func (m *anthropicModel) content(parts []agent.Part) ([]anthropicBlock, error) {
	var blocks []anthropicBlock
	for _, p := range parts {
		switch p.Kind {
		case agent.PartText:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, anthropicBlock{Type: "text", Text: p.Text})
			}
		case agent.PartImage:
			blocks = append(blocks, anthropicBlock{Type: "image", Source: inBase64(p)})
		case agent.PartDocument:
			text, readable := documentText(p)
			switch {
			case readable:
				blocks = append(blocks, anthropicBlock{Type: "text", Text: text})
			case mediaType(p) == pdf:
				blocks = append(blocks, anthropicBlock{Type: "document", Title: p.Name, Source: inBase64(p)})
			default:
				return nil, m.info.unreadable(p)
			}
		}
	}
	return blocks, nil
}

// inBase64 returns the bytes of a part as Anthropic takes them.
func inBase64(p agent.Part) map[string]string {
	return map[string]string{"type": "base64", "media_type": mediaType(p), "data": base64Of(p)}
}

// anthropicEvent is an event of a streamed response, as far as it is used.
type anthropicEvent struct {
	Type    string `json:"type"`
	Message struct {
		Usage anthropicUsage `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
}

// anthropicUsage counts what has been used so far. Tokens of the cache are not
// among the input tokens.
type anthropicUsage struct {
	InputTokens              int `json:"input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	Details                  struct {
		ThinkingTokens int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// later returns the count with those of a later one, which need not repeat all.
func (u anthropicUsage) later(v anthropicUsage) anthropicUsage {
	u.InputTokens = cmp.Or(v.InputTokens, u.InputTokens)
	u.CacheCreationInputTokens = cmp.Or(v.CacheCreationInputTokens, u.CacheCreationInputTokens)
	u.CacheReadInputTokens = cmp.Or(v.CacheReadInputTokens, u.CacheReadInputTokens)
	u.OutputTokens = cmp.Or(v.OutputTokens, u.OutputTokens)
	u.Details.ThinkingTokens = cmp.Or(v.Details.ThinkingTokens, u.Details.ThinkingTokens)
	return u
}

func (u anthropicUsage) usage() agent.Usage {
	prompt := u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens
	return agent.Usage{
		Prompt: prompt, Completion: u.OutputTokens, Total: prompt + u.OutputTokens,
		Cached: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Reasoning: u.Details.ThinkingTokens,
	}
}

// read reads a streamed response.
func (m *anthropicModel) read(ctx context.Context, resp *http.Response, r *reply) {
	s := anthropicStream{model: m, reply: r}
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
		if s.ended {
			break
		}
	}
	hangUp(resp.Body, s.ended)
	if !s.ended {
		r.end(ctx, m.access.BrokenOff())
		return
	}
	s.reply.done(Done{Usage: s.usage.usage(), Stop: s.stopReason(), FinishReason: s.stop})
}

// anthropicStream is a response that is being read.
type anthropicStream struct {
	model     *anthropicModel
	reply     *reply
	usage     anthropicUsage
	block     anthropicStartedBlock // under way
	input     strings.Builder       // of a call
	signature strings.Builder       // of thoughts
	stop      string
	ended     bool
}

// anthropicStartedBlock is a block as it begins.
type anthropicStartedBlock struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	Input    json.RawMessage `json:"input"`
	raw      json.RawMessage
}

// event reads one event. errLeft says that the reader left.
func (s *anthropicStream) event(e sse.Event) error {
	var event anthropicEvent
	if err := s.model.decode(e.Data, &event); err != nil {
		return err
	}
	switch event.Type {
	case "message_start":
		s.usage = event.Message.Usage
	case "content_block_start":
		s.block, s.input, s.signature = anthropicStartedBlock{}, strings.Builder{}, strings.Builder{}
		if err := s.model.decode(event.ContentBlock, &s.block); err != nil {
			return err
		}
		s.block.raw = event.ContentBlock
		return s.say(s.block.Text, s.block.Thinking)
	case "content_block_delta":
		s.signature.WriteString(event.Delta.Signature)
		s.input.WriteString(event.Delta.PartialJSON)
		return s.say(event.Delta.Text, event.Delta.Thinking)
	case "content_block_stop":
		s.endBlock()
	case "message_delta":
		s.usage = s.usage.later(event.Usage)
		s.stop = event.Delta.StopReason
	case "message_stop":
		s.ended = true
	case "error":
		refused := s.model.access.Refused(http.StatusInternalServerError, e.Data)
		refused.Status = anthropicStatus(refused.Code)
		return refused
	}
	return nil
}

func (s *anthropicStream) say(text, thinking string) error {
	if !s.reply.say(agent.PartThinking, thinking) || !s.reply.say(agent.PartText, text) {
		return errLeft
	}
	return nil
}

// endBlock takes a block that is complete.
func (s *anthropicStream) endBlock() {
	switch s.block.Type {
	case "text":
		s.reply.endPart()
	case "thinking":
		if s.signature.Len() == 0 {
			s.reply.endPart() // a server that wants nothing back
			break
		}
		signature, _ := json.Marshal(s.signature.String()) // a string always encodes
		s.reply.seal(agent.PartThinking, s.model.info.Provider, signature)
	case "redacted_thinking":
		s.reply.seal(agent.PartOpaque, s.model.info.Provider, s.block.raw)
	case "tool_use":
		input := s.input.String()
		if input == "" { // it came whole
			input = string(s.block.Input)
		}
		s.reply.call(Call{ID: s.block.ID, Name: s.block.Name, Arguments: arguments(input)})
	}
	s.block = anthropicStartedBlock{}
}

func (s *anthropicStream) stopReason() agent.StopReason {
	switch s.stop {
	case "max_tokens":
		return agent.StopMaxTokens
	case "refusal":
		return agent.StopRefusal
	case "model_context_window_exceeded":
		return agent.StopContextOverflow
	}
	return agent.StopEnd
}

// anthropicStatus returns the HTTP status that the kind of an error within a
// response stands for.
func anthropicStatus(kind string) int {
	switch kind {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error", "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
