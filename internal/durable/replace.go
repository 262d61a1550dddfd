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
func Replace(path string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", path, err), f.Discard())
	}
	return f.Commit()
}

// File is the new content of a file, which takes its place when it is
// committed. It is for whoever writes several files side by side; [Replace] is
// simpler. It is not safe for concurrent use.
//
// The content goes to a temporary file in the same folder, which is synced and
// renamed over the path; then the folder is synced. A process that is killed
// midway can leave a temporary file behind, named .<base>.*.tmp.
type File struct {
	path string
	perm fs.FileMode
	temp *os.File
	buf  *bufio.Writer
	done bool // committed or discarded
}

// Create begins new content for path, whose folder must exist. The caller calls
// Commit or Discard.
func Create(path string, perm fs.FileMode) (*File, error) {
	dir, base := filepath.Split(path)
	temp, err := os.CreateTemp(orDot(dir), "."+base+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("replace %s: %w", path, err)
	}
	return &File{path: path, perm: perm, temp: temp, buf: bufio.NewWriter(temp)}, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.buf.Write(p) }

// Commit makes the path hold exactly what was written. When it fails, or after
// Discard, the path is as it was.
func (f *File) Commit() error {
	if f.done {
		return fmt.Errorf("replace %s: %w", f.path, os.ErrClosed)
	}
	if err := f.commit(); err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", f.path, err), f.Discard())
	}
	f.done = true
	return nil
}

func (f *File) commit() error {
	if err := f.buf.Flush(); err != nil {
		return err
	}
	if err := f.temp.Chmod(f.perm); err != nil {
		return err
	}
	if err := f.temp.Sync(); err != nil {
		return err
	}
	if err := f.temp.Close(); err != nil {
		return err
	}
	if err := rename(f.temp.Name(), f.path); err != nil {
		return err
	}
	return syncDir(orDot(filepath.Dir(f.path)))
}

// Discard gives the new content up and leaves the path as it was. After Commit
// it does nothing, so that it can be deferred.
func (f *File) Discard() error {
	if f.done {
		return nil
	}
	f.done = true
	closing := f.temp.Close()
	if errors.Is(closing, os.ErrClosed) {
		closing = nil
	}
	removing := os.Remove(f.temp.Name())
	if errors.Is(removing, fs.ErrNotExist) { // renamed already
		removing = nil
	}
	if err := errors.Join(closing, removing); err != nil {
		return fmt.Errorf("replace %s: %w", f.path, err)
	}
	return nil
}

// orDot names the working folder for a path without one.
func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
