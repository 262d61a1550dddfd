package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// watcher calls then, once, when text has passed by.
type watcher struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if w.then != nil && strings.Contains(w.buf.String(), w.text) {
		w.then()
		w.then = nil
	}
	return len(p), nil
}

// An interruption prints and writes down the cases that finished.
func TestInterruptedTestKeepsResults(t *testing.T) {
	for _, tt := range []struct {
		signal os.Signal
		code   int
	}{{os.Interrupt, exitInterrupt}, {syscall.SIGTERM, exitTerminated}} {
		dir := t.TempDir()
		agentFile := scriptedAgent + `
test_cases:
  - {name: first, input: hello, ground_truth: Hello, evaluations: [{metric: contains}]}
  - {name: second, input: hang}
  - {name: third, input: hello}
`
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(agentFile), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		out := &watcher{text: "[Test 1/3] PASS first", then: func() { cancel(interrupted{tt.signal}) }}
		var errs bytes.Buffer
		report := filepath.Join(dir, "report.json")
		code := run(ctx, []string{"test", dir, "--parallel-test-cases", "1", "--output", report}, Process{
			Version: "1.2.3", Stdin: strings.NewReader(""), Stdout: out, Stderr: &errs,
			Environ: []string{"TEST_API_KEY=hunter2-hunter2"}, Home: t.TempDir(), WorkDir: dir,
		})
		if code != tt.code {
			t.Errorf("exit code %d, want %d: %s", code, tt.code, errs.String())
		}
		if printed := out.buf.String(); !strings.Contains(printed, "Test Results: 1/1 passed (100.0%)\n  Pass rate: between 20.7% and 100.0% (95% confidence)\n  Not finished: 2 of 3\n") {
			t.Errorf("printed\n%s", printed)
		}
		if said := errs.String(); !strings.HasSuffix(said, "\nholodeck: interrupted; --resume goes on with this run\n") || strings.Contains(said, "context") {
			t.Errorf("stderr is %q", said)
		}
		data, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Results []struct {
				TestName string `json:"test_name"`
			} `json:"results"`
			Version string `json:"holodeck_version"`
		}
		if err := json.Unmarshal(data, &doc); err != nil || len(doc.Results) != 1 || doc.Results[0].TestName != "first" || doc.Version != "1.2.3" {
			t.Errorf("the report holds %+v, %v; want the first case", doc, err)
		}
	}
}

// What an earlier run wrote down is not lost to one that got nowhere.
func TestAnInterruptionBeforeTheFirstResultKeepsTheOldReport(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, "report.json")
	for file, text := range map[string]string{
		report:                           "{\"old\": true}",
		filepath.Join(dir, "agent.yaml"): scriptedAgent + "\ntest_cases: [{input: hello}]\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(interrupted{os.Interrupt})
	var out, errs bytes.Buffer
	code := run(ctx, []string{"test", dir, "--output", report}, Process{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Environ: []string{"TEST_API_KEY=hunter2-hunter2"}, Home: t.TempDir(), WorkDir: dir,
	})
	data, err := os.ReadFile(report)
	if err != nil || string(data) != "{\"old\": true}" || code != exitInterrupt {
		t.Errorf("exit code %d; the report is %q, %v", code, data, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

func TestQuietAndVerbose(t *testing.T) {
	const cases = `
evaluations: {metrics: [{metric: contains}]}
test_cases: [{name: only, input: hello, ground_truth: Hello}]
`
	for _, tt := range []struct {
		name, execution string
		args            []string
		lines, details  bool
	}{
		{"neither", "", nil, true, false},
		{"-v", "", []string{"-v"}, true, true},
		{"-q", "", []string{"-q"}, false, false},
		{"verbose in the file", "execution: {verbose: true}", nil, true, true},
		{"quiet in the file", "execution: {quiet: true}", nil, false, false},
		{"-q and verbose in the file", "execution: {verbose: true}", []string{"-q"}, false, false},
		{"-v and quiet in the file", "execution: {quiet: true}", []string{"-v"}, true, true},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(scriptedAgent+cases+tt.execution), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := run(context.Background(), append([]string{"test", dir}, tt.args...), Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: []string{"TEST_API_KEY=hunter2-hunter2"}, Home: t.TempDir(), WorkDir: dir,
		})
		if code != exitOK || !strings.Contains(out.String(), "Test Results: 1/1 passed") {
			t.Errorf("%s: exit code %d, %s%s", tt.name, code, out.String(), errs.String())
		}
		if got := strings.Contains(out.String(), "[Test 1/1] PASS only"); got != tt.lines {
			t.Errorf("%s: lines %v, want %v", tt.name, got, tt.lines)
		}
		if got := strings.Contains(out.String(), "✓ contains: 1.00"); got != tt.details {
			t.Errorf("%s: details %v, want %v", tt.name, got, tt.details)
		}
	}
}

// On a terminal there are marks and colours, unless NO_COLOR or TERM forbids
// them.
func TestColours(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(scriptedAgent+"\ntest_cases: [{name: only, input: hello}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		environ  []string
		terminal bool
		want     string
	}{
		{nil, true, "Test 1/1: \x1b[93m○\x1b[0m only"},
		{[]string{"NO_COLOR=1"}, true, "Test 1/1: ○ only"},
		{[]string{"NO_COLOR="}, true, "Test 1/1: \x1b[93m○\x1b[0m only"},
		{[]string{"TERM=dumb"}, true, "Test 1/1: ○ only"},
		{nil, false, "[Test 1/1] UNCHECKED only"},
	} {
		var out, errs bytes.Buffer
		run(context.Background(), []string{"test", dir}, Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: append(tt.environ, "TEST_API_KEY=hunter2-hunter2"),
			Home: t.TempDir(), WorkDir: dir, StdoutTerminal: tt.terminal,
		})
		if !strings.HasPrefix(out.String(), tt.want) {
			t.Errorf("%v, terminal %v: got %q, want %q", tt.environ, tt.terminal, out.String(), tt.want)
		}
	}
}
