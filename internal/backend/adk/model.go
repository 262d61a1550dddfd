//go:build !noadk

package adk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// errStopped ends an invocation of ADK whose outcome the run already knows.
var errStopped = errors.New("the turn is over")

// bridge is an agent's model behind ADK's interface. Which call of which turn it
// makes is in the context.
type bridge struct{ backend *Backend }

// modelName is how ADK and its reports name a model.
func modelName(provider, name string) string {
	return config.BackendGoogleADK.ModelName(config.Provider(provider), name)
}

// Name implements model.LLM.
func (b bridge) Name() string { return b.backend.model }

// GenerateContent implements model.LLM: the deltas of the response as partial
// events, and then all of it once. Without streaming the deltas are put together
// to one of each kind.
func (b bridge) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		say := func(e agent.Event) error {
			if !yield(partial(e), nil) {
				return errStopped
			}
			return nil
		}
		whole := &collected{say: say}
		if !stream {
			say = whole.add
		}
		r := runOf(ctx)
		r.round++
		resp, err := r.ask(b.request(req, r), say)
		if errors.Is(err, errStopped) || whole.flush() != nil {
			return // nobody reads on
		}
		if err != nil {
			yield(nil, err)
			return
		}
		yield(resp, nil)
	}
}

// request returns what ADK asks of its model as our models are asked. How the
// model shall choose its words does not go through ADK, which keeps it in
// numbers of half the precision.
func (b bridge) request(req *model.LLMRequest, r *run) llm.Request {
	o := &b.backend.options
	return llm.Request{
		Session: r.id, Turn: r.turn.Number(), Ordinal: r.round,
		System:   b.backend.instructions(req.Config),
		Messages: messagesOf(req.Contents),
		Tools:    definitions(req),
		Schema:   o.Schema, SchemaName: o.SchemaName,
		CodeExecution: executesCode(req),
		Sampling:      o.Sampling,
	}
}

// instructions returns the instructions without what ADK appends to them.
func (b *Backend) instructions(c *genai.GenerateContentConfig) string {
	if c == nil || c.SystemInstruction == nil {
		return ""
	}
	var text strings.Builder
	for _, p := range c.SystemInstruction.Parts {
		text.WriteString(p.Text)
	}
	own, _ := strings.CutSuffix(text.String(), fmt.Sprintf("You are an agent. Your internal name is %q.", b.agent.Name()))
	return strings.TrimSuffix(own, "\n\n")
}

// partial is an event of a response that is under way.
func partial(e agent.Event) *model.LLMResponse {
	resp := &model.LLMResponse{Partial: true, Content: &genai.Content{Role: genai.RoleModel}, CustomMetadata: hold(e)}
	switch e := e.(type) {
	case agent.TextDelta:
		resp.Content.Parts = []*genai.Part{{Text: e.Text}}
	case agent.ThinkingDelta:
		resp.Content.Parts = []*genai.Part{{Text: e.Text, Thought: true}}
	}
	return resp
}

// complete is a whole response.
func complete(d answer) *model.LLMResponse {
	resp := &model.LLMResponse{
		Content: contentOf(d.resp.Message, d.ids), TurnComplete: true,
		CustomMetadata: hold(d),
	}
	if why := dialog.Cut(d.resp.Done); why != "" {
		resp.ErrorCode, resp.ErrorMessage = string(d.resp.Stop), why
	}
	return resp
}

// answer is a response of the model, as its event carries it.
type answer struct {
	resp dialog.Response
	call agent.ModelCall
	ids  []string // ADK's for the calls
}

// collected puts deltas together.
type collected struct {
	say            func(agent.Event) error
	text, thoughts strings.Builder
}

func (c *collected) add(e agent.Event) error {
	switch e := e.(type) {
	case agent.TextDelta:
		c.text.WriteString(e.Text)
	case agent.ThinkingDelta:
		c.thoughts.WriteString(e.Text)
	default: // a notice is of use while it is new
		return c.say(e)
	}
	return nil
}

func (c *collected) flush() error {
	if c.thoughts.Len() > 0 {
		if err := c.say(agent.ThinkingDelta{Text: c.thoughts.String()}); err != nil {
			return err
		}
	}
	if c.text.Len() > 0 {
		return c.say(agent.TextDelta{Text: c.text.String()})
	}
	return nil
}
