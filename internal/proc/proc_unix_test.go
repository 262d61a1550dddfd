//go:build unix

package proc_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holodeck-go/holodeck/internal/proc"
)

func TestNothingIsLeftOfAChild(t *testing.T) {
	one := func() int {
		p := begin(t, "deaf")
		waitUp(t, p)
		if err := p.Stop(t.Context(), proc.Grace{Stdin: short, Term: long}); err != nil {
			t.Fatal(err)
		}
		return p.PID()
	}
	one() // what the runtime opens for good is open now
	before := openFiles(t)
	for range 5 {
		pid := one()
		// A process that nobody has waited for would still have its number.
		if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open after, %d before", after, before)
	}
}

// openFiles counts the open files of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
