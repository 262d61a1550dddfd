package backend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/adk"
	"github.com/holodeck-go/holodeck/internal/backend/agentframework"
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/semantickernel"
	"github.com/holodeck-go/holodeck/internal/backend/toolfilter"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// Options says what goes with opening an agent. The zero Options is ready to
// use.
type Options struct {
	// HTTP makes the requests of an embedder, where the runtime needs one; nil is
	// http.DefaultClient.
	HTTP *http.Client
	// Recorder records what a runtime decides by more than the model and the
	// tools; Player plays it from a record. At most one of them is set, and it is
	// that of the models and the tools.
	Recorder *cassette.Recorder
	Player   *cassette.Player
}

// Open opens an agent on its runtime, with the tools of set and a model of
// models. Whoever calls Open closes the backend, and only then the set. A pair
// of runtime and provider that this build cannot run, and an agent that cannot
// be opened, is an *agent.BackendInitError that says what to do.
func Open(ctx context.Context, env agent.Env, a *config.Agent, set *tool.Set, models *llm.Models, opts Options) (agent.Backend, error) {
	fail := func(err error) (agent.Backend, error) {
		return nil, &agent.BackendInitError{Backend: string(a.Runtime), Err: err}
	}
	model, err := chatModel(a, models, opts.Player)
	if err != nil {
		return fail(err)
	}
	selector, err := openSelector(env, a, opts)
	if err != nil {
		return fail(err)
	}
	children, set, err := openSkills(ctx, env, a, set, models, opts)
	if err != nil {
		return fail(err)
	}
	o := baseOptions(env, a, set, model)
	o.Selector, o.Schema = selector, a.Schema
	b, err := openRuntime(ctx, a, o, claude.CLIOptions{Prices: models.Prices(), Recorder: opts.Recorder, Player: opts.Player})
	if err != nil {
		return nil, errors.Join(err, children.Close())
	}
	if len(children) > 0 {
		b = &parent{b, children}
	}
	return withHooks(b, set.Hooks()), nil
}

// baseOptions returns what is the same on every runtime, for an agent and for the
// child agents of its skills.
func baseOptions(env agent.Env, a *config.Agent, set *tool.Set, model llm.Model) loop.Options {
	return loop.Options{
		Env: env, Backend: string(a.Runtime), Model: model,
		Tools: set,
		ForSession: func(ctx context.Context, id string, more []agent.Tool) (loop.SessionTools, error) {
			own, err := set.ForSession(ctx, id, more)
			if err != nil {
				return nil, err // a nil set would be no nil interface
			}
			return own, nil
		},
		System:   a.Prompt.Text,
		Sampling: llm.Sampling{Temperature: a.Model.Temperature, TopP: a.Model.TopP, MaxTokens: a.Model.MaxTokens},
		Limits:   limits(a),
	}
}

// chatModel returns the model an agent answers with; nil where the Claude Code CLI
// has its own.
func chatModel(a *config.Agent, models *llm.Models, p *cassette.Player) (llm.Model, error) {
	if claude.OnCLI(a, p) {
		return nil, nil
	}
	return models.Chat(a)
}

// openRuntime opens an agent on the runtime that its file names.
func openRuntime(ctx context.Context, a *config.Agent, o loop.Options, cli claude.CLIOptions) (agent.Backend, error) {
	switch a.Runtime {
	case config.BackendAgentFramework:
		return agentframework.Open(a, o)
	case config.BackendSemanticKernel:
		return semantickernel.Open(a, o)
	case config.BackendClaude:
		if o.Model == nil {
			return claude.OpenCLI(ctx, a, o, cli)
		}
		return claude.Open(a, o)
	case config.BackendGoogleADK:
		return adk.Open(a, o)
	}
	return nil, &agent.BackendInitError{Backend: string(a.Runtime), Err: errors.New("there is no such runtime")}
}

// Substitute says what runs an agent in place of the runtime its file names, or
// returns "" when nothing does. Every session says it once, in a Notice; it is
// for those who say it once for all of them.
func Substitute(a *config.Agent) string {
	if a.Runtime == config.BackendClaude {
		return claude.Substitute(a)
	}
	return ""
}

// openSelector returns what chooses the tools of a turn, or nil when all are
// offered.
func openSelector(env agent.Env, a *config.Agent, opts Options) (loop.Selector, error) {
	s := a.ToolFiltering
	switch {
	case s == nil || !s.Enabled:
		return nil, nil
	case opts.Player != nil:
		return toolfilter.Played(opts.Player), nil
	}
	var embedder embed.Embedder
	if s.Embeds() {
		choice, err := embed.Resolve(a)
		if err != nil {
			return nil, fmt.Errorf("tool_filtering: choose an embedder: %w", err)
		}
		if embedder, err = embed.Open(choice, embed.Options{Getenv: a.Variable, HTTP: opts.HTTP, Rand: env.Rand}); err != nil {
			return nil, fmt.Errorf("tool_filtering: open the embedder: %w", err)
		}
	}
	filter := toolfilter.New(s, embedder)
	if opts.Recorder != nil {
		return toolfilter.Recorded(filter, opts.Recorder), nil
	}
	return filter, nil
}

// limits returns the deadlines of the execution section.
func limits(a *config.Agent) loop.Limits {
	e := &a.Execution
	l := loop.Limits{
		Model: turn.Deadline{After: seconds(e.LLMTimeout), Key: "execution.llm_timeout"},
		Turn:  turn.Deadline{After: seconds(e.TurnTimeout), Key: "execution.turn_timeout"},
	}
	if e.Wrote("llm_timeout") && l.Model.After < l.Turn.After {
		l.Turn = l.Model
	}
	return l
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
