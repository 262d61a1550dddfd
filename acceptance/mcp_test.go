package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

// npx stands in for npx: it is found on the PATH of scripts and pages, and starts
// stand-ins for a few packages. make peer-mcp runs the real ones.
func npx() {
	var words []string // without the flags before the package
	for i, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-") {
			words = os.Args[1+i:]
			break
		}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.Join(words[:min(1, len(words))], ""), "@modelcontextprotocol/"), "@")
	var err error
	switch name {
	case "server-everything":
		err = mcptest.Serve(everythingServer())
	case "server-filesystem":
		err = mcptest.Serve(filesystemServer(words[1]))
	case "server-memory":
		err = mcptest.Serve(memoryServer())
	case "mcptest":
		err = mcptest.Serve(mcptest.New(words[1]))
	case "stubborn":
		err = mcptest.Misbehave(words[1])
	default:
		fmt.Fprintf(os.Stderr, "npm error code E404\nnpm error 404 Not Found: %s is not in this registry.\n", name)
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// everythingServer has two tools of the package, in its words.
func everythingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "mcp-servers/everything", Version: "2.0.0"}, nil)
	type message struct {
		Message string `json:"message" jsonschema:"Message to echo"`
	}
	add(s, "echo", "Echoes back the input string", true, func(m message) string { return "Echo: " + m.Message })
	type terms struct {
		A float64 `json:"a" jsonschema:"First number"`
		B float64 `json:"b" jsonschema:"Second number"`
	}
	add(s, "get-sum", "Returns the sum of two numbers", true, func(t terms) string {
		return fmt.Sprintf("The sum of %v and %v is %v.", t.A, t.B, t.A+t.B)
	})
	return s
}

// filesystemServer reads the files of a folder, as the package does.
func filesystemServer(dir string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "secure-filesystem-server", Version: "0.2.0"}, nil)
	type file struct {
		Path string `json:"path"`
	}
	add(s, "read_text_file", "Read the complete contents of a file as text", true, func(f file) string {
		text, err := fs.ReadFile(os.DirFS(dir), f.Path)
		if err != nil {
			return err.Error()
		}
		return string(text)
	})
	add(s, "list_directory", "List the files and folders in a folder", true, func(f file) string {
		entries, err := fs.ReadDir(os.DirFS(dir), f.Path)
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, e := range entries {
			list = append(list, "[FILE] "+e.Name())
		}
		return strings.Join(list, "\n")
	})
	add(s, "write_file", "Create a new file", false, func(file) string { return "it would be written" })
	return s
}

// memoryServer remembers entities, as the package does.
func memoryServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "memory-server", Version: "0.6.3"}, nil)
	type entity struct {
		Name         string   `json:"name"`
		EntityType   string   `json:"entityType"`
		Observations []string `json:"observations"`
	}
	type entities struct {
		Entities []entity `json:"entities"`
	}
	var mu sync.Mutex
	known := []entity{}
	shown := func(v any) string {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	add(s, "create_entities", "Create multiple new entities in the knowledge graph", false, func(e entities) string {
		mu.Lock()
		defer mu.Unlock()
		created := slices.DeleteFunc(e.Entities, func(e entity) bool {
			return slices.ContainsFunc(known, func(k entity) bool { return k.Name == e.Name })
		})
		known = append(known, created...)
		return shown(created)
	})
	add(s, "read_graph", "Read the entire knowledge graph", true, func(struct{}) string {
		mu.Lock()
		defer mu.Unlock()
		return shown(map[string]any{"entities": known, "relations": []any{}})
	})
	return s
}

// add adds a tool that answers with a text.
func add[In any](s *mcp.Server, name, description string, readOnly bool, answer func(In) string) {
	t := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly}}
	mcp.AddTool(s, t, func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer(in)}}}, nil, nil
	})
}

// mcpServer implements mcpserver NAME TRANSPORT VARIABLE.
func mcpServer(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "mcpserver NAME TRANSPORT VARIABLE")
	server := httptest.NewServer(mcptest.Handler(args[1], mcptest.New(args[0])))
	ts.Defer(func() {
		server.CloseClientConnections() // event streams do not end by themselves
		server.Close()
	})
	url := server.URL
	if args[1] == "websocket" {
		url = strings.Replace(url, "http", "ws", 1)
	}
	ts.Setenv(args[2], url)
}
