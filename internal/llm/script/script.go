package script

import (
	"github.com/holodeck-go/holodeck/internal/agent"
)

type Script struct {
	Rules []Rule
}

// Rule is what a model does when a condition holds.
type Rule struct {
	When When
	// Times is how often the rule may be played in a session; 0 is without bound.
	Times int
	// Steps are played in order, as one model response.
	Steps []Step
}

// When is a condition. All fields that are set must hold; the zero When always
// holds.
type When struct {
	// User is a substring of the turn's user message, letter case ignored.
	User string
	// Regex matches the turn's user message (RE2).
	Regex string
	// Turn is the number of the turn in the session, from 1.
	Turn int
	// Round is the number of the model call in the turn, from 1.
	Round int
	// Result is a substring of the text of the tool results since the last
	// model response of the turn.
	Result string
}

// Step is one thing a model does in a response. Exactly one field is set.
type Step struct {
	Text     string       // words of the answer, one delta
	Thinking string       // reasoning, one delta
	Call     *Call        // a tool call
	DelayMS  int          // milliseconds to wait
	Block    bool         // wait until the call is cancelled
	Error    *Error       // end the call in an error
	Cut      bool         // end the response before it is complete
	Garbage  string       // say something that no model API says, which ends the call
	Usage    *agent.Usage // what the response reports; else it is counted from the words
	Finish   string       // why it stopped: one of the Finish constants
}

// ends reports whether nothing can follow the step.
func (s Step) ends() bool { return s.Error != nil || s.Block || s.Cut || s.Garbage != "" }

// The values of Step.Finish. A response that does not say is FinishStop.
const (
	FinishStop          = "stop"
	FinishLength        = "length"
	FinishRefusal       = "refusal"
	FinishContentFilter = "content_filter"
)

// Call is a tool call of a script.
type Call struct {
	// ID is the call's id; empty makes one.
	ID string
	// Name is the canonical tool name.
	Name string
	// Args is the arguments as JSON. It may be broken on purpose; empty is {}.
	Args string
}

// Error is how a call fails.
type Error struct {
	// Status is the HTTP status, or 0 for a broken connection.
	Status  int
	Message string
	// RetryAfterMS is what a Retry-After header would say, in milliseconds.
	RetryAfterMS int
}
