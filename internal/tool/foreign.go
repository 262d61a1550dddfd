package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/tool/hook"
)

// Admit does what comes before a call of a tool that a runtime brings and makes
// itself: permissions and hooks are those of every call. c.Name and names are what
// the tool is called. It returns the arguments to make the call with, and whether a
// person was asked and agreed. The error says why the call is not made; the model
// reads it.
func (s *Set) Admit(ctx context.Context, c Call, names ...string) (args json.RawMessage, agreed bool, err error) {
	r := s.permissions.of(toolNames{canonical: c.Name, inFile: c.Name, wire: names})
	if name, ok := twice(c.Arguments); ok {
		return nil, false, fmt.Errorf("the arguments of %s have %s twice; give it once", c.Name, excerpt(s.redactor.String(name)))
	}
	if err := r.refuse(c); err != nil {
		return nil, false, err
	}
	if c.Arguments, err = s.hooks.Before(ctx, foreign(c, names)); err != nil {
		return nil, false, err
	}
	agreed, err = r.permit(ctx, c)
	return c.Arguments, agreed, err
}

// Returned does what comes after such a call, which returned result, and failed
// when failure is not empty. Secrets are masked in both.
func (s *Set) Returned(ctx context.Context, c Call, result, failure string, names ...string) {
	h := foreign(c, names)
	h.Result, h.Error = result, failure
	s.hooks.After(ctx, h)
}

// foreign returns the call of a tool that is none of the set's as hooks see it. It
// is recorded with all that the runtime says of it.
func foreign(c Call, names []string) hook.Call {
	return hook.Call{
		Report: hook.Report{
			Session: c.Session, Turn: c.Turn, Mode: c.Mode, User: c.User,
			Tool: c.Name, CallID: c.ID, Arguments: c.Arguments,
		},
		Names: append([]string{c.Name}, names...), Within: true,
	}
}
