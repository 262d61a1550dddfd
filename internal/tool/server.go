package tool

import (
	"context"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// server is an entry of the agent file that is many tools, and other ones as
// time goes: an MCP server. It is safe for concurrent use.
type server interface {
	// Tools returns the server's tools, and a number that is another one whenever
	// they are others. A server that cannot be reached keeps those it had.
	Tools() (tools []agent.Tool, version int)
	// Refresh brings the tools up to date: it connects to a server that was lost,
	// if it is time to try again, and reads the list anew after the server said
	// that it changed. When it fails, Degraded says so, too.
	Refresh(ctx context.Context) error
	// Degraded says in a sentence why the server cannot be used; empty when it can.
	Degraded() string
	Close() error
}

// perSession opens a server for each session. The one that was opened with the
// agent, to find out that it can be and what it offers, is the first's.
type perSession struct {
	start func(context.Context) (server, error)

	mu    sync.Mutex
	spare server // nil once it was handed out
}

// open returns a server that nobody else talks to.
func (p *perSession) open(ctx context.Context) (server, error) {
	p.mu.Lock()
	spare := p.spare
	p.spare = nil
	p.mu.Unlock()
	if spare != nil {
		return spare, nil
	}
	return p.start(ctx)
}

// Close closes the server that was not handed out.
func (p *perSession) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare == nil {
		return nil
	}
	spare := p.spare
	p.spare = nil
	return spare.Close()
}
