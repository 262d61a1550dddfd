//go:build unix && !linux

package proc

import "errors"

// CanLimitMemory says whether this system heeds Spec.MemoryLimit.
func CanLimitMemory() bool { return false }

func limitMemory(int, int64) error { return errors.ErrUnsupported }
