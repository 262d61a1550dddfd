package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestATurn(t *testing.T) {
	c := must(t, "talk", Options{})
	var got []string
	var result *Result
	for m, err := range c.Turn(soon(t), Content{Text: "hello there"}, Content{Kind: "image", MIME: "image/png", Data: []byte("x")}) {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *Result:
			result = m
			got = append(got, "result")
		case *ModelCall:
			got = append(got, fmt.Sprintf("call %+v", *m))
		case *TextDelta:
			got = append(got, m.Text)
		case *Thinking:
			got = append(got, "thinking "+m.Text)
		case *Started:
			got = append(got, "started "+m.SessionID+" "+m.Servers[0].Status)
		default:
			got = append(got, fmt.Sprintf("%T", m))
		}
	}
	want := []string{"started s-1 connected", "thinking hm", "*claudecode.CallStarted", "You ", "said: ", "hello ", "there[image ", "image/png]",
		"call {Model:claude-x StopReason:end_turn Usage:{Input:9 Output:5 CacheRead:4 CacheWrite:0}}", "result"}
	if !slices.Equal(got, want) {
		t.Errorf("the turn was %q\nwant %q", got, want)
	}
	if result == nil || result.IsError || result.CostUSD != 0.25 || result.Models["claude-x"].Input != 10 {
		t.Errorf("the result is %+v", result)
	}
	if c.Session() != "s-1" || c.Version() != Tested {
		t.Errorf("session %q of version %s", c.Session(), c.Version())
	}
	// What the program tells are totals; a turn's are its own.
	if _, second, err := turn(soon(t), c, "again"); err != nil || second.CostUSD != 0.25 || second.Models["claude-x"].Output != 0 {
		t.Errorf("the second turn: %+v, %v", second, err)
	}
}

func TestWhatLooksLikeACommandIsSaidToTheModel(t *testing.T) {
	c := must(t, "talk", Options{})
	if text, _, err := turn(soon(t), c, "/clear"); text != "You said: \n/clear" || err != nil {
		t.Errorf("it was told %q, %v", text, err)
	}
}

func TestSecretsAndPromptsAreNotOnTheCommandLine(t *testing.T) {
	three := 3000
	c := must(t, "greeting", Options{
		SystemPrompt: "the prompt", Env: []string{"ANTHROPIC_API_KEY=the key"}, Schema: json.RawMessage(`{"title":"the schema"}`),
		Model: "claude-x", FallbackModel: "claude-y", Tools: []string{"Read", "Bash"}, AllowedTools: []string{"mcp__a__b"}, DisallowedTools: []string{"Bash(rm *)"},
		PermissionMode: "default", MaxTurns: 7, MaxBudgetUSD: 0.5, Effort: "high", ThinkingTokens: &three, Resume: "s-0", Fork: true,
		SettingSources: []string{"user", "project"}, Agents: map[string]Agent{"helper": {Description: "d", Prompt: "the agent's prompt"}},
		CanUseTool: func(context.Context, ToolUse) (Decision, error) { return Decision{}, nil },
		Servers:    map[string]*mcp.Server{"holodeck_tools": mcp.NewServer(&mcp.Implementation{Name: "holodeck_tools"}, nil)},
	})
	text, _, err := turn(soon(t), c, "hi")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Request struct {
			SystemPrompt []string
			JSONSchema   json.RawMessage
			Agents       map[string]Agent
			Servers      []string `json:"sdkMcpServers"`
		}
		Args, Env []string
		Dir       string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	line := strings.Join(got.Args, " ")
	for _, secret := range []string{"the key", "the prompt", "the schema", "the agent's prompt"} {
		if strings.Contains(line, secret) {
			t.Errorf("%q is on the command line", secret)
		}
	}
	if got.Request.SystemPrompt[0] != "the prompt" || got.Request.Agents["helper"].Prompt != "the agent's prompt" || string(got.Request.JSONSchema) != `{"title":"the schema"}` || got.Request.Servers[0] != "holodeck_tools" {
		t.Errorf("the greeting is %+v", got.Request)
	}
	for _, want := range []string{
		"--output-format=stream-json", "--input-format=stream-json", "--verbose", "--include-partial-messages", "--strict-mcp-config", "--disable-slash-commands",
		"--setting-sources=user,project", "--tools=Read,Bash", "--model=claude-x", "--fallback-model=claude-y", "--allowedTools=mcp__a__b", "--disallowedTools=Bash(rm *)",
		"--permission-mode=default", "--effort=high", "--max-turns=7", "--max-budget-usd=0.5", "--max-thinking-tokens=3000", "--thinking-display=summarized",
		"--permission-prompt-tool=stdio", "--resume=s-0", "--fork-session", "--system-prompt-snapshot=off",
	} {
		if !slices.Contains(got.Args, want) {
			t.Errorf("the command line lacks %s: %s", want, line)
		}
	}
	for _, entry := range got.Env {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains([]string{
			"ANTHROPIC_API_KEY", fakeVariable, "PWD", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
			"CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "CLAUDE_CODE_MCP_ALLOWLIST_ENV", "ENABLE_TOOL_SEARCH",
		}, name) {
			t.Errorf("%s reached the program", name)
		}
	}
	if dir, _ := filepath.EvalSymlinks(c.o.Dir); got.Dir != dir {
		t.Errorf("it runs in %s, want %s", got.Dir, dir)
	}
}

func TestFlagsOfNewVersionsAreNotGivenToOldOnes(t *testing.T) {
	o := Options{Version: Version{2, 1, 240}}
	if args := o.arguments(); slices.Contains(args, "--system-prompt-snapshot=off") {
		t.Errorf("%s is given %q", o.Version, args)
	}
	none := 0
	o = Options{ThinkingTokens: &none}
	if args := o.arguments(); !slices.Contains(args, "--thinking=disabled") || !slices.Contains(args, "--tools=") || !slices.Contains(args, "--setting-sources=") {
		t.Errorf("the arguments are %q", args)
	}
}

// toolServer has tools that wait for one another, fail and hang.
func toolServer(hangs *atomic.Int32, hung chan<- error) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "holodeck_tools", Version: "1"}, nil)
	open := make(chan struct{})
	text := func(s string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
	}
	for name, handler := range map[string]mcp.ToolHandler{
		"wait": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-open:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return text("waited for " + fmt.Sprint(r.Params.Meta["claudecode/toolUseId"]))
		},
		"go": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(open)
			return text("went")
		},
		"fail": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("it is broken")
		},
		"hang": func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			hangs.Add(1)
			<-ctx.Done()
			hung <- ctx.Err()
			return nil, ctx.Err()
		},
	} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, handler)
	}
	return s
}

func TestToolsOfThisProcess(t *testing.T) {
	hung, hangs := make(chan error, 2), new(atomic.Int32)
	c := must(t, "tools", Options{Servers: map[string]*mcp.Server{"holodeck_tools": toolServer(hangs, hung)}})
	text, _, err := turn(soon(t), c, "hi")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"first":   `"protocolVersion":"2025-06-18"`,
		"second":  `"protocolVersion":"2025-11-25"`,
		"ack":     `{"mcp_response":{"jsonrpc":"2.0","result":{}}}`,
		"again":   `{"mcp_response":{"jsonrpc":"2.0","result":{}}}`,
		"hung":    `context canceled`,
		"list":    `"readOnlyHint":true`,
		"go":      `"text":"went"`,
		"wait":    `"text":"waited for toolu_1"`,
		"bad":     `it is broken`,
		"absent":  `unknown tool`,
		"ping":    `"result":{}`,
		"unknown": `"what_is_this is not supported"`,
	} {
		if !strings.Contains(string(got[key]), want) {
			t.Errorf("%s gave %s, want %s in it", key, got[key], want)
		}
	}
	if !strings.Contains(string(got["list"]), `"id":0`) {
		t.Errorf("the id 0 became another: %s", got["list"])
	}
	c.Close()                // nothing is called any more
	for range hangs.Load() { // a call that nobody waits for is cancelled, or not begun
		select {
		case err := <-hung:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended in %v", err)
			}
		case <-soon(t).Done():
			t.Fatal("a call that was cancelled went on")
		}
	}
}

func TestHooksAndPermissionsFailClosed(t *testing.T) {
	hook := func(event HookEvent, matcher string, f func(context.Context, HookInput) (HookOutput, error)) Hook {
		return Hook{Event: event, Matcher: matcher, Timeout: time.Second, Call: f}
	}
	replaced := "masked"
	slow := hook(PreToolUse, "slow", func(ctx context.Context, _ HookInput) (HookOutput, error) {
		<-ctx.Done()
		return HookOutput{}, nil
	})
	slow.Timeout = 20 * time.Millisecond
	c := must(t, "hooks", Options{
		Hooks: []Hook{
			hook(PreToolUse, "deny", func(_ context.Context, in HookInput) (HookOutput, error) {
				return HookOutput{Deny: true, Reason: "not " + in.ToolName}, nil
			}),
			hook(PreToolUse, "allow", func(context.Context, HookInput) (HookOutput, error) {
				return HookOutput{Allow: true, Input: json.RawMessage(`{"command":"pwd"}`)}, nil
			}),
			hook(PreToolUse, "nothing", func(context.Context, HookInput) (HookOutput, error) { return HookOutput{}, nil }),
			hook(PreToolUse, "fails", func(context.Context, HookInput) (HookOutput, error) { return HookOutput{}, errors.New("no network") }),
			hook(PreToolUse, "panics", func(context.Context, HookInput) (HookOutput, error) { panic("oh") }),
			slow,
			hook(PostToolUse, "replaces", func(context.Context, HookInput) (HookOutput, error) {
				return HookOutput{Output: json.RawMessage(strconv.Quote(replaced))}, nil
			}),
			hook(PostToolUse, "fails", func(context.Context, HookInput) (HookOutput, error) { return HookOutput{}, errors.New("no network") }),
			hook(Stop, "", func(context.Context, HookInput) (HookOutput, error) { return HookOutput{}, nil }),
		},
		CanUseTool: func(_ context.Context, use ToolUse) (Decision, error) {
			switch use.Tool {
			case "Panic":
				panic("oh")
			case "Bash":
				return Decision{Allow: true}, nil
			}
			return Decision{Message: "not now"}, nil
		},
	})
	text, _, err := turn(soon(t), c, "hi")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]struct{ Response json.RawMessage }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	const pre, post = `{"hookSpecificOutput":{"hookEventName":"PreToolUse",`, `{"hookSpecificOutput":{"hookEventName":"PostToolUse",`
	for key, want := range map[string]string{
		"PreToolUse deny":      pre + `"permissionDecision":"deny","permissionDecisionReason":"not Bash"}}`,
		"PreToolUse allow":     pre + `"permissionDecision":"allow","updatedInput":{"command":"pwd"}}}`,
		"PreToolUse nothing":   `{}`,
		"PreToolUse fails":     pre + `"permissionDecision":"deny","permissionDecisionReason":"a hook failed: no network"}}`,
		"PreToolUse panics":    pre + `"permissionDecision":"deny","permissionDecisionReason":"a hook failed: it crashed: oh"}}`,
		"PreToolUse slow":      pre + `"permissionDecision":"deny","permissionDecisionReason":"a hook failed: it took too long"}}`,
		"PostToolUse replaces": post + `"updatedToolOutput":"masked"}}`,
		"PostToolUse fails":    post + `"updatedToolOutput":"[the output is withheld: a hook failed: no network]"}}`,
		"Stop <nil>":           `{}`,
		"permit":               `{"behavior":"allow","updatedInput":{"command":"ls"}}`,
		"refuse":               `{"behavior":"deny","message":"not now"}`,
		"fail":                 `{"behavior":"deny","message":"permission could not be asked for: it crashed: oh"}`,
	} {
		if !sameJSON(string(got[key].Response), want) {
			t.Errorf("%s was answered with %s, want %s", key, got[key].Response, want)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestATurnIsInterruptedAndTheNextOneWorks(t *testing.T) {
	for _, scenario := range []string{"endless", "silent"} {
		for name, leave := range map[string]func(c *Client){
			"by its reader": func(c *Client) {
				for range c.Turn(soon(t), Content{Text: "hi"}) {
					break
				}
			},
			"by its context": func(c *Client) {
				ctx, cancel := context.WithCancel(soon(t))
				var last error
				for m, err := range c.Turn(ctx, Content{Text: "hi"}) {
					last = err
					if m != nil {
						cancel()
					}
				}
				cancel()
				if last != context.Canceled {
					t.Errorf("the turn ended in %v", last)
				}
			},
		} {
			t.Run(scenario+" "+name, func(t *testing.T) {
				c := must(t, scenario, Options{})
				leave(c)
				if text, _, err := turn(soon(t), c, "next"); text != "next" || err != nil {
					t.Errorf("the next turn: %q, %v", text, err)
				}
			})
		}
	}
}

func TestALongAnswerIsComplete(t *testing.T) {
	c := must(t, "big", Options{})
	var n int
	for m, err := range c.Turn(soon(t), Content{Text: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := m.(*TextDelta); ok {
			n += len(d.Text)
		}
	}
	if n != 8*words {
		t.Errorf("%d bytes came", n)
	}
}

func TestAProgramThatDoesNotStart(t *testing.T) {
	for scenario, want := range map[string]string{
		"dies at once": "bubblewrap is not on PATH",
		"start fails":  "No conversation found with session ID: x",
	} {
		_, err := start(t, scenario, Options{})
		if exit, ok := errors.AsType[*ExitError](err); !ok || !strings.Contains(exit.Error(), want) || exit.Err == nil {
			t.Errorf("%s: %v", scenario, err)
		}
	}
	if _, err := start(t, "never starts", Options{Start: 50 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that never answers: %v", err)
	}
	if _, err := start(t, "talk", Options{Dir: filepath.Join(t.TempDir(), "absent")}); err == nil || !strings.Contains(err.Error(), "working folder") {
		t.Errorf("without its folder: %v", err)
	}
	if _, err := Start(t.Context(), Options{Path: filepath.Join(t.TempDir(), "absent"), Dir: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the program: %v", err)
	}
}

func TestACrashInATurn(t *testing.T) {
	c := must(t, "crashes", Options{})
	text, _, err := turn(soon(t), c, "hi")
	if exit, ok := errors.AsType[*ExitError](err); !ok || text != "part" || !strings.Contains(exit.Error(), "killed") {
		t.Errorf("it said %q and ended in %v", text, err)
	}
	if c.Alive() || c.Session() != "s-1" {
		t.Errorf("alive %t, session %q", c.Alive(), c.Session())
	}
	if _, _, again := turn(soon(t), c, "hi"); !errors.As(again, new(*ExitError)) {
		t.Errorf("the next turn: %v", again)
	}
}

func TestWhatTheProviderRefusesIsToldOf(t *testing.T) {
	c := must(t, "refused", Options{})
	var kinds []string
	for m, err := range c.Turn(soon(t), Content{Text: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *Retry:
			kinds = append(kinds, fmt.Sprintf("retry %d of %d after %d for %d", m.Attempt, m.MaxRetries, m.DelayMS, *m.Status))
		case *Fallback:
			kinds = append(kinds, m.From+" to "+m.To)
		case *Result:
			kinds = append(kinds, fmt.Sprintf("result %t %d %s %s", m.IsError, m.APIStatus, m.APIError, m.TerminalReason))
		}
	}
	if want := []string{"retry 1 of 2 after 500 for 529", "a to b", "result true 529 overloaded api_error"}; !slices.Equal(kinds, want) {
		t.Errorf("%q", kinds)
	}
}

func TestSubAgentsAreToldApart(t *testing.T) {
	c := must(t, "subagent", Options{})
	var got []string
	for m, err := range c.Turn(soon(t), Content{Text: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *TextDelta:
			got = append(got, "text "+m.Text)
		case *SubagentText:
			got = append(got, m.Parent+" says "+m.Text)
		case *ToolUsed:
			got = append(got, m.Parent+" uses "+m.Name)
		case *ToolResult:
			got = append(got, fmt.Sprint(m.Parent, " got ", m.Text, " ", m.IsError))
		case *Result:
			got = append(got, string(m.Structured))
		}
	}
	if want := []string{" uses Agent", "t-1 says from below", "t-1 uses Read", "t-1 got text of it true", `text {"n":1}`, `{"n":1}`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAskVersion(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(scenario string) (Version, error) {
		return AskVersion(soon(t), exe, []string{fakeVariable + "=" + scenario})
	}
	if v, err := ask("version"); err != nil || v != (Version{2, 1, 330}) {
		t.Errorf("AskVersion = %v, %v", v, err)
	}
	if _, err := ask("old"); err == nil || !strings.Contains(err.Error(), "too old: install 2.1.142 or newer") {
		t.Errorf("of an old one: %v", err)
	}
	if _, err := ask("no version"); err == nil || !strings.Contains(err.Error(), "is no version") {
		t.Errorf("of none: %v", err)
	}
	if _, err := ask("dies at once"); err == nil || !strings.Contains(err.Error(), "bubblewrap") {
		t.Errorf("of one that dies: %v", err)
	}
}

func TestFind(t *testing.T) {
	home, path := t.TempDir(), t.TempDir()
	lookup := func(name string) (string, bool) { return path, name == "PATH" }
	if _, err := Find(home, lookup); err == nil {
		t.Error("it found one where none is")
	}
	install := func(dir string) string {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, Program)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	local := install(filepath.Join(home, ".local", "bin"))
	if got, err := Find(home, lookup); got != local || err != nil {
		t.Errorf("Find = %s, %v", got, err)
	}
	onPath := install(path)
	if got, err := Find(home, lookup); got != onPath || err != nil {
		t.Errorf("Find = %s, %v", got, err)
	}
}
