//go:build peers

package claudecode_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/claudecode"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// program returns the CLI that HOLODECK_CLAUDE_CLI names.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("HOLODECK_CLAUDE_CLI")
	if path == "" {
		t.Fatal("HOLODECK_CLAUDE_CLI names no Claude Code CLI; make peer-claude installs one")
	}
	return path
}

// hermetic returns an environment in which the CLI has nothing of this machine:
// a home of its own, a key that is none, and an API on the loopback.
func hermetic(t *testing.T, api string) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "CLAUDE_CODE_TMPDIR=" + home, "CLAUDE_CONFIG_DIR=" + home + "/cfg",
		"XDG_CACHE_HOME=" + home + "/xc", "XDG_CONFIG_HOME=" + home + "/xf", "ANTHROPIC_BASE_URL=" + api, "ANTHROPIC_API_KEY=dummy-key-for-test",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_MAX_RETRIES=1",
	}
}

// api starts an API that plays a script.
func api(t *testing.T, rules ...script.Rule) (*llmtest.Handler, string) {
	t.Helper()
	handler, err := llmtest.NewHandler(script.Script{Rules: rules}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		handler.Close()
		server.Close()
	})
	return handler, server.URL
}

// kb is a server with one search tool, and tells what it was asked.
func kb(asked *[]string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "holodeck_tools", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{
		Name: "kb_search", Description: "Search kb: the knowledge base.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		*asked = append(*asked, string(r.Params.Arguments))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "life is 42"}}}, nil
	})
	return s
}

func TestTheRealProgram(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	handler, url := api(t,
		script.Rule{When: script.When{User: "life", Round: 1}, Steps: []script.Step{
			{Text: "Let me look."}, {Call: &script.Call{ID: "toolu_1", Name: "mcp__holodeck_tools__kb_search", Args: `{"query":"life"}`}},
		}},
		script.Rule{When: script.When{User: "life", Round: 2}, Steps: []script.Step{{Text: "It is 42."}}},
		script.Rule{Steps: []script.Step{{Text: "You are welcome."}}},
	)
	path, env := program(t), hermetic(t, url)
	version, err := claudecode.AskVersion(ctx, path, env)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	began := time.Now()
	c, err := claudecode.Start(ctx, claudecode.Options{
		Path: path, Version: version, Dir: t.TempDir(), Env: env, Model: "claude-sonnet-4-5", SystemPrompt: "You answer from the knowledge base.",
		AllowedTools: []string{"mcp__holodeck_tools__kb_search"}, PermissionMode: "default", MaxTurns: 20,
		Servers: map[string]*mcp.Server{"holodeck_tools": kb(&asked)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Logf("started in %v", time.Since(began))
	for _, turn := range []struct{ say, want string }{{"What is life?", "Let me look.It is 42."}, {"Thank you", "You are welcome."}} {
		began := time.Now()
		var text strings.Builder
		for m, err := range c.Turn(ctx, claudecode.Content{Text: turn.say}) {
			if err != nil {
				t.Fatal(err)
			}
			switch m := m.(type) {
			case *claudecode.TextDelta:
				text.WriteString(m.Text)
			case *claudecode.Result:
				t.Logf("result %+v", *m)
			default:
				t.Logf("%T %+v", m, m)
			}
		}
		t.Logf("turn in %v", time.Since(began))
		if text.String() != turn.want {
			t.Errorf("to %q it said %q, want %q", turn.say, text.String(), turn.want)
		}
	}
	if len(asked) != 1 || asked[0] != `{"query":"life"}` {
		t.Errorf("the tool was asked %q", asked)
	}
	for _, r := range handler.Requests() {
		t.Logf("%s %s %d bytes", r.Path, r.Header.Get("X-Api-Key"), len(r.Body))
	}
}
