package cli

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

const remoteAgent = `
name: remote
instructions: {inline: Be brief.}
model: {provider: openai, name: gpt-4o, endpoint: "SERVER/v1", api_key: "${REMOTE_KEY}"}
openai: {max_budget_usd: 5}
evaluations: {metrics: [{type: standard, metric: contains}]}
test_cases:
  - {name: a, input: one, ground_truth: Hello}
  - {name: b, turns: [{input: two, ground_truth: Hello}, {input: three, ground_truth: Hello}]}
  - {name: c, input: leak it, ground_truth: Hello}
`

// TestARemoteRunReplaysWithTheNetworkClosed records test cases against a
// provider, closes it, takes the key away, and replays them.
func TestARemoteRunReplaysWithTheNetworkClosed(t *testing.T) {
	const key = "canary-canary-canary"
	handler, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{
		{When: script.When{User: "two", Round: 1}, Times: 1, Steps: []script.Step{{Error: &script.Error{Status: 429, Message: "slow down, " + key, RetryAfterMS: 1}}}},
		{When: script.When{User: "leak"}, Steps: []script.Step{{Text: "Hello, " + key[:9]}, {Text: key[9:]}}},
		{Steps: []script.Step{{Text: "Hel"}, {Text: "lo."}, {Usage: &agent.Usage{Prompt: 1000, Completion: 100, Total: 1100}}}},
	}}, llmtest.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	closed := false
	closeServer := func() {
		if !closed {
			closed = true
			handler.Close()
			server.Close()
		}
	}
	t.Cleanup(closeServer)

	dir := t.TempDir()
	file := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(remoteAgent, "SERVER", server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	test := func(key, output string, args ...string) (report []byte, printed string) {
		t.Helper()
		var out, errs bytes.Buffer
		environ := []string{"REMOTE_KEY=" + key}
		if key == "" {
			environ = nil
		}
		output = filepath.Join(dir, output)
		code := run(t.Context(), append([]string{"test", file, "--no-save", "--output", output}, args...), Process{
			Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Environ: environ, Home: t.TempDir(), WorkDir: dir,
		})
		data, err := os.ReadFile(output)
		if code != exitOK || err != nil {
			t.Fatalf("exit %d, %v\n%s%s", code, err, out.String(), errs.String())
		}
		return data, out.String()
	}
	tape := filepath.Join(dir, "tape")
	want, printed := test(key, "a.json", "--record", tape)
	if !strings.Contains(printed, "Cost: $0.0105") { // three calls of 1,000 and 100 tokens
		t.Errorf("the summary does not say what it cost:\n%s", printed)
	}
	asked := len(handler.Requests())
	closeServer()
	for _, output := range []string{"b.json", "c.json"} {
		got, _ := test("", output, "--replay", tape)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", output, got, want)
		}
	}
	if n := len(handler.Requests()); n != asked {
		t.Errorf("the replay made %d requests", n-asked)
	}
	files, err := filepath.Glob(filepath.Join(tape, "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("the cassette has %v, %v", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("canary")) {
			t.Errorf("%s holds the key:\n%s", f, data)
		}
	}
}
