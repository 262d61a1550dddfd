package dialog

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// DefaultMaxTurns is how many model responses a turn may have when no limit is
// set.
const DefaultMaxTurns = 20

// Limits bounds what an agent may do. A zero field does not, save that a runtime
// puts DefaultMaxTurns in the place of MaxTurns.
type Limits struct {
	// MaxTurns is how many model responses a turn may have.
	MaxTurns int
	// MaxTurnCostUSD and MaxSessionCostUSD bound the cost of a turn's and of a
	// session's model calls, in US dollars.
	MaxTurnCostUSD, MaxSessionCostUSD float64
	// Model bounds one model call, Turn a whole turn.
	Model, Turn turn.Deadline
}

// Tighten returns l with every bound of a session's, or a section's, that is
// narrower.
func (l Limits) Tighten(s agent.Limits) Limits {
	narrow := agent.Limits{
		MaxTurns: l.MaxTurns, MaxCostUSD: l.MaxTurnCostUSD,
		ModelTimeout: l.Model.After, TurnTimeout: l.Turn.After,
	}.Tighten(s)
	l.MaxTurns = narrow.MaxTurns
	l.MaxTurnCostUSD = narrow.MaxCostUSD
	const key = "limit of the session"
	if narrow.ModelTimeout != l.Model.After {
		l.Model = turn.Deadline{After: narrow.ModelTimeout, Key: key}
	}
	if narrow.TurnTimeout != l.Turn.After {
		l.Turn = turn.Deadline{After: narrow.TurnTimeout, Key: key}
	}
	return l
}

// Check refuses a cost limit that could not be kept with a model.
func (l Limits) Check(info llm.Info) error {
	if (l.MaxTurnCostUSD > 0 || l.MaxSessionCostUSD > 0) && !info.Capabilities.Cost {
		return fmt.Errorf("a cost limit is set, but the price of %s model %s is not known; remove the limit", info.Provider, info.Name)
	}
	return nil
}

// Spent is what a turn, and the session it is of, have used so far.
type Spent struct {
	Responses           int // of the model in the turn
	TurnUSD, SessionUSD float64
}

// Reached says whether another model call would break a limit, and which, in a
// sentence for a person; "" when none. backend names the runtime.
func (l Limits) Reached(backend string, s Spent) (agent.StopReason, string) {
	over := func(spent, limit float64) bool { return limit > 0 && spent >= limit }
	budget := func(spent, limit float64) string {
		return (&agent.BackendBudgetError{Backend: backend, CostUSD: spent, BudgetUSD: limit}).Error()
	}
	switch {
	case s.Responses >= l.MaxTurns:
		return agent.StopMaxTurns, fmt.Sprintf("the turn reached its limit of %d model responses", l.MaxTurns)
	case over(s.TurnUSD, l.MaxTurnCostUSD):
		return agent.StopBudget, budget(s.TurnUSD, l.MaxTurnCostUSD)
	case over(s.SessionUSD, l.MaxSessionCostUSD):
		return agent.StopBudget, budget(s.SessionUSD, l.MaxSessionCostUSD)
	}
	return "", ""
}

// Cut says why a response ends its turn short, in a sentence for a person; ""
// when it does not.
func Cut(d llm.Done) string {
	switch d.Stop {
	case agent.StopEnd:
		return ""
	case agent.StopMaxTokens:
		if len(d.Message.Calls) > 0 {
			return "the response was cut at max_tokens while it asked for tools; raise model.max_tokens"
		}
		return ""
	case agent.StopRefusal:
		return "the model refused to answer"
	case agent.StopBlocked:
		if d.PromptBlocked {
			return "the provider's content filter blocked the prompt" + said(d)
		}
		return "the provider's content filter blocked the answer" + said(d)
	case agent.StopContextOverflow:
		return "the conversation is longer than the model can read; begin a new session"
	}
	return fmt.Sprintf("the model stopped: %s", d.Stop)
}

// said is what the provider calls the end of a response, for the end of a sentence.
func said(d llm.Done) string {
	if d.FinishReason == "" {
		return ""
	}
	return " (" + d.FinishReason + ")"
}

// Left returns what a call that has models at work for it may use of a turn's
// limits. Its time is that of the call.
func (l Limits) Left(s Spent) agent.Limits {
	left := agent.Limits{MaxTurns: l.MaxTurns, ModelTimeout: l.Model.After}
	if most := l.MaxTurnCostUSD; most > 0 {
		left.MaxCostUSD = most - s.TurnUSD
	}
	if most := l.MaxSessionCostUSD; most > 0 {
		left = left.Tighten(agent.Limits{MaxCostUSD: most - s.SessionUSD})
	}
	return left
}
