package offline

import (
	"encoding/json"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Input is what the offline model knows at one model call.
type Input struct {
	// Users are the person's messages so far, oldest first; the last is this turn's.
	Users []string
	// Tools are what may be called.
	Tools []agent.Definition
	// Searched says that this turn's searches have been made.
	Searched bool
	// Passages are what they found, over all tools, in call order.
	Passages []agent.Passage
	// Schema is the JSON Schema the answer must follow, or nil.
	Schema json.RawMessage
}

// Output is what the offline model does: calls, or else an answer.
type Output struct {
	Calls []Call
	Text  string
}

// Call is a search the offline model asks for.
type Call struct {
	Name string
	Args json.RawMessage
}
