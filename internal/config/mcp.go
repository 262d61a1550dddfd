package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// MCPTool is an MCP server whose tools the model may call.
type MCPTool struct {
	ToolBase
	Transport        MCPTransport             `key:"transport" default:"stdio" doc:"How the server is reached."`
	Command          *MCPCommand              `key:"command" doc:"Program that starts a stdio server."`
	Args             []string                 `key:"args" doc:"Its arguments; ./ and ../ are relative to the agent file."`
	Env              map[string]secret.String `key:"env" doc:"Its environment."`
	EnvFile          *string                  `key:"env_file" doc:"A .env file for it, relative to the agent file; env wins over it."`
	Encoding         *string                  `key:"encoding" doc:"Text encoding of a stdio server; utf-8 when absent."`
	URL              *string                  `key:"url" doc:"Address of an sse, websocket or http server."`
	Headers          map[string]secret.String `key:"headers" doc:"HTTP headers."`
	ConnectTimeout   *float64                 `key:"timeout" rule:"gt=0" doc:"Seconds to connect."`
	SSEReadTimeout   *float64                 `key:"sse_read_timeout" rule:"gt=0" doc:"Seconds without an event before a stream is given up."`
	TerminateOnClose *bool                    `key:"terminate_on_close" doc:"Whether an http session is ended on close; yes when absent."`
	Config           map[string]any           `key:"config" doc:"Passed to a stdio server in MCP_CONFIG; allowed_tools says which of its tools are offered."`
	LoadTools        bool                     `key:"load_tools" default:"true" doc:"Whether the server's tools are offered."`
	LoadPrompts      bool                     `key:"load_prompts" default:"true" doc:"Whether its prompts are offered as tools."`
	RequestTimeout   int                      `key:"request_timeout" default:"60" rule:"gt=0" doc:"Seconds one request may take."`
	IsRetrieval      bool                     `key:"is_retrieval" default:"false" doc:"Whether results are passages for retrieval metrics."`
	RegistryName     *string                  `key:"registry_name" doc:"Its name in the MCP registry."`
	ProtocolVersion  MCPProtocol              `key:"protocol_version" ours:"true" default:"\"2025-11-25\"" doc:"The protocol an mcp server is offered; what it answers may be any since 2024-11-05."`
	Scope            MCPScope                 `key:"scope" ours:"true" default:"shared" doc:"Whether all sessions of an agent share one connection to an mcp server, or each has its own."`
	Roots            []string                 `key:"roots" ours:"true" doc:"Folders an mcp server is told it works on, relative to the agent file; without any it is told of none."`
	Sampling         bool                     `key:"sampling" ours:"true" default:"false" doc:"Whether an mcp server may ask the agent's model."`
	OAuth            *MCPOAuth                `key:"oauth" ours:"true" doc:"How a token for an http mcp server is got without a person: by the client credentials of OAuth."`
	Understood       bool                     `key:"i_understand_this_is_unsafe" ours:"true" default:"false" doc:"Allows arguments that make a shell of the command of an mcp server."`

	// fromFile is what env_file says.
	fromFile map[string]string
}

// MCPOAuth is who asks for a token, by the client credentials grant of OAuth 2. The
// server says where it is asked for, and for what.
type MCPOAuth struct {
	Block
	ClientID     string        `key:"client_id" rule:"required,nonblank" doc:"The client, as the authorization server knows it."`
	ClientSecret secret.String `key:"client_secret" rule:"required" doc:"Its secret."`
}

// MCPTransport is how an MCP server is reached.
type MCPTransport string

// The transports.
const (
	MCPStdio     MCPTransport = "stdio"
	MCPSSE       MCPTransport = "sse"
	MCPWebsocket MCPTransport = "websocket"
	MCPHTTP      MCPTransport = "http"
)

// Values implements the enumeration.
func (MCPTransport) Values() []string { return []string{"stdio", "sse", "websocket", "http"} }

// MCPCommand is a program that may start an MCP server.
type MCPCommand string

// Values implements the enumeration.
func (MCPCommand) Values() []string { return []string{"npx", "node", "uvx", "docker"} }

// MCPProtocol is a version of the Model Context Protocol that may be offered.
type MCPProtocol string

// Values implements the enumeration.
func (MCPProtocol) Values() []string { return []string{"2025-11-25", "2026-07-28"} }

// MCPScope says who shares a connection to an MCP server.
type MCPScope string

// The scopes.
const (
	MCPShared  MCPScope = "shared"
	MCPSession MCPScope = "session"
)

// Values implements the enumeration.
func (MCPScope) Values() []string { return []string{"shared", "session"} }

// Arguments returns the arguments the server is started with: those that begin
// with ./ or ../ are absolute paths from the file that mentions them.
func (t *MCPTool) Arguments() []string {
	out := make([]string, len(t.Args))
	for i, arg := range t.Args {
		out[i] = arg
		slashed := filepath.ToSlash(arg)
		if strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "../") {
			out[i] = absolute(t.File("args", arg))
		}
	}
	return out
}

// RootFolders returns the absolute paths of the folders the server is told it
// works on.
func (t *MCPTool) RootFolders() []string {
	out := make([]string, len(t.Roots))
	for i, root := range t.Roots {
		out[i] = absolute(t.File("roots", root))
	}
	return out
}

// Environment returns the variables that the agent file gives a stdio server:
// those of env, which win over those of env_file, and config as JSON in
// MCP_CONFIG. The values are secrets.
func (t *MCPTool) Environment() (map[string]string, error) {
	out := maps.Clone(t.fromFile)
	if out == nil {
		out = map[string]string{}
	}
	for name, value := range t.Env {
		out[name] = value.Reveal()
	}
	if len(t.Config) > 0 {
		text, err := json.Marshal(t.Config)
		if err != nil {
			return nil, fmt.Errorf("%s: config as JSON for MCP_CONFIG: %w", t.PosOf("config"), err)
		}
		out["MCP_CONFIG"] = string(text)
	}
	return out, nil
}

// allowedTools is the key of config that says which tools are offered.
const allowedTools = "allowed_tools"

// AllowedTools returns the names, as the server has them, of the tools that are
// offered, and false when all are.
func (t *MCPTool) AllowedTools() ([]string, bool) {
	list, ok := t.Config[allowedTools].([]any)
	if !ok {
		return nil, false
	}
	names := make([]string, 0, len(list))
	for _, v := range list {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names, true
}

// envFile reads the env_file of an MCP tool. One that is not there is the
// checker's to report.
func (l *loader) envFile(t *MCPTool) {
	if t.EnvFile == nil || !t.known("env_file") {
		return
	}
	path := t.File("env_file", *t.EnvFile)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	var rep report
	t.fromFile, _ = readDotenv(path, &rep)
	for _, p := range rep.problems {
		p.Path = t.Problem("", "env_file", "", "", "").Path
		l.rep.add(p)
	}
	for _, value := range t.fromFile {
		l.secrets = append(l.secrets, value)
	}
}
