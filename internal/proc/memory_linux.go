package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// CanLimitMemory says whether this system heeds Spec.MemoryLimit.
func CanLimitMemory() bool { return true }

// limitMemory bounds what a process may hold for itself, and what it starts
// after. It bounds data rather than address space, of which a runtime may reserve
// a multiple of what it uses.
func limitMemory(pid int, limit int64) error {
	rlimit := unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, &rlimit, nil); err != nil {
		return fmt.Errorf("limit its memory to %d bytes: %w", limit, err)
	}
	return nil
}
