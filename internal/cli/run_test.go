package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/knowledge"
)

const scriptedAgent = `
name: scripted
model:
  provider: offline
  name: scripted
  script:
    - when: {user: hello}
      do: [{text: "Hello! "}, {text: What can I do for you?}]
    - when: {user: fail}
      do: [{text: partial}, {error: {status: 503, message: "key ${TEST_API_KEY} is overloaded"}}]
    - when: {user: refuse}
      do: [{text: As far as}, {finish: refusal}]
    - when: {user: cut}
      do: [{text: As far as}, {finish: length}]
    - when: {user: hang}
      do: [{text: partial}, {block: true}]
    - when: {user: tool, round: 1}
      do: [{text: Looking.}, {call: {name: nothing, args: {}}}]
    - when: {user: tool}
      do: [{text: There is none.}]
    - when: {user: leak, round: 1}
      do:
        - {thinking: "I know ${TEST_API_KEY}."}
        - {call: {name: nothing, args: {key: "${TEST_API_KEY}", "${TEST_API_KEY}": 1}}}
    - when: {user: leak}
      do: [{text: "It is hunter2-"}, {text: "hunter2, he said."}]
    - when: {user: mute}
      do: [{block: true}]
    - when: {user: silence}
      do: [{finish: stop}]
instructions: {inline: Be brief.}
`

// runHere runs a command line in a folder with the scripted agent. Cancelling
// is up to the caller's ctx.
func runHere(t *testing.T, ctx context.Context, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(scriptedAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "AGENT", dir)
	}
	code = run(ctx, args, Process{
		Version: "test", Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
		Environ: []string{"TEST_API_KEY=hunter2-hunter2"}, Home: t.TempDir(), WorkDir: dir,
	})
	return out.String(), errs.String(), code
}

func TestRunPrintsTheAnswer(t *testing.T) {
	const hello = "Hello! What can I do for you?\n"
	tests := map[string]struct {
		stdin  string
		args   []string
		stdout string
		stderr string // what it contains; all of it when empty
		code   int
	}{
		"question":          {"", []string{"AGENT", "hello there"}, hello, "", exitOK},
		"standard input":    {"hello\n", []string{"AGENT"}, hello, "", exitOK},
		"a dash":            {"hello\n", []string{"AGENT", "-"}, hello, "", exitOK},
		"no question":       {"", []string{"AGENT"}, "", "the question is empty", exitUsage},
		"blank question":    {"", []string{"AGENT", " \n"}, "", "the question is empty", exitUsage},
		"not text":          {"", []string{"AGENT", "\xff\xfe"}, "", "not UTF-8", exitUsage},
		"endless question":  {strings.Repeat("hello ", maxQuestion/5), []string{"AGENT"}, "", "longer than", exitUsage},
		"too many words":    {"", []string{"AGENT", "hello", "there"}, "", "at most 2 arg", exitUsage},
		"no such agent":     {"", []string{"AGENT/none", "hello"}, "", "does not exist", exitUsage},
		"bad timeout":       {"", []string{"AGENT", "hello", "--timeout=0"}, "", "--timeout", exitUsage},
		"two forms":         {"", []string{"AGENT", "hello", "--json", "--jsonl"}, "", "json", exitUsage},
		"refused":           {"", []string{"AGENT", "refuse"}, "As far as\n", "the answer is not complete: the model refused", exitFailed},
		"cut":               {"", []string{"AGENT", "cut"}, "As far as\n", "cut at model.max_tokens", exitOK},
		"failed":            {"", []string{"AGENT", "fail"}, "partial\n", "503 Service Unavailable: key [redacted] is overloaded", exitNotCarried},
		"out of time":       {"", []string{"AGENT", "hang", "--timeout=1"}, "partial\n", "(limit 1s, execution.llm_timeout) timed out", exitNotCarried},
		"tool that failed":  {"", []string{"AGENT", "tool"}, "Looking.\n\nThere is none.\n", "tool nothing failed: there is no tool", exitOK},
		"tool, quiet":       {"", []string{"AGENT", "tool", "-q"}, "Looking.\n\nThere is none.\n", "", exitOK},
		"tool, verbose":     {"", []string{"AGENT", "tool", "-v"}, "Looking.\n\nThere is none.\n", "calling nothing {}", exitOK},
		"silence":           {"", []string{"AGENT", "silence"}, "", "the answer is not complete: the model's answer is empty", exitFailed},
		"silence, quiet":    {"", []string{"AGENT", "silence", "-q"}, "", "the answer is not complete: the model's answer is empty", exitFailed},
		"offline by itself": {"", []string{"AGENT", "hello", "--offline"}, hello, "", exitOK},
	}
	for name, tt := range tests {
		// Time is the test's own, so that a deadline passes at once.
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stdout, stderr, code := runHere(t, t.Context(), tt.stdin, append([]string{"run"}, tt.args...)...)
				if stdout != tt.stdout || code != tt.code {
					t.Errorf("exit %d, stdout %q; want %d, %q\nstderr: %s", code, stdout, tt.code, tt.stdout, stderr)
				}
				if (tt.stderr == "") != (stderr == "") || !strings.Contains(stderr, tt.stderr) {
					t.Errorf("stderr is %q, want %q", stderr, tt.stderr)
				}
				if strings.Contains(stderr, "hunter2") {
					t.Errorf("stderr shows a secret: %s", stderr)
				}
			})
		})
	}
}

func TestRunPrintsOneResultAsJSON(t *testing.T) {
	tests := map[string]struct {
		question string
		want     map[string]any
		code     int
	}{
		"answer": {"hello", map[string]any{"response": "Hello! What can I do for you?", "is_error": false, "num_turns": 1.0, "stop_reason": "end"}, exitOK},
		"refuse": {"refuse", map[string]any{"response": "As far as", "is_error": true, "error_reason": "the model refused to answer", "stop_reason": "refusal"}, exitFailed},
		"fail": {"fail", map[string]any{
			"response": "partial", "is_error": true, "num_turns": 0.0,
			"error_reason": "backend agent_framework: offline model scripted: 503 Service Unavailable: key [redacted] is overloaded (part of the response was shown, so it is not asked for again)",
		}, exitNotCarried},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, _, code := runHere(t, t.Context(), "", "run", "AGENT", tt.question, "--json")
			var got map[string]any
			if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != tt.code {
				t.Fatalf("exit %d, %v: %s", code, err, stdout)
			}
			for key, want := range tt.want {
				if !reflect.DeepEqual(got[key], want) {
					t.Errorf("%s is %v, want %v", key, got[key], want)
				}
			}
			for _, key := range []string{"tool_calls", "tool_results", "token_usage"} {
				if _, ok := got[key]; !ok {
					t.Errorf("%s is missing", key)
				}
			}
		})
	}
}

// TestRunShowsNoSecret has a model that says one, cut in two, thinks it and calls
// a tool with it.
func TestRunShowsNoSecret(t *testing.T) {
	for _, form := range [][]string{nil, {"-v"}, {"--json"}, {"--jsonl"}} {
		stdout, stderr, code := runHere(t, t.Context(), "", append([]string{"run", "AGENT", "leak"}, form...)...)
		if code != exitOK {
			t.Fatalf("%v: exit %d: %s", form, code, stderr)
		}
		said := stdout
		if len(form) > 0 && form[0] == "--jsonl" {
			for line := range strings.Lines(stdout) {
				e, err := agent.UnmarshalEvent([]byte(line))
				if err != nil {
					t.Fatal(err)
				}
				if delta, ok := e.(agent.TextDelta); ok {
					said += delta.Text
				}
			}
		}
		if strings.Contains(said+stderr, "hunter2-hunter2") {
			t.Errorf("%v shows the secret: %s\n%s", form, said, stderr)
		}
		if !strings.Contains(said, "It is [redacted], he said.") {
			t.Errorf("%v does not show the rest of the answer: %s", form, said)
		}
	}
}

func TestRunPrintsEveryEventAsALine(t *testing.T) {
	stdout, _, code := runHere(t, t.Context(), "", "run", "AGENT", "tool", "--jsonl")
	if code != exitOK {
		t.Fatalf("exit %d", code)
	}
	var types []string
	for line := range strings.Lines(stdout) {
		e, err := agent.UnmarshalEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, e.Type())
	}
	want := []string{"text_delta", "model_call", "tool_call_started", "tool_call_finished", "text_delta", "model_call", "turn_finished"}
	if !reflect.DeepEqual(types, want) {
		t.Errorf("the events are %v, want %v", types, want)
	}
}

func TestAnInterruptedRunSaysWhatIsLeft(t *testing.T) {
	tests := map[string]struct {
		signal os.Signal
		args   []string
		code   int
		stdout string // what it contains
		stderr string
	}{
		"text":      {syscall.SIGINT, []string{"hang"}, exitInterrupt, "partial\n", "the answer so far stands above"},
		"no answer": {syscall.SIGTERM, []string{"mute"}, exitTerminated, "", "the model had said nothing yet"},
		"JSON":      {syscall.SIGTERM, []string{"hang", "--json"}, exitTerminated, `"response": "partial"`, "the result so far stands above"},
		"events":    {syscall.SIGINT, []string{"hang", "--jsonl"}, exitInterrupt, `"text":"partial"`, "the events so far stand above"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				// The signal comes when the model waits for ever.
				time.AfterFunc(time.Second, func() { cancel(interrupted{tt.signal}) })
				stdout, stderr, code := runHere(t, ctx, "", append([]string{"run", "AGENT"}, tt.args...)...)
				if code != tt.code || !strings.Contains(stdout, tt.stdout) {
					t.Errorf("exit %d, stdout %q; want %d, %q", code, stdout, tt.code, tt.stdout)
				}
				if want := "holodeck: interrupted; " + tt.stderr + "\n"; stderr != want {
					t.Errorf("stderr is %q, want %q", stderr, want)
				}
				var r agent.Result
				if name == "JSON" && (json.Unmarshal([]byte(stdout), &r) != nil || r.StopReason != agent.StopCancelled || !r.IsError) {
					t.Errorf("the result is %+v", r)
				}
			})
		})
	}
}

func TestAnInterruptionBeforeTheAgentIsOpen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agent.yaml": "name: a\ninstructions: {inline: Answer.}\nmodel: {provider: offline, name: built-in}\ntools: [{type: vectorstore, name: docs, description: d, source: docs}]\n",
		"docs/a.md":  "The harbour is open.",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted{os.Interrupt})
	stdout, stderr, code := runHere(t, ctx, "", "run", dir, "harbour")
	if want := "holodeck: interrupted; the index of every tool is the last that was complete\n"; stdout != "" || stderr != want || code != exitInterrupt {
		t.Errorf("exit %d, stdout %q, stderr %q; want %d, nothing, %q", code, stdout, stderr, exitInterrupt, want)
	}
}

func TestAnInterruptionHidesNoOtherError(t *testing.T) {
	var out bytes.Buffer
	printError(&out, errors.Join(interrupted{os.Interrupt}, errors.Join(
		&cutShort{"this is left", context.Canceled}, errors.New("write the report: no space left"), exitStatus(exitFailed),
	)), 0)
	if want := "holodeck: interrupted; this is left\nholodeck: write the report: no space left\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// finished is a turn that found passages of those sources and answered.
func finished(response string, sources ...string) []agent.Event {
	var result agent.ToolResult
	for _, s := range sources {
		result.Passages = append(result.Passages, agent.Passage{Source: s, Text: "text"})
	}
	return []agent.Event{
		agent.ModelCall{},
		agent.ToolCallStarted{CallID: "a", Name: "docs_search"},
		agent.ToolCallFinished{CallID: "a", Name: "docs_search", Result: result},
		agent.TextDelta{Text: response},
		agent.ModelCall{},
		agent.TurnFinished{Response: response, StopReason: agent.StopEnd},
	}
}

func turnOf(events []agent.Event, failed error) func(func(agent.Event, error) bool) {
	return func(yield func(agent.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}

func TestTheSourcesStandUnderTheAnswer(t *testing.T) {
	tests := map[string]struct {
		events []agent.Event
		failed error
		want   string
	}{
		"cited":                      {finished("Yes [a.md]. No [b.md].", "a.md", "b.md", "a.md", "c.md"), nil, "Yes [a.md]. No [b.md].\n\nSources:\n  a.md\n  b.md\n"},
		"in the order of the answer": {finished("No [b.md]. Yes [a.md].", "a.md", "b.md"), nil, "No [b.md]. Yes [a.md].\n\nSources:\n  b.md\n  a.md\n"},
		"a value": {
			append(finished(`{"a": "b.md"}`, "b.md")[:5], agent.TurnFinished{Response: `{"a": "b.md"}`, Structured: json.RawMessage(`{}`), StopReason: agent.StopEnd}),
			nil, "{\"a\": \"b.md\"}\n",
		},
		"none cited":       {finished("Yes.", "a.md", "a.md", "b.md"), nil, "Yes.\n\nFound, but not cited:\n  a.md\n  b.md\n"},
		"nothing searched": {finished("Yes."), nil, "Yes.\n"},
		"failed":           {finished("Yes.", "a.md")[:4], errors.New("boom"), "Yes.\n"},
		"a sub-agent's words": {
			append([]agent.Event{agent.TextDelta{Head: agent.Header{Parent: "x"}, Text: "inner"}, agent.ModelCall{Head: agent.Header{Parent: "x"}}}, finished("Yes.")...),
			nil, "Yes.\n",
		},
		"not streamed": {[]agent.Event{agent.ModelCall{}, agent.TurnFinished{Response: "Yes.", StopReason: agent.StopEnd}}, nil, "Yes.\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out, notes bytes.Buffer
			_, err := present(&textPresenter{out: &out, notes: &notes}, turnOf(tt.events, tt.failed))
			if out.String() != tt.want || !errors.Is(err, tt.failed) {
				t.Errorf("printed %q, %v; want %q", out.String(), err, tt.want)
			}
		})
	}
}

func TestAnAnswerDoesNotSteerTheTerminal(t *testing.T) {
	const text = "a\x1b[2Jb\u009bc\td\n\x07é"
	for terminal, want := range map[bool]string{true: "a[2Jbc\td\né\n", false: text + "\n"} {
		var out bytes.Buffer
		if _, err := present(&textPresenter{out: &out, notes: &out, terminal: terminal}, turnOf(finished(text), nil)); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("on a terminal (%t) it prints %q, want %q", terminal, out.String(), want)
		}
	}
}

// fullDisk is a writer that takes so many bytes.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestAnAnswerThatCannotBeWrittenIsAnError(t *testing.T) {
	for name, show := range map[string]presenter{
		"text":  &textPresenter{out: &fullDisk{left: 2}, notes: &fullDisk{}},
		"json":  &jsonPresenter{out: &fullDisk{left: 2}},
		"jsonl": &jsonlPresenter{out: &fullDisk{left: 2}},
	} {
		if _, err := present(show, turnOf(finished("Yes."), nil)); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestIndexProgress(t *testing.T) {
	report := func(p *indexProgress) {
		p.report(knowledge.Progress{Tool: "docs", DocumentsTotal: 3, PassagesTotal: 10})
		p.report(knowledge.Progress{Tool: "faq", ContextsTotal: 4, Contexts: 1, Tokens: 900, CostUSD: 0.0021})
		p.report(knowledge.Progress{Tool: "docs", Documents: 1, DocumentsTotal: 3, Passages: 4, PassagesTotal: 10, Tokens: 70})
		p.say("another process is indexing prices; waiting for it")
		p.report(knowledge.Progress{Tool: "docs", Documents: 3, DocumentsTotal: 3, Passages: 10, PassagesTotal: 10})
		p.done()
	}
	const clear = "\r\x1b[K"
	line := func(text string) string { return clear + "\x1b[?7l" + text + "\x1b[?7h" }
	tests := map[string]struct {
		terminal, quiet bool
		want            string
	}{
		"plain": {false, false, "indexing docs: 3 files\nindexing faq: 4 contexts to be written\nanother process is indexing prices; waiting for it\n"},
		"terminal": {true, false, line("indexing docs ╌╌╌╌╌╌╌╌╌╌ 0 of 10 passages of 3 files") +
			clear + line("indexing docs ╌╌╌╌╌╌╌╌╌╌ 0 of 10 passages of 3 files │ indexing faq ━━╌╌╌╌╌╌╌╌ 1 of 4 contexts, 900 tokens, $0.0021") +
			clear + line("indexing docs ━━━━╌╌╌╌╌╌ 4 of 10 passages of 3 files, 70 tokens │ indexing faq ━━╌╌╌╌╌╌╌╌ 1 of 4 contexts, 900 tokens, $0.0021") +
			clear + "another process is indexing prices; waiting for it\n" +
			line("indexing faq ━━╌╌╌╌╌╌╌╌ 1 of 4 contexts, 900 tokens, $0.0021") + clear},
		"quiet": {true, true, ""},
	}
	for name, tt := range tests {
		var out bytes.Buffer
		report(&indexProgress{w: &out, terminal: tt.terminal, quiet: tt.quiet})
		if out.String() != tt.want {
			t.Errorf("%s: printed %q, want %q", name, out.String(), tt.want)
		}
	}
}
