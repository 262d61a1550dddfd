package hook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Report is what a hook is told of an event. Fields that an event has no use for
// are absent from its JSON form.
type Report struct {
	Event   config.HookEvent `json:"event"`
	Agent   string           `json:"agent"`
	Time    time.Time        `json:"time"`
	Session string           `json:"session,omitempty"`
	Turn    int              `json:"turn,omitempty"` // from 1
	Mode    agent.Mode       `json:"mode,omitempty"`
	User    string           `json:"user,omitempty"`
	// Message is that of the hook itself.
	Message string `json:"message,omitempty"`

	// Of a tool call. Arguments are as the hooks before left them, Result is the
	// text that the model reads, and Error why the call failed.
	Tool      string          `json:"tool,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result,omitempty"`
	Error     string          `json:"error,omitempty"`

	// Resumed says of a session that it goes on with an earlier one.
	Resumed bool `json:"resumed,omitempty"`

	// Of the end of a turn: the answer, and why the turn ended. Reason is there
	// when it ended in a limit, a refusal or an error.
	Response   string           `json:"response,omitempty"`
	StopReason agent.StopReason `json:"stop_reason,omitempty"`
	Reason     string           `json:"reason,omitempty"`

	// Of a notification: the code of the notice, or "permission" when a person is
	// asked for consent, and what it says.
	Code string `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
}

// encode returns the report as JSON with its secrets masked.
func (h *Hooks) encode(r Report) (json.RawMessage, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	return h.options.Redactor.JSON(data), nil
}
