// Mcpclient plays the scenarios of the official conformance suite in client mode
// with the client of internal/tool/mcp: the server's URL is its last argument, and
// the scenario and what belongs to it stand in the environment.
//
//	mcpclient [-protocol VERSION] URL
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
)

// limit bounds a scenario; the suite's own is 30 s.
const limit = 25 * time.Second

func main() {
	protocol := flag.String("protocol", "2025-11-25", "the protocol that is offered")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mcpclient [-protocol VERSION] URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := play(ctx, os.Getenv("MCP_CONFORMANCE_SCENARIO"), flag.Arg(0), *protocol); err != nil {
		fmt.Fprintln(os.Stderr, "mcpclient:", err)
		os.Exit(1)
	}
}

// setting is what a scenario tells its client beside the URL.
type setting struct {
	ProtocolVersion string `json:"protocol_version"`
	ClientID        string `json:"client_id"`
	ClientSecret    string `json:"client_secret"`
	ToolCalls       []call `json:"toolCalls"`
}

// call is a call of a tool.
type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// play connects to the server, lists what it has and makes the scenario's calls.
func play(ctx context.Context, scenario, url, protocol string) (err error) {
	var s setting
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	c, err := mcp.New(agent.SystemEnv(slog.New(slog.NewTextHandler(os.Stderr, nil))), server(url, protocol, s), mcp.Options{
		Version: "conformance",
		Elicit:  accept,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Connect(ctx); err != nil {
		return err
	}
	calls := s.ToolCalls
	if len(calls) == 0 {
		calls = callsOf(scenario, c)
	}
	for _, one := range calls {
		if err := run(ctx, c, one); err != nil && !forgiven(scenario) {
			return err
		}
	}
	return nil
}

// server returns the server as an agent file would have it.
func server(url, protocol string, s setting) *config.MCPTool {
	t := &config.MCPTool{
		ToolBase:  config.ToolBase{Type: config.ToolMCP, Name: "s"},
		Transport: config.MCPHTTP, URL: &url, LoadTools: true, LoadPrompts: true, RequestTimeout: 20,
		ProtocolVersion: config.MCPProtocol(cmp.Or(os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"), protocol)),
	}
	if s.ClientID != "" && s.ClientSecret != "" {
		t.OAuth = &config.MCPOAuth{ClientID: s.ClientID, ClientSecret: secret.New(s.ClientSecret)}
	}
	return t
}

// accept answers every question of a server with yes and what the question itself
// proposes.
func accept(_ context.Context, q mcp.Question) (mcp.Answer, error) {
	var schema struct {
		Properties map[string]struct {
			Type    string `json:"type"`
			Default any    `json:"default"`
		} `json:"properties"`
	}
	if len(q.Schema) > 0 {
		if err := json.Unmarshal(q.Schema, &schema); err != nil {
			return mcp.Answer{}, err
		}
	}
	content := map[string]any{}
	for name, p := range schema.Properties {
		switch {
		case p.Default != nil:
			content[name] = p.Default
		case p.Type == "boolean":
			content[name] = true
		}
	}
	return mcp.Answer{Action: mcp.Accept, Content: content}, nil
}

// callsOf returns the calls of a scenario that does not name them.
func callsOf(scenario string, c *mcp.Client) []call {
	empty := json.RawMessage("{}")
	switch scenario {
	case "tools_call":
		return []call{{"add_numbers", json.RawMessage(`{"a":5,"b":3}`)}}
	case "elicitation-sep1034-client-defaults":
		return []call{{"test_client_elicitation_defaults", empty}}
	case "sse-retry":
		return []call{{"test_reconnection", empty}}
	case "sep-2322-client-request-state":
		return []call{{"test_mrtr_echo_state", empty}, {"test_mrtr_no_state", empty}, {"test_mrtr_unrelated", empty}, {"test_mrtr_no_result_type", empty}}
	case "json-schema-2020-12-preservation":
		return []call{{"json_schema_echo", echoOf(c, "json_schema_2020_12_tool")}}
	case "http-standard-headers", "http-invalid-tool-headers":
		return all(c, json.RawMessage(`{"region":"us-west1"}`))
	case "initialize", "request-metadata", "json-schema-ref-no-deref":
		return nil
	}
	return []call{{"test-tool", empty}} // of all scenarios of authorization
}

// forgiven says whether the scenario makes calls that are to fail.
func forgiven(scenario string) bool {
	switch scenario {
	case "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers":
		return true
	}
	return false
}

// all returns a call of every tool and prompt there is.
func all(c *mcp.Client, args json.RawMessage) []call {
	tools, _ := c.Tools()
	var calls []call
	for _, t := range tools {
		calls = append(calls, call{t.Definition().Name, args})
	}
	return calls
}

// echoOf returns arguments that give a tool's schema back to the server.
func echoOf(c *mcp.Client, name string) json.RawMessage {
	tools, _ := c.Tools()
	for _, t := range tools {
		if t.Definition().Name == "s__"+name {
			return json.RawMessage(fmt.Sprintf(`{"schema":%s}`, t.Definition().Schema))
		}
	}
	return json.RawMessage("{}")
}

// run makes a call. A name is the server's, or canonical.
func run(ctx context.Context, c *mcp.Client, one call) error {
	tools, _ := c.Tools()
	for _, t := range tools {
		if name := t.Definition().Name; name != one.Name && name != "s__"+one.Name {
			continue
		}
		result, err := t.Call(ctx, one.Arguments)
		if err != nil {
			return fmt.Errorf("call %s: %w", one.Name, err)
		}
		fmt.Printf("%s: %s\n", one.Name, result.Text())
		return nil
	}
	return fmt.Errorf("the server has no tool %s", one.Name)
}
