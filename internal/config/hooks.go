package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Hook is something that happens around a tool call or a turn.
type Hook struct {
	Block
	Event     HookEvent                `key:"event" ours:"true" rule:"required" doc:"When it happens."`
	Tool      *string                  `key:"tool" ours:"true" rule:"nonblank" doc:"Glob of tool names it is for; absent, all."`
	Arguments map[string]string        `key:"arguments" ours:"true" rule:"minitems=1" doc:"Globs that the arguments of the call must match, by name; absent, it is for all calls."`
	Action    HookAction               `key:"action" ours:"true" rule:"required" doc:"What happens."`
	Level     HookLevel                `key:"level" ours:"true" default:"info" doc:"How important what log writes is."`
	Message   *string                  `key:"message" ours:"true" doc:"What is logged or sent along, or told to the model on reject."`
	URL       *string                  `key:"url" ours:"true" doc:"Where notify posts to."`
	Headers   map[string]secret.String `key:"headers" ours:"true" doc:"HTTP headers of notify."`
	Command   []string                 `key:"command" ours:"true" rule:"minitems=1" doc:"The program script runs; or script, or file."`
	Script    string                   `key:"script" ours:"true" rule:"nonblank" doc:"A Starlark file that script runs, relative to the agent file; or command, or file."`
	File      string                   `key:"file" ours:"true" rule:"nonblank" doc:"A Python file that script runs, relative to the agent file; or command, or script."`
	Function  string                   `key:"function" ours:"true" rule:"nonblank" doc:"The function in file or script; in a script, absent, it is called hook."`
	Env       map[string]secret.String `key:"env" ours:"true" doc:"Variables that command or file sees beside PATH, HOME and the like."`
	Transform map[string]any           `key:"transform" ours:"true" doc:"Arguments that modify sets; null takes one away."`
	Timeout   float64                  `key:"timeout" ours:"true" default:"5" rule:"gt=0" doc:"Seconds notify and script may take."`
	OnFailure HookFailure              `key:"on_failure" ours:"true" default:"continue" doc:"What follows when notify or script fails before a tool call: the call is made all the same, or rejected."`
}

// Entry returns the function of script or file.
func (h *Hook) Entry() string {
	if h.Function != "" {
		return h.Function
	}
	return "hook"
}

// HookEvent is when a hook happens.
type HookEvent string

// The events: before a tool call, after one that went well, after one that
// failed; when a session begins; when a turn ends; when something happened that a
// person may want to know.
const (
	HookPreToolUse         HookEvent = "PreToolUse"
	HookPostToolUse        HookEvent = "PostToolUse"
	HookPostToolUseFailure HookEvent = "PostToolUseFailure"
	HookSessionStart       HookEvent = "SessionStart"
	HookStop               HookEvent = "Stop"
	HookNotification       HookEvent = "Notification"
)

// Values implements the enumeration.
func (HookEvent) Values() []string {
	return []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "Stop", "Notification"}
}

// AboutTool reports whether an event is about a tool call.
func (e HookEvent) AboutTool() bool {
	return e == HookPreToolUse || e == HookPostToolUse || e == HookPostToolUseFailure
}

// HookAction is what a hook does.
type HookAction string

// The actions.
const (
	HookLog    HookAction = "log"
	HookReject HookAction = "reject"
	HookModify HookAction = "modify"
	HookNotify HookAction = "notify"
	HookScript HookAction = "script"
)

// Values implements the enumeration.
func (HookAction) Values() []string { return []string{"log", "reject", "modify", "notify", "script"} }

// HookLevel is how important a line of the log is.
type HookLevel string

// Values implements the enumeration.
func (HookLevel) Values() []string { return []string{"debug", "info", "warn", "error"} }

// HookFailure is what follows when a hook fails.
type HookFailure string

// HookFailureRejects makes the failure of a hook a rejection.
const HookFailureRejects HookFailure = "reject"

// Values implements the enumeration.
func (HookFailure) Values() []string { return []string{"continue", "reject"} }
