package durable

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"sync"
)

// MaxRecord is the longest record of a journal, in bytes. It bounds what
// reading a damaged file may take from memory.
const MaxRecord = 64 << 20

// Journal is a file of JSON values, one a line, that only ever grows. A record
// is complete when its newline is written; a line without one is what a killed
// writer left, and OpenJournal cuts it off.
//
// A Journal is safe for concurrent use within a process. Two processes must
// not write one file: hold a [Lock].
type Journal struct {
	mu   sync.Mutex
	file *os.File
	err  error // of a write that may have left half a record
}

// OpenJournal opens the journal at path for appending, creating it with the
// permission bits perm when it does not exist, and cuts off an incomplete last
// line.
func OpenJournal(path string, perm fs.FileMode) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, perm)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := cutTornTail(f); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, errors.Join(err, f.Close()))
	}
	return &Journal{file: f}, nil
}

// cutTornTail truncates f after its last newline and leaves the offset there.
func cutTornTail(f *os.File) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	complete, err := afterLastNewline(f, end)
	if err != nil {
		return err
	}
	if complete < end {
		if err := f.Truncate(complete); err != nil {
			return err
		}
	}
	_, err = f.Seek(complete, io.SeekStart)
	return err
}

// afterLastNewline returns the offset after the last newline in the first end
// bytes of r, or zero when there is none.
func afterLastNewline(r io.ReaderAt, end int64) (int64, error) {
	const block = 64 << 10
	buf := make([]byte, block)
	for end > 0 {
		start := max(0, end-block)
		part := buf[:end-start]
		if _, err := r.ReadAt(part, start); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// Append adds record, as encoding/json writes it, in one write. It does not
// wait for the disk; see Sync. After a failed write the journal takes no more
// records, since the file may end in half of one: open it anew.
func (j *Journal) Append(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	if len(line) > MaxRecord {
		return fmt.Errorf("append to journal: a record of %d bytes is longer than the %d allowed", len(line), MaxRecord)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		j.err = fmt.Errorf("append to journal: %w", err)
	}
	return j.err
}

// Displaced reports whether the file at the journal's path is no longer the one
// that is written, because it was removed or renamed under the writer. A write to
// it succeeds all the same, and is lost with it.
func (j *Journal) Displaced() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	ours, err := j.file.Stat()
	if err != nil {
		return false // it is closed
	}
	there, err := os.Stat(j.file.Name())
	return err != nil || !os.SameFile(ours, there)
}

// Restore writes a displaced journal anew at its path, with every record that was
// appended, and goes on there. The folder must exist, and no file stand at the
// path: what another has put there is not touched.
func (j *Journal) Restore(perm fs.FileMode) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	path := j.file.Name()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("restore journal: %w", err)
	}
	if _, err := io.Copy(f, io.NewSectionReader(j.file, 0, math.MaxInt64)); err != nil {
		return fmt.Errorf("restore journal %s: %w", path, errors.Join(err, f.Close()))
	}
	_ = j.file.Close() // its records are in the new one
	j.file = f
	return nil
}

// Sync returns when the disk has every record appended so far.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// Close syncs and closes the file. It is idempotent.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || errors.Is(j.err, os.ErrClosed) {
		return nil
	}
	err := errors.Join(j.file.Sync(), j.file.Close())
	j.err = fmt.Errorf("append to journal: %w", os.ErrClosed)
	if err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// ReadJournal yields the complete records of the journal at path, oldest
// first, and ignores an incomplete last line. It changes nothing and may run
// beside a writer. A file that does not exist, or a line that is not JSON,
// yields an error, after which nothing follows.
func ReadJournal(path string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("read journal: %w", err))
			return
		}
		defer f.Close()
		for record, err := range records(f) {
			if err != nil {
				yield(nil, fmt.Errorf("read journal %s: %w", path, err))
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// records yields the lines of r that end in a newline.
func records(r io.Reader) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		in := bufio.NewReader(r)
		for n := 1; ; n++ {
			line, err := readLine(in)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !json.Valid(line) {
				yield(nil, fmt.Errorf("line %d is not JSON: the file was damaged or changed by something else", n))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}

// readLine returns the next line without its newline. A last line that has
// none is io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxRecord+1 {
			return nil, fmt.Errorf("longer than %d bytes", MaxRecord)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		return line[:len(line)-1], nil
	}
}
