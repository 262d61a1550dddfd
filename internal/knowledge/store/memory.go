package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/durable"
)

// Memory is a Store that lasts as long as it is kept. The zero Memory is not
// usable; see NewMemory.
type Memory struct {
	writing chan struct{} // holds a token while nobody has the lease

	mu    sync.Mutex
	state *State
	notes []Note
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	m := &Memory{writing: make(chan struct{}, 1)}
	m.writing <- struct{}{}
	return m
}

// Location implements Store.
func (m *Memory) Location() string { return "memory" }

// Load implements Store.
func (m *Memory) Load(context.Context) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return State{}, ErrEmpty
	}
	return *m.state, nil
}

// Lock implements Store.
func (m *Memory) Lock(ctx context.Context, onWait func()) (Lease, error) {
	if l, err := m.TryLock(); err == nil {
		return l, nil
	}
	if onWait != nil {
		onWait()
	}
	select {
	case <-m.writing:
		return m.lease(), nil
	case <-ctx.Done():
		return Lease{}, fmt.Errorf("wait for the index in memory: %w", context.Cause(ctx))
	}
}

// TryLock implements Store.
func (m *Memory) TryLock() (Lease, error) {
	select {
	case <-m.writing:
		return m.lease(), nil
	default:
		return Lease{}, fmt.Errorf("the index in memory is %w", durable.ErrLocked)
	}
}

func (m *Memory) lease() Lease {
	return Lease{release: sync.OnceValue(func() error {
		m.writing <- struct{}{}
		return nil
	})}
}

// Commit implements Store.
func (m *Memory) Commit(ctx context.Context, c Change) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit to the index in memory: %w", context.Cause(ctx))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	byPath := map[string]Source{}
	if m.state != nil && !c.Reset {
		for _, s := range m.state.Sources {
			byPath[s.Path] = s
		}
	}
	for _, path := range c.Remove {
		delete(byPath, path)
	}
	for _, s := range c.Put {
		byPath[s.Path] = s
	}
	for _, f := range c.Touch {
		if s, ok := byPath[f.Path]; ok {
			byPath[f.Path] = Source{File: f, Parts: s.Parts}
		}
	}
	next := State{Manifest: c.Manifest}
	for _, s := range byPath {
		next.Sources = append(next.Sources, s)
	}
	slices.SortFunc(next.Sources, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	m.state, m.notes = &next, nil
	return nil
}

// Remember implements Store.
func (m *Memory) Remember(_ context.Context, notes []Note) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes = append(m.notes, notes...)
	return nil
}

// Notes implements Store.
func (m *Memory) Notes(context.Context) ([]Note, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.notes), nil
}

// Close implements Store.
func (m *Memory) Close() error { return nil }
