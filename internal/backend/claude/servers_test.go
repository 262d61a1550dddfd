package claude

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// desk is an agent with search tools of both kinds, and its tools opened.
func desk(t *testing.T, tools string) (*config.Agent, *tool.Set) {
	t.Helper()
	a := loaded(t, "off", "model: {provider: offline, name: x}\nembedding_provider: {provider: offline, name: hashing}\ntools:\n"+tools)
	set, err := tool.Open(t.Context(), systemEnv(), a, tool.Options{Getenv: a.Variable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return a, set
}

const (
	gates = "  - {type: vectorstore, name: gates, description: when the gates open, source: gates.md}\n"
	rules = "  - {type: hierarchical_document, name: rules, description: the rules, source: rules.md}\n"
)

// adaptersOf returns the adapters of an agent, which call its tools.
func adaptersOf(t *testing.T, a *config.Agent, set *tool.Set) []Adapter {
	t.Helper()
	adapters, err := NewAdapters(a.Tools, set, func(ctx context.Context, id, name string, args json.RawMessage) (agent.ToolResult, error) {
		return set.Call(ctx, tool.Call{ID: id, Name: name, Arguments: args}).Result, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapters
}

// called connects to a server, and calls a tool of it.
func called(t *testing.T, d Descriptor, name string, args any) *mcp.CallToolResult {
	t.Helper()
	r, err := connected(t, d).CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func connected(t *testing.T, d Descriptor) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	server, err := d.Instance.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Wait()
	})
	return client
}

func textIn(r *mcp.CallToolResult) string {
	var texts []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func TestSearchToolsAreOffered(t *testing.T) {
	long := strings.Repeat("very ", 60) + "long"
	a, set := desk(t, gates+rules+"  - {type: vectorstore, name: wordy, description: "+long+", source: gates.md}\n")
	d, allowed := NewServer(ServerName, adaptersOf(t, a, set))
	if d.Type != "sdk" || d.Name != "holodeck_tools" || d.Instance == nil {
		t.Errorf("the server is %+v", d)
	}
	want := []string{"mcp__holodeck_tools__gates_search", "mcp__holodeck_tools__rules_search", "mcp__holodeck_tools__wordy_search"}
	if !slices.Equal(allowed, want) {
		t.Errorf("the tools that are allowed are %q, want %q", allowed, want)
	}
	list, err := connected(t, d).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"gates_search", "rules_search", "wordy_search"} {
		var own *mcp.Tool
		for _, one := range list.Tools {
			if one.Name == name {
				own = one
			}
		}
		if own == nil {
			t.Fatalf("there is no %s", name)
		}
		schema, _ := json.Marshal(own.InputSchema)
		if !strings.Contains(string(schema), `"query"`) || !strings.Contains(string(schema), `"required":["query"]`) {
			t.Errorf("%s takes %s", name, schema)
		}
		if !own.Annotations.ReadOnlyHint {
			t.Errorf("calls of %s do not run side by side", name)
		}
		prefix := []string{"Search gates: when the gates open", "Search rules: the rules", "Search wordy: very very"}[i]
		if !strings.HasPrefix(own.Description, prefix) || len([]rune(own.Description)) > 200 {
			t.Errorf("%s is described as %q", name, own.Description)
		}
	}
}

func TestEachAdapterSearchesItsOwnTool(t *testing.T) {
	a, set := desk(t, gates+rules)
	d, _ := NewServer(ServerName, adaptersOf(t, a, set))
	if got := textIn(called(t, d, "gates_search", map[string]string{"query": "gates"})); !strings.Contains(got, "open at six") || strings.Contains(got, "berth") {
		t.Errorf("gates_search found %q", got)
	}
	if got := textIn(called(t, d, "rules_search", map[string]string{"query": "berth"})); !strings.Contains(got, "12 EUR") || strings.Contains(got, "gates") {
		t.Errorf("rules_search found %q", got)
	}
	for name, args := range map[string]any{"nothing": map[string]string{}, "a number": map[string]int{"query": 5}} {
		if r := called(t, d, "gates_search", args); !r.IsError || !strings.Contains(textIn(r), "query") {
			t.Errorf("with %s for a query it said %q", name, textIn(r))
		}
	}
}

func TestNothingThatIsFoundIsSaid(t *testing.T) {
	a, set := desk(t, "  - {type: vectorstore, name: gates, description: d, source: gates.md, min_similarity_score: 0.99}\n")
	d, _ := NewServer(ServerName, adaptersOf(t, a, set))
	if got := textIn(called(t, d, "gates_search", map[string]string{"query": "zebra"})); got != "No results found." {
		t.Errorf("it said %q", got)
	}
}

func TestAnAdapterReturnsItsErrorAsAResult(t *testing.T) {
	d, _ := NewServer(ServerName, []Adapter{{
		agent.Definition{Name: "gates_search", Schema: json.RawMessage(`{}`)},
		func(context.Context, string, json.RawMessage) (agent.ToolResult, error) {
			return agent.ToolResult{}, errors.New("the index is on fire")
		},
	}})
	if r := called(t, d, "gates_search", nil); !r.IsError || textIn(r) != "the index is on fire" {
		t.Errorf("it said %q", textIn(r))
	}
}

func TestWithoutAdaptersThereIsNothingToCall(t *testing.T) {
	d, allowed := NewServer(ServerName, nil)
	if d.Name != "holodeck_tools" || allowed == nil || len(allowed) != 0 {
		t.Errorf("%+v, %q", d, allowed)
	}
	if list, err := connected(t, d).ListTools(t.Context(), nil); err != nil || len(list.Tools) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if s := newServers(nil); len(s.list) != 0 {
		t.Error("a server without tools is shown to the CLI")
	}
}

func TestAToolThatWasNotOpenedIsMissed(t *testing.T) {
	a, _ := desk(t, gates)
	_, none := desk(t, rules)
	_, err := NewAdapters(a.Tools, none, nil)
	const want = "No initialized instance found for tool 'gates' (type: vectorstore). Ensure tool initialization completed before creating adapters."
	if _, ok := errors.AsType[*agent.BackendInitError](err); !ok || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

func TestToolsOfServersKeepTheirPlace(t *testing.T) {
	s := newServers([]Adapter{
		{Definition: agent.Definition{Name: "add", Source: "function"}},
		{Definition: agent.Definition{Name: "memory__read_graph", Source: "mcp:memory"}},
		{Definition: agent.Definition{Name: "my_server__x_y", Source: "mcp:my server"}},
	})
	for wire, name := range map[string]string{
		"mcp__holodeck_tools__add": "add", "mcp__memory__read_graph": "memory__read_graph", "mcp__my_server__x_y": "my_server__x_y",
	} {
		if s.names[wire] != name || !slices.Contains(s.allowed, wire) {
			t.Errorf("%s is %q of %q", wire, s.names[wire], s.allowed)
		}
	}
	if len(s.list) != 3 {
		t.Errorf("there are %d servers", len(s.list))
	}
}
