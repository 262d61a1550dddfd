package agent

import (
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Env is where time, chance, ids and the log come from. It is handed to every
// Open: nothing that is stored, sent or shown takes them from elsewhere, so
// that a recorded run replays to the byte. All fields but Scopes are set, and
// all are safe for concurrent use.
type Env struct {
	Now   func() time.Time
	NewID func() string // a ULID
	Rand  *mathrand.Rand
	Log   *slog.Logger
	// Scopes returns the Env of a scope, see [Env.Scope]; nil where they are not
	// told apart.
	Scopes func(name string) Env
}

// Scope returns the Env for a line of work that runs beside others: a session,
// or a tool call of one. What is taken from it does not depend on how the lines
// interleave. The same name gives the same scope.
func (e Env) Scope(name string) Env {
	if e.Scopes == nil {
		return e
	}
	return e.Scopes(name)
}

// SystemEnv returns the Env of a running process: the wall clock, ULIDs and a
// random source seeded by the system.
func SystemEnv(log *slog.Logger) Env {
	var seed [16]byte
	rand.Read(seed[:]) // never fails: crypto/rand
	src := mathrand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:]))
	return Env{
		Now:   time.Now,
		NewID: func() string { return ulid.Make().String() },
		Rand:  mathrand.New(&lockedSource{src: src}),
		Log:   log,
	}
}

// lockedSource makes a random source safe for concurrent use.
type lockedSource struct {
	mu  sync.Mutex
	src mathrand.Source
}

// Uint64 implements rand.Source.
func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Uint64()
}
