//go:build unix

package acceptance_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const hangingAgent = `name: hanging
instructions: {inline: Be brief.}
model:
  provider: offline
  name: scripted
  script:
    - when: {user: hang}
      do: [{block: true}]
    - do: [{text: Done.}]
test_cases:
  - {name: quick, input: hello}
  - {name: slow, input: hang}
  - {name: later, input: hello}
`

// A signal ends a run that hangs. What had finished is printed and written down.
func TestSignalsKeepResults(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(hangingAgent), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("holodeck", "test", "--parallel-test-cases", "1", "--output", "report.json")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var printed strings.Builder
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				printed.WriteString(lines.Text() + "\n")
				if strings.HasPrefix(lines.Text(), "[Test 1/3]") { // the next case hangs
					if err := cmd.Process.Signal(tt.signal); err != nil {
						t.Error(err)
					}
				}
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != tt.code {
				t.Errorf("exit code %d, want %d: %s", cmd.ProcessState.ExitCode(), tt.code, stderr.String())
			}
			if !strings.Contains(printed.String(), "Not finished: 2 of 3") {
				t.Errorf("printed\n%s", printed.String())
			}
			data, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil {
				t.Fatal(err)
			}
			var report struct{ Results []any }
			if err := json.Unmarshal(data, &report); err != nil || len(report.Results) != 1 {
				t.Errorf("the report has %d results, %v; want 1", len(report.Results), err)
			}
		})
	}
}

// The results of a run that are removed under it are there again at its end, with
// what had finished, and that is said.
func TestResultsRemovedUnderARunAreWrittenAnew(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(hangingAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("holodeck", "test", "--parallel-test-cases", "1")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "[Test 1/3]") { // the next case hangs
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "results")), cmd.Process.Signal(syscall.SIGINT)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), stderr.String())
	}
	if said := stderr.String(); !strings.Contains(said, "journal.jsonl was removed while the run was under way; it has been written anew") {
		t.Errorf("said\n%s", said)
	}
	list := exec.Command("holodeck", "runs", "list", dir)
	if text, err := list.CombinedOutput(); err != nil || !strings.Contains(string(text), "interrupted  1 of 3") {
		t.Errorf("listed, %v\n%s", err, text)
	}
}
