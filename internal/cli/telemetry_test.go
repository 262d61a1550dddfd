package cli

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/telemetry/telemetrytest"
)

const observed = `
name: librarian
backend: RUNTIME
instructions: {inline: Be brief.}
model: {provider: ollama, name: llama3.1, endpoint: SERVER}
embedding_provider: {provider: offline, name: hashing}
tools:
  - {type: vectorstore, name: gates, description: the gates, source: gates.md}
  - {type: vectorstore, name: books, description: the books, source: books.md}
observability:
  enabled: true
  exporters: {otlp: {endpoint: COLLECTOR, protocol: http}}
test_cases:
  - {name: both, input: "both, please", expected_tools: [gates_search, books_search]}
`

// TestEveryRuntimeTracesOneTree runs a turn with two tool calls that run side by
// side, as the binary does.
func TestEveryRuntimeTracesOneTree(t *testing.T) {
	for runtime, is := range map[string]struct{ scope, model string }{
		"agent_framework": {"af", "llama3.1"}, "semantic_kernel": {"sk", "llama3.1"},
		"claude": {"claude", "llama3.1"}, "google_adk": {"adk", "ollama/llama3.1"},
	} {
		for command, args := range map[string][]string{"run": {"both, please"}, "test": {"--no-save"}} {
			t.Run(runtime+" "+command, func(t *testing.T) {
				receiver := telemetrytest.New(t)
				dir, _ := librarianFolder(t, observed, runtime, receiver.URL)
				var out, errs bytes.Buffer
				code := run(t.Context(), append([]string{command, dir}, args...), Process{
					Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Home: t.TempDir(), WorkDir: dir,
				})
				if code != exitOK {
					t.Fatalf("exit %d\n%s%s", code, out.String(), errs.String())
				}
				want := `invoke_agent librarian
  chat ` + is.model + `
  chat ` + is.model + `
  execute_tool books_search
  execute_tool gates_search
`
				if got := receiver.Tree(); got != want {
					t.Errorf("the spans are\n%swant\n%s", got, want)
				}
				for _, s := range receiver.Spans() {
					if s.Scope != "holodeck.backends."+is.scope {
						t.Errorf("%s is of scope %s", s.Name, s.Scope)
					}
				}
			})
		}
	}
}

// librarianFolder returns the folder of an agent whose model asks for both of its
// tools at once, and the server of that model. The file has SERVER, RUNTIME and
// COLLECTOR for what they are.
func librarianFolder(t *testing.T, file, runtime, collector string) (string, *llmtest.Handler) {
	t.Helper()
	wire := func(tool string) string {
		if runtime == "semantic_kernel" {
			return "vectorstore-" + tool
		}
		return tool + "_search"
	}
	handler, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{
		{When: script.When{User: "both", Round: 1}, Steps: []script.Step{
			{Call: &script.Call{ID: "a", Name: wire("gates"), Args: `{"query":"when do the gates open"}`}},
			{Call: &script.Call{ID: "b", Name: wire("books"), Args: `{"query":"where do the books stand"}`}},
		}},
		{Steps: []script.Step{{Text: "There they are."}}},
	}}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		handler.Close()
		server.Close()
	})
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agent.yaml": strings.NewReplacer("SERVER", server.URL, "RUNTIME", runtime, "COLLECTOR", collector).Replace(file),
		"gates.md":   "The gates open at six.", "books.md": "The books stand upstairs.",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, handler
}
