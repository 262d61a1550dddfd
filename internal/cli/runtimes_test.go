package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

const librarian = `
name: librarian
backend: RUNTIME
instructions: {inline: Be brief.}
model: {provider: ollama, name: llama3.1, endpoint: SERVER}
embedding_provider: {provider: openai, name: embedder-of-the-file, endpoint: "SERVER/v1", api_key: "${EMBEDDER_KEY}"}
tools:
  - {type: vectorstore, name: gates, description: the gates, source: gates.md}
  - {type: vectorstore, name: books, description: the books, source: books.md}
`

// TestTheSameToolsGiveTheSameOnEveryRuntime asks one model on each runtime that
// runs it. What the tools are called, what they return and whom they ask for
// vectors is the file's matter, and no runtime's.
func TestTheSameToolsGiveTheSameOnEveryRuntime(t *testing.T) {
	const key = "key-of-the-embedder"
	var want agent.Result
	for i, runtime := range []string{"agent_framework", "semantic_kernel", "claude"} {
		dir, handler := librarianFolder(t, librarian, runtime, "")
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"run", dir, "both, please", "--json"}, Process{
			Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Environ: []string{"EMBEDDER_KEY=" + key}, Home: t.TempDir(), WorkDir: dir,
		})
		if code != exitOK {
			t.Fatalf("%s: exit %d\n%s%s", runtime, code, out.String(), errs.String())
		}
		var got agent.Result
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.ToolCalls) != 2 || got.ToolCalls[0].Name != "gates_search" || got.ToolCalls[1].Name != "books_search" {
			t.Fatalf("%s called %+v", runtime, got.ToolCalls)
		}
		if r := got.ToolResults; !strings.HasSuffix(r[0].Result, "gates.md\nThe gates open at six.") || !strings.HasSuffix(r[1].Result, "books.md\nThe books stand upstairs.") {
			t.Errorf("%s: the tools returned %+v", runtime, r)
		}
		if i == 0 {
			want = got
		}
		for j, r := range got.ToolResults {
			if r.Result != want.ToolResults[j].Result {
				t.Errorf("on %s a tool returned %q, want %q", runtime, r.Result, want.ToolResults[j].Result)
			}
		}
		embedded := 0
		for _, r := range handler.Requests() {
			if r.Path != "/v1/embeddings" {
				continue
			}
			embedded++
			var body struct{ Model string }
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			if body.Model != "embedder-of-the-file" || r.Header.Get("Authorization") != "Bearer "+key {
				t.Errorf("%s asks %s for vectors, signed %q", runtime, body.Model, r.Header.Get("Authorization"))
			}
		}
		if embedded == 0 {
			t.Errorf("%s asks nobody for vectors", runtime)
		}
	}
}
