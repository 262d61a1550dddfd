//go:build unix

package acceptance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fullAgent has more cases than the files of its run have room for.
func fullAgent() string {
	var b strings.Builder
	b.WriteString(`name: full
instructions: {inline: Be brief.}
model: {provider: offline, name: scripted, script: [{do: [{text: Done.}]}]}
evaluations: {metrics: [{metric: contains}]}
test_cases:
`)
	for i := range 60 {
		fmt.Fprintf(&b, "  - {name: case %d, input: hello, ground_truth: Done}\n", i)
	}
	return b.String()
}

// holodeckWith runs the program with so many blocks of 512 bytes of room for
// each file, and returns what it printed and its exit code.
func holodeckWith(t *testing.T, dir, blocks string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -f ` + blocks + `; exec holodeck "$@"`, "sh"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// A disk that is full does not end a run: what it finds is printed, that it is
// not kept is said with the file and the cause, and what was kept can be gone on
// with once there is room.
func TestAFullDiskCostsNoResult(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(fullAgent()), 0o600); err != nil {
		t.Fatal(err)
	}
	// There is room for half a journal, and then for that and not for the run.
	for _, tt := range []struct{ blocks, resume, file string }{
		{"30", "", "journal.jsonl"}, {"80", "--resume", ".json"},
	} {
		args := []string{"test"}
		if tt.resume != "" {
			args = append(args, tt.resume)
		}
		out, errs, code := holodeckWith(t, dir, tt.blocks, args...)
		if code != 3 || !strings.Contains(out, "Test Results: 60/60 passed") {
			t.Errorf("with %s blocks: exit code %d\n%s%s", tt.blocks, code, out, errs)
		}
		if !strings.Contains(errs, "keep the results: ") || !strings.Contains(errs, tt.file) || !strings.Contains(errs, "--resume goes on with it") {
			t.Errorf("with %s blocks it is said\n%s", tt.blocks, errs)
		}
		if stored, err := filepath.Glob(filepath.Join(dir, "results", "full", "*.json")); len(stored) != 0 || err != nil {
			t.Errorf("with %s blocks these are stored: %v, %v", tt.blocks, stored, err)
		}
		if half, err := filepath.Glob(filepath.Join(dir, "results", "full", ".*.tmp")); len(half) != 0 || err != nil {
			t.Errorf("with %s blocks these are left behind: %v, %v", tt.blocks, half, err)
		}
	}
	out, errs, code := holodeckWith(t, dir, "unlimited", "test", "--resume")
	if code != 0 || strings.Contains(out, "PASS case 0\n") || !strings.Contains(out, "Test Results: 60/60 passed") || !strings.Contains(errs, "60 of 60 attempts at cases have finished") {
		t.Errorf("with room again: exit code %d\n%s%s", code, out, errs)
	}
}
