package backend

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// What the model receives has no frontmatter: the header of a prompt file is for
// people and results.
func TestTrapT15FrontmatterIsNotSentToTheModel(t *testing.T) {
	for _, backend := range []string{"agent_framework", "semantic_kernel"} {
		t.Run(backend, func(t *testing.T) {
			server := llmtest.Start(t, script.Script{Rules: []script.Rule{{Steps: []script.Step{{Text: "Yes."}}}}}, llmtest.Options{Key: "key-of-a-test"})
			dir := t.TempDir()
			for name, text := range map[string]string{
				"prompt.md": "---\nversion: 7.3-canary\nauthor: Ada\n---\nYou answer for a lamp shop.\n",
				"agent.yaml": "name: lamps\nbackend: " + backend + "\ninstructions: {file: prompt.md}\n" +
					"model: {provider: openai, name: small, endpoint: '" + server.URL + "/v1', api_key: key-of-a-test}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a, problems := config.Load(dir, config.Options{WorkDir: dir})
			if config.HasErrors(problems) {
				t.Fatal(problems)
			}
			set, err := tool.New(testEnv())
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			transport := http.DefaultTransport.(*http.Transport).Clone()
			defer transport.CloseIdleConnections()
			b, err := Open(t.Context(), testEnv(), a, set, llm.Open(testEnv(), llm.Options{HTTP: &http.Client{Transport: transport}}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if _, err := agent.RunOnce(t.Context(), b, agent.Text("Do you sell lamps?")); err != nil {
				t.Fatal(err)
			}
			var sent string
			for _, r := range server.Requests() {
				sent += string(r.Body)
			}
			if !strings.Contains(sent, "You answer for a lamp shop.") || strings.Contains(sent, "canary") || strings.Contains(sent, "---") {
				t.Errorf("the model was sent %s", sent)
			}
		})
	}
}
