//go:build peers

package backend

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/backendtest"
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// TestTheRealCLIKeepsTheContract holds the claude runtime against the contract
// with the Claude Code CLI that HOLODECK_CLAUDE_CLI names, and an API of this
// process behind it.
func TestTheRealCLIKeepsTheContract(t *testing.T) {
	path := os.Getenv("HOLODECK_CLAUDE_CLI")
	if path == "" {
		t.Fatal("HOLODECK_CLAUDE_CLI names no Claude Code CLI; make peer-claude installs one")
	}
	root := t.TempDir() // conversations outlive the backend they began on
	backendtest.RunOver(t, wireOfTheCLI(), func(t *testing.T, s script.Script, o backendtest.Options) agent.Backend {
		return openOnCLI(t, path, root, asTheCLIHasIt(s, o), o)
	})
}

// wireOfTheCLI is what the CLI makes of the contract.
func wireOfTheCLI() backendtest.Wire {
	return backendtest.Wire{
		// The API behind the CLI has no word for an answer that a filter blocked.
		NoFilter: true,
		// The CLI knows calls by their ids: of two that share one it makes the first,
		// and sends the model no result for the second.
		UniqueCalls: true,
		// It sends the model what it gave a tool back as it came. A provider refuses a
		// list there, which its own models never give.
		ObjectCalls: true,
		// It answers for tools that are not there, and does not ask us.
		NoTool: "No such tool",
		// It has an answer that was cut gone on with.
		Resumes: true,
		// It keeps conversations in files of its own.
		Names: true,
		// Seconds go by until it is started, on a busy machine.
		Slack: 8 * time.Second,
	}
}

// asTheCLIHasIt returns a script whose calls have the names the CLI knows tools
// by. Where an answer must follow a schema, what is JSON is given to the tool by
// which the CLI takes one.
func asTheCLIHasIt(s script.Script, o backendtest.Options) script.Script {
	out := s
	out.Rules = nil
	for _, r := range s.Rules {
		var (
			steps  []script.Step
			answer string
		)
		for _, step := range r.Steps {
			if step.Call != nil {
				c := *step.Call
				c.Name = "mcp__holodeck_tools__" + c.Name
				step.Call = &c
			}
			if o.Schema != nil && step.Text != "" {
				answer += step.Text
				continue
			}
			steps = append(steps, step)
		}
		switch {
		case json.Valid([]byte(answer)):
			steps = append(steps, script.Step{Call: &script.Call{Name: "StructuredOutput", Args: answer}})
		case answer != "":
			steps = append(steps, script.Step{Text: answer})
		}
		r.Steps = steps
		out.Rules = append(out.Rules, r)
	}
	return out
}

func openOnCLI(t *testing.T, path, root string, s script.Script, o backendtest.Options) agent.Backend {
	t.Helper()
	server := llmtest.Start(t, s, llmtest.BehindClaudeCode(llmtest.Options{Key: "key-of-a-test"}))
	dir := filepath.Join(root, filepath.Base(t.Name()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "name: test\nmodel: {provider: anthropic, name: claude-sonnet-4-5, endpoint: " + server.URL + ", api_key: key-of-a-test}\ninstructions: {inline: Help.}\n" +
		"claude: {runtime: cli, extended_thinking: {enabled: true}}\n"
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir, Environ: []string{
		"HOLODECK_CLAUDE_CLI=" + path, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
	}})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	a.Schema = o.Schema
	set, err := tool.New(testEnv(), o.Tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	b, err := claude.OpenCLI(t.Context(), a, loop.Options{
		Env: testEnv(), Backend: "claude", Tools: set,
		ForSession: func(ctx context.Context, id string, more []agent.Tool) (loop.SessionTools, error) {
			return set.ForSession(ctx, id, more)
		},
		System: "Help.", Schema: o.Schema,
		Limits: loop.Limits{
			MaxTurns: o.MaxTurns,
			Model:    turn.Deadline{After: o.ModelTimeout, Key: "model"}, Turn: turn.Deadline{After: o.TurnTimeout, Key: "turn"},
		},
	}, claude.CLIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
