//go:build !unix

package bench_test

import "os"

// peakMemory returns 0: the system does not say.
func peakMemory(*os.ProcessState) int64 { return 0 }
