package agentframework

import (
	"github.com/holodeck-go/holodeck/internal/llm"
)

// group is what of a conversation stays or goes together: a user message, or a
// response and the results of the calls it made.
type group []llm.Message

// isPersons reports whether a group is a message that a person wrote.
func (g group) isPersons() bool { return g[0].Role == llm.RoleUser && !g[0].Auto }

// split puts a conversation into groups.
func split(history []llm.Message) []group {
	var groups []group
	for i, m := range history {
		if m.Role == llm.RoleTool && len(groups) > 0 {
			last := &groups[len(groups)-1]
			*last = append(*last, m)
			continue
		}
		groups = append(groups, history[i:i+1:i+1])
	}
	return groups
}

// join puts groups together again.
func join(groups []group) []llm.Message {
	var history []llm.Message
	for _, g := range groups {
		history = append(history, g...)
	}
	return history
}

// currentTurn returns which group began the turn under way: the last that a
// person wrote. A conversation has one.
func currentTurn(groups []group) int {
	for i := len(groups) - 1; i > 0; i-- {
		if groups[i].isPersons() {
			return i
		}
	}
	return 0
}
