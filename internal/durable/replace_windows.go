package durable

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// syncDir does nothing: Windows has no way to sync a folder, and NTFS journals
// a rename itself.
func syncDir(string) error { return nil }

// rename is os.Rename that bears with whoever has the target open for a
// moment, a reader or a virus scanner: Windows refuses to replace an open file.
func rename(from, to string) error {
	const attempts, pause = 20, 25 * time.Millisecond
	for range attempts {
		err := os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(pause)
	}
	return os.Rename(from, to)
}
