package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
	"github.com/holodeck-go/holodeck/internal/tool/skill"
)

// parent is a backend whose skills are done by backends of their own.
type parent struct {
	agent.Backend
	children closers
}

// Close implements agent.Backend: the turns that wait for children end first.
func (p *parent) Close() error { return errors.Join(p.Backend.Close(), p.children.Close()) }

// closers are things to be closed, the last of them first.
type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range slices.Backward(c) {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// skills opens the child agents of an agent.
type skills struct {
	ctx    context.Context // of the opening
	env    agent.Env
	agent  *config.Agent
	models *llm.Models
	set    *tool.Set // with the skills that were opened so far
	opened map[string]bool
	closers
}

// openSkills opens a child agent for every skill of an agent: on the same runtime,
// with the same model and limits, and with the tools that the skill may call. It
// returns what is to be closed after the agent's own backend, and the set with the
// skills in it. In a replay the set has them, and nothing is opened.
func openSkills(ctx context.Context, env agent.Env, a *config.Agent, set *tool.Set, models *llm.Models, opts Options) (closers, *tool.Set, error) {
	if opts.Player != nil {
		return nil, set, nil
	}
	s := &skills{ctx: ctx, env: env, agent: a, models: models.Unrecorded(), set: set, opened: map[string]bool{}}
	for _, t := range a.Tools {
		if t, ok := t.(*config.SkillTool); ok {
			if err := s.open(t); err != nil {
				return nil, nil, errors.Join(err, s.Close())
			}
		}
	}
	return s.closers, s.set, nil
}

// open opens a skill, after the skills that it may call: config refuses circles.
func (s *skills) open(t *config.SkillTool) error {
	if s.opened[t.Name] {
		return nil
	}
	s.opened[t.Name] = true
	for _, other := range s.agent.Tools {
		if other, ok := other.(*config.SkillTool); ok && slices.Contains(t.AllowedTools, other.Name) {
			if err := s.open(other); err != nil {
				return err
			}
		}
	}
	child, err := s.child(t)
	if err == nil {
		s.set, err = s.set.WithSkill(t, skill.New(t, child))
	}
	if err != nil {
		return &agent.ToolError{Tool: t.Name, Err: fmt.Errorf("open the skill: %w", err)}
	}
	return nil
}

// child opens the child agent of a skill.
func (s *skills) child(t *config.SkillTool) (agent.Backend, error) {
	files, err := skill.OpenFiles(t)
	if err != nil {
		return nil, err
	}
	var own []agent.Tool
	if files != nil {
		s.closers = append(s.closers, files)
		own = append(own, files)
	}
	set, err := s.set.Only(t.AllowedTools, own...)
	if err != nil {
		return nil, fmt.Errorf("allowed_tools: %w", err)
	}
	model, err := chatModel(s.agent, s.models, nil)
	if err != nil {
		return nil, err
	}
	child := *s.agent
	child.Name, child.Prompt.Text = t.Name, t.Prompt
	b, err := openRuntime(s.ctx, &child, baseOptions(s.env, &child, set, model), claude.CLIOptions{Prices: s.models.Prices()})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, b)
	return b, nil
}
