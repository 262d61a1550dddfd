package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// Store keeps the state of one tool's index. It is safe for concurrent use.
type Store interface {
	// Load returns the state that was committed last. ErrEmpty, wrapped, says
	// that there is none, and ErrUnusable that there is one that cannot be read
	// and that the next Commit with Reset replaces.
	Load(ctx context.Context) (State, error)

	// Lock keeps other writers out, in this process and in others, until the
	// lease is released. It waits for them, calling onWait once if it must.
	Lock(ctx context.Context, onWait func()) (Lease, error)

	// TryLock is Lock that returns durable.ErrLocked, wrapped, instead of
	// waiting.
	TryLock() (Lease, error)

	// Commit makes the change, whole or not at all. The caller holds a lease.
	Commit(ctx context.Context, c Change) error

	// Location says where the index is kept, for people.
	Location() string
}

// Lease is the right to write.
type Lease struct {
	// Began is when it was granted, by the clock of the file system that
	// stamps files. It is zero where that is not known.
	Began time.Time

	release func() error
}

// Release gives the right back. It is idempotent.
func (l Lease) Release() error {
	if l.release == nil {
		return nil
	}
	return l.release()
}

// ErrEmpty says that nothing was ever committed.
var ErrEmpty = errors.New("the index does not exist yet")

// ErrUnusable says that what is stored is damaged or of another format.
var ErrUnusable = errors.New("the stored index cannot be read")

// Manifest says how the passages, words and vectors of a state were made. What
// was made otherwise is not comparable.
type Manifest struct {
	// Embedder and Dimensions are those of the vectors.
	Embedder   string `json:"embedder"`
	Dimensions int    `json:"dimensions"`
	// Pipeline is a fingerprint of how files become passages and words.
	Pipeline string `json:"pipeline"`
}

// State is everything that is kept.
type State struct {
	Manifest Manifest
	// Sources are sorted by path.
	Sources []Source
}

// Source is an indexed file.
type Source struct {
	File
	Parts []Part
}

// File identifies a source and its content.
type File struct {
	// Path names the source as results show it.
	Path string
	// Size is in bytes.
	Size int64
	// Modified is the time stamp of the file in nanoseconds since 1970, or zero
	// when the file was so young that it could change without a new stamp.
	Modified int64
	Hash     [sha256.Size]byte
}

// Part is some passages of a source with what was made of them.
type Part struct {
	Passages []Passage
	Words    []byte    // an index.Segment
	Vectors  []float32 // one after the other
}

// Passage is a piece of a source.
type Passage struct {
	ID   string
	Text string
	Meta []Field
}

// Field is a named value that is shown with a passage.
type Field struct{ Name, Value string }

// Change leads from one state to the next.
type Change struct {
	Manifest Manifest
	// Reset removes everything before the rest is done.
	Reset bool
	// Remove are paths of sources that go.
	Remove []string
	// Put are sources that come, or replace those of the same path.
	Put []Source
	// Touch are sources whose File alone changes.
	Touch []File
}
