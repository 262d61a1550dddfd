package prompt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Tool is a prompt tool. It implements agent.Delegate.
type Tool struct {
	env        agent.Env
	definition agent.Definition
	basis      basis
	template   *Template
	parameters parameters
	model      llm.Model
}

// basis is what the answers depend on beside the arguments.
type basis struct {
	Template string       `json:"template"`
	Model    string       `json:"model"`
	Sampling llm.Sampling `json:"sampling"`
}

// Open returns the tool of an agent that t describes, with a model of models.
// Nothing is asked of it yet.
func Open(env agent.Env, a *config.Agent, t *config.PromptTool, models *llm.Models) (*Tool, error) {
	tool, err := Closed(t)
	if err != nil {
		return nil, err
	}
	models = models.Unrecorded() // a call of the tool is recorded as a whole
	tool.env = env
	if t.Chat == a.Model {
		tool.model, err = models.Chat(a) // with its fallback
	} else {
		tool.model, err = models.Model(t.Chat)
	}
	if err != nil {
		return nil, fmt.Errorf("open its model: %w", err)
	}
	return tool, nil
}

// Closed returns the tool without a model: it can be described and not called.
func Closed(t *config.PromptTool) (*Tool, error) {
	template, err := Parse(t.Text)
	if err != nil {
		return nil, fmt.Errorf("its template: %w", err)
	}
	p, err := newParameters(t.Parameters)
	if err != nil {
		return nil, err
	}
	m := t.Chat
	return &Tool{
		definition: agent.Definition{
			Name: t.Name, Description: t.Description, Schema: p.schema, ReadOnly: true, Source: string(config.ToolPrompt),
		},
		basis: basis{
			Template: t.Text, Model: fmt.Sprintf("%s/%s", m.Provider, m.Name),
			Sampling: llm.Sampling{Temperature: m.Temperature, TopP: m.TopP, MaxTokens: m.MaxTokens},
		},
		template: template, parameters: p,
	}, nil
}

// Definition implements agent.Tool.
func (t *Tool) Definition() agent.Definition { return t.definition }

// Basis implements agent.Delegate.
func (t *Tool) Basis() any { return t.basis }

// Call implements agent.Tool.
func (t *Tool) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return t.Delegate(ctx, args, agent.Behalf{Emit: func(string, agent.Event) error { return nil }})
}

// Delegate implements agent.Delegate: it asks the model once.
func (t *Tool) Delegate(ctx context.Context, args json.RawMessage, b agent.Behalf) (agent.ToolResult, error) {
	if t.model == nil {
		return agent.ToolResult{}, &agent.BackendSessionError{Backend: t.definition.Name, Err: errors.New("the tool has no model")}
	}
	info := t.model.Info()
	if b.Limits.MaxCostUSD > 0 && !info.Capabilities.Cost {
		return agent.ToolResult{}, fmt.Errorf("the turn has a cost limit, and the price of %s model %s is not known", info.Provider, info.Name)
	}
	values, err := t.parameters.values(args)
	if err != nil {
		return agent.ToolResult{}, err
	}
	if after := b.Limits.ModelTimeout; after > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, after, fmt.Errorf("its model did not answer within %s: %w", after, context.DeadlineExceeded))
		defer stop()
	}
	defer llm.EndSession(t.model, b.Session)
	done, text, err := t.ask(ctx, b, t.template.Render(values))
	if err != nil {
		return agent.ToolResult{}, fmt.Errorf("ask its model: %w", err)
	}
	switch done.Stop {
	case agent.StopEnd:
		return agent.TextResult(text), nil
	case agent.StopMaxTokens:
		return agent.TextResult(text + "\n… cut at max_tokens of the tool's model"), nil
	case agent.StopRefusal:
		return agent.ToolResult{}, errors.New("its model refused to answer")
	case agent.StopBlocked:
		return agent.ToolResult{}, errors.New("the content filter of its model's provider blocked the answer")
	case agent.StopContextOverflow:
		return agent.ToolResult{}, errors.New("the arguments are longer than its model can read; give it less")
	}
	return agent.ToolResult{}, fmt.Errorf("its model stopped: %s", done.Stop)
}

// ask makes the model call and tells the turn of it.
func (t *Tool) ask(ctx context.Context, b agent.Behalf, question string) (done llm.Done, text string, err error) {
	req := llm.Request{
		Session: b.Session, Turn: 1, Ordinal: 1,
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: agent.Text(question).Parts}},
		Sampling: t.basis.Sampling,
	}
	var answer strings.Builder
	start, ended := t.env.Now(), false
	for chunk, err := range t.model.Stream(ctx, req) {
		switch c := chunk.(type) {
		case llm.Text:
			answer.WriteString(string(c))
		case llm.Notice:
			err = b.Emit(b.CallID, agent.Notice{Code: c.Code, Text: c.Text})
		case llm.Done:
			done, ended = c, true
		}
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		if err != nil {
			return llm.Done{}, "", err
		}
	}
	if !ended {
		return llm.Done{}, "", errors.New("it ended its response without finishing it")
	}
	info := t.model.Info()
	return done, answer.String(), b.Emit(b.CallID, agent.ModelCall{
		Provider: cmp.Or(done.Provider, info.Provider), Model: cmp.Or(done.Model, info.Name),
		Usage: done.Usage, CostUSD: done.CostUSD, FinishReason: done.FinishReason,
		Start: start, End: t.env.Now(),
	})
}

// Check says what is wrong with the template of a tool.
func Check(t *config.PromptTool) []config.Problem {
	if t.Text == "" || len(t.Parameters) == 0 {
		return nil // config has said why
	}
	key := "template"
	if t.Template == nil {
		key = "file"
	}
	template, err := Parse(t.Text)
	if err != nil {
		return []config.Problem{t.Problem(config.SeverityError, key, config.CodeSyntax, err.Error(), "the syntax is described in docs/prompts.md")}
	}
	var problems []config.Problem
	used := template.Names()
	for _, name := range used {
		if _, ok := t.Parameters[name]; !ok {
			problems = append(problems, t.Problem(config.SeverityError, key, config.CodeReference,
				fmt.Sprintf("{{%s}} is not one of the parameters", name), "declare it under parameters"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		if !slices.Contains(used, name) {
			problems = append(problems, t.Problem(config.SeverityWarning, "parameters", config.CodeNoEffect,
				fmt.Sprintf("%s is not used by the template", name), ""))
		}
	}
	return problems
}

// decode reads a JSON object and keeps its numbers as they are written.
func decode(data json.RawMessage) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var object map[string]any
	err := d.Decode(&object)
	return object, err
}
