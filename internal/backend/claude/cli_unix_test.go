//go:build unix

package claude

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestNoProcessIsLeftBehind(t *testing.T) {
	b, err := openOn(t, loaded(t, fakeCLI(t, "pid"), ""), systemEnv(), CLIOptions{}, tool.Options{}, loop.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for range 3 { // sessions that nobody closes
		r, err := ask(t, sessionOf(t, b, agent.SessionOptions{}), "who")
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(r.Response)
		if err != nil || syscall.Kill(pid, 0) != nil {
			t.Fatalf("the process %q is not there, %v", r.Response, err)
		}
		pids = append(pids, pid)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d is left: %v", pid, err)
		}
	}
}
