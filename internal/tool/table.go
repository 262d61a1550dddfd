package tool

import (
	"errors"
	"fmt"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// part is what one entry of the agent file's tools list, or a caller, brings
// into a Set.
type part struct {
	file    config.Tool // the entry; nil for tools of which no file speaks
	members []member
	config  *config.MCPTool // nil unless the part is an MCP server
	server  server          // nil where nobody talks to it
	version int             // of the server's tools that the members are
	session bool            // the server is one session's own
	// perSession opens the server for a session; nil when all share one.
	perSession *perSession

	entries []*entry // what the members became
	wrong   []error  // members of a server that could not become one
}

// member is a tool that is to enter a Set.
type member struct {
	tool   agent.Tool
	name   string // as agent.yaml names it; the canonical name when it does not
	where  string // names it in messages, such as "tools[2]"
	caller bool   // the caller of a session brought it
	bound  bound
}

// entry is a tool of a Set and the chain its calls go through.
type entry struct {
	member
	def    agent.Definition
	rule   rule
	handle Handler
}

// table is the tools of a Set at one time. It does not change.
type table struct {
	entries map[string]*entry // by canonical name
	order   []*entry          // as the file has them
}

// partOf returns what an entry of the agent file, opened, brings along.
func partOf(c config.Tool, o opened) part {
	p := part{file: c, server: o.server, perSession: o.perSession}
	p.config, _ = c.(*config.MCPTool)
	tools := o.tools
	if p.server != nil {
		tools, p.version = p.server.Tools()
	}
	p.members = membersOf(c, tools)
	return p
}

// membersOf returns tools as the agent file has them.
func membersOf(c config.Tool, tools []agent.Tool) []member {
	b := c.Base()
	key := ".timeout"
	if b.Type == config.ToolMCP {
		key = ".request_timeout"
	}
	members := make([]member, len(tools))
	for i, t := range tools {
		members[i] = member{
			tool: t, name: b.Name, where: b.Path(),
			bound: bound{limit: time.Duration(b.Timeout * float64(time.Second)), key: b.Path() + key, asks: b.Type == config.ToolMCP},
		}
	}
	return members
}

// callersOwn returns tools that no agent file speaks of; late says that they join
// an agent's for one session.
func callersOwn(tools []agent.Tool, late bool) []member {
	members := make([]member, len(tools))
	for i, t := range tools {
		name := t.Definition().Name
		members[i] = member{tool: t, name: name, where: "the caller's tool " + name, caller: late, bound: bound{limit: DefaultTimeout}}
	}
	return members
}

// begin gives a set its parts. The error names what cannot be a tool, or cannot
// stand beside what.
func (s *Set) begin(parts []part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range parts {
		s.enter(&parts[i])
		if parts[i].server == nil && len(parts[i].wrong) > 0 {
			return parts[i].wrong[0]
		}
	}
	t, clashes := tableOf(parts)
	if len(clashes) > 0 {
		return clashes[0]
	}
	s.parts = parts
	s.now.Store(t)
	s.describe(t)
	s.recorded = t.described()
	return nil
}

// enter makes the members of a part into entries.
func (s *Set) enter(p *part) {
	p.entries, p.wrong = nil, nil
	for _, m := range p.members {
		e, err := s.entryOf(m)
		if err != nil {
			p.wrong = append(p.wrong, err)
			continue
		}
		if p.file == nil || s.keep == nil || s.keep(e) {
			p.entries = append(p.entries, e)
		}
	}
}

// entryOf puts a tool behind the chain.
func (s *Set) entryOf(m member) (*entry, error) {
	def := m.tool.Definition()
	compiled, err := schema.Compile(def.Schema)
	if err != nil {
		return nil, &agent.ToolError{Tool: def.Name, Err: fmt.Errorf("%s: schema of its arguments: %w", m.where, err)}
	}
	r := s.permissions.of(namesOf(m, def))
	return &entry{member: m, def: def, rule: r, handle: s.chain(m, r, compiled)}, nil
}

// tableOf puts the entries of parts together. Of two of one name the first
// stays, and the other is told of.
func tableOf(parts []part) (*table, []error) {
	t := &table{entries: map[string]*entry{}}
	var clashes []error
	for i := range parts {
		for _, e := range parts[i].entries {
			other, taken := t.entries[e.def.Name]
			if taken {
				clashes = append(clashes, &agent.ToolError{Tool: e.def.Name, Err: clash(other, e)})
				continue
			}
			t.entries[e.def.Name] = e
			t.order = append(t.order, e)
		}
	}
	return t, clashes
}

// clash says that two tools have one name.
func clash(first, second *entry) error {
	if second.caller && !first.caller {
		return errors.New(second.where + " has the name of a tool of the agent; rename one of them")
	}
	return fmt.Errorf("%s and %s are both called %s; rename one of them", first.where, second.where, second.def.Name)
}

// describe tells a recorder what models are told of the tools, so that a replay
// knows them without opening any.
func (s *Set) describe(t *table) {
	if s.recorder == nil {
		return
	}
	for _, d := range t.described() {
		s.recorder.Describe(describedTool, d.Definition.Name, d)
	}
}

// described returns what a cassette has of the tools of the agent file.
func (t *table) described() []described {
	var list []described
	for _, e := range t.order {
		if !e.caller {
			list = append(list, described{e.name, e.def})
		}
	}
	return list
}
