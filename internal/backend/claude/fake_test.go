package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// fakePrefix begins the names under which the test binary plays the CLI.
const fakePrefix = "claude-"

func TestMain(m *testing.M) {
	if name, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), fakePrefix); ok {
		os.Exit(play(name))
	}
	goleak.VerifyTestMain(m)
}

// fakeCLI returns the path of a CLI that plays a scenario.
func fakeCLI(t *testing.T, scenario string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), fakePrefix+scenario)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.Link(exe, path); err == nil {
		return path
	}
	data, err := os.ReadFile(exe) // on another disk
	if err == nil {
		err = os.WriteFile(path, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// loaded is an agent that is to run on the CLI at path.
func loaded(t *testing.T, path, more string, environ ...string) *config.Agent {
	t.Helper()
	dir := t.TempDir()
	text := "name: test\ninstructions: {inline: Help.}\n" + more
	if !strings.Contains("\n"+more, "\nmodel:") {
		text += "model: {provider: anthropic, name: claude-sonnet-4-5, api_key: key-of-a-test}\n"
	}
	file := filepath.Join(dir, "agent.yaml")
	for name, text := range map[string]string{
		"agent.yaml": text, "gates.md": "# Gates\n\nThe gates open at six.\n", "rules.md": "# 1. Rules\n\n## 1.1 Berths\n\nA berth costs 12 EUR.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, problems := config.Load(file, config.Options{WorkDir: dir, Environ: append([]string{
		"HOLODECK_CLAUDE_CLI=" + path, "HOME=" + dir, "PATH=" + os.Getenv("PATH"),
	}, environ...)})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	return a
}

func systemEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// openOn opens an agent on the CLI, with tools of the caller's. It is closed with
// the test.
func openOn(t *testing.T, a *config.Agent, env agent.Env, more CLIOptions, o tool.Options, limits loop.Limits) (agent.Backend, error) {
	t.Helper()
	set, err := tool.Open(t.Context(), env, a, o)
	if err != nil {
		t.Fatal(err)
	}
	if more.Prices == nil {
		if more.Prices, err = price.Open(a.Variable, ""); err != nil {
			t.Fatal(err)
		}
	}
	b, err := OpenCLI(t.Context(), a, loop.Options{
		Env: env, Backend: "claude", Tools: set, System: a.Prompt.Text, Schema: a.Schema, Limits: limits,
		ForSession: func(ctx context.Context, id string, more []agent.Tool) (loop.SessionTools, error) {
			return set.ForSession(ctx, id, more)
		},
	}, more)
	if err != nil {
		set.Close()
		return nil, err
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close the backend: %v", err)
		}
		set.Close()
	})
	return b, nil
}

// talk opens an agent on a scenario, and a session of it.
func talk(t *testing.T, scenario, more string, opts agent.SessionOptions, environ ...string) agent.Session {
	t.Helper()
	b, err := openOn(t, loaded(t, fakeCLI(t, scenario), more, environ...), systemEnv(), CLIOptions{}, tool.Options{}, loop.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return sessionOf(t, b, opts)
}

func sessionOf(t *testing.T, b agent.Backend, opts agent.SessionOptions) agent.Session {
	t.Helper()
	s, err := b.NewSession(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, s agent.Session, text string) (agent.Result, error) {
	t.Helper()
	return agent.Collect(s.Send(t.Context(), agent.Text(text)))
}

// echoTool is a tool of the caller's.
type echoTool struct{}

func (echoTool) Definition() agent.Definition {
	return agent.Definition{Name: "lookup", Description: "Looks up.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)}
}

func (echoTool) Call(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult("found " + string(args)), nil
}

// frame is a message of the protocol.
type frame = map[string]any

// fake is the fake's side of a conversation.
type fake struct {
	name    string
	in      *bufio.Reader
	out     *json.Encoder
	resumed string
	turns   int
}

// play plays a scenario and returns the exit status.
func play(name string) int {
	if slices.Contains(os.Args, "--version") {
		switch name {
		case "old":
			fmt.Println("2.0.77 (Claude Code)")
		case "odd":
			fmt.Println("hello")
		case "broken":
			fmt.Fprintln(os.Stderr, "a library is missing")
			return 127
		default:
			fmt.Println("2.1.328 (Claude Code)")
		}
		return 0
	}
	f := &fake{name: name, in: bufio.NewReader(os.Stdin), out: json.NewEncoder(os.Stdout)}
	for _, arg := range os.Args {
		if id, ok := strings.CutPrefix(arg, "--resume="); ok {
			f.resumed = id
		}
	}
	if name == "stillborn" {
		fmt.Fprintln(os.Stderr, "no room for me")
		return 3
	}
	for {
		switch m := f.next(); m["type"] {
		case nil:
			return 0
		case "control_request":
			f.reply(m)
		case "user":
			f.turns++
			if status := f.answer(textOf(m)); status >= 0 {
				return status
			}
		}
	}
}

func (f *fake) next() frame {
	line, err := f.in.ReadBytes('\n')
	if err != nil {
		return frame{}
	}
	var m frame
	if json.Unmarshal(line, &m) != nil {
		os.Exit(1)
	}
	return m
}

func (f *fake) reply(m frame) {
	f.out.Encode(frame{"type": "control_response", "response": frame{
		"subtype": "success", "request_id": m["request_id"], "response": frame{"claude_code_version": "2.1.328"},
	}})
	if m["request"].(frame)["subtype"] == "interrupt" {
		f.result(frame{"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"})
	}
}

// request asks the client for something and returns its answer.
func (f *fake) request(r frame) frame {
	f.out.Encode(frame{"type": "control_request", "request_id": "theirs", "request": r})
	for {
		m := f.next()
		switch m["type"] {
		case nil:
			os.Exit(0)
		case "control_response":
			if in, _ := m["response"].(frame)["response"].(frame); in != nil {
				return in
			}
			return m["response"].(frame)
		case "control_request":
			f.reply(m)
			return nil
		}
	}
}

func textOf(m frame) string {
	parts := m["message"].(frame)["content"].([]any)
	text, _ := parts[len(parts)-1].(frame)["text"].(string)
	return text
}

func (f *fake) event(e frame) {
	f.out.Encode(frame{"type": "stream_event", "event": e})
}

// begin begins a model call, says streams a part of its text, end ends it.
func (f *fake) begin() {
	f.event(frame{"type": "message_start", "message": frame{"model": "claude-sonnet-4-5", "usage": frame{"input_tokens": 10}}})
}

func (f *fake) says(text string) {
	f.event(frame{"type": "content_block_delta", "delta": frame{"type": "text_delta", "text": text}})
}

func (f *fake) end(stop string) {
	f.event(frame{"type": "message_delta", "delta": frame{"stop_reason": stop}, "usage": frame{"output_tokens": 5}})
	f.event(frame{"type": "message_stop"})
}

func (f *fake) result(more frame) {
	r := frame{"type": "result", "subtype": "success", "is_error": false, "session_id": "session-1", "stop_reason": "end_turn", "terminal_reason": "completed"}
	for k, v := range more {
		r[k] = v
	}
	f.out.Encode(r)
}

// refused says that the API refused a call.
func (f *fake) refused(status int, kind, text string) {
	f.out.Encode(frame{"type": "assistant", "error": kind, "message": frame{"content": []frame{{"type": "text", "text": text}}}})
	f.result(frame{"is_error": true, "api_error_status": status, "terminal_reason": "api_error", "result": fmt.Sprintf("API Error: %d %s", status, text)})
}

// use says that the model calls a tool.
func (f *fake) use(id, name string, input frame) {
	f.out.Encode(frame{"type": "assistant", "uuid": "u-" + id, "message": frame{"content": []frame{{"type": "tool_use", "id": id, "name": name, "input": input}}}})
}

// got says what a tool returned.
func (f *fake) got(id, text string, failed bool) {
	f.out.Encode(frame{"type": "user", "message": frame{"content": []frame{{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}}}})
}

// answer plays a turn. It returns the exit status, or less than 0 to go on.
func (f *fake) answer(said string) int {
	f.out.Encode(frame{"type": "system", "subtype": "init", "session_id": "session-1", "model": "claude-sonnet-4-5"})
	switch f.name {
	case "crash":
		f.begin()
		f.says("As far as ")
		fmt.Fprintln(os.Stderr, "it burns")
		return 4
	case "garbage":
		fmt.Print("\x00\xff{{{ not a message\n{\"type\": 5}\n\n{\"type\":\"assistant\",\"message\":7}\n{\"type\":\"news\",\"subtype\":\"of 2099\"}\n")
	case "hang":
		f.begin()
		f.says("As far as ")
		if f.turns == 1 {
			return -1 // and says nothing more until it is interrupted
		}
		f.says("here.")
		f.end("end_turn")
		f.result(nil)
		return -1
	case "unauthorized":
		f.out.Encode(frame{"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 500, "error_status": 401, "error": "authentication_failed"})
		return -1
	case "limited":
		f.out.Encode(frame{"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "retry_delay_ms": 500, "error_status": 429, "error": "rate_limit"})
		f.refused(429, "rate_limit", "slow down")
		return -1
	case "overloaded":
		f.refused(529, "overloaded", "too many people")
		return -1
	case "long":
		f.refused(400, "invalid_request", "prompt is too long: 3 tokens > 2 maximum")
		return -1
	case "environment":
		f.begin()
		env := os.Environ()
		slices.Sort(env)
		f.says(strings.Join(append(env, fmt.Sprint("ARGS=", os.Args)), "\n"))
		f.end("end_turn")
		f.result(nil)
		return -1
	case "pid":
		said = fmt.Sprint(os.Getpid())
	case "calls":
		f.calls()
		return -1
	case "builtin":
		f.builtin()
		return -1
	}
	f.begin()
	if f.resumed != "" {
		f.says(f.resumed + " hears ")
	}
	f.says(said)
	f.end("end_turn")
	f.result(nil)
	return -1
}

// calls has two calls of a tool of ours run side by side.
func (f *fake) calls() {
	f.begin()
	f.use("one", wirePrefix+"lookup", frame{"query": "one"})
	f.use("two", wirePrefix+"lookup", frame{"query": "two"})
	f.end("tool_use")
	for _, id := range []string{"two", "one"} {
		reply := f.request(frame{"subtype": "mcp_message", "server_name": ServerName, "message": frame{
			"jsonrpc": "2.0", "id": len(id), "method": "tools/call",
			"params": frame{"name": "lookup", "arguments": frame{"query": id}, "_meta": frame{"claudecode/toolUseId": id}},
		}})
		text, _ := json.Marshal(reply["mcp_response"])
		f.got(id, string(text), false)
	}
	f.begin()
	f.says("Both are there.")
	f.end("end_turn")
	f.result(nil)
}

// builtin asks about two calls of a tool of its own, and has the one that may run
// return something secret.
func (f *fake) builtin() {
	f.begin()
	f.use("one", "Bash", frame{"command": "ls"})
	f.use("two", "Bash", frame{"command": "rm"})
	f.end("tool_use")
	said := ""
	for id, command := range map[string]string{"one": "ls", "two": "rm"} {
		before := f.request(frame{"subtype": "hook_callback", "callback_id": "hook_0", "tool_use_id": id, "input": frame{
			"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": frame{"command": command},
		}})
		decided, _ := json.Marshal(before)
		said += command + ": " + string(decided) + "\n"
		if strings.Contains(string(decided), "deny") {
			f.got(id, string(decided), true)
			continue
		}
		after := f.request(frame{"subtype": "hook_callback", "callback_id": "hook_1", "tool_use_id": id, "input": frame{
			"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": frame{"command": command}, "tool_response": "it is key-of-a-test",
		}})
		masked, _ := json.Marshal(after)
		f.got(id, "files", false)
		said += "after: " + string(masked) + "\n"
	}
	f.begin()
	f.says(said)
	f.end("end_turn")
	f.result(nil)
}
