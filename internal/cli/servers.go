package cli

import (
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// sharedServers returns what names the MCP server that all sessions of the agent
// share and that a call of a tool may change; "" for every other tool.
func sharedServers(a *config.Agent, set *tool.Set) func(name string) string {
	shared := map[string]bool{}
	for _, t := range a.Tools {
		if server, ok := t.(*config.MCPTool); ok && server.Scope != config.MCPSession {
			shared[server.Name] = true
		}
	}
	if len(shared) == 0 {
		return nil
	}
	return func(name string) string {
		for _, d := range set.Definitions() {
			server, ok := strings.CutPrefix(d.Source, "mcp:")
			if ok && d.Name == name && !d.ReadOnly && shared[server] {
				return server
			}
		}
		return ""
	}
}
