package mcp

//lint:file-ignore SA1019 protocol 2026-07-28 deprecates sampling; servers of the versions before live on it

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// MaxSamples is how often a server may ask the model during one call.
const MaxSamples = 20

// asking is a tool of a server that may ask the model. It implements
// agent.Delegate, so that what the model uses counts for the turn.
type asking struct{ *tool }

// behalfKey is where the context of a call has its *agent.Behalf.
type behalfKey struct{}

// Basis implements agent.Delegate.
func (asking) Basis() any { return nil }

// Delegate implements agent.Delegate.
func (a asking) Delegate(ctx context.Context, args json.RawMessage, b agent.Behalf) (agent.ToolResult, error) {
	return a.Call(context.WithValue(ctx, behalfKey{}, &b), args)
}

// asker returns for which call the server asks the model: which of several that
// are under way cannot be told, and the oldest is taken. The error says why it may
// not ask.
func (s *session) asker(info llm.Info) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return nil, errors.New("the model may be asked during a call only")
	}
	c := s.calls[0]
	for _, other := range s.calls {
		if other.behalf != nil {
			c = other
			break
		}
	}
	switch {
	case c.samples == MaxSamples:
		return nil, fmt.Errorf("the model was asked %d times during this call, which is the most", MaxSamples)
	case c.behalf != nil && c.behalf.Limits.MaxCostUSD > 0 && !info.Capabilities.Cost:
		return nil, fmt.Errorf("the turn has a cost limit, and the price of %s model %s is not known", info.Provider, info.Name)
	}
	c.samples++
	return c, nil
}

// sample has the agent's model answer a request of the server.
func (s *session) sample(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	ctx, cancel := s.until(ctx)
	defer cancel()
	c := s.client
	req, err := c.modelRequest(r.Params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	info := c.opts.Model.Info()
	during, err := s.asker(info)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(during.caller, cancel)()
	if b := during.behalf; b != nil && b.Limits.ModelTimeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, b.Limits.ModelTimeout)
		defer stop()
	}
	c.log.Info("the server asks the model", "model", info.Name, "messages", len(req.Messages))
	start := c.env.Now()
	for chunk, err := range c.opts.Model.Stream(ctx, req) {
		if err != nil {
			return nil, fmt.Errorf("the model did not answer: %w", err)
		}
		if done, ok := chunk.(llm.Done); ok {
			return sampled(info, done), during.tell(info, done, start, c.env.Now())
		}
	}
	return nil, errors.New("the model did not answer")
}

// tell tells the turn of a model call.
func (c *call) tell(info llm.Info, done llm.Done, start, end time.Time) error {
	if c.behalf == nil {
		return nil
	}
	return c.behalf.Emit(c.behalf.CallID, agent.ModelCall{
		Provider: cmp.Or(done.Provider, info.Provider), Model: cmp.Or(done.Model, info.Name),
		Usage: done.Usage, CostUSD: done.CostUSD, FinishReason: done.FinishReason, Start: start, End: end,
	})
}

// sampled returns what the model said in the protocol's form.
func sampled(info llm.Info, done llm.Done) *sdk.CreateMessageResult {
	result := &sdk.CreateMessageResult{
		Role: "assistant", Model: info.Name, StopReason: "endTurn",
		Content: &sdk.TextContent{Text: agent.JoinText(done.Message.Parts)},
	}
	if done.Model != "" {
		result.Model = done.Model
	}
	if done.Stop == agent.StopMaxTokens {
		result.StopReason = "maxTokens"
	}
	return result
}

// modelRequest returns a server's request as one of our models takes it. Which
// model answers is the agent's choice, and so the server's preferences are not
// heeded, and its stop sequences are not among what every provider knows.
func (c *Client) modelRequest(p *sdk.CreateMessageParams) (llm.Request, error) {
	c.mu.Lock()
	c.samples++
	req := llm.Request{Session: "mcp/" + c.name, Turn: 1, Ordinal: c.samples, System: p.SystemPrompt}
	c.mu.Unlock()
	if p.MaxTokens > 0 {
		most := int(p.MaxTokens)
		req.Sampling.MaxTokens = &most
	}
	if p.Temperature != 0 {
		req.Sampling.Temperature = &p.Temperature
	}
	for _, m := range p.Messages {
		if m == nil || m.Content == nil {
			return req, errors.New("a message has no content")
		}
		role := llm.RoleUser
		if m.Role == "assistant" {
			role = llm.RoleAssistant
		}
		parts := partsOf(m.Content)
		for _, part := range parts {
			if part.Kind == agent.PartData {
				return req, fmt.Errorf("the model is given no %s", part.MIME)
			}
		}
		req.Messages = append(req.Messages, llm.Message{Role: role, Parts: parts})
	}
	if len(req.Messages) == 0 {
		return req, errors.New("there is no message to answer")
	}
	return req, nil
}
