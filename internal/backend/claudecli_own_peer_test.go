//go:build peers

package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// onCLI opens an agent file on the real CLI as the commands do, with a model that
// plays a script.
func onCLI(tb testing.TB, section, rules string) (*llmtest.Server, *config.Agent, agent.Backend) {
	tb.Helper()
	if os.Getenv("HOLODECK_CLAUDE_CLI") == "" {
		tb.Fatal("HOLODECK_CLAUDE_CLI names no Claude Code CLI; make peer-claude installs one")
	}
	parsed, problems := script.ParseYAML([]byte(rules))
	if len(problems) > 0 {
		tb.Fatal(problems)
	}
	server := llmtest.Start(tb, parsed, llmtest.BehindClaudeCode(llmtest.Options{Key: "key-of-a-test"}))
	dir := tb.TempDir()
	text := "name: test\ninstructions: {inline: Help.}\n" + section
	if !strings.Contains("\n"+section, "\nmodel:") {
		text += "model: {provider: anthropic, name: claude-sonnet-4-5, endpoint: " + server.URL + ", api_key: key-of-a-test}\n"
	}
	file := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "$API", server.URL)), 0o600); err != nil {
		tb.Fatal(err)
	}
	a, found := config.Load(file, config.Options{WorkDir: dir, Environ: []string{
		"HOLODECK_CLAUDE_CLI=" + os.Getenv("HOLODECK_CLAUDE_CLI"), "HOME=" + tb.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + tb.TempDir(),
	}})
	if config.HasErrors(found) {
		tb.Fatal(&config.Error{Problems: found})
	}
	env := testEnv()
	models := llm.Open(env, llm.Options{Getenv: a.Variable})
	set, err := tool.Open(tb.Context(), env, a, tool.Options{Getenv: a.Variable, Models: models})
	if err != nil {
		tb.Fatal(err)
	}
	b, err := Open(tb.Context(), env, a, set, models, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(b.Close(), set.Close()); err != nil {
			tb.Error(err)
		}
	})
	return server, a, b
}

func begin(tb testing.TB, b agent.Backend, o agent.SessionOptions) agent.Session {
	tb.Helper()
	s, err := b.NewSession(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// hear asks a question, and returns the answer and its events.
func hear(tb testing.TB, s agent.Session, text string) (agent.Result, []agent.Event, error) {
	tb.Helper()
	var (
		f      agent.Folder
		events []agent.Event
	)
	for e, err := range s.Send(tb.Context(), agent.Text(text)) {
		if err != nil {
			return f.Result(), events, err
		}
		f.Add(e)
		events = append(events, e)
	}
	return f.Result(), events, nil
}

// bodies returns what the API was sent, as one text.
func bodies(s *llmtest.Server) string {
	var all strings.Builder
	for _, r := range s.Requests() {
		all.Write(r.Body)
	}
	return all.String()
}

func TestTheRealCLIPassesTheGateWithItsOwnTools(t *testing.T) {
	server, a, b := onCLI(t, `
claude: {file_system: {read: true, write: true}, permission_mode: acceptEdits}
permissions: {disallowed_tools: ["Write(file_path=*secret*)"]}
hooks:
  - {event: PreToolUse, tool: Write, arguments: {file_path: "*forbidden*"}, action: reject, message: not there}
  - {event: PreToolUse, tool: Write, arguments: {file_path: "*changed*"}, action: modify, transform: {content: by a hook}}
`, `
- when: {user: write, round: 1}
  do:
    - {call: {id: a, name: Write, args: {file_path: ./forbidden.txt, content: x}}}
    - {call: {id: b, name: Write, args: {file_path: ./secret.txt, content: x}}}
    - {call: {id: c, name: Write, args: {file_path: ./changed.txt, content: x}}}
    - {call: {id: d, name: Write, args: {file_path: ./plain.txt, content: as said}}}
- when: {user: read, round: 1}
  do: [{call: {name: Read, args: {file_path: ./key.txt}}}]
- do: [{text: Done.}]
`)
	if err := os.WriteFile(filepath.Join(a.Dir, "key.txt"), []byte("it is key-of-a-test, keep it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := begin(t, b, agent.SessionOptions{Mode: agent.ModeTest})
	r, _, err := hear(t, s, "write it")
	if err != nil || len(r.ToolResults) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range []string{"not there", "permissions.disallowed_tools", "", ""} {
		if got := r.ToolResults[i]; got.IsError != (want != "") || !strings.Contains(got.Result, want) {
			t.Errorf("call %d returned %+v, want %q", i+1, got, want)
		}
	}
	for name, want := range map[string]string{"forbidden.txt": "", "secret.txt": "", "changed.txt": "by a hook", "plain.txt": "as said"} {
		if got, _ := os.ReadFile(filepath.Join(a.Dir, name)); string(got) != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	if _, _, err := hear(t, s, "read it"); err != nil {
		t.Fatal(err)
	}
	if sent := bodies(server); strings.Contains(sent, "it is key-of-a-test") || !strings.Contains(sent, "keep it") {
		t.Error("what a tool of the CLI read reached the model with its secrets")
	}
	// Nothing that the file does not ask for is shown to the model.
	for _, name := range []string{`"name":"Bash"`, `"name":"Edit"`, `"name":"WebFetch"`, `"name":"WebSearch"`, `"name":"Task"`, `"name":"Agent"`} {
		if strings.Contains(bodies(server), name) {
			t.Errorf("the model sees %s", name)
		}
	}
}

func TestTheRealCLIGoesOnFromWhereASnapshotWasTaken(t *testing.T) {
	server, _, b := onCLI(t, "", "- do: [{text: Hm.}]\n")
	s := begin(t, b, agent.SessionOptions{})
	hear(t, s, "one")
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hear(t, s, "two")
	back := begin(t, b, agent.SessionOptions{Resume: snap})
	if _, _, err := hear(t, back, "three"); err != nil {
		t.Fatal(err)
	}
	requests := server.Requests()
	last := string(requests[len(requests)-1].Body)
	if !strings.Contains(last, `"one"`) || strings.Contains(last, `"two"`) || !strings.Contains(last, `"three"`) {
		t.Errorf("the model was asked %s", last)
	}
	// And the first goes on as if nothing was.
	if _, _, err := hear(t, s, "four"); err != nil {
		t.Fatal(err)
	}
	requests = server.Requests()
	if last = string(requests[len(requests)-1].Body); !strings.Contains(last, `"two"`) || strings.Contains(last, `"three"`) {
		t.Errorf("the model was asked %s", last)
	}
}

func TestTheRealCLITellsSubAgentsApart(t *testing.T) {
	_, _, b := onCLI(t, `
claude: {agents: {scout: {description: looks around, prompt: You look around.}}}
`, `
- when: {user: look around, round: 1}
  do: [{call: {id: a, name: Agent, args: {description: look, prompt: what is there, subagent_type: scout}}}, {usage: {prompt_tokens: 10, completion_tokens: 1}}]
- when: {user: look around, round: 2}
  do: [{text: A tree is there.}, {usage: {prompt_tokens: 10, completion_tokens: 1}}]
- when: {user: what is there}
  do: [{text: I see a tree.}, {usage: {prompt_tokens: 100, completion_tokens: 10}}]
`)
	r, events, err := hear(t, begin(t, b, agent.SessionOptions{}), "look around")
	if err != nil || r.Response != "A tree is there." || r.NumTurns != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	aside := false
	for _, e := range events {
		if c, ok := e.(agent.ModelCall); ok && c.Purpose == agent.PurposeAside {
			aside = c.Usage.Prompt == 100 && c.Usage.Completion == 10
		}
		if d, ok := e.(agent.TextDelta); ok && d.Text == "I see a tree." && e.Header().Parent != "a" {
			t.Error("the sub-agent's text is taken for the answer")
		}
	}
	if !aside || r.Usage.Total != 132 {
		t.Errorf("the sub-agent's tokens do not count: %+v", r.Usage)
	}
}

// children returns the processes that this one has started.
func children(tb testing.TB) []int {
	tb.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		tb.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestTheRealCLIIsKilledInATurn(t *testing.T) {
	_, _, b := onCLI(t, "", `
- when: {user: hang}
  do: [{text: As far as}, {block: true}]
- when: {user: again}
  do: [{text: I am here.}]
- do: [{text: Hello.}]
`)
	s := begin(t, b, agent.SessionOptions{})
	if _, _, err := hear(t, s, "hi"); err != nil {
		t.Fatal(err)
	}
	var failed error
	for e, err := range s.Send(t.Context(), agent.Text("hang")) {
		if failed = err; err != nil {
			break
		}
		if _, ok := e.(agent.TextDelta); ok {
			for _, pid := range children(t) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), "ended unexpectedly") {
		t.Errorf("the turn ended in %v", failed)
	}
	if r, _, err := hear(t, s, "again"); err != nil || r.Response != "I am here." {
		t.Errorf("the next turn gave %q, %v", r.Response, err)
	}
	b.Close()
	if left := children(t); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

func TestTheRealCLITellsWhatTheAPIRefuses(t *testing.T) {
	for status, want := range map[int]string{401: "401 Unauthorized", 403: "403 Forbidden", 429: "429 Too Many Requests", 529: "529"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			_, _, b := onCLI(t, "", fmt.Sprintf("- do: [{error: {status: %d, message: not now}}]\n", status))
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			var failed error
			retried := false
			for e, err := range begin(t, b, agent.SessionOptions{}).Send(ctx, agent.Text("hi")) {
				failed = err
				if n, ok := e.(agent.Notice); ok && n.Code == agent.NoticeRetry {
					if retried = true; !strings.Contains(n.Text, strconv.Itoa(status)) {
						t.Errorf("the notice is %q", n.Text)
					}
					break // minutes would go by
				}
			}
			switch busy := status == 429 || status == 529; {
			case busy && !retried:
				t.Errorf("nobody said that it is asked again: %v", failed)
			case !busy && (failed == nil || !strings.Contains(failed.Error(), want)):
				t.Errorf("got %v, want %q", failed, want)
			}
		})
	}
}

// one is a turn of a benchmark, which answers at once.
func one(b *testing.B, s agent.Session, text string) {
	b.Helper()
	if _, _, err := hear(b, s, text); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTheRealCLI measures what the CLI takes over an API that answers at once.
func BenchmarkTheRealCLI(b *testing.B) {
	const rules = `
- when: {user: look, round: 1}
  do: [{call: {name: mcp__holodeck_tools__lookup, args: {query: x}}}]
- do: [{text: Done.}]
`
	with := agent.SessionOptions{Tools: []agent.Tool{waiting{name: "lookup", calls: new(atomic.Int32)}}}
	b.Run("first turn", func(b *testing.B) {
		_, _, backend := onCLI(b, "", rules)
		for b.Loop() {
			s := begin(b, backend, with)
			one(b, s, "hi")
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
	})
	b.Run("resumed turn", func(b *testing.B) {
		_, _, backend := onCLI(b, "", rules)
		s := begin(b, backend, with)
		one(b, s, "hi")
		snap, err := s.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			o := with
			o.Resume = snap
			s := begin(b, backend, o)
			one(b, s, "hi")
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
	})
	for name, text := range map[string]string{"warm turn": "hi", "warm turn with a call": "look"} {
		b.Run(name, func(b *testing.B) {
			_, _, backend := onCLI(b, "", rules)
			s := begin(b, backend, with)
			one(b, s, "hi")
			for b.Loop() {
				one(b, s, text)
			}
		})
	}
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprintf("memory of %d", n), func(b *testing.B) {
			for b.Loop() {
				_, _, backend := onCLI(b, "claude: {max_concurrent_sessions: 8}\n", rules)
				for range n {
					one(b, begin(b, backend, with), "hi")
				}
				rss, pss := memory(b)
				b.ReportMetric(float64(rss)/float64(n), "rss-KiB")
				b.ReportMetric(float64(pss)/float64(n), "pss-KiB")
				backend.Close()
			}
		})
	}
}

// memory returns what the processes that this one has started hold, in KiB: each
// by itself, and with what they share counted once.
func memory(b *testing.B) (rss, pss int) {
	b.Helper()
	for _, pid := range children(b) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			if len(fields) < 2 {
				continue
			}
			n, _ := strconv.Atoi(fields[1])
			switch fields[0] {
			case "Rss:":
				rss += n
			case "Pss:":
				pss += n
			}
		}
	}
	return rss, pss
}
