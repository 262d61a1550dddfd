package claude

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
)

const (
	// idleTime is how long a process may wait for the next turn of its session
	// before it is ended. The session can go on: another process takes it up.
	idleTime = 5 * time.Minute
	// fewProcesses is how many there may be where the system does not say how much
	// memory it has.
	fewProcesses = 8
)

// pool bounds how many processes an agent has. A process belongs to one session:
// it has read what that session's person said.
type pool struct {
	most int
	idle time.Duration // idleTime, or what a test is content with

	mu    sync.Mutex
	live  map[*cliSession]time.Time // when each was last used
	freed chan struct{}             // has one element when a place may be free
}

func newPool(most int) *pool {
	return &pool{most: most, idle: idleTime, live: map[*cliSession]time.Time{}, freed: make(chan struct{}, 1)}
}

// mostProcesses returns how many processes there may be at once: as many as the
// file says, or as the memory that is free has room for.
func mostProcesses(s *config.Claude, freeMiB int) int {
	if s != nil && s.MaxConcurrentSessions != nil {
		return *s.MaxConcurrentSessions
	}
	each := 500
	if s != nil && s.SessionMemoryEstimateMiB > 0 {
		each = s.SessionMemoryEstimateMiB
	}
	if freeMiB <= 0 {
		return fewProcesses
	}
	return max(1, freeMiB/each)
}

// freeMemory returns how much memory programs can have, in MiB; 0 is not known.
func freeMemory() int {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			kib, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return kib >> 10
		}
	}
	return 0
}

// enter gives a session a place for its process. It ends the process that has
// been idle longest where there is none, and else waits; wait is called once
// before.
func (p *pool) enter(ctx context.Context, s *cliSession, now time.Time, wait func() error) error {
	waited := false
	for {
		p.mu.Lock()
		if _, in := p.live[s]; in || len(p.live) < p.most {
			p.live[s] = now
			p.mu.Unlock()
			return nil
		}
		idle := p.idlest(s)
		p.mu.Unlock()
		if idle != nil && idle.rest() {
			continue // its leaving made room
		}
		if !waited {
			waited = true
			if err := wait(); err != nil {
				return err
			}
		}
		select {
		case <-p.freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// idlest returns the session, other than s, whose process was used longest ago
// and is not in a turn.
func (p *pool) idlest(s *cliSession) *cliSession {
	var idle *cliSession
	for other, used := range p.live {
		if other != s && !other.busy.Load() && (idle == nil || used.Before(p.live[idle])) {
			idle = other
		}
	}
	return idle
}

// used notes that a session's process did something.
func (p *pool) used(s *cliSession, now time.Time) {
	p.mu.Lock()
	if _, in := p.live[s]; in {
		p.live[s] = now
	}
	p.mu.Unlock()
	p.poke()
}

// leave gives the place of a session back.
func (p *pool) leave(s *cliSession) {
	p.mu.Lock()
	delete(p.live, s)
	p.mu.Unlock()
	p.poke()
}

func (p *pool) poke() {
	select {
	case p.freed <- struct{}{}:
	default:
	}
}
