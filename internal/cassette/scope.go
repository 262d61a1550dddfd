package cassette

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// times are what a scope of an agent.Env has handed out.
type times struct {
	Scope string   `json:"scope,omitempty"` // its path, the names joined by slashes
	Now   *moments `json:"now,omitempty"`
	IDs   []string `json:"ids,omitempty"`
}

// moments are points in time: the first, and the nanoseconds from each to the
// next.
type moments struct {
	First time.Time `json:"first"`
	Then  []int64   `json:"then,omitempty"`
}

// inside returns the path of a scope within another.
func inside(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// recordedScope keeps what an Env hands out.
type recordedScope struct {
	mu   sync.Mutex
	said times
	last time.Time
}

// env returns base as the scope records it.
func (s *recordedScope) env(base agent.Env) agent.Env {
	out := base
	out.Now = func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		t := base.Now().Round(0) // without the monotonic clock, which cannot be written down
		if s.said.Now == nil {
			s.said.Now = &moments{First: t}
		} else {
			s.said.Now.Then = append(s.said.Now.Then, int64(t.Sub(s.last)))
		}
		s.last = t
		return t
	}
	out.NewID = func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := base.NewID()
		s.said.IDs = append(s.said.IDs, id)
		return id
	}
	return out
}

// playedScope hands out again what was recorded. When there is no more, which
// happens when the program has changed, time stands still and ids are made from
// the scope's name, so that a replay still is the same each time.
type playedScope struct {
	mu      sync.Mutex
	path    string
	said    times
	instant int // how many moments were handed out
	id      int
	last    time.Time
}

// env returns base with the scope's times and ids.
func (s *playedScope) env(base agent.Env) agent.Env {
	out := base
	out.Now = func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch m := s.said.Now; {
		case m == nil:
		case s.instant == 0:
			s.last = m.First
			s.instant++
		case s.instant <= len(m.Then):
			s.last = s.last.Add(time.Duration(m.Then[s.instant-1]))
			s.instant++
		}
		return s.last
	}
	out.NewID = func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.id++
		if s.id <= len(s.said.IDs) {
			return s.said.IDs[s.id-1]
		}
		sum := sha256.Sum256([]byte(s.path + " " + strconv.Itoa(s.id)))
		return ulid.ULID(sum[:16]).String()
	}
	return out
}

// sofar returns what was handed out until now.
func (s *recordedScope) sofar() times {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}
