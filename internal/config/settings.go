package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Settings is a config.yaml, the user's or the project's.
type Settings struct {
	Block
	Providers    map[string]Model       `key:"providers" rule:"partial" doc:"Provider profiles by name; model.provider may name one."`
	Vectorstores map[string]Vectorstore `key:"vectorstores" doc:"Stores by name; tools[].database may name one."`
	Execution    *Execution             `key:"execution" doc:"Defaults of every agent's execution section."`
	Deployment   *Deployment            `key:"deployment" rule:"partial" doc:"Defaults of every agent's deployment section."`
	MCPServers   []Tool                 `key:"mcp_servers" doc:"MCP servers every agent gets."`
}

// Vectorstore is a named store of a config.yaml.
type Vectorstore struct {
	Block
	Provider         string         `key:"provider" rule:"required,nonblank" doc:"The kind of store."`
	ConnectionString secret.String  `key:"connection_string" rule:"nonblank" doc:"How to reach it."`
	Options          map[string]any `key:"options" doc:"Keys that only the store knows."`
}
