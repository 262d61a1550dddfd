package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// WithSkill returns a set that has a skill of the agent file as well, in its
// place there. It lives as long as s and needs no Close of its own.
func (s *Set) WithSkill(c *config.SkillTool, t agent.Tool) (*Set, error) {
	wider := s.derive()
	parts := s.current()
	i := slices.IndexFunc(parts, func(p part) bool { return p.file == config.Tool(c) })
	if i < 0 {
		return nil, fmt.Errorf("%s is no skill of the agent", c.Name)
	}
	parts[i] = part{file: c, members: membersOf(c, []agent.Tool{t})}
	wider.enter(&parts[i])
	if wrong := parts[i].wrong; len(wrong) > 0 {
		return nil, wrong[0]
	}
	return wider, wider.show(parts)
}

// Only returns a set of some of the agent's tools for a child agent, beside tools
// of that child's own, under the same permissions and hooks. A name is one of the
// agent file, which for an MCP server means all its tools, or a canonical one. Its
// calls are not recorded: the call that the child works for is, with all that came
// of it. The set lives as long as s and needs no Close of its own.
func (s *Set) Only(names []string, own ...agent.Tool) (*Set, error) {
	some := s.derive()
	some.recorder, some.player, some.within = nil, nil, true
	some.keep = func(e *entry) bool {
		return slices.Contains(names, e.def.Name) || slices.Contains(names, e.name)
	}
	parts := s.current()
	for i := range parts {
		some.enter(&parts[i])
	}
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.brings(name) }) {
			return nil, fmt.Errorf("there is no tool %s; there are: %s", name, strings.Join(s.now.Load().names(), ", "))
		}
	}
	parts = append(parts, part{members: callersOwn(own, true)})
	some.enter(&parts[len(parts)-1])
	return some, some.show(parts)
}

// brings reports whether a tool of that name is one of the part's, or may become
// one: which tools a server has that cannot be reached nobody knows.
func (p part) brings(name string) bool {
	if p.file == nil {
		return false
	}
	inFile := p.file.Base().Name
	if name == inFile || slices.ContainsFunc(p.entries, func(e *entry) bool { return e.def.Name == name }) {
		return true
	}
	return p.server != nil && p.server.Degraded() != "" && strings.HasPrefix(name, inFile+"__")
}

// names returns the canonical names of the tools.
func (t *table) names() []string {
	names := make([]string, len(t.order))
	for i, e := range t.order {
		names[i] = e.def.Name
	}
	return names
}

// show makes parts those of a new set. What clashes among the tools of servers is
// told at the beginning of a turn.
func (s *Set) show(parts []part) error {
	t, clashes := tableOf(parts)
	for _, p := range parts {
		if p.server != nil {
			continue
		}
		if i := slices.IndexFunc(clashes, callersFault(p)); i >= 0 {
			return clashes[i]
		}
	}
	s.parts = parts
	s.now.Store(t)
	s.recorded = t.described()
	return nil
}

// derive returns a set without tools that is made from s.
func (s *Set) derive() *Set {
	own := &Set{
		env: s.env, redactor: s.redactor, permissions: s.permissions, hooks: s.hooks, running: s.running, observe: s.observe,
		recorder: s.recorder, player: s.player, within: s.within, needsServers: s.needsServers,
		root: s, keep: s.keep, recorded: s.recorded,
	}
	own.now.Store(&table{})
	return own
}
