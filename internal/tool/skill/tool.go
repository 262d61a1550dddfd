package skill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// argumentsSchema is the schema of a skill's arguments.
const argumentsSchema = `{"type":"object","properties":{"task":{"type":"string","minLength":1,"description":"What is to be done, with everything that is needed to do it: whoever does it has not seen the conversation."}},"required":["task"],"additionalProperties":false}`

// Tool is a skill. It implements agent.Delegate.
type Tool struct {
	definition agent.Definition
	basis      basis
	child      agent.Backend // nil in a replay
}

// basis is what the answers depend on beside the task.
type basis struct {
	Instructions string   `json:"instructions"`
	Tools        []string `json:"tools"`
}

// New returns the skill that t describes, done by a child agent, which the
// caller closes. Without one, as in a replay, the skill can be described and not
// called.
func New(t *config.SkillTool, child agent.Backend) *Tool {
	return &Tool{
		definition: agent.Definition{
			Name: t.Name, Description: t.Description, Schema: json.RawMessage(argumentsSchema), Source: string(config.ToolSkill),
		},
		basis: basis{Instructions: t.Prompt, Tools: append([]string{}, t.AllowedTools...)},
		child: child,
	}
}

// Definition implements agent.Tool.
func (t *Tool) Definition() agent.Definition { return t.definition }

// Basis implements agent.Delegate.
func (t *Tool) Basis() any { return t.basis }

// Call implements agent.Tool.
func (t *Tool) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return t.Delegate(ctx, args, agent.Behalf{Emit: func(string, agent.Event) error { return nil }})
}

// Delegate implements agent.Delegate: it gives the task to a new session of the
// child and returns what that answers.
func (t *Tool) Delegate(ctx context.Context, args json.RawMessage, b agent.Behalf) (_ agent.ToolResult, err error) {
	if t.child == nil {
		return agent.ToolResult{}, &agent.BackendSessionError{Backend: t.definition.Name, Err: errors.New("the skill has no agent")}
	}
	var a struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return agent.ToolResult{}, fmt.Errorf("read the arguments: %w", err)
	}
	if strings.TrimSpace(a.Task) == "" {
		return agent.ToolResult{}, errors.New("task is blank; say what is to be done")
	}
	s, err := t.child.NewSession(ctx, agent.SessionOptions{
		ID: b.Session, User: b.User, Mode: b.Mode, Approver: b.Approver, Limits: b.Limits,
	})
	if err != nil {
		return agent.ToolResult{}, fmt.Errorf("begin a session of the skill: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f := forwarder{behalf: b}
	for e, err := range s.Send(ctx, agent.Text(a.Task)) {
		if err == nil {
			err = f.forward(e)
		}
		if err != nil {
			return agent.ToolResult{}, err
		}
	}
	return result(f.finished)
}

// result returns what the caller's model reads of how a child's turn ended.
func result(f agent.TurnFinished) (agent.ToolResult, error) {
	if !f.IsError {
		return agent.TextResult(cmp.Or(f.Response, "The skill gave no answer.")), nil
	}
	text := "The skill did not come to an end: " + f.Reason
	if f.Response != "" {
		text += "\nThis is how far it came:\n" + f.Response
	}
	r := agent.TextResult(text)
	r.IsError = true
	return r, nil
}

// forwarder tells a caller's turn what goes on in a child's. What a model says is
// told in one piece for each response, before its ModelCall.
type forwarder struct {
	behalf   agent.Behalf
	text     strings.Builder
	thinking strings.Builder
	finished agent.TurnFinished
}

// forward tells of an event of the child's turn.
func (f *forwarder) forward(e agent.Event) error {
	below := e.Header().Parent // of a skill further down, whose texts are in one piece
	parent := f.id(below)
	switch e := e.(type) {
	case agent.TextDelta:
		if below == "" {
			f.text.WriteString(e.Text)
			return nil
		}
	case agent.ThinkingDelta:
		if below == "" {
			f.thinking.WriteString(e.Text)
			return nil
		}
	case agent.ModelCall:
		if below == "" {
			if err := f.said(parent); err != nil {
				return err
			}
		}
	case agent.ToolCallStarted:
		e.CallID = f.id(e.CallID)
		return f.behalf.Emit(parent, e)
	case agent.ToolCallFinished:
		e.CallID = f.id(e.CallID)
		return f.behalf.Emit(parent, e)
	case agent.Notice:
		if e.Code == agent.NoticeSubstitute { // the caller's session has said so
			return nil
		}
	case agent.TurnFinished:
		f.finished = e
		return nil
	}
	return f.behalf.Emit(parent, e)
}

// id returns an id of the child's turn as one of the caller's: models use the
// same ids in every conversation.
func (f *forwarder) id(id string) string {
	if id == "" {
		return f.behalf.CallID
	}
	return f.behalf.CallID + "/" + id
}

// said tells what a model response said.
func (f *forwarder) said(parent string) error {
	if f.thinking.Len() > 0 {
		if err := f.behalf.Emit(parent, agent.ThinkingDelta{Text: f.thinking.String()}); err != nil {
			return err
		}
	}
	if f.text.Len() > 0 {
		if err := f.behalf.Emit(parent, agent.TextDelta{Text: f.text.String()}); err != nil {
			return err
		}
	}
	f.text.Reset()
	f.thinking.Reset()
	return nil
}
