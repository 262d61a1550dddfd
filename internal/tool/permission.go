package tool

import (
	"context"
	"encoding/json"
	"fmt"
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

// rule is what permissions say of one tool. It holds what is said of some of its
// calls, too, which their arguments tell.
type rule struct {
	deny, ask []clause
	allow     []allowance
}

// clause is an entry of a list that means a tool.
type clause struct {
	config.ToolPattern
	reason string
}

// allowance is a list that a tool must be in: the entries that mean it.
type allowance struct {
	path    string
	entries []config.ToolPattern
}

// patterns is one list of patterns of calls in the agent file. Tools are named by
// canonical names, or as the file does, for a person who denies a tool writes the
// name that stands there.
type patterns struct {
	block   config.Block // the section the list stands in
	key     string       // its key there
	path    string       // such as "permissions.ask"
	entries []string
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

// all returns the names.
func (n toolNames) all() []string { return append([]string{n.canonical, n.inFile}, n.wire...) }

// clauses returns the entries of the list that mean a tool. What is no pattern of
// ours, as the Claude Code CLI has others, means none.
func (p patterns) clauses(n toolNames) []clause {
	var list []clause
	for _, entry := range p.entries {
		if pattern, err := config.ParseToolPattern(entry); err == nil && pattern.MatchesTool(n.all()...) {
			list = append(list, clause{pattern, fmt.Sprintf("%s has %q", p.path, entry)})
		}
	}
	return list
}

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
	list := func(b config.Block, key string, entries []string) []patterns {
		if entries == nil && !b.Wrote(key) {
			return nil
		}
		path := key
		if b.Path() != "" {
			path = b.Path() + "." + key
		}
		return []patterns{{block: b, key: key, path: path, entries: entries}}
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

// of returns what the permissions say of a tool.
func (p permissions) of(n toolNames) rule {
	var r rule
	for _, list := range p.deny {
		r.deny = append(r.deny, list.clauses(n)...)
	}
	for _, list := range p.ask {
		r.ask = append(r.ask, list.clauses(n)...)
	}
	for _, list := range p.allow {
		a := allowance{path: list.path}
		for _, c := range list.clauses(n) {
			a.entries = append(a.entries, c.ToolPattern)
		}
		r.allow = append(r.allow, a)
	}
	return r
}

// all returns every list, for checking them.
func (p permissions) all() []patterns { return slices.Concat(p.deny, p.ask, p.allow) }

// never reports whether no call of the tool is allowed, whatever its arguments.
func (r rule) never() bool {
	return slices.ContainsFunc(r.deny, func(c clause) bool { return !c.Conditional() }) ||
		len(r.ask) == 0 && slices.ContainsFunc(r.allow, func(a allowance) bool { return len(a.entries) == 0 })
}

// decide returns what the rule says of a call, and which key says so: deny wins
// over ask, and ask over allow.
func (r rule) decide(args json.RawMessage) (decision, string) {
	means := func(c clause) bool { return c.MatchesArguments(args) }
	if i := slices.IndexFunc(r.deny, means); i >= 0 {
		return refused, r.deny[i].reason
	}
	if i := slices.IndexFunc(r.ask, means); i >= 0 {
		return asked, r.ask[i].reason
	}
	for _, a := range r.allow {
		if !slices.ContainsFunc(a.entries, func(p config.ToolPattern) bool { return p.MatchesArguments(args) }) {
			if len(a.entries) > 0 {
				return refused, a.path + " does not have it with these arguments"
			}
			return refused, a.path + " does not have it"
		}
	}
	return allowed, ""
}

// refuse returns why a call is refused that nobody need be asked about.
func (r rule) refuse(c Call) error {
	if decision, reason := r.decide(c.Arguments); decision == refused {
		return fmt.Errorf("%s may not be called: %s", c.Name, reason)
	}
	return nil
}

// permit refuses what the rule refuses, and asks where it says so; agreed says that
// a person was asked and agreed.
func (r rule) permit(ctx context.Context, c Call) (agreed bool, err error) {
	if err := r.refuse(c); err != nil {
		return false, err
	}
	if decision, reason := r.decide(c.Arguments); decision == asked {
		return true, ask(ctx, c, reason)
	}
	return false, nil
}

// permission lets only calls through that the rule permits.
func permission(r rule) Link {
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			if _, err := r.permit(ctx, c); err != nil {
				return agent.ToolResult{}, err
			}
			return next(ctx, c)
		}
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
