package tool_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool"
	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

// withServers returns an agent with MCP servers at these addresses, called s0, s1
// and so on.
func withServers(t *testing.T, urls ...string) *config.Agent {
	t.Helper()
	text := "name: a\nmodel: {provider: offline, name: m}\ninstructions: {inline: Help.}\ntools:\n"
	for i, url := range urls {
		text += fmt.Sprintf("  - {type: mcp, name: s%d, description: d, transport: http, url: '%s', timeout: 20}\n", i, url)
	}
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(file, config.Options{WorkDir: filepath.Dir(file)})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	return a
}

// gate lets no request through before one has come to each of n handlers.
func gate(n int32) func(http.Handler) http.Handler {
	var missing atomic.Int32
	missing.Store(n)
	complete := make(chan struct{})
	return func(next http.Handler) http.Handler {
		var first sync.Once
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			first.Do(func() {
				if missing.Add(-1) == 0 {
					close(complete)
				}
			})
			select {
			case <-complete:
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})
	}
}

func TestServersAreStartedSideBySide(t *testing.T) {
	const n = 4
	together := gate(n)
	var urls []string
	for i := range n {
		urls = append(urls, mcptest.Listen(t, "http", mcptest.New(fmt.Sprintf("server %d", i)), together))
	}
	set, err := tool.Open(t.Context(), testEnv(), withServers(t, urls...), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for i := range n {
		f := set.Call(t.Context(), tool.Call{Name: fmt.Sprintf("s%d__echo", i), Arguments: []byte(`{"text":"hello"}`)})
		if want := fmt.Sprintf("server %d says hello", i); f.Result.Text() != want {
			t.Errorf("server %d answered %q (%s), want %q", i, f.Result.Text(), f.Err, want)
		}
	}
}

func TestACallThatTookTooLongSaysWhichServer(t *testing.T) {
	a := withServers(t, mcptest.Listen(t, "http", mcptest.New("there")))
	server := a.Tools[0].(*config.MCPTool)
	server.RequestTimeout, server.Timeout = 1, 1
	set, err := tool.Open(t.Context(), testEnv(), a, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f := set.Call(t.Context(), tool.Call{Name: "s0__slow", Arguments: []byte("{}")})
	if want := "MCPTimeoutError: server s0 did not answer the call of slow within 1s; raise request_timeout"; f.Err != want {
		t.Errorf("the call ended in %q, want %q", f.Err, want)
	}
}

func TestAnAgentIsOpenedWithoutAServerOnlyWhereThatIsSaid(t *testing.T) {
	a := withServers(t, mcptest.Listen(t, "http", mcptest.New("there")), "http://127.0.0.1:1/")
	if set, err := tool.Open(t.Context(), testEnv(), a, tool.Options{}); err == nil || !strings.Contains(err.Error(), "server s1") {
		t.Fatalf("opened: %v, %v", set, err)
	}
	set, err := tool.Open(t.Context(), testEnv(), a, tool.Options{Degrade: true})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	session, err := set.ForSession(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	notices, err := session.BeginTurn(t.Context(), 1)
	if err != nil || len(notices) != 1 || notices[0].Code != agent.NoticeDegraded || !strings.Contains(notices[0].Text, "s1") {
		t.Errorf("the session is told %+v, %v", notices, err)
	}
	for _, d := range session.Definitions() {
		if d.Source != "mcp:s0" {
			t.Errorf("%s of %s is offered", d.Name, d.Source)
		}
	}
	if len(session.Definitions()) == 0 {
		t.Error("the server that is there offers nothing")
	}
}
