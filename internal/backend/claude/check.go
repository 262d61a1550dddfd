package claude

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Check refuses the CLI, which this build does not have, and warns of what only
// the CLI could do and of keys that do nothing in this agent.
func Check(a *config.Agent) []config.Problem {
	s := a.Claude
	if s == nil {
		return nil
	}
	c := &checker{section: s}
	if s.Runtime == config.ClaudeCLI {
		c.add(config.SeverityError, s.Block, "runtime", config.CodeUnsupported, noCLI, "use api or auto")
	}
	c.cliOnly(a)
	c.idle("disable_default_hooks", "secrets in tool output are always masked")
	c.idle("disable_subprocess_env_scrub", "it starts no child processes")
	switch a.Model.Provider {
	case config.ProviderOffline:
		const why = "the offline model does not think"
		c.idle("effort", why)
		c.idle("extended_thinking", why)
		c.idle("fallback_model", "the offline model is never overloaded")
	case config.ProviderAnthropic:
		if !llm.HeedsEffort(a.Model) {
			c.idle("effort", a.Model.Name+" takes none")
		}
		if t := s.ExtendedThinking; t != nil && t.Enabled {
			for _, key := range []string{"temperature", "top_p"} {
				if a.Model.Wrote(key) {
					c.add(config.SeverityWarning, a.Model.Block, key, config.CodeNoEffect, "has no effect: Claude takes none while claude.extended_thinking is on", "")
				}
			}
		}
	case config.ProviderOllama:
		if t := s.ExtendedThinking; t != nil && t.Enabled {
			c.add(config.SeverityWarning, s.Block, "extended_thinking", config.CodeNoEffect, "has no effect: ollama knows no bound for thinking", "use effort")
		}
	}
	return c.problems
}

type checker struct {
	section  *config.Claude
	problems []config.Problem
}

func (c *checker) add(sev config.Severity, b config.Block, key, code, text, hint string) {
	c.problems = append(c.problems, b.Problem(sev, key, code, text, hint))
}

// idle warns of a key that the user wrote and that does nothing.
func (c *checker) idle(key, why string) {
	if c.section.Wrote(key) {
		c.add(config.SeverityWarning, c.section.Block, key, config.CodeNoEffect, "has no effect: "+why, "")
	}
}

// missing says what is lacking without the CLI, where it is asked for.
func (c *checker) missing(asked bool, b config.Block, key, lack string) {
	if asked {
		c.add(config.SeverityWarning, b, key, config.CodeUnsupported, fmt.Sprintf("%s: %s", lack, noCLI), "")
	}
}

// cliOnly warns of what only the CLI can do.
func (c *checker) cliOnly(a *config.Agent) {
	s := c.section
	c.missing(s.WorkingDirectory != nil, s.Block, "working_directory", "there is nothing that works in a folder")
	c.missing(s.PermissionMode != "manual", s.Block, "permission_mode", "the mode is not heeded")
	c.missing(s.WebSearch, s.Block, "web_search", "there is no web search")
	if b := s.Bash; b != nil {
		c.missing(b.Enabled, b.Block, "enabled", "there is no shell")
	}
	if f := s.FileSystem; f != nil {
		c.missing(f.Read, f.Block, "read", "there is no tool that reads files")
		c.missing(f.Write, f.Block, "write", "there is no tool that writes files")
		c.missing(f.Edit, f.Block, "edit", "there is no tool that changes files")
	}
	c.missing(len(s.Agents) > 0, s.Block, "agents", "there are no sub-agents")
	c.missing(len(s.SettingSources) > 0, s.Block, "setting_sources", "no settings files are read")
	if foreign := notTools(a, s.AllowedTools); len(foreign) > 0 {
		c.missing(true, s.Block, "allowed_tools", "there is no tool "+strings.Join(foreign, " or "))
	}
}

// toolServer is the server by which the CLI offers an agent's own tools, as
// names of tools have it.
const toolServer = "mcp__holodeck_tools__"

// notTools returns which of the names, or globs, name no tool of the agent. A
// name that begins with mcp__ may be one of a server's, which only opening it
// tells.
func notTools(a *config.Agent, names []string) []string {
	own := func(glob string) bool {
		return slices.ContainsFunc(a.Tools, func(t config.Tool) bool {
			name := t.Base().Name
			for _, n := range []string{name, name + "_search", toolServer + name, toolServer + name + "_search"} {
				if ok, _ := path.Match(glob, n); ok {
					return true
				}
			}
			return false
		})
	}
	var foreign []string
	for _, name := range names {
		server := strings.HasPrefix(name, "mcp__") && !strings.HasPrefix(name, toolServer)
		if !server && !own(name) {
			foreign = append(foreign, name)
		}
	}
	return foreign
}
