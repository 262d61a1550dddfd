package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// server is an entry of the agent file for a test, and what the client was heard
// to say.
type server struct {
	config.MCPTool
	opts    mcp.Options
	level   slog.Level
	log     safeText
	mu      sync.Mutex
	notices []string
}

// safeText is what was written, from several goroutines.
type safeText struct {
	onWrite func(string) // set before anything is written
	mu      sync.Mutex
	b       strings.Builder
}

func (s *safeText) Write(p []byte) (int, error) {
	if s.onWrite != nil {
		s.onWrite(string(p))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *server) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.notices, "\n")
}

func entry(transport config.MCPTransport) *server {
	s := &server{level: slog.LevelInfo, MCPTool: config.MCPTool{
		ToolBase:  config.ToolBase{Type: config.ToolMCP, Name: "files"},
		Transport: transport, ProtocolVersion: "2025-11-25", LoadTools: true, LoadPrompts: true, RequestTimeout: 30,
	}}
	s.opts.Notice = func(text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notices = append(s.notices, text)
	}
	return s
}

// started returns an entry of a stdio server, named as in mcptest.
func started(t testing.TB, name string) *server {
	s := entry(config.MCPStdio)
	command := config.MCPCommand("npx")
	s.Command = &command
	s.Env = map[string]secret.String{mcptest.ServerVariable: secret.New(name)}
	path := mcptest.Path(t)
	s.opts.Lookup = func(v string) (string, bool) { return path, v == "PATH" }
	return s
}

// at returns an entry of a server with a URL.
func at(transport config.MCPTransport, url string) *server {
	s := entry(transport)
	s.URL = &url
	return s
}

// client returns the client of an entry, which is closed with the test.
func (s *server) client(t testing.TB) *mcp.Client {
	t.Helper()
	env := agent.SystemEnv(slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: s.level})))
	c, err := mcp.New(env, &s.MCPTool, s.opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// connect returns a client that has reached its server.
func (s *server) connect(t testing.TB) *mcp.Client {
	t.Helper()
	c := s.client(t)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func names(c *mcp.Client) []string {
	var list []string
	tools, _ := c.Tools()
	for _, tool := range tools {
		list = append(list, tool.Definition().Name)
	}
	return list
}

func find(t testing.TB, c *mcp.Client, name string) agent.Tool {
	t.Helper()
	tools, _ := c.Tools()
	for _, tool := range tools {
		if tool.Definition().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s among %q", name, names(c))
	return nil
}

func call(ctx context.Context, t testing.TB, c *mcp.Client, name, args string) (agent.ToolResult, error) {
	t.Helper()
	return find(t, c, name).Call(ctx, json.RawMessage(args))
}

// mustCall returns the text of a call that must succeed.
func mustCall(t testing.TB, c *mcp.Client, name, args string) string {
	t.Helper()
	r, err := call(t.Context(), t, c, name, args)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text()
}

// noLeaks fails the test when a goroutine of it is left at its very end.
func noLeaks(t testing.TB) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func transports() []config.MCPTransport {
	return []config.MCPTransport{config.MCPStdio, config.MCPSSE, config.MCPHTTP, config.MCPWebsocket}
}

// over returns an entry of a server of [mcptest.New] over a transport.
func over(t testing.TB, transport config.MCPTransport, name string) *server {
	t.Helper()
	if transport == config.MCPStdio {
		return started(t, name)
	}
	return at(transport, mcptest.Listen(t, string(transport), mcptest.New(name)))
}

func TestEveryTransportListsAndCalls(t *testing.T) {
	for _, transport := range transports() {
		for _, version := range []config.MCPProtocol{"2025-11-25", "2026-07-28"} {
			t.Run(string(transport)+" "+string(version), func(t *testing.T) {
				noLeaks(t)
				s := over(t, transport, "alpha")
				s.ProtocolVersion = version
				c := s.client(t)
				if tools, version := c.Tools(); len(tools) > 0 || version != 0 {
					t.Errorf("before it is reached the server has %d tools, version %d", len(tools), version)
				}
				if err := c.Connect(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{"files__echo", "files__read-file", "files__greet"} {
					if !slices.Contains(names(c), want) {
						t.Errorf("%s is not among %q", want, names(c))
					}
				}
				if got := mustCall(t, c, "files__echo", `{"text":"hello"}`); got != "alpha says hello" {
					t.Errorf("echo says %q", got)
				}
				if got := mustCall(t, c, "files__greet", `{"who":"Ada"}`); got != "Say hello to Ada" {
					t.Errorf("the prompt says %q", got)
				}
				r, err := call(t.Context(), t, c, "files__fail", "{}")
				if err != nil || !r.IsError || r.Text() != "the disk is full" {
					t.Errorf("a tool's own error is %+v, %v", r, err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				_, err = call(t.Context(), t, c, "files__echo", `{}`)
				var broken *mcp.ConnectionError
				if !errors.As(err, &broken) {
					t.Errorf("a closed client calls: %v", err)
				}
			})
		}
	}
}
