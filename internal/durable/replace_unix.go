//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename inside dir durable. File systems that cannot sync a
// folder say EINVAL or ENOTSUP; there is nothing more to do on them.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// rename is os.Rename, which Unix carries out whoever has the target open.
func rename(from, to string) error { return os.Rename(from, to) }
