package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ErrLocked is returned by TryLock when another process, or another place in
// this one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// DefaultPoll is how often a waiting Lock looks again.
const DefaultPoll = 50 * time.Millisecond

// FileLock is a lock that is held. The operating system releases it when the
// process ends, however it ends, so that a lock is never stale.
type FileLock struct {
	file    *os.File
	release sync.Once
	err     error
}

// TryLock takes the lock at path, or returns ErrLocked, wrapped, when it is
// held. The file is created when it does not exist and is left behind on
// release; its folder must exist. The lock is advisory: it keeps out those who
// ask for it.
func TryLock(path string) (*FileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, errors.Join(err, f.Close()))
	}
	return &FileLock{file: f}, nil
}

// LockOptions says how Lock waits.
type LockOptions struct {
	// OnWait, if set, is called once when the lock is held by another.
	OnWait func()
	// Poll is how often to look again; zero means DefaultPoll.
	Poll time.Duration
}

// Lock is TryLock that waits until the lock is free or ctx is done.
func Lock(ctx context.Context, path string, opts LockOptions) (*FileLock, error) {
	l, err := TryLock(path)
	if !errors.Is(err, ErrLocked) {
		return l, err
	}
	if opts.OnWait != nil {
		opts.OnWait()
	}
	poll := opts.Poll
	if poll <= 0 {
		poll = DefaultPoll
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
		l, err := TryLock(path)
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
	}
}

// Unlock releases the lock. It is idempotent.
func (l *FileLock) Unlock() error {
	l.release.Do(func() {
		if err := errors.Join(unlockFile(l.file), l.file.Close()); err != nil {
			l.err = fmt.Errorf("unlock %s: %w", l.file.Name(), err)
		}
	})
	return l.err
}
