package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/knowledge"
	"github.com/holodeck-go/holodeck/internal/tool/hook"
	"github.com/holodeck-go/holodeck/internal/tool/prompt"
	"github.com/holodeck-go/holodeck/internal/tool/skill"
)

// describedTool is the kind under which a cassette has what models are told of
// the tools.
const describedTool = "tool"

// described is what a cassette has of a tool.
type described struct {
	Tool       string           `json:"tool"` // as the agent file names it
	Definition agent.Definition `json:"definition"`
}

// outcome is what a call came to, as a cassette has it.
type outcome struct {
	Result *agent.ToolResult `json:"result,omitempty"`
	Error  string            `json:"error,omitempty"`
	// Events are what a tool that has models at work for it told of them.
	Events []json.RawMessage `json:"events,omitempty"`
	// TurnOver is set when the deadline of the turn passed during the call.
	TurnOver *cassette.Deadline `json:"turn_over,omitempty"`
}

// cassette is the link that records calls, or plays them. It stands round
// deadline and size limit: a passed deadline is part of the record. A call of a
// tool that has models at work for it is one exchange, with all that they did.
func (s *Set) cassette(t agent.Tool) Link {
	var basis []cassette.Field
	if d, ok := t.(interface{ Basis() any }); ok {
		basis = []cassette.Field{{Name: "basis", Value: d.Basis()}}
	}
	switch {
	case s.player != nil:
		return played(s.player, basis)
	case s.recorder != nil:
		return recorded(s.recorder, basis)
	}
	return passThrough
}

// placeOf returns where in a cassette a call stands.
func placeOf(c Call) cassette.Place {
	return cassette.Place{Session: c.Session, Kind: cassette.Tool, Turn: c.Turn, Ordinal: c.Ordinal}
}

// fieldsOf returns what of a call must be as it was recorded.
func fieldsOf(c Call, basis []cassette.Field) []cassette.Field {
	return append([]cassette.Field{{Name: "name", Value: c.Name}, {Name: "arguments", Value: c.Arguments}}, basis...)
}

// recorded records calls. One that was cancelled is not recorded, save by the
// deadline of its turn: nothing follows from it.
func recorded(r *cassette.Recorder, basis []cassette.Field) Link {
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			var told eventTape
			if tell := c.Events; tell != nil {
				c.Events = func(ctx context.Context, parent string, e agent.Event) error {
					return errors.Join(tell(ctx, parent, e), told.add(parent, e))
				}
			}
			result, err := next(ctx, c)
			o := outcome{Result: &result, Events: told.end()}
			if err != nil {
				o.Result, o.Error = nil, err.Error()
			}
			if ctx.Err() != nil {
				if o.TurnOver = cassette.DeadlineOf(ctx); o.TurnOver == nil {
					return result, err
				}
			}
			r.Add(placeOf(c), fieldsOf(c, basis), o)
			return result, err
		}
	}
}

// played plays calls from a record, and never runs the tool.
func played(p *cassette.Player, basis []cassette.Field) Link {
	return func(Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			var o outcome
			if err := p.Next(placeOf(c), fieldsOf(c, basis), &o); err != nil {
				return agent.ToolResult{}, err
			}
			if err := tellAgain(ctx, c, o.Events); err != nil {
				return agent.ToolResult{}, err
			}
			if o.TurnOver != nil && c.EndTurn != nil {
				c.EndTurn(o.TurnOver.Err())
			}
			if o.Result == nil {
				return agent.ToolResult{}, errors.New(o.Error)
			}
			return *o.Result, nil
		}
	}
}

// eventTape keeps the events of a call while it runs. The zero eventTape is
// ready to use.
type eventTape struct {
	mu     sync.Mutex
	events []json.RawMessage
	ended  bool
}

// add keeps an event of the sub-agent that the call named parent started. What
// comes after the end, from work that was left behind, is not kept.
func (t *eventTape) add(parent string, e agent.Event) error {
	data, err := agent.MarshalEvent(agent.Under(parent, e))
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && !t.ended {
		t.events = append(t.events, data)
	}
	return err
}

// end returns what was kept.
func (t *eventTape) end() []json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	return t.events
}

// tellAgain tells of the recorded events of a call.
func tellAgain(ctx context.Context, c Call, events []json.RawMessage) error {
	for _, data := range events {
		e, err := agent.UnmarshalEvent(data)
		if err != nil {
			return fmt.Errorf("replay: an event of a call of %s: %w; record it again", c.Name, err)
		}
		if c.Events == nil {
			continue
		}
		if err := c.Events(ctx, e.Header().Parent, e); err != nil {
			return err
		}
	}
	return nil
}

// replay returns the set of an agent whose calls are played from a record. No
// tool is opened, and so the record also says what models are told of those of
// which the agent file does not.
func replay(env agent.Env, a *config.Agent, p *cassette.Player, hooks *hook.Hooks) (*Set, error) {
	var list []described
	err := p.Described(describedTool, func(_ string, into func(any) error) error {
		var d described
		err := into(&d)
		list = append(list, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	s := newSet(env, a)
	s.player, s.hooks = p, hooks
	var parts []part
	for _, t := range a.Tools {
		b, found := t.Base(), false
		known, err := closed(a, t)
		if err != nil {
			return nil, err
		}
		if known != nil {
			parts = append(parts, partOf(t, opened{tools: []agent.Tool{known}}))
			continue
		}
		var e opened
		for _, d := range list {
			if d.Tool == b.Name {
				e.tools = append(e.tools, onTape{d.Definition})
				found = true
			}
		}
		if _, server := t.(*config.MCPTool); !found && !server { // which may have had none
			return nil, &agent.ToolError{Tool: b.Name, Err: fmt.Errorf("replay: the cassette in %s does not have it; record it again", p.Dir())}
		}
		parts = append(parts, partOf(t, e))
	}
	if err := s.begin(parts); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// closed returns a tool of which the agent file says all that models are told, or
// nil for others. It cannot be called.
func closed(a *config.Agent, t config.Tool) (agent.Tool, error) {
	switch t := t.(type) {
	case *config.PromptTool:
		p, err := prompt.Closed(t)
		if err != nil {
			return nil, &agent.ToolError{Tool: t.Name, Err: err}
		}
		return p, nil
	case *config.SkillTool:
		return skill.New(t, nil), nil
	}
	if def, ok := knowledge.Definition(a, t); ok {
		return onTape{def}, nil
	}
	return nil, nil
}

// onTape is a tool that is not there: only its definition is.
type onTape struct{ definition agent.Definition }

// Definition implements agent.Tool.
func (t onTape) Definition() agent.Definition { return t.definition }

// Call implements agent.Tool. The chain plays calls and does not come here.
func (t onTape) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return agent.ToolResult{}, &agent.ToolError{Tool: t.definition.Name, Err: errors.New("a tool of a replay is not run")}
}
