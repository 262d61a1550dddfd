package dialog

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// Format is what response_format asks of an answer. A nil Format asks nothing.
type Format struct{ schema *schema.Schema }

// NewFormat returns the format that a JSON Schema asks for; nil for an empty one.
func NewFormat(text json.RawMessage) (*Format, error) {
	if len(text) == 0 {
		return nil, nil
	}
	s, err := schema.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("response_format: %w", err)
	}
	return &Format{s}, nil
}

// Finish ends a turn with the text of the response d, its answer. again is nil, or
// what the model is to be asked for once more, and the notice of that: it may be
// where retry says so.
func (f *Format) Finish(d llm.Done, text string, retry bool) (end agent.TurnFinished, again *Again) {
	end = agent.TurnFinished{Response: text, StopReason: d.Stop}
	if f == nil {
		if strings.TrimSpace(text) == "" {
			empty(&end, d)
		}
		return end, nil
	}
	value := jsonOf(text)
	wrong := f.schema.Check(value)
	if wrong == nil {
		end.Structured = value
		return end, nil
	}
	end.IsError = true
	switch {
	case d.Stop == agent.StopMaxTokens:
		end.Reason = "the answer was cut at max_tokens before it matched response_format; raise model.max_tokens"
		return end, nil
	case !retry:
		end.StopReason = agent.StopSchema
		end.Reason = fmt.Sprintf("the answer does not match response_format: %v", wrong)
		return end, nil
	}
	return end, &Again{
		Message: llm.Message{Role: llm.RoleUser, Auto: true, Parts: agent.Text(fmt.Sprintf(
			"That does not match the JSON Schema of the answer: %v. Answer again, with nothing but JSON that matches it.", wrong)).Parts},
		Notice: agent.Notice{
			Code: agent.NoticeRetry,
			Text: fmt.Sprintf("the answer does not match response_format and is asked for again: %v", wrong),
		},
	}
}

// empty makes the end of a turn one without an answer.
func empty(end *agent.TurnFinished, d llm.Done) {
	end.IsError = true
	if d.Stop == agent.StopMaxTokens {
		end.Reason = "the response was cut at max_tokens before it said anything; raise model.max_tokens"
		return
	}
	end.StopReason, end.Reason = agent.StopEmpty, "the model's answer is empty"+said(d)
}

// Again asks the model to correct its answer.
type Again struct {
	Message llm.Message
	Notice  agent.Notice
}

// jsonOf returns the JSON of an answer: all of it, or what stands in the one
// fenced block it consists of.
func jsonOf(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		if _, body, ok := strings.Cut(rest, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
		}
	}
	return json.RawMessage(text)
}
