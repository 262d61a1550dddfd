//go:build peers

package acceptance_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
)

// TestClaudeScripts runs the scripts that need the Claude Code CLI, which
// HOLODECK_CLAUDE_CLI names. Beside the commands of all scripts there is
//
//	claudeserver NAME SCRIPT   modelserver for an API that the CLI asks
func TestClaudeScripts(t *testing.T) {
	path := os.Getenv("HOLODECK_CLAUDE_CLI")
	if path == "" {
		t.Fatal("HOLODECK_CLAUDE_CLI names no Claude Code CLI; make peer-claude installs one")
	}
	p := scriptParams(t, "testdata/claude")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if err := setup(env); err != nil {
			return err
		}
		env.Setenv("HOLODECK_CLAUDE_CLI", path)
		return nil
	}
	p.Cmds["claudeserver"] = func(ts *testscript.TestScript, neg bool, args []string) {
		need(ts, neg, args, 2, "claudeserver NAME SCRIPT")
		ts.Setenv(args[0], startModels(ts, args[1], llmtest.BehindClaudeCode(llmtest.Options{})))
	}
	testscript.Run(t, p)
}
