package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile makes path hold exactly data, or leaves it as it was. Readers see
// the old content or the new, never a mixture. The folder must exist. On Unix
// the file gets the permission bits perm, whatever the umask.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return Replace(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Replace is WriteFile for content that is written piece by piece. When write
// returns an error, Replace leaves path as it was and returns that error,
// wrapped.
//
// The content goes to a temporary file in the same folder, which is synced and
// renamed over path; then the folder is synced. A process that is killed
// midway can leave a temporary file behind, named .<base>.*.tmp.
func Replace(path string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	f, err := os.CreateTemp(orDot(dir), "."+base+".*.tmp")
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("replace %s: %w", path, errors.Join(err, discard(f)))
		}
	}()
	buf := bufio.NewWriter(f)
	if err := write(buf); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(orDot(dir))
}

// discard closes and removes a temporary file, which may be closed or renamed
// already.
func discard(f *os.File) error {
	closing := f.Close()
	if errors.Is(closing, os.ErrClosed) {
		closing = nil
	}
	removing := os.Remove(f.Name())
	if errors.Is(removing, fs.ErrNotExist) {
		removing = nil
	}
	return errors.Join(closing, removing)
}

// orDot names the working folder for a path without one.
func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
