package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestTurns(t *testing.T) {
	s := talk(t, "answers", "", agent.SessionOptions{})
	for range 2 {
		r, err := ask(t, s, "hello")
		if err != nil || r.Response != "hello" || r.NumTurns != 1 || r.Usage.Total != 15 || r.CostUSD == nil {
			t.Errorf("the turn gave %+v, %v", r, err)
		}
	}
}

func TestWhatIsWrongWithTheCLIIsSaidWhenTheAgentIsOpened(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "claude")
	for name, tt := range map[string]struct{ path, want string }{
		"missing":    {nowhere, "HOLODECK_CLAUDE_CLI names " + nowhere},
		"a folder":   {t.TempDir(), "it is no program"},
		"relative":   {"claude", "no absolute path"},
		"off":        {"off", "HOLODECK_CLAUDE_CLI is off"},
		"too old":    {fakeCLI(t, "old"), "2.0.77, which is too old: install 2.1.142 or newer"},
		"no version": {fakeCLI(t, "odd"), `"hello\n" is no version`},
		"broken":     {fakeCLI(t, "broken"), "a library is missing"},
	} {
		_, err := openOn(t, loaded(t, tt.path, "claude: {runtime: cli}\n"), systemEnv(), CLIOptions{}, tool.Options{}, loop.Limits{})
		if _, ok := errors.AsType[*agent.BackendInitError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestWhatGoesWrongInATurnIsAnOutcomeOfItsOwn(t *testing.T) {
	for scenario, tt := range map[string]struct{ partial, want string }{
		"stillborn":    {"", "no room for me"},
		"crash":        {"As far as ", "it burns"},
		"unauthorized": {"", "401 Unauthorized"},
		"limited":      {"", "429 Too Many Requests: slow down"},
		"overloaded":   {"", "529: too many people"},
	} {
		r, err := ask(t, talk(t, scenario, "", agent.SessionOptions{}), "hi")
		if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok || !strings.Contains(err.Error(), tt.want) || r.Response != tt.partial {
			t.Errorf("%s: %q, %v, want %q, %q", scenario, r.Response, err, tt.partial, tt.want)
		}
	}
	r, err := ask(t, talk(t, "long", "", agent.SessionOptions{}), "hi")
	if err != nil || r.StopReason != agent.StopContextOverflow || !r.IsError {
		t.Errorf("a prompt that is too long gave %+v, %v", r, err)
	}
	r, err = ask(t, talk(t, "garbage", "", agent.SessionOptions{}), "hi")
	if err != nil || r.Response != "hi" {
		t.Errorf("amid garbage the answer is %q, %v", r.Response, err)
	}
}

func TestAfterACrashTheSessionGoesOnWhereItWasStored(t *testing.T) {
	// Nothing was stored: what was said is lost, and that is said.
	s := talk(t, "crash", "", agent.SessionOptions{})
	ask(t, s, "hi")
	if _, err := ask(t, s, "hi"); err == nil || !strings.Contains(err.Error(), "begin a new session") {
		t.Errorf("the turn after a crash gave %v", err)
	}

	b, err := openOn(t, loaded(t, fakeCLI(t, "answers"), ""), systemEnv(), CLIOptions{}, tool.Options{}, loop.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	own := sessionOf(t, b, agent.SessionOptions{}).(*cliSession)
	if r, err := ask(t, own, "hi"); err != nil || r.Response != "hi" {
		t.Fatalf("%+v, %v", r, err)
	}
	if p, err := os.FindProcess(own.client.PID()); err != nil || p.Kill() != nil {
		t.Fatal("the process cannot be killed")
	}
	<-own.client.Done()
	if r, err := ask(t, own, "again"); err != nil || r.Response != "session-1 hears again" {
		t.Errorf("after the process was killed the turn gave %q, %v", r.Response, err)
	}
}

func TestAModelThatSaysNothingMoreIsInterrupted(t *testing.T) {
	b, err := openOn(t, loaded(t, fakeCLI(t, "hang"), ""), systemEnv(), CLIOptions{}, tool.Options{},
		loop.Limits{Model: turn.Deadline{After: 300 * time.Millisecond, Key: "execution.llm_timeout"}})
	if err != nil {
		t.Fatal(err)
	}
	s := sessionOf(t, b, agent.SessionOptions{})
	r, err := ask(t, s, "hi")
	if _, ok := errors.AsType[*agent.BackendTimeoutError](err); !ok || r.Response != "As far as " {
		t.Errorf("the turn gave %q, %v", r.Response, err)
	}
	if r, err := ask(t, s, "hi"); err != nil || r.Response != "As far as here." {
		t.Errorf("the next turn gave %q, %v", r.Response, err)
	}
}

func TestTheCLISeesWhatTheAgentDeclaresAndNothingElse(t *testing.T) {
	s := talk(t, "environment", "claude: {bash: {enabled: true}}\n", agent.SessionOptions{},
		"OPENAI_API_KEY=canary-1", "AWS_SECRET_ACCESS_KEY=canary-2", "CLAUDE_CODE_OAUTH_TOKEN=canary-3", "SOME_PASSWORD=canary-4", "CLAUDECODE=1")
	r, err := ask(t, s, "hi")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(r.Response, "\n")
	for _, line := range lines {
		if strings.Contains(line, "canary") || strings.HasPrefix(line, "CLAUDECODE=") || strings.HasPrefix(line, "HOLODECK_") {
			t.Errorf("the CLI sees %s", line)
		}
		if strings.HasPrefix(line, "ARGS=") && (strings.Contains(line, "key-of-a-test") || strings.Contains(line, "Help.")) {
			t.Errorf("everybody sees %s", line)
		}
	}
	for _, want := range []string{"ANTHROPIC_API_KEY=key-of-a-test", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "ENABLE_TOOL_SEARCH=false"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the CLI does not see %s: %q", want, lines)
		}
	}
}

func TestASnapshotIsResumedFromWhereItWasTaken(t *testing.T) {
	a := loaded(t, fakeCLI(t, "answers"), "")
	b, err := openOn(t, a, systemEnv(), CLIOptions{}, tool.Options{}, loop.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := sessionOf(t, b, agent.SessionOptions{})
	ask(t, s, "hi")
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ask(t, sessionOf(t, b, agent.SessionOptions{Resume: snap}), "you"); err != nil || r.Response != "session-1 hears you" {
		t.Errorf("the resumed turn gave %q, %v", r.Response, err)
	}
}

// tape holds a conversation with calls, recorded or played, and returns its
// events.
func tape(t *testing.T, scenario string, env agent.Env, r *cassette.Recorder, p *cassette.Player) string {
	t.Helper()
	a := loaded(t, fakeCLI(t, scenario), "")
	if p != nil && !OnCLI(a, p) {
		t.Error("the record does not say that the CLI was at work")
	}
	b, err := openOn(t, a, env, CLIOptions{Recorder: r, Player: p}, tool.Options{Recorder: r, Player: p},
		loop.Limits{Model: turn.Deadline{After: 400 * time.Millisecond, Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	s := sessionOf(t, b, agent.SessionOptions{ID: "s", Tools: []agent.Tool{echoTool{}}})
	var all strings.Builder
	for _, text := range []string{"one", "two"} {
		for e, err := range s.Send(t.Context(), agent.Text(text)) {
			if err != nil {
				fmt.Fprintln(&all, err)
				continue
			}
			line, err := agent.MarshalEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s\n", line)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return all.String()
}

func TestATurnOfTheCLIReplaysToTheByte(t *testing.T) {
	for _, scenario := range []string{"calls", "hang", "limited"} {
		dir := filepath.Join(t.TempDir(), "tape")
		r, err := cassette.Record(dir, cassette.About{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := tape(t, scenario, r.Env(systemEnv()), r, nil)
		if _, err := r.Commit(); err != nil {
			t.Fatal(err)
		}
		p, err := cassette.Replay(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		// A CLI that could not be started shows that none is.
		if got := tape(t, "broken", p.Env(systemEnv()), nil, p); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", scenario, got, want)
		}
	}
}

func TestCallsOfOurToolsEndInTheOrderOfTheirEnds(t *testing.T) {
	s := talk(t, "calls", "", agent.SessionOptions{Tools: []agent.Tool{echoTool{}}})
	r, err := ask(t, s, "go")
	if err != nil || r.Response != "Both are there." || len(r.ToolResults) != 2 || r.ToolResults[0].Result != `found {"query":"one"}` {
		t.Errorf("the turn gave %+v, %v", r, err)
	}
}

func TestTheCLIsOwnToolsPassTheGateOfTheAgent(t *testing.T) {
	s := talk(t, "builtin", `
claude: {bash: {enabled: true}}
permissions: {ask: ["Bash(command=ls)"], disallowed_tools: ["Bash(command=rm)"]}
hooks:
  - {event: PostToolUse, tool: Bash, action: log}
`, agent.SessionOptions{Approver: yes{}})
	r, err := ask(t, s, "go")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`ls: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, `"permissionDecision":"deny"`, "permissions.disallowed_tools has"} {
		if !strings.Contains(r.Response, want) {
			t.Errorf("the gate does not say %s:\n%s", want, r.Response)
		}
	}
	if strings.Contains(r.Response, "it is key-of-a-test") || !strings.Contains(r.Response, "updatedToolOutput") {
		t.Errorf("the secret is not masked:\n%s", r.Response)
	}
}

// yes is a person who agrees.
type yes struct{}

func (yes) Approve(context.Context, agent.ApprovalRequest) error { return nil }
