package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// ServerName is the in-process server that an agent's own tools are of.
const ServerName = "holodeck_tools"

// wirePrefix begins the names by which the CLI calls them.
const wirePrefix = "mcp__" + ServerName + "__"

// maxResult is how many characters of a result the CLI is to keep in the
// conversation; more it would put into a file that the model may not be able to
// read.
const maxResult = 500_000

// Descriptor is a server of this process, as the CLI is told of one.
type Descriptor struct {
	Type     string // sdk: it is of this process
	Name     string
	Instance *mcp.Server
}

// Adapter offers a tool to the CLI.
type Adapter struct {
	Definition agent.Definition
	// Call runs the tool. id is the CLI's id of the call. What it returns as an
	// error the model is told as a result.
	Call func(ctx context.Context, id string, arguments json.RawMessage) (agent.ToolResult, error)
}

// Instances are the tools that were opened for an agent.
type Instances interface {
	// Definitions are those of the tools that may be called.
	Definitions() []agent.Definition
	// Has reports whether a tool was opened, also where it may never be called.
	Has(canonical string) bool
}

// Handler runs a call of a tool, which has a canonical name.
type Handler func(ctx context.Context, id, name string, arguments json.RawMessage) (agent.ToolResult, error)

// NewAdapters returns what offers the tools of an agent to the CLI, in their
// order. A search tool of the file that was not opened is an
// *agent.BackendInitError.
func NewAdapters(configured []config.Tool, opened Instances, call Handler) ([]Adapter, error) {
	for _, t := range configured {
		if b := t.Base(); config.IsRetrieval(t) && !opened.Has(b.Name+"_search") {
			//lint:ignore ST1005 this sentence is the one that other editions of the runtime say
			return nil, &agent.BackendInitError{Backend: string(config.BackendClaude), Err: fmt.Errorf(
				"No initialized instance found for tool '%s' (type: %s). Ensure tool initialization completed before creating adapters.", b.Name, b.Type)}
		}
	}
	var adapters []Adapter
	for _, d := range opened.Definitions() {
		adapters = append(adapters, Adapter{d, func(ctx context.Context, id string, arguments json.RawMessage) (agent.ToolResult, error) {
			return call(ctx, id, d.Name, arguments)
		}})
	}
	return adapters, nil
}

// place is where the CLI finds a tool: in a server, by a name.
type place struct{ server, tool string }

// wire is the name by which the CLI calls a tool.
func (p place) wire() string { return "mcp__" + normal(p.server) + "__" + normal(p.tool) }

// normal returns a name as the CLI spells it.
func normal(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// placeOf returns where the CLI finds a tool. A tool of an MCP server is in a
// server of that name, every other in ServerName.
func placeOf(d agent.Definition) place {
	server, ok := strings.CutPrefix(d.Source, "mcp:")
	if !ok {
		return place{ServerName, d.Name}
	}
	if tool, ok := strings.CutPrefix(d.Name, normal(server)+"__"); ok {
		return place{server, tool}
	}
	return place{server, d.Name} // a name that was cut
}

// NewServer returns a server of this process that has the tools of the adapters,
// and the names by which the CLI calls them, in their order.
func NewServer(name string, adapters []Adapter) (Descriptor, []string) {
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	allowed := []string{}
	for _, a := range adapters {
		p := placeOf(a.Definition)
		server.AddTool(&mcp.Tool{
			Name: p.tool, Description: a.Definition.Description, InputSchema: objectSchema(a.Definition.Schema),
			// The CLI takes this for whether calls may run side by side. On every runtime
			// they do; what a tool may do is the matter of its gate in the tool set.
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
			Meta:        mcp.Meta{"anthropic/maxResultSizeChars": maxResult},
		}, a.serve)
		allowed = append(allowed, p.wire())
	}
	return Descriptor{Type: "sdk", Name: name, Instance: server}, allowed
}

// serve answers a call over MCP.
func (a Adapter) serve(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	id, _ := r.Params.Meta["claudecode/toolUseId"].(string)
	result, err := a.Call(ctx, id, r.Params.Arguments)
	if err != nil {
		result = agent.TextResult(err.Error())
		result.IsError = true
	}
	return resultOf(result), nil
}

// servers are an agent's tools as the CLI sees them.
type servers struct {
	list    []Descriptor      // without those that have no tools
	allowed []string          // wire names
	names   map[string]string // canonical names by wire name
}

// newServers puts adapters into the servers they belong to.
func newServers(adapters []Adapter) servers {
	s := servers{names: map[string]string{}}
	byServer := map[string][]Adapter{}
	var order []string
	for _, a := range adapters {
		p := placeOf(a.Definition)
		if byServer[p.server] == nil {
			order = append(order, p.server)
		}
		byServer[p.server] = append(byServer[p.server], a)
		s.names[p.wire()] = a.Definition.Name
	}
	for _, name := range order {
		d, allowed := NewServer(name, byServer[name])
		s.list = append(s.list, d)
		s.allowed = append(s.allowed, allowed...)
	}
	return s
}

// instances returns the servers by name.
func (s servers) instances() map[string]*mcp.Server {
	m := make(map[string]*mcp.Server, len(s.list))
	for _, d := range s.list {
		m[d.Name] = d.Instance
	}
	return m
}

// objectSchema returns a schema as MCP wants one: of an object.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil || fields == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if string(fields["type"]) == `"object"` {
		return schema
	}
	fields["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(fields)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// resultOf returns a result as MCP has it.
func resultOf(r agent.ToolResult) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{}}
	for _, p := range r.Parts {
		switch p.Kind {
		case agent.PartText:
			out.Content = append(out.Content, &mcp.TextContent{Text: p.Text})
		case agent.PartImage:
			out.Content = append(out.Content, &mcp.ImageContent{MIMEType: p.MIME, Data: p.Data})
		case agent.PartDocument:
			out.Content = append(out.Content, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///" + p.Name, MIMEType: p.MIME, Blob: p.Data}})
		}
	}
	return out
}
