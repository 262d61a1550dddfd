//go:build unix

package bench_test

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the largest resident set of a finished process, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(usage.Maxrss) * 1024
}
