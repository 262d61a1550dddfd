package telemetry

import (
	"encoding/json"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// captures reports whether messages are recorded.
func (t *Telemetry) captures() bool { return t.agent.Observability.Traces.CaptureContent }

// message is a message in the form of gen_ai.input.messages and its like.
type message struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

type textPart struct {
	Type    string `json:"type"` // text or reasoning
	Content string `json:"content"`
}

type blobPart struct {
	Type string `json:"type"` // blob
	MIME string `json:"mime_type"`
	Name string `json:"name,omitempty"`
	Size int    `json:"size"` // bytes; what they are stays here
}

type callPart struct {
	Type      string          `json:"type"` // tool_call
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type resultPart struct {
	Type   string `json:"type"` // tool_call_response
	ID     string `json:"id"`
	Result string `json:"result"`
}

// maskJSON masks the strings of a JSON value.
func (t *Telemetry) maskJSON(doc json.RawMessage) json.RawMessage {
	masked := t.mask(string(t.agent.Redactor.JSON(doc)))
	if !json.Valid([]byte(masked)) {
		return encode(masked) // a pattern of the file took a bracket with it
	}
	return json.RawMessage(masked)
}

func (t *Telemetry) parts(parts []agent.Part) []any {
	list := []any{}
	for _, p := range parts {
		switch p.Kind {
		case agent.PartText:
			list = append(list, textPart{"text", t.mask(p.Text)})
		case agent.PartThinking:
			list = append(list, textPart{"reasoning", t.mask(p.Text)})
		case agent.PartImage, agent.PartDocument:
			list = append(list, blobPart{"blob", p.MIME, t.mask(p.Name), len(p.Data)})
		}
	}
	return list
}

// said returns one message as an attribute.
func (t *Telemetry) said(role string, parts []agent.Part) string {
	return string(encode([]message{{role, t.parts(parts)}}))
}

// instructions returns a system prompt as an attribute.
func (t *Telemetry) instructions(text string) string {
	return string(encode([]textPart{{"text", t.mask(text)}}))
}

// messages returns a history as an attribute.
func (t *Telemetry) messages(history []llm.Message) string {
	list := make([]message, 0, len(history))
	for _, m := range history {
		parts := t.parts(m.Parts)
		for _, c := range m.Calls {
			parts = append(parts, callPart{"tool_call", c.ID, c.Name, t.maskJSON(c.Arguments)})
		}
		for _, r := range m.Results {
			parts = append(parts, resultPart{"tool_call_response", r.CallID, t.mask(r.Result.Text())})
		}
		list = append(list, message{string(m.Role), parts})
	}
	return string(encode(list))
}

// encode encodes what always encodes: texts, numbers and valid JSON.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
