package backend

import (
	"context"
	"fmt"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// Open opens an agent on its runtime, with the tools of set and a model of
// models. Whoever calls Open closes the backend, and only then the set. A pair
// of runtime and provider that this build cannot run, and an agent that cannot
// be opened, is an *agent.BackendInitError that says what to do.
func Open(ctx context.Context, env agent.Env, a *config.Agent, set *tool.Set, models *llm.Models) (agent.Backend, error) {
	name := string(a.Runtime)
	standsIn := a.Runtime != config.BackendAgentFramework
	if standsIn && a.Model.Provider != config.ProviderOffline {
		return nil, &agent.BackendInitError{Backend: name, Err: fmt.Errorf(
			"this build does not run it yet; use --offline to let the built-in loop and model stand in for it and %s", a.Model.Name)}
	}
	model, err := models.Chat(a)
	if err != nil {
		return nil, &agent.BackendInitError{Backend: name, Err: err}
	}
	o := loop.Options{
		Env: env, Backend: name, Model: model,
		Tools: set,
		WithTools: func(more []agent.Tool) (loop.Tools, error) {
			wider, err := set.With(more)
			if err != nil {
				return nil, err
			}
			return wider, nil
		},
		System: a.Prompt.Text, Schema: a.Schema,
		Sampling: llm.Sampling{Temperature: a.Model.Temperature, TopP: a.Model.TopP, MaxTokens: a.Model.MaxTokens},
		Limits:   limits(a),
	}
	if standsIn {
		text := fmt.Sprintf("the offline model runs on HoloDeck's own loop, which stands in for backend %s", name)
		env.Log.InfoContext(ctx, text)
		o.Notices = []agent.Notice{{Code: agent.NoticeSubstitute, Text: text}}
	}
	return loop.New(o)
}

// limits returns what an agent file says on how long and how much: the
// execution section, and the section of its own runtime.
func limits(a *config.Agent) loop.Limits {
	var l loop.Limits
	switch a.Runtime {
	case config.BackendAgentFramework:
		if o := a.OpenAI; a.UsesOpenAI() {
			l.MaxTurns = o.MaxTurns
			l.MaxSessionCostUSD = value(o.MaxBudgetUSD)
		}
		if s := a.AgentFramework; s != nil && s.MaxToolRounds != nil {
			// The response that follows the last round is the answer.
			l.MaxTurns = least(l.MaxTurns, *s.MaxToolRounds+1)
		}
	case config.BackendClaude:
		if s := a.Claude; s != nil {
			l.MaxTurns = value(s.MaxTurns)
			l.MaxTurnCostUSD = value(s.MaxBudgetUSD)
		}
	case config.BackendGoogleADK:
		if s := a.GoogleADK; s != nil {
			l.MaxTurns = value(s.MaxIterations)
		}
	}
	e := &a.Execution
	l.Model = turn.Deadline{After: seconds(e.LLMTimeout), Key: "execution.llm_timeout"}
	l.Turn = turn.Deadline{After: seconds(e.TurnTimeout), Key: "execution.turn_timeout"}
	if e.Wrote("llm_timeout") && l.Model.After < l.Turn.After {
		l.Turn = l.Model
	}
	return l
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// value returns what p points to, or zero, which is no limit.
func value[T int | float64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

// least returns the smaller of two limits, where zero is none.
func least(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}
