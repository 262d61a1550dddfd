//go:build unix

package claudecode

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheProgramAndItsChildrenEndInTheEnd(t *testing.T) {
	const grace = 100 * time.Millisecond
	c := must(t, "deaf", Options{Env: []string{"PATH=" + os.Getenv("PATH")}, stopGrace: grace, interruptGrace: grace})
	text, _, err := turn(soon(t), c, "hi")
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	// A turn it does not let itself be interrupted in.
	ctx, cancel := context.WithCancel(soon(t))
	began := time.Now()
	for m, err := range c.Turn(ctx, Content{Text: "hi"}) {
		if m != nil {
			cancel()
		} else if err != context.Canceled {
			t.Errorf("the turn ended in %v", err)
		}
	}
	cancel()
	if err := c.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	// What was killed is gone once the system has got round to it. The time of the
	// test bounds this.
	for _, pid := range []int{c.PID(), child} {
		for syscall.Kill(pid, 0) != syscall.ESRCH && !zombie(pid) {
			runtime.Gosched()
		}
	}
}

// zombie reports whether a process has ended and nobody has asked how: an orphan,
// where the first process of the system does not.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}
