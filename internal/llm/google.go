package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/sse"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// geminiModel speaks Google's generateContent, at AI Studio or at Vertex AI.
type geminiModel struct {
	remote
	version modelVersion
}

func newGemini(a provider.Access, c *config.Model, client *http.Client) Model {
	return &geminiModel{
		remote: newRemote(a, c, client, agent.Capabilities{
			Streaming: true, Thinking: true, StructuredOutput: true,
			Images: true, Documents: true, Sampling: true,
		}),
		version: geminiVersion(a.Model),
	}
}

// geminiVersion reads the version from a name such as gemini-2.5-pro. A model
// whose name does not say has none.
func geminiVersion(name string) modelVersion {
	_, rest, ok := strings.Cut(strings.ToLower(name), "gemini-")
	if !ok {
		return modelVersion{}
	}
	var v modelVersion
	fmt.Sscanf(rest, "%d.%d", &v.major, &v.minor) // as far as it goes
	return v
}

// RunsCodeBesideTools reports whether a Gemini model may run code and call tools
// in one request. Those before the third version refuse it; one whose name does
// not say its version is let try.
func RunsCodeBesideTools(c *config.Model) bool {
	v := geminiVersion(c.Name)
	return v == modelVersion{} || v.from(3, 0)
}

// thinks reports whether the model thinks before it answers, and counts its
// thoughts against the longest answer.
func (m *geminiModel) thinks() bool { return m.version.from(2, 5) }

type geminiRequest struct {
	SystemInstruction *geminiContent  `json:"systemInstruction,omitempty"`
	Contents          []geminiContent `json:"contents"`
	Tools             []geminiTools   `json:"tools,omitempty"`
	GenerationConfig  geminiSettings  `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature json.RawMessage   `json:"thoughtSignature,omitempty"`
	InlineData       map[string]string `json:"inlineData,omitempty"`
	FunctionCall     *geminiCall       `json:"functionCall,omitempty"`
	FunctionResponse *geminiResult     `json:"functionResponse,omitempty"`
	// ExecutableCode is what the model had Google run, CodeExecutionResult what came
	// of it.
	ExecutableCode      json.RawMessage `json:"executableCode,omitempty"`
	CodeExecutionResult json.RawMessage `json:"codeExecutionResult,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type geminiResult struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type geminiTools struct {
	FunctionDeclarations []geminiFunction `json:"functionDeclarations,omitempty"`
	CodeExecution        *struct{}        `json:"codeExecution,omitempty"`
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type geminiSettings struct {
	Temperature        *float64        `json:"temperature,omitempty"`
	TopP               *float64        `json:"topP,omitempty"`
	MaxOutputTokens    *int            `json:"maxOutputTokens,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	ResponseJSONSchema map[string]any  `json:"responseJsonSchema,omitempty"`
	ThinkingConfig     *geminiThinking `json:"thinkingConfig,omitempty"`
}

type geminiThinking struct {
	IncludeThoughts bool   `json:"includeThoughts"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

// geminiMemory is what a call keeps for Google.
type geminiMemory struct {
	// ID is the id Google gave the call. It is absent where the id is ours, which
	// Google has not heard of.
	ID        string          `json:"id,omitempty"`
	Signature json.RawMessage `json:"signature,omitempty"`
}

// Stream implements Model.
func (m *geminiModel) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return exchange(ctx, m, req)
}

// ask sends a request.
func (m *geminiModel) ask(ctx context.Context, body geminiRequest) (*http.Response, error) {
	return m.events(ctx, m.path(), body)
}

// path is where the route wants a request.
func (m *geminiModel) path() string {
	name := url.PathEscape(strings.TrimPrefix(m.info.Name, "models/")) + ":streamGenerateContent?alt=sse"
	if m.access.Route == provider.GoogleVertex {
		return "/v1beta1/projects/" + url.PathEscape(m.access.Project) + "/locations/" + url.PathEscape(m.access.Region) + "/publishers/google/models/" + name
	}
	return "/v1beta/models/" + name
}

// request returns the body of a request.
func (m *geminiModel) request(req Request) (geminiRequest, error) {
	out := geminiRequest{GenerationConfig: m.settings(req.Sampling)}
	system := req.System
	// Models before the third version take a schema or tools, and not both.
	if f, asked := newAnswerFormat(req.Schema); asked && (len(req.Tools) == 0 || m.version.from(3, 0)) {
		out.GenerationConfig.ResponseMIMEType, out.GenerationConfig.ResponseJSONSchema = "application/json", f.schema
	} else if asked {
		system = askFor(system, req.Schema)
	}
	if system != "" {
		out.SystemInstruction = &geminiContent{Parts: []geminiPart{{Text: system}}}
	}
	var calls []Call // of the message before
	for _, msg := range req.Messages {
		contents, err := m.contents(msg, calls)
		if err != nil {
			return geminiRequest{}, err
		}
		out.Contents = append(out.Contents, contents...)
		calls = msg.Calls
	}
	if len(req.Tools) > 0 {
		functions := make([]geminiFunction, len(req.Tools))
		for i, d := range req.Tools {
			functions[i] = geminiFunction{d.Name, d.Description, parameters(d)}
		}
		out.Tools = []geminiTools{{FunctionDeclarations: functions}}
	}
	if req.CodeExecution {
		out.Tools = append(out.Tools, geminiTools{CodeExecution: &struct{}{}})
	}
	return out, nil
}

// settings says how the model shall choose its words, and that its thoughts are
// wanted.
func (m *geminiModel) settings(s Sampling) geminiSettings {
	out := geminiSettings{Temperature: s.Temperature, TopP: s.TopP, MaxOutputTokens: s.MaxTokens}
	if !m.thinks() {
		return out
	}
	if m.maxUnasked {
		out.MaxOutputTokens = nil
	}
	out.ThinkingConfig = &geminiThinking{IncludeThoughts: true}
	switch {
	case s.ThinkingTokens != nil:
		out.ThinkingConfig.ThinkingBudget = s.ThinkingTokens
	case s.Effort == "":
	case m.version.from(3, 0):
		out.ThinkingConfig.ThinkingLevel = map[string]string{"low": "low", "medium": "medium", "high": "high", "max": "high"}[s.Effort]
	default: // as many tokens as Google's own layer over this API takes
		budget := map[string]int{"low": 1024, "medium": 8192, "high": 24576, "max": 24576}[s.Effort]
		out.ThinkingConfig.ThinkingBudget = &budget
	}
	return out
}

// contents returns a message of the history as the API has it. calls are those
// of the message before.
func (m *geminiModel) contents(msg Message, calls []Call) ([]geminiContent, error) {
	switch msg.Role {
	case RoleUser:
		parts, err := m.parts(msg.Parts)
		return someOf(geminiContent{"user", parts}), err
	case RoleAssistant:
		return someOf(geminiContent{"model", m.said(msg)}), nil
	}
	results := geminiContent{Role: "user"}
	var seen []agent.Part
	for _, r := range msg.Results {
		key := "output"
		if r.Result.IsError {
			key = "error"
		}
		out := &geminiResult{Name: r.Name, Response: map[string]string{key: resultText(r)}}
		if i := slices.IndexFunc(calls, func(c Call) bool { return c.ID == r.CallID }); i >= 0 {
			out.ID = memoryOf(calls[i]).ID
		}
		results.Parts = append(results.Parts, geminiPart{FunctionResponse: out})
		seen = append(seen, m.info.seenIn(r)...)
	}
	out := someOf(results)
	if len(seen) == 0 {
		return out, nil
	}
	parts, err := m.parts(append(agent.Text(shownByTools).Parts, seen...))
	return append(out, geminiContent{"user", parts}), err
}

// someOf returns a content, or nothing when there is nothing in it.
func someOf(c geminiContent) []geminiContent {
	if len(c.Parts) == 0 {
		return nil
	}
	return []geminiContent{c}
}

func memoryOf(c Call) (memory geminiMemory) {
	if json.Unmarshal(c.Opaque, &memory) != nil {
		return geminiMemory{} // another provider's call
	}
	return memory
}

// said returns what the model said. Thoughts go back with their signature, or
// not at all.
func (m *geminiModel) said(msg Message) []geminiPart {
	var parts []geminiPart
	for _, p := range msg.Parts {
		var signature json.RawMessage
		if p.Provider == m.info.Provider {
			signature = p.Opaque
		}
		switch {
		case p.Kind == agent.PartText && p.Text != "":
			parts = append(parts, geminiPart{Text: p.Text, ThoughtSignature: signature})
		case p.Kind == agent.PartThinking && signature != nil:
			parts = append(parts, geminiPart{Text: p.Text, Thought: true, ThoughtSignature: signature})
		case p.Kind == agent.PartOpaque && signature != nil:
			parts = append(parts, opaquePart(signature))
		}
	}
	for _, c := range msg.Calls {
		memory := memoryOf(c)
		parts = append(parts, geminiPart{
			FunctionCall:     &geminiCall{memory.ID, c.Name, argumentsObject(c.Arguments)},
			ThoughtSignature: memory.Signature,
		})
	}
	return parts
}

// opaquePart returns a part that was kept for Google: code with what came of it is
// an object, a signature a string.
func opaquePart(kept json.RawMessage) geminiPart {
	var p geminiPart
	if json.Unmarshal(kept, &p) != nil {
		return geminiPart{ThoughtSignature: kept}
	}
	return p
}

// parts returns the parts of a person's message.
func (m *geminiModel) parts(list []agent.Part) ([]geminiPart, error) {
	var parts []geminiPart
	for _, p := range list {
		switch p.Kind {
		case agent.PartText:
			if p.Text != "" {
				parts = append(parts, geminiPart{Text: p.Text})
			}
			continue
		case agent.PartDocument:
			if text, readable := documentText(p); readable {
				parts = append(parts, geminiPart{Text: text})
				continue
			}
			if mediaType(p) != pdf {
				return nil, m.info.unreadable(p)
			}
		}
		parts = append(parts, geminiPart{InlineData: map[string]string{"mimeType": mediaType(p), "data": base64Of(p)}})
	}
	return parts, nil
}

// geminiChunk is a piece of a streamed response.
type geminiChunk struct {
	Candidates []struct {
		Content struct {
			Parts []geminiPart `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *geminiUsage    `json:"usageMetadata"`
	Error         json.RawMessage `json:"error"`
}

// geminiUsage counts thoughts beside the answer.
type geminiUsage struct {
	PromptTokenCount        int `json:"promptTokenCount"`
	CandidatesTokenCount    int `json:"candidatesTokenCount"`
	ThoughtsTokenCount      int `json:"thoughtsTokenCount"`
	CachedContentTokenCount int `json:"cachedContentTokenCount"`
	ToolUsePromptTokenCount int `json:"toolUsePromptTokenCount"`
}

func (u *geminiUsage) usage() agent.Usage {
	if u == nil {
		return agent.Usage{}
	}
	prompt, completion := u.PromptTokenCount+u.ToolUsePromptTokenCount, u.CandidatesTokenCount+u.ThoughtsTokenCount
	return agent.Usage{
		Prompt: prompt, Completion: completion, Total: prompt + completion,
		Cached: u.CachedContentTokenCount, Reasoning: u.ThoughtsTokenCount,
	}
}

// read reads a streamed response. It ends with the stream: nothing else says
// that it is complete but a reason to stop.
func (m *geminiModel) read(ctx context.Context, resp *http.Response, r *reply) {
	s := geminiStream{model: m, reply: r}
	for e, err := range sse.Events(resp.Body) {
		if err == nil {
			err = s.event(e)
		}
		if err != nil && s.stop != "" && !errors.Is(err, errLeft) && ctx.Err() == nil {
			break // all that mattered has come
		}
		if err != nil {
			hangUp(resp.Body, false)
			if !errors.Is(err, errLeft) {
				r.end(ctx, err)
			}
			return
		}
	}
	hangUp(resp.Body, false)
	s.done(ctx)
}

// geminiStream is a response that is being read.
type geminiStream struct {
	model *geminiModel
	reply *reply
	usage *geminiUsage
	stop  string
	block bool   // the prompt was blocked
	bare  []byte // the last event without a candidate
	told  bool   // an event had one
}

// event reads one event. errLeft says that the reader left.
func (s *geminiStream) event(e sse.Event) error {
	var chunk geminiChunk
	if err := s.model.decode(e.Data, &chunk); err != nil {
		return err
	}
	if len(chunk.Error) > 0 {
		return s.model.access.Refused(http.StatusInternalServerError, e.Data)
	}
	if chunk.UsageMetadata != nil {
		s.usage = chunk.UsageMetadata
	}
	if why := chunk.PromptFeedback.BlockReason; why != "" {
		s.stop, s.block = why, true
	}
	if len(chunk.Candidates) == 0 {
		s.bare = e.Data
		return nil
	}
	s.told = true
	candidate := chunk.Candidates[0]
	for _, p := range candidate.Content.Parts {
		if !s.part(p) {
			return errLeft
		}
	}
	if candidate.FinishReason != "" {
		s.stop = candidate.FinishReason
	}
	return nil
}

// part takes a part of the response. It returns false when the reader left.
func (s *geminiStream) part(p geminiPart) bool {
	if c := p.FunctionCall; c != nil {
		call := Call{ID: c.ID, Name: c.Name, Arguments: arguments(string(c.Args))}
		if memory := (geminiMemory{c.ID, p.ThoughtSignature}); memory.ID != "" || memory.Signature != nil {
			call.Opaque, _ = json.Marshal(memory) // what was read as JSON
		}
		s.reply.call(call)
		return true
	}
	if p.ExecutableCode != nil || p.CodeExecutionResult != nil {
		return s.code(p)
	}
	kind := agent.PartText
	if p.Thought {
		kind = agent.PartThinking
	}
	if !s.reply.say(kind, p.Text) {
		return false
	}
	if p.ThoughtSignature != nil {
		s.reply.seal(kind, s.model.info.Provider, p.ThoughtSignature)
	}
	return true
}

// code takes code that Google ran, or what came of it: it is shown as the model's
// reasoning and goes back to Google as it came.
func (s *geminiStream) code(p geminiPart) bool {
	var shown struct{ Language, Code, Outcome, Output string }
	for _, part := range []json.RawMessage{p.ExecutableCode, p.CodeExecutionResult} {
		if part != nil && json.Unmarshal(part, &shown) != nil {
			continue // another form than today's; Google reads it again
		}
	}
	text := shown.Output
	if p.ExecutableCode != nil {
		text = fmt.Sprintf("```%s\n%s\n```\n", strings.ToLower(shown.Language), strings.Trim(shown.Code, "\n"))
	} else if shown.Outcome != "OUTCOME_OK" {
		text = shown.Outcome + ": " + text
	}
	if !s.reply.say(agent.PartThinking, text) {
		return false
	}
	kept, _ := json.Marshal(p) // what was read as JSON
	s.reply.seal(agent.PartOpaque, s.model.info.Provider, kept)
	return true
}

// done ends the call.
func (s *geminiStream) done(ctx context.Context) {
	d := Done{Usage: s.usage.usage(), FinishReason: s.stop, Stop: agent.StopEnd}
	switch s.stop {
	case "":
		if s.bare != nil && !s.told {
			s.reply.end(ctx, s.model.access.Unusable("the model gave no candidate for an answer: "+excerpt(s.bare)))
			return
		}
		s.reply.end(ctx, s.model.access.BrokenOff())
		return
	case "MAX_TOKENS":
		d.Stop = agent.StopMaxTokens
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		d.Stop = agent.StopBlocked
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		s.reply.end(ctx, s.model.access.Unusable("the model called a tool in a way the provider could not read: "+s.stop))
		return
	}
	if s.block {
		d.Stop, d.PromptBlocked = agent.StopBlocked, true
	}
	s.reply.done(d)
}
