package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/prompt"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// Check says what is wrong with the templates, parameters, programs and scripts of
// an agent's tools and hooks, and with its permissions.
func Check(a *config.Agent) []config.Problem {
	var problems []config.Problem
	for _, t := range a.Tools {
		if p, ok := t.(*config.PromptTool); ok {
			problems = append(problems, prompt.Check(p)...)
		}
	}
	return slices.Concat(problems, checkParameters(a), checkScripts(a), checkPrograms(a), checkPermissions(a), checkHooks(a))
}

// checkScripts finds scripts of function tools that are no Starlark, or have no
// such function. None is run.
func checkScripts(a *config.Agent) []config.Problem {
	var problems []config.Problem
	for _, t := range a.Tools {
		f, ok := t.(*config.FunctionTool)
		if !ok || f.Script == "" || a.Replay {
			continue
		}
		if err := worker.CheckScript(f.Block.File("script", f.Script), f.Entry()); err != nil {
			problems = append(problems, f.Problem(config.SeverityError, "script", config.CodeValue, err.Error(), ""))
		}
	}
	return problems
}

// canonicalName returns the name events, reports and permissions know a tool
// by, and false where only opening it tells: an MCP server has many.
func canonicalName(t config.Tool) (string, bool) {
	switch t.(type) {
	case *config.VectorstoreTool, *config.HierarchicalDocumentTool:
		return t.Base().Name + "_search", true
	case *config.MCPTool:
		return "", false
	}
	return t.Base().Name, true
}

// known returns the names of an agent's tools as far as the file tells, and
// whether that is all that a pattern may mean.
func known(a *config.Agent) (names []toolNames, complete bool) {
	// What was left out, and what the Claude CLI brings along, may be what a
	// pattern means.
	complete = !a.Offline && a.Runtime != config.BackendClaude
	for _, t := range a.Tools {
		canonical, ok := canonicalName(t)
		complete = complete && ok
		names = append(names, toolNames{canonical: canonical, inFile: t.Base().Name})
	}
	return names, complete
}

// checkHooks finds scripts of hooks that are no Starlark, and warns of hooks that
// are for no tool.
func checkHooks(a *config.Agent) []config.Problem {
	names, complete := known(a)
	var problems []config.Problem
	for i := range a.Hooks {
		h := &a.Hooks[i]
		if h.Script != "" && !a.Replay {
			if err := worker.CheckScript(h.Block.File("script", h.Script), h.Entry()); err != nil {
				problems = append(problems, h.Problem(config.SeverityError, "script", config.CodeValue, err.Error(), ""))
			}
		}
		tool := ""
		if h.Tool != nil {
			tool = *h.Tool
		}
		p, err := config.NewToolPattern(tool, h.Arguments)
		if err != nil || !complete {
			continue
		}
		problems = append(problems, checkArguments(a, h.Block, h.Path()+".arguments", "arguments", p)...)
		if h.Tool != nil && !slices.ContainsFunc(names, func(n toolNames) bool { return p.MatchesTool(n.all()...) }) {
			problems = append(problems, h.Problem(config.SeverityWarning, "tool", config.CodeNoEffect,
				fmt.Sprintf("%q matches none of the agent's tools", *h.Tool), suggest(*h.Tool, names)))
		}
	}
	return problems
}

// checkPermissions warns of patterns that match no tool: one that someone
// meant to deny would be called. Config refuses what is no pattern.
func checkPermissions(a *config.Agent) []config.Problem {
	names, complete := known(a)
	var problems []config.Problem
	for _, list := range permissionsOf(a).all() {
		for i, entry := range list.entries {
			p, err := config.ParseToolPattern(entry)
			if err == nil && complete {
				problems = append(problems, checkArguments(a, list.block, fmt.Sprintf("%s[%d]", list.path, i), list.key, p)...)
			}
			if err != nil || !complete || slices.ContainsFunc(names, func(n toolNames) bool { return p.MatchesTool(n.all()...) }) {
				continue
			}
			problems = append(problems, config.Problem{
				Path: fmt.Sprintf("%s[%d]", list.path, i), Pos: list.block.PosOf(list.key),
				Severity: config.SeverityWarning, Code: config.CodeNoEffect,
				Text: fmt.Sprintf("%q matches none of the agent's tools", entry), Hint: suggest(p.Tool, names),
			})
		}
	}
	return problems
}

// suggest returns what to write instead of a pattern: the tool whose name is
// near, or else the names there are.
func suggest(glob string, names []toolNames) string {
	if len(names) == 0 {
		return "it has none"
	}
	canonical, all := make([]string, len(names)), make([]string, 0, 2*len(names))
	for i, n := range names {
		canonical[i] = n.canonical
		all = append(all, n.canonical, n.inFile)
	}
	if best := config.Nearest(glob, all); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "they are " + strings.Join(canonical, ", ")
}
