package cli

import (
	"io"
	"sync/atomic"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// maskedWriter masks secrets in what passes through it: by shape from the
// start, and by value once the agent file that holds them has been loaded. Each
// Write is masked on its own, so callers write whole messages.
type maskedWriter struct {
	w        io.Writer
	redactor atomic.Pointer[secret.Redactor]
	other    atomic.Pointer[io.Writer] // nil: w
}

// redirect lets what passes through go to another writer, until restore is called.
func (m *maskedWriter) redirect(w io.Writer) (restore func()) {
	m.other.Store(&w)
	return func() { m.other.Store(nil) }
}

// Write implements io.Writer.
func (m *maskedWriter) Write(p []byte) (int, error) {
	w := m.w
	if other := m.other.Load(); other != nil {
		w = *other
	}
	if _, err := w.Write(m.redactor.Load().Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
