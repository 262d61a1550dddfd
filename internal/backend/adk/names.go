//go:build !noadk

package adk

import "strings"

// agentName makes of an agent's name an identifier, as ADK wants it. Two names are
// taken: the person's, and that of the first node of a workflow.
func agentName(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
	if id == "" || '0' <= id[0] && id[0] <= '9' || id == "user" || id == "START" {
		id = "agent_" + id
	}
	return id
}
