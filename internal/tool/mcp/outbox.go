package mcp

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// outbox writes messages one after another. Writing has a goroutine of its own: a
// server that does not read must hold up only who waits for it, and a message that
// was begun is written to its end even when nobody waits for it any more, for
// nothing could follow half of one.
type outbox struct {
	queue   chan outgoing
	stopped chan struct{}
	once    sync.Once
	writing sync.WaitGroup
}

// outgoing is a message to be written, and where to say how that went.
type outgoing struct {
	data []byte
	done chan error // has room for one
}

// newOutbox returns an outbox that hands each message to write.
func newOutbox(write func(data []byte) error) *outbox {
	o := &outbox{queue: make(chan outgoing), stopped: make(chan struct{})}
	o.writing.Go(func() {
		for {
			select {
			case m := <-o.queue:
				m.done <- write(m.data)
			case <-o.stopped:
				return
			}
		}
	})
	return o
}

// send writes a message and returns when it is written, or ctx ends.
func (o *outbox) send(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	out := outgoing{data, make(chan error, 1)}
	select {
	case o.queue <- out:
	case <-o.stopped:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-out.done:
		return err
	case <-o.stopped:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop ends the writing. What is being written must end too: whoever stops an
// outbox closes first what it writes to.
func (o *outbox) stop() {
	o.once.Do(func() { close(o.stopped) })
	o.writing.Wait()
}
