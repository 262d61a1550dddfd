package claude

import (
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/proc"
)

// Check says what is wrong with an agent on the way it runs, what is missing for
// it, and which keys do nothing there.
func Check(a *config.Agent) []config.Problem {
	c := &checker{agent: a, section: a.Claude}
	if c.section == nil {
		c.section = &config.Claude{PermissionMode: "manual"}
	}
	_, err := find(a)
	switch {
	case a.Model.Provider == config.ProviderOffline || c.section.Runtime == config.ClaudeAPI:
		c.onAPI("with claude.runtime: api")
	case err == nil:
		c.onCLI()
	case c.section.Runtime != config.ClaudeCLI:
		if named := a.Variable(pathVariable); named != "" && named != pathOff && !a.Replay {
			c.add(config.SeverityWarning, c.section.Block, "runtime", config.CodeReference, err.Error(), "our own loop runs the agent")
		}
		c.onAPI("without the Claude Code CLI")
	case !a.Replay: // what is played from a record needs no CLI
		c.add(config.SeverityError, c.section.Block, "runtime", config.CodeUnsupported, err.Error(), "use api or auto")
	}
	return c.problems
}

type checker struct {
	agent    *config.Agent
	section  *config.Claude
	problems []config.Problem
}

func (c *checker) add(sev config.Severity, b config.Block, key, code, text, hint string) {
	c.problems = append(c.problems, b.Problem(sev, key, code, text, hint))
}

// idle warns of a key that the user wrote and that does nothing.
func (c *checker) idle(b config.Block, key, why string) {
	if b.Wrote(key) {
		c.add(config.SeverityWarning, b, key, config.CodeNoEffect, "has no effect: "+why, "")
	}
}

// onCLI checks an agent that the CLI runs.
func (c *checker) onCLI() {
	a, s := c.agent, c.section
	if !a.Replay {
		for _, m := range credentialsOf(a).missing {
			c.add(config.SeverityError, a.Model.Block, m.key, config.CodeCredential, m.text, m.hint)
		}
		c.sandbox()
	}
	for _, key := range []string{"temperature", "top_p", "max_tokens"} {
		c.idle(a.Model.Block, key, "the Claude Code CLI takes none; claude.runtime: api does")
	}
	if f := a.ToolFiltering; f != nil && f.Enabled {
		c.idle(f.Block, "enabled", "the Claude Code CLI is told of all tools once; claude.runtime: api chooses them anew in every turn")
	}
	if foreign := notTools(a, s.AllowedTools, true); len(foreign) > 0 {
		c.add(config.SeverityWarning, s.Block, "allowed_tools", config.CodeNoEffect, "there is no tool "+strings.Join(foreign, " or "), "")
	}
	for _, name := range sortedNames(s.Agents) {
		sub := s.Agents[name]
		if foreign := notTools(a, sub.Tools, true); len(foreign) > 0 {
			c.add(config.SeverityWarning, sub.Block, "tools", config.CodeNoEffect, "there is no tool "+strings.Join(foreign, " or "), "")
		}
	}
}

// sandbox checks what the CLI asks of the machine.
func (c *checker) sandbox() {
	a, s := c.agent, c.section
	if s.PermissionMode == "acceptAll" && os.Geteuid() == 0 && a.Variable(sandboxVariable) == "" {
		c.add(config.SeverityError, s.Block, "permission_mode", config.CodeUnsupported,
			"the Claude Code CLI refuses acceptAll to root", "run as another user, or set "+sandboxVariable+"=1 in a container")
	}
	if runtime.GOOS != "linux" || !scrubbed(a) {
		return
	}
	if _, err := proc.Look("bwrap", lookup(a)); err == nil {
		return
	}
	block, key := s.Block, "allowed_tools"
	if s.Bash != nil && s.Bash.Enabled {
		block, key = s.Bash.Block, "enabled"
	}
	c.add(config.SeverityError, block, key, config.CodeUnsupported,
		"the Claude Code CLI keeps its credentials from commands with bubblewrap, and there is no bwrap on PATH",
		"install bubblewrap, or set claude.disable_subprocess_env_scrub: true")
}

// onAPI checks an agent that our own loop runs.
func (c *checker) onAPI(way string) {
	a, s := c.agent, c.section
	c.cliOnly(way)
	c.idle(s.Block, "disable_default_hooks", "secrets in tool output are always masked "+way)
	c.idle(s.Block, "disable_subprocess_env_scrub", "no child processes are started "+way)
	switch a.Model.Provider {
	case config.ProviderOffline:
		const why = "the offline model does not think"
		c.idle(s.Block, "effort", why)
		c.idle(s.Block, "extended_thinking", why)
		c.idle(s.Block, "fallback_model", "the offline model is never overloaded")
	case config.ProviderAnthropic:
		if !llm.HeedsEffort(a.Model) {
			c.idle(s.Block, "effort", a.Model.Name+" takes none")
		}
		if t := s.ExtendedThinking; t != nil && t.Enabled {
			for _, key := range []string{"temperature", "top_p"} {
				c.idle(a.Model.Block, key, "Claude takes none while claude.extended_thinking is on")
			}
		}
	case config.ProviderOllama:
		if t := s.ExtendedThinking; t != nil && t.Enabled {
			c.add(config.SeverityWarning, s.Block, "extended_thinking", config.CodeNoEffect, "has no effect: ollama knows no bound for thinking", "use effort")
		}
	}
}

// cliOnly warns of what only the CLI can do.
func (c *checker) cliOnly(way string) {
	s := c.section
	missing := func(asked bool, b config.Block, key, lack string) {
		if asked {
			c.add(config.SeverityWarning, b, key, config.CodeUnsupported, lack+" "+way, "")
		}
	}
	missing(s.WorkingDirectory != nil, s.Block, "working_directory", "there is nothing that works in a folder")
	missing(s.PermissionMode != "manual", s.Block, "permission_mode", "there is nothing to allow")
	missing(s.WebSearch, s.Block, "web_search", "there is no web search")
	if b := s.Bash; b != nil {
		missing(b.Enabled, b.Block, "enabled", "there is no shell")
	}
	if f := s.FileSystem; f != nil {
		missing(f.Read, f.Block, "read", "there is no tool that reads files")
		missing(f.Write, f.Block, "write", "there is no tool that writes files")
		missing(f.Edit, f.Block, "edit", "there is no tool that changes files")
	}
	missing(len(s.Agents) > 0, s.Block, "agents", "there are no sub-agents")
	missing(len(s.SettingSources) > 0, s.Block, "setting_sources", "no settings files are read")
	if foreign := notTools(c.agent, s.AllowedTools, false); len(foreign) > 0 {
		missing(true, s.Block, "allowed_tools", "there is no tool "+strings.Join(foreign, " or "))
	}
}

// notTools returns which of the names, or globs, name no tool of the agent, or,
// where the CLI has its own, none of those. A name that begins with mcp__ may be
// one of a server's, which only opening it tells.
func notTools(a *config.Agent, names []string, cli bool) []string {
	own := func(glob string) bool {
		return slices.ContainsFunc(a.Tools, func(t config.Tool) bool {
			name := t.Base().Name
			for _, n := range []string{name, name + "_search", wirePrefix + name, wirePrefix + name + "_search"} {
				if ok, _ := path.Match(glob, n); ok {
					return true
				}
			}
			_, server := t.(*config.MCPTool)
			return server && strings.HasPrefix(glob, name+"__")
		})
	}
	var foreign []string
	for _, name := range names {
		server := strings.HasPrefix(name, "mcp__") && !strings.HasPrefix(name, wirePrefix)
		if !server && !own(name) && !(cli && slices.Contains(builtIn[:], toolName(name))) {
			foreign = append(foreign, name)
		}
	}
	return foreign
}

func sortedNames(agents map[string]config.Subagent) []string {
	names := make([]string, 0, len(agents))
	for name := range agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
