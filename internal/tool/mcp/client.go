package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Pauses between attempts to bring a server back.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// Client is one MCP server of an agent. It is safe for concurrent use. Whoever
// makes one closes it.
type Client struct {
	config  *config.MCPTool
	name    string
	opts    Options
	env     agent.Env
	log     *slog.Logger
	open    opener
	names   filter
	limit   time.Duration // of one request
	connect time.Duration // of reaching the server

	// ctx ends with Close.
	ctx    context.Context
	cancel context.CancelFunc
	// dialing holds a token while a connection is made: one at a time.
	dialing chan struct{}
	// running counts what Close waits for.
	running sync.WaitGroup

	mu       sync.Mutex
	session  *session // nil when there is no connection
	stale    bool     // the server said that its tools changed
	reached  bool     // there was a connection once, and so a list of tools
	failure  error    // of the last attempt to connect, or why the connection broke
	failures int      // attempts that failed in a row
	retryAt  time.Time
	tools    []agent.Tool
	version  int
	samples  int // requests to the model
	closed   bool
	told     map[string]bool // notices of the listing, which would come with every one
}

// New returns the client of a server, which is not reached yet. The error is a
// *ConfigError.
func New(env agent.Env, t *config.MCPTool, opts Options) (*Client, error) {
	if opts.Lookup == nil {
		opts.Lookup = func(string) (string, bool) { return "", false }
	}
	c := &Client{
		config: t, name: t.Name, opts: opts,
		env:     env.Scope("mcp " + t.Name), // what a server takes must not depend on who came first
		log:     env.Log.With("server", t.Name),
		limit:   time.Duration(t.RequestTimeout) * time.Second,
		dialing: make(chan struct{}, 1),
		told:    map[string]bool{},
	}
	c.connect = c.limit
	if t.ConnectTimeout != nil {
		c.connect = time.Duration(*t.ConnectTimeout * float64(time.Second))
	}
	names, some := t.AllowedTools()
	c.names = filter{all: !some, names: names}
	var err error
	if c.open, err = c.opener(); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Name returns the server's name in the agent file.
func (c *Client) Name() string { return c.name }

// Connect reaches the server and lists what it has, unless that is done. The
// error is a *ConnectionError, a *TimeoutError or a *ProtocolError; with it the
// client goes on, without tools, and Refresh tries again.
func (c *Client) Connect(ctx context.Context) error {
	_, err := c.acquire(ctx)
	return err
}

// Refresh brings the tools up to date; it is called before a turn. It brings back
// a server that could not be reached or whose process ended, unless that has just
// failed, and lists anew when the server said that its tools changed. With an
// error the tools stay as they were.
func (c *Client) Refresh(ctx context.Context) error {
	c.mu.Lock()
	s, stale, failure := c.session, c.stale, c.failure
	idle := c.reached && failure == nil && c.config.Transport != config.MCPStdio
	c.mu.Unlock()
	switch {
	case s == nil && idle:
		return nil // a stream that was closed while idle is opened by the next call
	case s == nil:
		return c.Connect(ctx)
	case stale:
		return c.list(ctx, s)
	}
	return nil
}

// Tools returns the tools and prompts of the server as they were listed last, in
// the server's order, and the version of that list, which changes with it. A tool
// whose definition stays the same stays the same instance.
func (c *Client) Tools() (tools []agent.Tool, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tools), c.version
}

// Degraded says why the server cannot be used at present, and is "" when it can.
func (c *Client) Degraded() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.session != nil || c.failure == nil:
		return ""
	case c.closed:
		return fmt.Sprintf("the MCP server %s is closed", c.name)
	}
	return fmt.Sprintf("the MCP server %s is out of reach, and is tried again before the next turn: %v", c.name, c.failure)
}

// Close cancels the calls that are under way and ends the connection; a server
// that we started is ended with all it started. It takes a few seconds at most,
// and is idempotent.
func (c *Client) Close() error {
	c.mu.Lock()
	s, was := c.session, c.closed
	c.session, c.closed = nil, true
	c.mu.Unlock()
	if was {
		c.running.Wait()
		return nil
	}
	c.cancel()
	var err error
	if s != nil {
		err = s.close()
	}
	c.running.Wait()
	if err != nil {
		return &Error{Fault{Server: c.name, What: "did not end as it should", Err: err}}
	}
	return nil
}

// acquire returns the connection, and makes one where there is none. Just after
// an attempt that failed it returns the error of that.
func (c *Client) acquire(ctx context.Context) (*session, error) {
	if s := c.current(); s != nil {
		return s, nil
	}
	select {
	case c.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		return nil, c.closedError()
	}
	defer func() { <-c.dialing }()
	c.mu.Lock()
	s, closed, failure := c.session, c.closed, c.failure
	wait := c.retryAt.After(c.env.Now())
	c.mu.Unlock()
	switch {
	case closed:
		return nil, c.closedError()
	case s != nil:
		return s, nil
	case wait:
		return nil, failure
	}
	return c.dial(ctx)
}

// current returns the connection, or nil when there is none.
func (c *Client) current() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// drop forgets a connection that turned out to be closed.
func (c *Client) drop(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s {
		c.session = nil
	}
}

// dial makes a connection and lists what the server has. It holds the token of
// dialing.
func (c *Client) dial(ctx context.Context) (*session, error) {
	s, err := c.newSession(ctx)
	if err == nil {
		err = c.list(ctx, s)
	}
	if err == nil {
		err = c.adopt(s)
	}
	if err == nil {
		return s, nil
	}
	if s != nil {
		s.close()
	}
	if ctx.Err() == nil || errors.Is(err, context.DeadlineExceeded) { // else cancelled, which says nothing of the server
		c.fail(err)
	}
	return nil, err
}

// adopt makes s the connection of the client.
func (c *Client) adopt(s *session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.closedError()
	}
	c.session, c.reached = s, true
	c.failure, c.failures, c.retryAt = nil, 0, time.Time{}
	c.running.Go(func() { c.watch(s) })
	return nil
}

// fail notes that the server could not be reached.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := min(firstPause<<min(c.failures, 10), longestPause)
	c.failure = err
	c.failures++
	c.retryAt = c.env.Now().Add(pause)
}

// watch waits for the end of a connection and notes it. That a stream was closed
// in order is no failure: the next call opens it again.
func (c *Client) watch(s *session) {
	cause := s.wait()
	started := c.config.Transport == config.MCPStdio
	c.mu.Lock()
	lost := c.session == s
	c.mu.Unlock()
	defer s.close()
	if !lost || !started && cause == nil {
		c.drop(s)
		c.log.Debug("the stream is closed, and is opened by the next call")
		return
	}
	failure := s.lost(cause)
	c.mu.Lock()
	if lost = c.session == s; lost {
		c.session, c.failure = nil, failure
	}
	c.mu.Unlock()
	switch {
	case !lost:
	case started:
		c.notice(failure.Error())
	default: // a stream that a proxy cuts is no news to a person
		c.log.Info(failure.Error())
	}
}

// changed is told by the server that its tools or prompts changed.
func (c *Client) changed() {
	c.mu.Lock()
	c.stale = true
	c.mu.Unlock()
	c.log.Debug("the tools of the server changed")
}

// tell tells a person of something, once.
func (c *Client) tell(text string) {
	c.mu.Lock()
	told := c.told[text]
	c.told[text] = true
	c.mu.Unlock()
	if !told {
		c.notice(text)
	}
}

// notice tells a person of something, or the log where nobody is told.
func (c *Client) notice(text string) {
	if c.opts.Notice != nil {
		c.opts.Notice(text)
		return
	}
	c.log.Warn(text)
}

// closedError is the error of whoever uses a closed client.
func (c *Client) closedError() error {
	return &ConnectionError{Fault{Server: c.name, What: "was closed"}}
}
