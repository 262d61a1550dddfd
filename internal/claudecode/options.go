package claudecode

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options says how the program is started and what it may do. The zero value
// of a field leaves its matter to the program, unless it says otherwise.
type Options struct {
	Path    string // of the program, absolute
	Version Version
	Dir     string   // its working folder
	Env     []string // its environment, as KEY=VALUE; see [Options.environment] for what is added

	Model, FallbackModel string
	SystemPrompt         string // replaces the program's own
	// Tools are the built-in tools the model sees: none when it is empty.
	Tools []string
	// AllowedTools need no permission, DisallowedTools are never run.
	AllowedTools, DisallowedTools []string
	PermissionMode                string
	MaxTurns                      int     // model calls of a turn
	MaxBudgetUSD                  float64 // of a process
	Effort                        string
	// ThinkingTokens bounds the reasoning; 0 switches it off, nil leaves it to the
	// program.
	ThinkingTokens *int
	// SettingSources are the settings of the machine the program reads: none when
	// it is empty.
	SettingSources []string
	// Schema is the JSON Schema the answer must follow, an object.
	Schema json.RawMessage
	Agents map[string]Agent
	// Servers are the MCP servers of this process, by name.
	Servers map[string]*mcp.Server
	Hooks   []Hook
	// CanUseTool is asked about calls that nothing else has decided; nil lets the
	// program refuse them.
	CanUseTool func(context.Context, ToolUse) (Decision, error)
	// Resume is the id of a session to go on with. With Fork a new session begins
	// with its history, as far as the message whose id is At; empty is all of it.
	Resume, At string
	Fork       bool

	// Observe, if set, is told each message as it comes, before it waits for the
	// reader of its turn. It returns soon.
	Observe func(Message)

	Log *slog.Logger // nil is none
	// Start bounds the start of the program; 0 means 60 s.
	Start time.Duration

	stopGrace, interruptGrace time.Duration // 0 means the constants of these names
}

// Agent is a sub-agent that the model may start.
type Agent struct {
	Description     string   `json:"description"`
	Prompt          string   `json:"prompt"`
	Tools           []string `json:"tools,omitempty"`
	DisallowedTools []string `json:"disallowedTools,omitempty"`
	Model           string   `json:"model,omitempty"`
}

// HookEvent is a moment that a Hook is called at.
type HookEvent string

// The moments.
const (
	PreToolUse         HookEvent = "PreToolUse"
	PostToolUse        HookEvent = "PostToolUse"
	PostToolUseFailure HookEvent = "PostToolUseFailure"
	Stop               HookEvent = "Stop"
	Notification       HookEvent = "Notification"
)

// Hook is called at a moment. It fails closed: when Call returns an error or
// panics before a tool, the tool is not run, and after one, its output is
// withheld.
type Hook struct {
	Event   HookEvent
	Matcher string // regular expression of the names of tools; empty is all
	// Timeout bounds a call; 0 means 60 s.
	Timeout time.Duration
	Call    func(context.Context, HookInput) (HookOutput, error)
}

// HookInput is what a hook is told. Fields that an event does not have are
// empty.
type HookInput struct {
	Event        HookEvent       `json:"hook_event_name"`
	SessionID    string          `json:"session_id"`
	ToolName     string          `json:"tool_name"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolResponse json.RawMessage `json:"tool_response"`
	Error        string          `json:"error"`
	Message      string          `json:"message"`
	AgentID      string          `json:"agent_id"`
}

// HookOutput is what a hook wants. The zero value lets things go on.
type HookOutput struct {
	Deny   bool            // before a tool: it is not run
	Reason string          // of Deny
	Allow  bool            // before a tool: it needs no other permission
	Input  json.RawMessage // before a tool, with Allow: in place of its input
	// Output is, after a tool, what stands in place of its output. It has that form:
	// another the program leaves aside.
	Output json.RawMessage
}

// ToolUse is a call that waits for permission.
type ToolUse struct {
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// Decision answers a ToolUse.
type Decision struct {
	Allow   bool
	Message string // of a refusal, for the model
}

const (
	defaultStart       = 60 * time.Second
	defaultHookTimeout = 60 * time.Second
)

// arguments returns the command line. What is secret or long goes another way:
// a command line is limited and can be read by everybody.
func (o *Options) arguments() []string {
	args := []string{
		"--output-format=stream-json", "--input-format=stream-json", "--verbose", "--include-partial-messages",
		"--strict-mcp-config", "--disable-slash-commands",
		"--setting-sources=" + strings.Join(o.SettingSources, ","),
		"--tools=" + strings.Join(o.Tools, ","),
	}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--model", o.Model)
	add("--fallback-model", o.FallbackModel)
	add("--allowedTools", strings.Join(o.AllowedTools, ","))
	add("--disallowedTools", strings.Join(o.DisallowedTools, ","))
	add("--permission-mode", o.PermissionMode)
	add("--effort", o.Effort)
	if o.MaxTurns > 0 {
		add("--max-turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD > 0 {
		add("--max-budget-usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	switch t := o.ThinkingTokens; {
	case t == nil:
	case *t == 0:
		add("--thinking", "disabled")
	default:
		add("--max-thinking-tokens", strconv.Itoa(*t))
		add("--thinking-display", "summarized")
	}
	if o.CanUseTool != nil {
		add("--permission-prompt-tool", "stdio")
	}
	add("--resume", o.Resume)
	if o.Fork && o.Resume != "" {
		args = append(args, "--fork-session")
		add("--resume-session-at", o.At)
	}
	if !o.Version.Before(promptSnapshots) {
		add("--system-prompt-snapshot", "off") // or a session that is resumed keeps its first prompt
	}
	return args
}

// environment returns the environment of the program: that of its caller, and
// what this package relies on. A result is one answer only where sub-agents run
// in the foreground, tools are not hidden behind a search for them, and a failed
// start is told in a message.
func (o *Options) environment() []string {
	return append(append([]string(nil), o.Env...),
		"PWD="+o.Dir,
		"CLAUDE_CODE_ENTRYPOINT=sdk-go",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1",
		"CLAUDE_CODE_MCP_ALLOWLIST_ENV=1",
		"ENABLE_TOOL_SEARCH=false",
	)
}

// initialize is the first request to the program.
type initialize struct {
	Subtype      string                   `json:"subtype"`
	Hooks        map[HookEvent][]hookSpec `json:"hooks"`
	Agents       map[string]Agent         `json:"agents,omitempty"`
	SystemPrompt []string                 `json:"systemPrompt"`
	Schema       json.RawMessage          `json:"jsonSchema,omitempty"`
	Servers      []string                 `json:"sdkMcpServers,omitempty"`
}

type hookSpec struct {
	Matcher   *string  `json:"matcher"` // null is every tool
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   float64  `json:"timeout"` // seconds
	OnFailure string   `json:"onFailure"`
}
