package claudecode

import (
	"context"
	"sync"
)

// maxQueued bounds what a turn may have unread, in bytes of frames. Beyond it the
// program waits for its reader; a single frame always finds its place.
const maxQueued = 32 << 20

// queue holds the messages of a turn that were not taken yet.
type queue struct {
	mu     sync.Mutex
	items  []queued
	size   int
	open   bool // everything finds its place
	ended  bool
	err    error
	more   chan struct{} // has one element when something may have come
	room   chan struct{} // has one element when something was taken
	leaves chan struct{} // closed when nobody reads any more
}

type queued struct {
	m    Message
	size int
}

func newQueue() *queue {
	return &queue{more: make(chan struct{}, 1), room: make(chan struct{}, 1), leaves: make(chan struct{})}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// push adds a message that took size bytes. It waits while there is no room, and
// gives up when stop is closed.
func (q *queue) push(m Message, size int, stop <-chan struct{}) {
	for {
		q.mu.Lock()
		if q.open || q.size == 0 || q.size+size <= maxQueued {
			q.items = append(q.items, queued{m, size})
			q.size += size
			q.mu.Unlock()
			poke(q.more)
			return
		}
		q.mu.Unlock()
		select {
		case <-q.room:
		case <-q.leaves:
			return
		case <-stop:
			return
		}
	}
}

// discard drops what waits, and lets everything in that still comes: the end of
// the turn is not to wait for a reader who has left.
func (q *queue) discard() {
	q.mu.Lock()
	q.items, q.size, q.open = nil, 0, true
	q.mu.Unlock()
	poke(q.room)
}

// end says that nothing more comes, and why.
func (q *queue) end(err error) {
	q.mu.Lock()
	if !q.ended {
		q.ended, q.err = true, err
	}
	q.mu.Unlock()
	poke(q.more)
}

// pop takes the next message. At the end it returns the error of the end.
func (q *queue) pop(ctx context.Context) (Message, error) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			item := q.items[0]
			q.items = q.items[1:]
			q.size -= item.size
			q.mu.Unlock()
			poke(q.room)
			return item.m, nil
		}
		if q.ended {
			defer q.mu.Unlock()
			return nil, q.err
		}
		q.mu.Unlock()
		select {
		case <-q.more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
