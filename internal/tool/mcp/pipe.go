package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// pipeConn speaks the stdio transport over a pair of pipes.
type pipeConn struct {
	in       io.WriteCloser
	incoming chan jsonrpc.Message
	out      *outbox
	closed   chan struct{}
	closing  sync.Once
	reading  sync.WaitGroup
	err      error // why reading ended, set before incoming is closed
}

// newPipeConn returns the connection over the stdin and stdout of a server. text
// is how the server writes text; nil is UTF-8.
func newPipeConn(stdin io.WriteCloser, stdout io.Reader, text encoding.Encoding) *pipeConn {
	c := &pipeConn{in: stdin, incoming: make(chan jsonrpc.Message), closed: make(chan struct{})}
	var w io.Writer = stdin
	if text != nil {
		stdout, w = transform.NewReader(stdout, text.NewDecoder()), transform.NewWriter(stdin, text.NewEncoder())
	}
	c.out = newOutbox(func(data []byte) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	c.reading.Go(func() { c.read(newFrames(stdout, MaxMessage)) })
	return c
}

func (c *pipeConn) read(f *frames) {
	defer close(c.incoming)
	for {
		m, err := f.next()
		if err != nil {
			c.err = err
			return
		}
		select {
		case c.incoming <- m:
		case <-c.closed:
			return
		}
	}
}

// Read implements the SDK's Connection.
func (c *pipeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.incoming:
		var garbage *messageError
		switch {
		case ok:
			return m, nil
		case errors.As(c.err, &garbage):
			return nil, c.err
		}
		return nil, io.EOF // however a pipe ends, it means that the process has gone
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements the SDK's Connection.
func (c *pipeConn) Write(ctx context.Context, m jsonrpc.Message) error {
	return c.out.send(ctx, m)
}

// Close implements the SDK's Connection. It ends the server's stdin.
func (c *pipeConn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		c.in.Close() // also ends a write that the server does not read
		c.out.stop()
	})
	return nil
}

// wait waits for the end of reading, once the server's stdout is closed.
func (c *pipeConn) wait() { c.reading.Wait() }

// SessionID implements the SDK's Connection.
func (*pipeConn) SessionID() string { return "" }
