package claudecode

import (
	"encoding/json"
	"fmt"
)

// tagged is a message as it is put away.
type tagged struct {
	Type    string          `json:"type"`
	Message json.RawMessage `json:"message"`
}

// kinds are the messages by the names they are put away under.
func kinds() map[string]func() Message {
	return map[string]func() Message{
		"started":       func() Message { return new(Started) },
		"call_started":  func() Message { return new(CallStarted) },
		"text":          func() Message { return new(TextDelta) },
		"thinking":      func() Message { return new(Thinking) },
		"model_call":    func() Message { return new(ModelCall) },
		"tool_used":     func() Message { return new(ToolUsed) },
		"tool_result":   func() Message { return new(ToolResult) },
		"subagent_text": func() Message { return new(SubagentText) },
		"retry":         func() Message { return new(Retry) },
		"fallback":      func() Message { return new(Fallback) },
		"result":        func() Message { return new(Result) },
	}
}

// MarshalMessage returns a message as JSON that UnmarshalMessage reads.
func MarshalMessage(m Message) ([]byte, error) {
	for name, make := range kinds() {
		if fmt.Sprintf("%T", make()) != fmt.Sprintf("%T", m) {
			continue
		}
		body, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encode a %s: %w", name, err)
		}
		return json.Marshal(tagged{name, body})
	}
	return nil, fmt.Errorf("there is no message of type %T", m)
}

// UnmarshalMessage reads what MarshalMessage wrote.
func UnmarshalMessage(data []byte) (Message, error) {
	var t tagged
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("decode a message: %w", err)
	}
	make, ok := kinds()[t.Type]
	if !ok {
		return nil, fmt.Errorf("decode a message: there is no type %q", t.Type)
	}
	m := make()
	if err := json.Unmarshal(t.Message, m); err != nil {
		return nil, fmt.Errorf("decode a %s: %w", t.Type, err)
	}
	return m, nil
}
