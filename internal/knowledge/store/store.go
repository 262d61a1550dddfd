package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/holodeck-go/holodeck/internal/knowledge/index"
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

	// Remember keeps notes of work on a change that is not complete yet, beside
	// the state and until the next Commit. The caller holds a lease.
	Remember(ctx context.Context, notes []Note) error

	// Notes returns what is remembered, in no order.
	Notes(ctx context.Context) ([]Note, error)

	// Location says where the index is kept, for people.
	Location() string

	// Close frees what the store holds open. It is idempotent.
	Close() error
}

// Searcher is a Store that compares vectors where it keeps them. Its Load leaves
// Part.Vectors empty.
type Searcher interface {
	Store

	// Vectors compares the vectors of a state that Load returned. Passages are
	// numbered from 0 in the order of the state. Those that are no longer in the
	// store are not near to anything.
	Vectors(s State) index.Vectors

	// Fetch returns the vectors of passages of such a state; nil for one that is
	// no longer in the store.
	Fetch(ctx context.Context, s State, passages []int) ([][]float32, error)
}

// Note is a text that is remembered by a key.
type Note struct {
	Key  [sha256.Size]byte
	Text string
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
	// Context is a fingerprint of how the contexts of passages are written, or
	// empty when there are none.
	Context string `json:"context,omitempty"`
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
	// Context is what a model wrote of where the passage stands, or empty.
	Context string
	// Place is where it stands; nil when nothing is known of that.
	Place *Place
}

// Place is where a passage stands in its document.
type Place struct {
	// Kind says what the passage is: definition, requirement or content.
	Kind string
	// Title and Number are those of its section, empty before the first heading.
	Title, Number string
	// Chain are the titles of the sections around that, outermost first.
	Chain []string
	// SectionID names the section, SubsectionIDs the numbered parts that begin in
	// the passage.
	SectionID     string
	SubsectionIDs []string
	// Page and LastPage count from 1; 0 in a document without pages.
	Page, LastPage int
	Definitions    []Definition
	References     []Reference
}

// Definition is what a passage says that a term means.
type Definition struct{ Term, Text string }

// Reference is a part of the document that a passage refers to.
type Reference struct {
	// Text is as the document writes it.
	Text string
	// Target counts the passages of the document from 0; -1 when the document
	// does not have what is referred to.
	Target int
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
