package claudecode

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeVariable makes the test binary a CLI that plays the scenario it names.
const fakeVariable = "CLAUDECODE_TEST_SCENARIO"

func TestMain(m *testing.M) {
	if name := os.Getenv(fakeVariable); name != "" {
		os.Exit(play(name))
	}
	goleak.VerifyTestMain(m)
}

// start starts the fake CLI on a scenario.
func start(t *testing.T, scenario string, o Options) (*Client, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Path, o.Version = exe, Tested
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.Env = append(o.Env, fakeVariable+"="+scenario)
	c, err := Start(t.Context(), o)
	if c != nil {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		})
	}
	return c, err
}

// must is start where it is to work.
func must(t *testing.T, scenario string, o Options) *Client {
	t.Helper()
	c, err := start(t, scenario, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cli is the fake's side of the conversation.
type cli struct {
	in  *bufio.Reader
	out io.Writer
	seq int
}

// words is how many words a long answer has.
const words = 20_000

// frame is a message as the fake sees one.
type frame = map[string]any

// next reads the next frame of the client; nil is the end of its input.
func (c *cli) next() frame {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		fmt.Fprintln(os.Stderr, "Error parsing streaming input line")
		os.Exit(1)
	}
	return f
}

func (c *cli) send(f frame) {
	data, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	c.out.Write(append(data, '\n'))
}

func (c *cli) ask(request frame) (id string) {
	c.seq++
	id = fmt.Sprintf("theirs-%d", c.seq)
	c.send(frame{"type": "control_request", "request_id": id, "request": request})
	return id
}

// answer waits for the answer to a request, and passes over the rest.
func (c *cli) answer(id string) frame {
	for f := c.next(); f != nil; f = c.next() {
		if r, ok := f["response"].(frame); ok && f["type"] == "control_response" && r["request_id"] == id {
			return r
		}
	}
	os.Exit(0)
	return nil
}

func (c *cli) mcp(message frame) (id string) {
	message["jsonrpc"] = "2.0"
	return c.ask(frame{"subtype": "mcp_message", "server_name": "holodeck_tools", "message": message})
}

// greet answers the first request of the client, and returns it.
func (c *cli) greet() frame {
	f := c.next()
	if f == nil {
		os.Exit(0)
	}
	request := f["request"].(frame)
	if request["subtype"] != "initialize" {
		os.Exit(9)
	}
	c.send(frame{"type": "control_response", "response": frame{"subtype": "success", "request_id": f["request_id"], "response": frame{"claude_code_version": "2.1.328"}}})
	return request
}

// user waits for a user message and returns its text. Interrupts are answered.
func (c *cli) user() string {
	for f := c.next(); f != nil; f = c.next() {
		switch f["type"] {
		case "control_request":
			c.send(frame{"type": "control_response", "response": frame{"subtype": "success", "request_id": f["request_id"], "response": frame{}}})
		case "user":
			var text strings.Builder
			for _, part := range f["message"].(frame)["content"].([]any) {
				p := part.(frame)
				if p["type"] == "text" {
					text.WriteString(p["text"].(string))
				} else {
					fmt.Fprintf(&text, "[%s %v]", p["type"], p["source"].(frame)["media_type"])
				}
			}
			return text.String()
		}
	}
	os.Exit(0)
	return ""
}

func (c *cli) started() {
	c.send(frame{"type": "system", "subtype": "init", "session_id": "s-1", "model": "claude-x", "tools": []string{"mcp__holodeck_tools__a"},
		"mcp_servers": []frame{{"name": "holodeck_tools", "status": "connected"}}, "claude_code_version": "2.1.328"})
}

func (c *cli) event(event frame) {
	c.send(frame{"type": "stream_event", "event": event, "parent_tool_use_id": nil})
}

// says plays a model call that says a text.
func (c *cli) says(text string) {
	c.event(frame{"type": "message_start", "message": frame{"model": "claude-x", "usage": frame{"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4}}})
	for piece := range strings.SplitAfterSeq(text, " ") {
		c.event(frame{"type": "content_block_delta", "delta": frame{"type": "text_delta", "text": piece}})
	}
	c.send(frame{"type": "assistant", "parent_tool_use_id": nil, "message": frame{"id": "m", "content": []frame{{"type": "text", "text": text}}}})
	c.event(frame{"type": "message_delta", "delta": frame{"stop_reason": "end_turn"}, "usage": frame{"output_tokens": 5}})
	c.event(frame{"type": "message_stop"})
}

func (c *cli) result(more frame) {
	f := frame{"type": "result", "subtype": "success", "is_error": false, "result": "ok", "session_id": "s-1", "num_turns": 1, "terminal_reason": "completed"}
	for k, v := range more {
		f[k] = v
	}
	c.send(f)
}

// play is the main function of the fake.
func play(name string) int {
	c := &cli{in: bufio.NewReader(os.Stdin), out: os.Stdout}
	switch name {
	case "version":
		fmt.Println("2.1.330 (Claude Code)")
	case "old":
		fmt.Println("2.0.77 (Claude Code)")
	case "no version":
		fmt.Println("hello")
	case "talk":
		c.greet()
		total := 0.0
		for {
			text := c.user()
			total += 0.25
			c.started()
			c.event(frame{"type": "content_block_delta", "delta": frame{"type": "thinking_delta", "thinking": "hm"}})
			c.says("You said: " + text)
			c.send(frame{"type": "ui_invalidate", "what": 1})
			fmt.Fprintln(c.out, "not a frame")
			fmt.Fprintln(c.out, `{"type":"assistant","message":`)
			fmt.Fprintln(c.out)
			c.result(frame{"modelUsage": frame{"claude-x": frame{"inputTokens": 10 * total * 4, "outputTokens": 5, "costUSD": total}}})
			c.send(frame{"type": "system", "subtype": "session_state_changed", "state": "idle"})
		}
	case "greeting":
		request := c.greet()
		data, _ := json.Marshal(frame{"request": request, "args": os.Args[1:], "env": os.Environ(), "dir": workdir()})
		c.user()
		c.says(string(data))
		c.result(nil)
		c.next()
	case "tools":
		return playTools(c)
	case "hooks":
		return playHooks(c)
	case "endless":
		c.greet()
		c.user()
		c.started()
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					c.event(frame{"type": "content_block_delta", "delta": frame{"type": "text_delta", "text": "on "}})
				}
			}
		}()
		f := c.next()
		close(stop)
		<-stopped
		if f["request"].(frame)["subtype"] != "interrupt" {
			return 9
		}
		c.send(frame{"type": "control_response", "response": frame{"subtype": "success", "request_id": f["request_id"], "response": frame{"still_queued": []string{}}}})
		c.result(frame{"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"})
		return playEcho(c)
	case "silent":
		c.greet()
		c.user()
		c.started()
		for f := c.next(); f != nil; f = c.next() {
			if f["type"] == "control_request" {
				c.send(frame{"type": "control_response", "response": frame{"subtype": "success", "request_id": f["request_id"], "response": frame{}}})
				c.result(frame{"subtype": "error_during_execution", "is_error": true})
				return playEcho(c)
			}
		}
	case "deaf": // it heeds neither its input nor TERM, and has a child
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			return 9
		}
		c.greet()
		c.user()
		c.says(fmt.Sprint(child.Process.Pid))
		c.result(nil)
		c.user()
		c.started()
		<-time.After(time.Hour)
	case "dies at once":
		fmt.Fprintln(os.Stderr, "Error: bubblewrap is not on PATH")
		return 1
	case "start fails":
		c.next()
		c.send(frame{"type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0, "session_id": "zero", "errors": []string{"No conversation found with session ID: x"}})
		return 1
	case "never starts":
		c.next()
		c.next()
	case "crashes":
		c.greet()
		c.user()
		c.started()
		c.says("part")
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
			<-time.After(time.Hour)
		}
	case "big":
		c.greet()
		c.user()
		c.says(strings.Repeat("wörter ", words))
		c.result(nil)
		c.next()
	case "refused":
		c.greet()
		c.user()
		c.started()
		c.send(frame{"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "retry_delay_ms": 500, "error_status": 529, "error": "overloaded"})
		c.send(frame{"type": "system", "subtype": "model_fallback", "original_model": "a", "fallback_model": "b"})
		c.send(frame{"type": "assistant", "error": "overloaded", "message": frame{"model": "<synthetic>", "content": []frame{{"type": "text", "text": "API Error"}}}})
		c.result(frame{"is_error": true, "api_error_status": 529, "terminal_reason": "api_error"})
		c.next()
	case "subagent":
		c.greet()
		c.user()
		c.send(frame{"type": "assistant", "parent_tool_use_id": nil, "message": frame{"content": []frame{{"type": "tool_use", "id": "t-1", "name": "Agent", "input": frame{}}}}})
		c.send(frame{"type": "assistant", "parent_tool_use_id": "t-1", "message": frame{"content": []frame{{"type": "text", "text": "from below"}, {"type": "tool_use", "id": "t-2", "name": "Read", "input": frame{}}}}})
		c.send(frame{"type": "stream_event", "parent_tool_use_id": "t-1", "event": frame{"type": "content_block_delta", "delta": frame{"type": "text_delta", "text": "from below"}}})
		c.send(frame{"type": "user", "parent_tool_use_id": "t-1", "message": frame{"content": []frame{{"type": "tool_result", "tool_use_id": "t-2", "content": "text of it", "is_error": true}}}})
		c.send(frame{"type": "stream_event", "event": frame{"type": "content_block_start", "content_block": frame{"type": "tool_use", "id": "t-3", "name": "StructuredOutput"}}})
		c.send(frame{"type": "stream_event", "event": frame{"type": "content_block_delta", "delta": frame{"type": "input_json_delta", "partial_json": `{"n":1}`}}})
		c.send(frame{"type": "assistant", "message": frame{"content": []frame{{"type": "tool_use", "id": "t-3", "name": "StructuredOutput", "input": frame{"n": 1}}}}})
		c.send(frame{"type": "user", "message": frame{"content": []frame{{"type": "tool_result", "tool_use_id": "t-3", "content": []frame{}}}}})
		c.result(frame{"structured_output": frame{"n": 1}})
		c.next()
	}
	return 0
}

// playEcho says back what it is told.
func playEcho(c *cli) int {
	for {
		c.says(c.user())
		c.result(nil)
	}
}

// playTools greets the server twice at a time, as the program does, and has its
// tools called side by side.
func playTools(c *cli) int {
	greeting := func(version string, id any) frame {
		return frame{"id": id, "method": "initialize", "params": frame{"protocolVersion": version, "capabilities": frame{}, "clientInfo": frame{"name": "claude-code", "version": "2"}}}
	}
	c.greet()
	c.user()
	report := frame{}
	first, second := c.mcp(greeting("2025-06-18", 0)), c.mcp(greeting("2099-01-01", 0))
	report["second"], report["first"] = c.answerEither(second, first)
	report["ack"], report["again"] = c.answerEither(c.mcp(frame{"method": "notifications/initialized"}), c.mcp(frame{"method": "notifications/initialized"}))
	report["list"] = c.answer(c.mcp(frame{"id": 0, "method": "tools/list"}))["response"]
	call := func(id int, tool string, args frame) string {
		return c.mcp(frame{"id": id, "method": "tools/call", "params": frame{"name": tool, "arguments": args, "_meta": frame{"claudecode/toolUseId": "toolu_1"}}})
	}
	// The first waits for the second: they run side by side.
	a, b := call(1, "wait", nil), call(2, "go", nil)
	report["go"], report["wait"] = c.answerEither(b, a)
	report["bad"] = c.answer(call(3, "fail", nil))["response"]
	report["absent"] = c.answer(call(4, "absent", nil))["response"]
	report["ping"] = c.answer(c.mcp(frame{"id": "p", "method": "ping"}))["response"]
	// A call that is cancelled over MCP, and one whose request is.
	hung := call(5, "hang", nil)
	report["hung"], report["told"] = c.answerEither(hung, c.mcp(frame{"method": "notifications/cancelled", "params": frame{"requestId": 5}}))
	gone := call(6, "hang", nil)
	c.send(frame{"type": "control_cancel_request", "request_id": gone})
	report["unknown"] = c.answer(c.ask(frame{"subtype": "what_is_this"}))["error"]
	data, _ := json.Marshal(report)
	c.says(string(data))
	c.result(nil)
	c.next()
	return 0
}

// answerEither waits for two answers, in any order.
func (c *cli) answerEither(a, b string) (ra, rb any) {
	for ra == nil || rb == nil {
		f := c.next()
		if f == nil {
			os.Exit(0)
		}
		r, _ := f["response"].(frame)
		switch r["request_id"] {
		case a:
			ra = r["response"]
		case b:
			rb = r["response"]
		}
	}
	return ra, rb
}

func playHooks(c *cli) int {
	request := c.greet()
	c.user()
	hooks, _ := request["hooks"].(frame)
	report := frame{}
	for event, list := range hooks {
		for _, spec := range list.([]any) {
			s := spec.(frame)
			id := s["hookCallbackIds"].([]any)[0].(string)
			r := c.answer(c.ask(frame{"subtype": "hook_callback", "callback_id": id, "tool_use_id": "t-1", "input": frame{"hook_event_name": event, "tool_name": "Bash", "tool_input": frame{"command": "ls"}, "tool_response": "out"}}))
			report[fmt.Sprint(event, " ", s["matcher"])] = r
		}
	}
	report["permit"] = c.answer(c.ask(frame{"subtype": "can_use_tool", "tool_name": "Bash", "input": frame{"command": "ls"}, "tool_use_id": "t-2"}))
	report["refuse"] = c.answer(c.ask(frame{"subtype": "can_use_tool", "tool_name": "Write", "input": frame{}, "tool_use_id": "t-3"}))
	report["fail"] = c.answer(c.ask(frame{"subtype": "can_use_tool", "tool_name": "Panic", "input": frame{}, "tool_use_id": "t-4"}))
	data, _ := json.Marshal(report)
	c.says(string(data))
	c.result(nil)
	c.next()
	return 0
}

func workdir() string {
	dir, _ := os.Getwd()
	dir, _ = filepath.EvalSymlinks(dir)
	return dir
}

// turn runs a turn and returns its text and its result.
func turn(ctx context.Context, c *Client, text string) (string, *Result, error) {
	var said strings.Builder
	for m, err := range c.Turn(ctx, Content{Text: text}) {
		if err != nil {
			return said.String(), nil, err
		}
		switch m := m.(type) {
		case *TextDelta:
			said.WriteString(m.Text)
		case *Result:
			return said.String(), m, nil
		}
	}
	return said.String(), nil, io.ErrUnexpectedEOF
}

// soon bounds a test that would hang if it failed.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
