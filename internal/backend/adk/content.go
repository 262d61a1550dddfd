//go:build !noadk

package adk

import (
	"google.golang.org/genai"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// kept is a value of ours that ADK carries and cannot look into: it encodes as an
// empty object.
type kept[T any] struct{ value T }

// keep is the key of what ADK carries for us.
const keep = "holodeck"

func hold[T any](value T) map[string]any { return map[string]any{keep: kept[T]{value}} }

func held[T any](m map[string]any) (value T, ok bool) {
	k, ok := m[keep].(kept[T])
	return k.value, ok
}

// toolName is what ADK knows a tool by. Some names mean something to it, such as
// set_model_response or stop_streaming; none with a colon does, and no tool has one.
func toolName(name string) string { return "tool:" + name }

// contentOf returns a message as ADK keeps it: as much as it needs to decide what
// comes next, and the original. ids are ADK's for the calls of the message, or for
// those that its results answer.
func contentOf(m llm.Message, ids []string) *genai.Content {
	if m.Role == llm.RoleTool {
		return responsesOf(m.Results, ids)
	}
	c := &genai.Content{Role: genai.RoleUser}
	if m.Role == llm.RoleAssistant {
		c.Role = genai.RoleModel
	}
	for _, p := range m.Parts {
		if p.Text != "" {
			c.Parts = append(c.Parts, &genai.Part{Text: p.Text, Thought: p.Kind == agent.PartThinking})
		}
	}
	for i, call := range m.Calls {
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: ids[i], Name: toolName(call.Name)}})
	}
	if len(c.Parts) == 0 {
		c.Parts = []*genai.Part{{}}
	}
	c.Parts[0].PartMetadata = hold(m)
	return c
}

// responsesOf returns the results of calls as ADK keeps them.
func responsesOf(results []llm.Result, ids []string) *genai.Content {
	c := &genai.Content{Role: genai.RoleUser}
	for i, r := range results {
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: ids[i], Name: toolName(r.Name), Response: hold(r),
		}})
	}
	return c
}

// messagesOf returns what ADK would send to its model, as ours would be sent it.
func messagesOf(contents []*genai.Content) []llm.Message {
	var list []llm.Message
	for _, c := range contents {
		if m, ok := messageOf(c); ok {
			list = append(list, m)
		}
	}
	return list
}

// messageOf returns the original of a content. What ADK says by itself, such as
// that the model shall go on, is a message that no person said.
func messageOf(c *genai.Content) (llm.Message, bool) {
	if c == nil || len(c.Parts) == 0 {
		return llm.Message{}, false
	}
	if m, ok := held[llm.Message](c.Parts[0].PartMetadata); ok {
		return m, true
	}
	m := llm.Message{Role: llm.RoleUser, Auto: true}
	for _, p := range c.Parts {
		switch {
		case p.FunctionResponse != nil:
			if r, ok := held[llm.Result](p.FunctionResponse.Response); ok {
				m.Role, m.Auto, m.Results = llm.RoleTool, false, append(m.Results, r)
			}
		case p.Text != "":
			m.Parts = append(m.Parts, agent.Part{Kind: agent.PartText, Text: p.Text})
		}
	}
	return m, len(m.Parts)+len(m.Results) > 0
}
