//go:build !noadk

package adk

import (
	"context"
	"errors"
	"fmt"

	adkagent "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/geminitool"
	"google.golang.org/genai"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Backend is an agent that runs on ADK.
type Backend struct {
	options   loop.Options
	limits    dialog.Limits
	format    *dialog.Format
	model     string // as ADK names it
	outputKey string // of the session's state, where ADK puts the answer
	mode      adkagent.StreamingMode
	agent     adkagent.Agent
	plugin    *plugin.Plugin
	sessions  turn.Sessions
}

// Open opens an agent. o is what is the same on every runtime; the google_adk
// section says the rest.
func Open(a *config.Agent, o loop.Options) (agent.Backend, error) {
	s := a.GoogleADK
	if s == nil {
		s = &config.GoogleADK{StreamingMode: config.StreamingNone, OutputKey: "output"}
	}
	b, err := newBackend(a, s, o)
	if err != nil {
		return nil, &agent.BackendInitError{Backend: o.Backend, Err: err}
	}
	return b, nil
}

func newBackend(a *config.Agent, s *config.GoogleADK, o loop.Options) (*Backend, error) {
	if o.Tools == nil {
		return nil, errors.New("the tools of the agent are not open")
	}
	b := &Backend{options: o, limits: dialog.Limits(o.Limits), mode: adkagent.StreamingModeNone, outputKey: s.OutputKey}
	if s.MaxIterations != nil {
		b.limits.MaxTurns = *s.MaxIterations
	}
	if b.limits.MaxTurns == 0 {
		b.limits.MaxTurns = dialog.DefaultMaxTurns
	}
	if s.StreamingMode == config.StreamingSSE {
		b.mode = adkagent.StreamingModeSSE
	}
	info := o.Model.Info()
	b.model = modelName(info.Provider, info.Name)
	err := b.limits.Check(info)
	if err != nil {
		return nil, err
	}
	if b.format, err = dialog.NewFormat(o.Schema); err != nil {
		return nil, err
	}
	if b.plugin, err = plugin.New(plugin.Config{Name: "limits", BeforeModelCallback: withinLimits}); err != nil {
		return nil, fmt.Errorf("make the plugin of limits: %w", err)
	}
	var native []adktool.Tool
	if s.CodeExecution {
		native = append(native, geminitool.New("code_execution", "Runs code.", &genai.Tool{CodeExecution: &genai.ToolCodeExecution{}}))
	}
	b.agent, err = llmagent.New(llmagent.Config{
		Name: agentName(a.Name), Model: bridge{b},
		InstructionProvider:  func(adkagent.ReadonlyContext) (string, error) { return o.System, nil },
		Tools:                native,
		Toolsets:             []adktool.Toolset{offered{}},
		OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{notOffered},
		OutputKey:            s.OutputKey,
		Mode:                 llmagent.ModeChat, // or the first turns to run would set it, all at once
	})
	if err != nil {
		return nil, fmt.Errorf("make the agent: %w", err)
	}
	return b, nil
}

// Capabilities implements agent.Backend: those of the model, as far as the
// section lets them be seen, and what ADK adds.
func (b *Backend) Capabilities() agent.Capabilities {
	c := b.options.Model.Info().Capabilities
	c.Streaming = c.Streaming && b.mode == adkagent.StreamingModeSSE
	c.ClientTools = b.options.ForSession != nil
	c.Snapshot = true
	return c
}

// NewSession implements agent.Backend.
func (b *Backend) NewSession(ctx context.Context, opts agent.SessionOptions) (agent.Session, error) {
	s, err := b.newSession(ctx, opts)
	if err != nil {
		return nil, &agent.BackendSessionError{Backend: b.options.Backend, Err: err}
	}
	return s, nil
}

// Close implements agent.Backend.
func (b *Backend) Close() error { return b.sessions.Close() }

// Absent says what this build lacks and how to get it; empty when it lacks nothing.
const Absent = ""
