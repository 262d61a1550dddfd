package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/claudecode"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/proc"
)

// The built-in tools of the CLI, as it calls them.
const (
	toolBash      = "Bash"
	toolRead      = "Read"
	toolGlob      = "Glob"
	toolGrep      = "Grep"
	toolWrite     = "Write"
	toolEdit      = "Edit"
	toolWebSearch = "WebSearch"
	toolWebFetch  = "WebFetch"
	toolAgent     = "Task"

	toolAgentShown = "Agent" // what the model knows toolAgent as
)

// builtIn are the tools that claude.allowed_tools may name beside an agent's own.
var builtIn = [...]string{
	toolBash, toolRead, toolGlob, toolGrep, toolWrite, toolEdit, toolWebSearch, toolWebFetch, toolAgent, toolAgentShown,
	"NotebookEdit", "TodoWrite", "LS", "MultiEdit", "BashOutput", "KillShell", "Skill",
}

// risky are the built-in tools that are refused where an agent did not ask for
// them, as a second lock beside not offering them.
var risky = [...]string{toolBash, toolWrite, toolEdit, toolWebFetch}

// toolName returns the name of the tool that an entry such as "Bash(git *)"
// speaks of.
func toolName(entry string) string {
	name, _, _ := strings.Cut(entry, "(")
	return name
}

// offered returns the built-in tools that the file of an agent asks for.
func offered(a *config.Agent) []string {
	s := a.Claude
	if s == nil {
		return nil
	}
	var tools []string
	add := func(asked bool, names ...string) {
		for _, name := range names {
			if asked && !slices.Contains(tools, name) {
				tools = append(tools, name)
			}
		}
	}
	if f := s.FileSystem; f != nil {
		add(f.Read, toolRead, toolGlob, toolGrep)
		add(f.Write, toolWrite)
		add(f.Edit, toolEdit)
	}
	add(s.Bash != nil && s.Bash.Enabled, toolBash)
	add(s.WebSearch, toolWebSearch)
	add(len(s.Agents) > 0, toolAgent)
	for _, entry := range s.AllowedTools {
		if name := toolName(entry); slices.Contains(builtIn[:], name) {
			if name == toolAgentShown {
				name = toolAgent
			}
			add(true, name)
		}
	}
	return tools
}

// launch returns what every session of an agent starts the CLI with.
func launch(a *config.Agent, path string, version claudecode.Version, state string) (claudecode.Options, error) {
	s := a.Claude
	if s == nil {
		s = &config.Claude{PermissionMode: "manual"}
	}
	o := claudecode.Options{
		Path: path, Version: version, Model: a.Model.Name, SystemPrompt: a.Prompt.Text,
		Dir: a.Dir, Tools: offered(a), Schema: a.Schema,
	}
	if s.WorkingDirectory != nil {
		o.Dir = s.File("working_directory", *s.WorkingDirectory)
	}
	if s.FallbackModel != nil {
		o.FallbackModel = *s.FallbackModel
	}
	if s.Effort != nil {
		o.Effort = string(*s.Effort)
	}
	o.ThinkingTokens = new(int) // the CLI's own default is to think
	if t := s.ExtendedThinking; t != nil && t.Enabled {
		o.ThinkingTokens = &t.BudgetTokens
	} else if s.Effort != nil {
		o.ThinkingTokens = nil
	}
	for _, source := range s.SettingSources {
		if source == "all" {
			o.SettingSources = []string{"user", "project", "local"}
			break
		}
		o.SettingSources = append(o.SettingSources, string(source))
	}
	o.AllowedTools = allowed(s)
	o.DisallowedTools = disallowed(s, o.Tools)
	var err error
	if o.Agents, err = agents(a, s); err != nil {
		return o, err
	}
	o.Env = environment(a, s, o, state)
	return o, nil
}

// allowed returns which built-in tools need no permission.
func allowed(s *config.Claude) []string {
	list := slices.Clone(s.AllowedTools)
	if s.WebSearch {
		list = append(list, toolWebSearch)
	}
	if s.Bash != nil && s.Bash.Enabled && s.Bash.AllowUnsafe {
		list = append(list, toolBash)
	}
	if len(s.Agents) > 0 {
		list = append(list, toolAgent, toolAgentShown)
	}
	return list
}

// disallowed returns which built-in tools, and which commands, are never run.
func disallowed(s *config.Claude, offered []string) []string {
	var list []string
	for _, name := range risky {
		if !slices.Contains(offered, name) {
			list = append(list, name)
		}
	}
	if s.Bash != nil {
		for _, command := range s.Bash.ExcludedCommands {
			list = append(list, toolBash+"("+command+")", toolBash+"("+command+" *)")
		}
	}
	for _, entry := range s.DisallowedTools {
		if slices.Contains(builtIn[:], toolName(entry)) { // the others are not offered
			list = append(list, entry)
		}
	}
	return list
}

// agents returns the sub-agents of the claude section.
func agents(a *config.Agent, s *config.Claude) (map[string]claudecode.Agent, error) {
	if len(s.Agents) == 0 {
		return nil, nil
	}
	list := make(map[string]claudecode.Agent, len(s.Agents))
	for name, sub := range s.Agents {
		out := claudecode.Agent{Description: sub.Description}
		switch {
		case sub.Prompt != nil:
			out.Prompt = *sub.Prompt
		case sub.PromptFile != nil:
			text, err := os.ReadFile(sub.File("prompt_file", *sub.PromptFile))
			if err != nil {
				return nil, fmt.Errorf("claude.agents.%s.prompt_file: %w", name, err)
			}
			out.Prompt = string(text)
		}
		for _, tool := range sub.Tools {
			out.Tools = append(out.Tools, subagentTool(a, tool))
		}
		if sub.Model != nil {
			out.Model = string(*sub.Model)
		}
		list[name] = out
	}
	return list, nil
}

// subagentTool returns a tool of a sub-agent as the CLI calls it: a tool of the
// agent by its name, or by that of a search tool.
func subagentTool(a *config.Agent, name string) string {
	for _, t := range a.Tools {
		own := t.Base().Name
		if name != own && name != own+"_search" {
			continue
		}
		switch t.(type) {
		case *config.MCPTool:
			return "mcp__" + own
		case *config.VectorstoreTool, *config.HierarchicalDocumentTool:
			return wirePrefix + own + "_search"
		}
		return wirePrefix + own
	}
	if server, tool, ok := strings.Cut(name, "__"); ok && server != "mcp" {
		return "mcp__" + server + "__" + tool
	}
	return name
}

// environment returns what the CLI sees of our environment: how it reaches its
// model, the short list that every program gets, and where it keeps its files.
// Unless it is to read the settings of the machine those are the agent's own.
func environment(a *config.Agent, s *config.Claude, o claudecode.Options, state string) []string {
	env := proc.Inherited(lookup(a))
	env = append(env, credentialsOf(a).env...)
	env = append(env,
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	)
	if !slices.Contains(o.SettingSources, "user") {
		env = append(env, "CLAUDE_CONFIG_DIR="+state)
	}
	if scrubbed(a) {
		env = append(env, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=1")
	}
	if value := a.Variable(sandboxVariable); value != "" {
		env = append(env, sandboxVariable+"="+value)
	}
	return env
}

// sandboxVariable says to the CLI that the machine is of no worth, so that root may
// let it do anything.
const sandboxVariable = "IS_SANDBOX"

// scrubbed reports whether the CLI keeps its environment from the commands it runs.
func scrubbed(a *config.Agent) bool {
	return slices.Contains(offered(a), toolBash) && !a.Claude.DisableSubprocessEnvScrub
}

// The modes of the CLI.
const (
	modeAsk   = "default"
	modeEdits = "acceptEdits"
	modeAll   = "bypassPermissions"
)

// permissionMode returns how the CLI asks, for whom a session is.
func permissionMode(s *config.Claude, mode agent.Mode) string {
	asked := config.PermissionMode("manual")
	if s != nil && s.PermissionMode != "" {
		asked = s.PermissionMode
	}
	switch {
	case asked == "acceptAll":
		return modeAll
	case asked == "acceptEdits", mode == agent.ModeChat, mode == agent.ModeServe:
		return modeEdits
	}
	return modeAsk
}

// stateDir returns where the CLI keeps the conversations of an agent.
func stateDir(a *config.Agent) (string, error) {
	state, err := durable.StateDir(a.Dir, a.Variable)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, "claude")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the Claude Code CLI: %w", err)
	}
	return dir, nil
}
