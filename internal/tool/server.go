package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
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

// patience is how long the start of a server may take before a person is told
// what is waited for.
const patience = 5 * time.Second

// longestPatience is how long a conversation waits for a server before it begins
// without: the server goes on starting, and is there for a later turn.
const longestPatience = 15 * time.Second

// mcp opens an MCP server.
func (o *opener) mcp(ctx context.Context, t *config.MCPTool) (opened, error) {
	first, err := o.connect(ctx, t)
	if err != nil {
		return opened{}, err
	}
	if t.Scope != config.MCPSession {
		return opened{server: first, closer: first}, nil
	}
	tools, _ := first.Tools()
	p := &perSession{spare: first, start: func(ctx context.Context) (server, error) { return o.connect(ctx, t) }}
	return opened{tools: tools, perSession: p, closer: p}, nil
}

// connect starts or reaches a server and lists what it has.
func (o *opener) connect(ctx context.Context, t *config.MCPTool) (server, error) {
	opts, err := o.serverOptions(t)
	if err != nil {
		return nil, err
	}
	c, err := mcp.New(o.env, t, opts)
	if err != nil {
		return nil, err
	}
	told := o.waiting(t)
	within := ctx
	if o.opts.Degrade {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, longestPatience)
		defer cancel()
	}
	err = c.Connect(within)
	told(err)
	if err != nil && (!o.opts.Degrade || ctx.Err() != nil) {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// serverOptions says how a server is reached and what it may ask of us.
func (o *opener) serverOptions(t *config.MCPTool) (mcp.Options, error) {
	opts := mcp.Options{
		Lookup: func(name string) (string, bool) {
			value := o.agent.Variable(name)
			return value, value != ""
		},
		Dir: o.agent.Dir, HTTP: o.opts.HTTP, Version: o.opts.Version, Roots: t.RootFolders(), Elicit: o.opts.Elicit, Notice: o.notice,
		Needed: !o.opts.Degrade, Chosen: o.agent.ToolFiltering != nil && o.agent.ToolFiltering.Enabled,
	}
	if t.Sampling && o.opts.Models != nil {
		model, err := o.opts.Models.Chat(o.agent)
		if err != nil {
			return mcp.Options{}, fmt.Errorf("the model that MCP server %s may ask: %w", t.Name, err)
		}
		opts.Model = model
	}
	return opts, nil
}

// notice tells a person of something while the agent is opened. What comes later
// belongs into the log: a conversation may be on the screen.
func (o *opener) notice(text string) {
	if o.done.Load() || o.opts.Notice == nil {
		o.env.Log.Warn(text)
		return
	}
	o.opts.Notice(text)
}

// waiting tells a person of a server that takes its time to start. What it
// returns is told how that ended.
func (o *opener) waiting(t *config.MCPTool) (ended func(error)) {
	if o.opts.Notice == nil || o.done.Load() {
		return func(error) {}
	}
	start := o.env.Now()
	timer := time.AfterFunc(patience, func() {
		o.notice(fmt.Sprintf("waiting for MCP server %s%s", t.Name, whatTakesTime(t)))
	})
	return func(err error) {
		if !timer.Stop() && err == nil {
			o.notice(fmt.Sprintf("MCP server %s is there after %s", t.Name, o.env.Now().Sub(start).Round(100*time.Millisecond)))
		}
	}
}

// whatTakesTime says why the start of a server may take long.
func whatTakesTime(t *config.MCPTool) string {
	if t.Command == nil {
		return ""
	}
	switch *t.Command {
	case "npx", "uvx":
		return fmt.Sprintf(" (%s fetches it the first time)", *t.Command)
	case "docker":
		return " (docker fetches its image the first time)"
	}
	return ""
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
	if spare := p.take(); spare != nil {
		return spare, nil
	}
	return p.start(ctx)
}

// take hands out the spare server, if it is still there.
func (p *perSession) take() server {
	p.mu.Lock()
	defer p.mu.Unlock()
	spare := p.spare
	p.spare = nil
	return spare
}

// Close closes the server that was not handed out.
func (p *perSession) Close() error {
	if spare := p.take(); spare != nil {
		return spare.Close()
	}
	return nil
}
