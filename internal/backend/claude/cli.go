package claude

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/claudecode"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/price"
)

// CLIOptions is what an agent on the CLI needs beside what every runtime does.
type CLIOptions struct {
	// Prices say what the calls of the CLI cost; nil knows no price.
	Prices *price.Table
	// Recorder records what the CLI says; Player plays it from a record, and no
	// CLI is started. At most one of them is set.
	Recorder *cassette.Recorder
	Player   *cassette.Player
}

// cli is an agent that runs on the Claude Code CLI.
type cli struct {
	agent    *config.Agent
	options  loop.Options // its Model is not there: the CLI has its own
	more     CLIOptions
	info     llm.Info
	price    *price.Price // nil when it is not known
	limits   dialog.Limits
	format   *dialog.Format
	launch   claudecode.Options
	pool     *pool
	sessions turn.Sessions
}

// OpenCLI opens an agent on the Claude Code CLI. o is what is the same on every
// runtime, save that it has no model.
func OpenCLI(ctx context.Context, a *config.Agent, o loop.Options, more CLIOptions) (agent.Backend, error) {
	b, err := newCLI(ctx, a, o, more)
	if err != nil {
		if errors.As(err, new(*agent.BackendInitError)) {
			return nil, err
		}
		return nil, &agent.BackendInitError{Backend: o.Backend, Err: err}
	}
	return b, nil
}

func newCLI(ctx context.Context, a *config.Agent, o loop.Options, more CLIOptions) (_ *cli, err error) {
	b := &cli{agent: a, options: o, more: more, limits: dialog.Limits(o.Limits), info: llm.Info{
		Provider: string(a.Model.Provider), Name: a.Model.Name,
		Capabilities: agent.Capabilities{
			Streaming: true, Thinking: thinks(a), StructuredOutput: true, Images: true, Documents: true,
		},
	}}
	if p, ok := more.Prices.Of(b.info.Provider, b.info.Name); ok {
		b.price, b.info.Capabilities.Cost = &p, true
	}
	if s := a.Claude; s != nil {
		if s.MaxTurns != nil {
			b.limits.MaxTurns = *s.MaxTurns
		}
		if s.MaxBudgetUSD != nil {
			b.limits.MaxTurnCostUSD = *s.MaxBudgetUSD
		}
	}
	if b.limits.MaxTurns == 0 {
		b.limits.MaxTurns = dialog.DefaultMaxTurns
	}
	if err := b.limits.Check(b.info); err != nil {
		return nil, err
	}
	if b.format, err = dialog.NewFormat(o.Schema); err != nil {
		return nil, err
	}
	if text := tookCLI(a); text != "" {
		b.options.Notices = append(b.options.Notices, agent.Notice{Code: agent.NoticeSubstitute, Text: text})
	}
	if more.Player != nil {
		return b, nil
	}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// thinks reports whether the file asks for reasoning.
func thinks(a *config.Agent) bool {
	s := a.Claude
	return s != nil && (s.Effort != nil || s.ExtendedThinking != nil && s.ExtendedThinking.Enabled)
}

// prepare finds the CLI and makes ready what every session starts it with.
func (b *cli) prepare(ctx context.Context) error {
	a := b.agent
	path, err := find(a)
	if err != nil {
		return err
	}
	if c := credentialsOf(a); len(c.missing) > 0 {
		return fmt.Errorf("%s; %s", c.missing[0].text, c.missing[0].hint)
	}
	state, err := stateDir(a)
	if err != nil {
		return err
	}
	if b.launch, err = launch(a, path, claudecode.Version{}, state); err != nil {
		return err
	}
	if b.launch.Dir, err = filepath.Abs(b.launch.Dir); err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	b.launch.SystemPrompt, b.launch.Schema = b.options.System, b.options.Schema
	b.launch.Log = b.options.Env.Log
	if b.launch.Version, err = claudecode.AskVersion(ctx, path, b.launch.Env); err != nil {
		return err
	}
	if r := b.more.Recorder; r != nil {
		r.Describe(describedCLI, a.Model.Name, b.launch.Version.String())
	}
	b.pool = newPool(mostProcesses(a.Claude, freeMemory()))
	return nil
}

// Capabilities implements agent.Backend.
func (b *cli) Capabilities() agent.Capabilities {
	c := b.info.Capabilities
	c.ClientTools = b.options.ForSession != nil
	c.Snapshot = true
	return c
}

// NewSession implements agent.Backend.
func (b *cli) NewSession(ctx context.Context, opts agent.SessionOptions) (agent.Session, error) {
	s, err := b.newSession(ctx, opts)
	if err != nil {
		return nil, &agent.BackendSessionError{Backend: b.options.Backend, Err: err}
	}
	return s, nil
}

// Close implements agent.Backend.
func (b *cli) Close() error { return b.sessions.Close() }

// cost returns what tokens of the agent's model cost, or nil when nobody knows.
func (b *cli) cost(model string, u agent.Usage) *float64 {
	p, ok := b.more.Prices.Of(b.info.Provider, model)
	if !ok {
		if b.price == nil || model != b.info.Name {
			return nil
		}
		p = *b.price
	}
	usd := p.Cost(u)
	return &usd
}
