package turn

import (
	"errors"
	"io"
	"sync"
)

// Sessions is the open sessions of a backend, so that closing it closes them.
// The zero Sessions is ready to use.
type Sessions struct {
	mu     sync.Mutex
	open   map[io.Closer]bool
	closed bool
}

// ErrBackendClosed is why a session of a closed backend cannot begin.
var ErrBackendClosed = errors.New("the backend is closed")

// Add takes a session in, or returns ErrBackendClosed. A session that closes
// calls Remove.
func (s *Sessions) Add(c io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrBackendClosed
	}
	if s.open == nil {
		s.open = map[io.Closer]bool{}
	}
	s.open[c] = true
	return nil
}

// Remove forgets a session.
func (s *Sessions) Remove(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// Close closes every session, all at once, and returns when they have ended. No
// session can be added after it. It is idempotent.
func (s *Sessions) Close() error {
	s.mu.Lock()
	s.closed = true
	open := make([]io.Closer, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for i, c := range open {
		wg.Go(func() { errs[i] = c.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
