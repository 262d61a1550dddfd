//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// childOf returns a child of a process, or 0.
func childOf(pid string) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", pid, pid))
	if err != nil {
		return 0, fmt.Errorf("find the program in the terminal: %w", err)
	}
	fields := strings.Fields(string(data))
	if len(fields) == 0 {
		return 0, nil
	}
	return strconv.Atoi(fields[0])
}

func signalTerm(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
