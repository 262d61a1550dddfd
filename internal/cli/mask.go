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
}

// Write implements io.Writer.
func (m *maskedWriter) Write(p []byte) (int, error) {
	if _, err := m.w.Write(m.redactor.Load().Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
