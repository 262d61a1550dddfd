package tool

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// decision is what permissions say of a tool.
type decision int

const (
	allowed decision = iota
	asked            // a person decides at each call
	refused
)

// rule is what permissions say of one tool, and which key says it.
type rule struct {
	decision decision
	reason   string
}

// patterns is one list of tool names in the agent file: canonical ones, or
// those the file gives its tools, for a person who denies a tool writes the name
// that stands there. A name may hold the wildcards of [path.Match].
type patterns struct {
	block config.Block // the section the list stands in
	key   string       // its key there
	path  string       // such as "permissions.ask"
	globs []string
}

// toolNames is what a tool is called. The tool of an MCP server has the names,
// too, by which other runtimes offer it.
type toolNames struct {
	canonical, inFile string
	wire              []string
}

// namesOf returns what a tool is called.
func namesOf(m member, def agent.Definition) toolNames {
	n := toolNames{canonical: def.Name, inFile: m.name}
	if server, ok := strings.CutPrefix(def.Source, "mcp:"); ok {
		n.wire = []string{"mcp__" + def.Name, server + "-" + strings.TrimPrefix(def.Name, server+"__")}
	}
	return n
}

// match returns the glob that matches a tool, if one does.
func (p patterns) match(n toolNames) (string, bool) {
	for _, glob := range p.globs {
		for _, name := range append([]string{n.canonical, n.inFile}, n.wire...) {
			if ok, _ := path.Match(glob, name); ok {
				return glob, true
			}
		}
	}
	return "", false
}

func (p patterns) matches(n toolNames) bool { _, ok := p.match(n); return ok }

// permissions is what an agent file says on which tools may be called. The
// zero value allows all.
type permissions struct {
	deny, ask []patterns
	allow     []patterns // a tool must be in every one
}

// permissionsOf reads the permissions of an agent. The claude section counts only
// on its own runtime, and the openai section only where its own runtime and an
// OpenAI model run it. claude.allowed_tools is none of them: it lets the Claude
// Code CLI call more than the agent's tools, and forbids nothing.
func permissionsOf(a *config.Agent) permissions {
	var p permissions
	list := func(b config.Block, key string, globs []string) []patterns {
		if globs == nil && !b.Wrote(key) {
			return nil
		}
		path := key
		if b.Path() != "" {
			path = b.Path() + "." + key
		}
		return []patterns{{block: b, key: key, path: path, globs: globs}}
	}
	if root := a.Permissions; root != nil {
		p.deny = list(root.Block, "disallowed_tools", root.DisallowedTools)
		p.ask = list(root.Block, "ask", root.Ask)
		p.allow = list(root.Block, "allowed_tools", root.AllowedTools)
	}
	if c := a.Claude; c != nil && a.Runtime == config.BackendClaude {
		p.deny = append(p.deny, list(c.Block, "disallowed_tools", withoutServer(c.DisallowedTools))...)
	}
	if !a.UsesOpenAI() { // under --offline a tool that was denied stays denied
		return p
	}
	p.deny = append(p.deny, list(a.OpenAI.Block, "disallowed_tools", a.OpenAI.DisallowedTools)...)
	if own := a.OpenAI.Permissions; own != nil {
		p.deny = append(p.deny, list(own.Block, "disallowed_tools", own.DisallowedTools)...)
		p.allow = append(p.allow, list(own.Block, "allowed_tools", own.AllowedTools)...)
	}
	return p
}

// withoutServer returns names of tools as the Claude Code CLI has them, which
// offers every tool by a server, without what says so.
func withoutServer(names []string) []string {
	own := make([]string, len(names))
	for i, name := range names {
		own[i] = strings.TrimPrefix(strings.TrimPrefix(name, "mcp__"), "holodeck_tools__")
	}
	return own
}

// of returns what the permissions say of a tool: deny wins over ask, and ask
// over allow.
func (p permissions) of(n toolNames) rule {
	for _, list := range p.deny {
		if glob, ok := list.match(n); ok {
			return rule{refused, fmt.Sprintf("%s has %q", list.path, glob)}
		}
	}
	for _, list := range p.ask {
		if glob, ok := list.match(n); ok {
			return rule{asked, fmt.Sprintf("%s has %q", list.path, glob)}
		}
	}
	for _, list := range p.allow {
		if _, ok := list.match(n); !ok {
			return rule{refused, fmt.Sprintf("%s does not have it", list.path)}
		}
	}
	return rule{decision: allowed}
}

// all returns every list, for checking them.
func (p permissions) all() []patterns { return slices.Concat(p.deny, p.ask, p.allow) }

// permission refuses what the rule refuses and asks where it says so.
func permission(r rule) Link {
	return func(next Handler) Handler {
		switch r.decision {
		case refused:
			return func(_ context.Context, c Call) (agent.ToolResult, error) {
				return agent.ToolResult{}, fmt.Errorf("%s may not be called: %s", c.Name, r.reason)
			}
		case asked:
			return func(ctx context.Context, c Call) (agent.ToolResult, error) {
				if err := ask(ctx, c, r.reason); err != nil {
					return agent.ToolResult{}, err
				}
				return next(ctx, c)
			}
		}
		return next
	}
}

func ask(ctx context.Context, c Call, reason string) error {
	if c.Approver == nil {
		return fmt.Errorf("%s may not be called without a person's consent (%s), and nobody can be asked here", c.Name, reason)
	}
	err := c.Approver.Approve(ctx, agent.ApprovalRequest{Tool: c.Name, CallID: c.ID, Arguments: c.Arguments, Reason: reason})
	if err != nil {
		return fmt.Errorf("%s was not allowed: %w", c.Name, err)
	}
	return nil
}
