package testrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// sharing finds the servers that several attempts at cases share and may have
// changed: one case may then have seen what another did.
type sharing struct {
	serverOf func(tool string) string // nil: there are no such servers
	users    map[string]*users        // by server
}

// users are who called the tools of a server that may change it.
type users struct {
	attempts int
	tools    map[string]bool
}

// add counts the calls of an attempt that ran.
func (s *sharing) add(c *runs.Case) {
	if s.serverOf == nil {
		return
	}
	counted := map[string]bool{}
	for _, t := range c.Turns {
		for _, call := range t.ToolCalls {
			server := s.serverOf(call.Name)
			if server == "" {
				continue
			}
			if s.users == nil {
				s.users = map[string]*users{}
			}
			u := s.users[server]
			if u == nil {
				u = &users{tools: map[string]bool{}}
				s.users[server] = u
			}
			u.tools[call.Name] = true
			if !counted[server] {
				counted[server] = true
				u.attempts++
			}
		}
	}
}

// notes says which servers more than one attempt may have changed.
func (s *sharing) notes() []string {
	var notes []string
	for _, server := range slices.Sorted(maps.Keys(s.users)) {
		if u := s.users[server]; u.attempts > 1 {
			notes = append(notes, fmt.Sprintf("MCP server %s is shared, and %d cases called tools that may change it (%s): one may have seen what another did; scope: session gives each its own",
				server, u.attempts, strings.Join(slices.Sorted(maps.Keys(u.tools)), ", ")))
		}
	}
	return notes
}
