package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/claudecode"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// notOurs matches the names of the CLI's own tools: ours have their gate in the
// tool set.
const notOurs = `^(?!mcp__).*`

// consentTime bounds the hooks before a call: a person may be asked in them.
const consentTime = time.Hour

// gate is what the agent file says of calls, as the tool set knows it.
type gate interface {
	Admit(ctx context.Context, c tool.Call, names ...string) (args json.RawMessage, agreed bool, err error)
	Returned(ctx context.Context, c tool.Call, result, failure string, names ...string)
}

// hooks are what the CLI asks us around a call of one of its own tools.
func (s *cliSession) hooks() []claudecode.Hook {
	if len(s.backend.launch.Tools) == 0 {
		return nil
	}
	return []claudecode.Hook{
		{Event: claudecode.PreToolUse, Matcher: notOurs, Timeout: consentTime, Call: s.admit},
		{Event: claudecode.PostToolUse, Matcher: notOurs, Timeout: consentTime, Call: s.returned},
		{Event: claudecode.PostToolUseFailure, Matcher: notOurs, Timeout: consentTime, Call: s.returned},
	}
}

// foreign returns a call of one of the CLI's own tools, and the other names of
// the tool.
func (s *cliSession) foreign(in claudecode.HookInput) (tool.Call, []string) {
	c := tool.Call{
		ID: in.ToolUseID, Name: in.ToolName, Arguments: in.ToolInput,
		Session: s.id, User: s.opts.User, Mode: s.opts.Mode, Approver: s.opts.Approver,
	}
	if t := s.turn.Load(); t != nil {
		c.Turn = t.turn.Number()
	}
	switch in.ToolName {
	case toolAgent:
		return c, []string{toolAgentShown}
	case toolAgentShown:
		return c, []string{toolAgent}
	}
	return c, nil
}

// admit has the agent's permissions and hooks decide a call.
func (s *cliSession) admit(ctx context.Context, in claudecode.HookInput) (claudecode.HookOutput, error) {
	g, ok := s.tools.(gate)
	if !ok || in.ToolName == claudecode.AnswerTool {
		return claudecode.HookOutput{}, nil
	}
	call, names := s.foreign(in)
	args, agreed, err := g.Admit(ctx, call, names...)
	switch {
	case err != nil:
		return claudecode.HookOutput{Deny: true, Reason: err.Error()}, nil
	case bytes.Equal(args, in.ToolInput):
		return claudecode.HookOutput{Allow: agreed}, nil
	case !agreed && !s.free(in.ToolName): // to change what a call does, the CLI must be told to make it
		d, err := s.permit(ctx, claudecode.ToolUse{Tool: in.ToolName, Input: args, ToolUseID: in.ToolUseID})
		if err != nil || !d.Allow {
			return claudecode.HookOutput{Deny: true, Reason: d.Message}, err
		}
	}
	return claudecode.HookOutput{Allow: true, Input: args}, nil
}

// free reports whether the CLI makes every call of a tool without asking.
func (s *cliSession) free(name string) bool {
	mode := permissionMode(s.backend.agent.Claude, s.opts.Mode)
	return mode == modeAll || slices.Contains(s.backend.launch.AllowedTools, name) ||
		mode == modeEdits && (name == toolWrite || name == toolEdit)
}

// returned masks secrets in what one of the CLI's own tools returned, and tells
// the agent's hooks of it.
func (s *cliSession) returned(ctx context.Context, in claudecode.HookInput) (claudecode.HookOutput, error) {
	if in.ToolName == claudecode.AnswerTool {
		return claudecode.HookOutput{}, nil
	}
	redactor := s.backend.agent.Redactor
	masked := redactor.JSON(in.ToolResponse)
	text := string(masked)
	var plain string
	if json.Unmarshal(masked, &plain) == nil {
		text = plain
	}
	if g, ok := s.tools.(gate); ok {
		call, names := s.foreign(in)
		g.Returned(ctx, call, text, redactor.String(in.Error), names...)
	}
	if c := s.backend.agent.Claude; c != nil && c.DisableDefaultHooks || bytes.Equal(masked, in.ToolResponse) {
		return claudecode.HookOutput{}, nil
	}
	return claudecode.HookOutput{Output: masked}, nil
}

// permit decides a call that the rules of the CLI leave open: a person is asked
// where there is one.
func (s *cliSession) permit(ctx context.Context, use claudecode.ToolUse) (claudecode.Decision, error) {
	if s.opts.Approver == nil {
		return claudecode.Decision{Message: use.Tool + " needs a permission that nobody is here to give; allow it in claude.allowed_tools, or by claude.permission_mode"}, nil
	}
	err := s.opts.Approver.Approve(ctx, agent.ApprovalRequest{
		Tool: use.Tool, CallID: use.ToolUseID, Arguments: use.Input, Reason: "claude.permission_mode leaves it to you",
	})
	if err != nil {
		return claudecode.Decision{Message: err.Error()}, nil
	}
	return claudecode.Decision{Allow: true}, nil
}
