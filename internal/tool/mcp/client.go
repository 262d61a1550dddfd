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

// turnPatience is how long a turn waits for a server that is brought back.
const turnPatience = 5 * time.Second

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
	// running counts what Close waits for. It grows under mu, and not once closed.
	running sync.WaitGroup

	mu       sync.Mutex
	session  *session // nil when there is no connection
	attempt  *attempt // to make one; nil when none is under way
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
		env:   env.Scope("mcp " + t.Name), // what a server takes must not depend on who came first
		log:   env.Log.With("server", t.Name),
		limit: time.Duration(t.RequestTimeout) * time.Second,
		told:  map[string]bool{},
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

// Connect reaches the server and lists what it has, unless that is done. The
// error is a *ConnectionError, a *TimeoutError or a *ProtocolError; with it the
// client goes on, without tools, and Refresh tries again. The end of ctx ends the
// waiting and not the attempt, which has the bound of the agent file: a server that
// is late is there for a later turn.
func (c *Client) Connect(ctx context.Context) error {
	_, err := c.acquire(ctx)
	return err
}

// Refresh brings the tools up to date; it is called before a turn. It brings back
// a server that could not be reached or whose process ended, unless that has just
// failed, and lists anew when the server said that its tools changed. It does not
// hold up a turn for longer than some seconds, unless the server is needed: one
// that is late is there for the next. With an error the tools stay as they were.
func (c *Client) Refresh(ctx context.Context) error {
	c.mu.Lock()
	s, stale, failure := c.session, c.stale, c.failure
	idle := c.reached && failure == nil && c.config.Transport != config.MCPStdio
	c.mu.Unlock()
	switch {
	case s == nil && idle:
		return nil // a stream that was closed while idle is opened by the next call
	case s == nil && c.opts.Needed:
		return c.Connect(ctx)
	case s == nil:
		within, cancel := context.WithTimeout(ctx, turnPatience)
		defer cancel()
		err := c.Connect(within)
		if within.Err() != nil && ctx.Err() == nil && errors.Is(err, within.Err()) {
			return &ConnectionError{Fault{Server: c.name, What: "is not there yet", Next: "it is used as soon as it is"}}
		}
		return err
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
	case c.closed:
		return fmt.Sprintf("the MCP server %s is closed", c.name)
	case c.session != nil:
		return ""
	case c.failure != nil:
		return fmt.Sprintf("the MCP server %s is out of reach, and is tried again before the next turn: %v", c.name, c.failure)
	case !c.reached && c.attempt != nil:
		return fmt.Sprintf("the MCP server %s is not there yet, and is used as soon as it is", c.name)
	}
	return ""
}

// Close cancels the calls that are under way and ends the connection; a server
// that we started is ended with all it started. It takes a few seconds at most,
// and is idempotent.
func (c *Client) Close() error {
	c.mu.Lock()
	s := c.session
	c.session, c.closed = nil, true
	c.mu.Unlock()
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

// attempt is one try to make a connection, which many may wait for.
type attempt struct {
	done    chan struct{} // closed when session and err are set
	session *session
	err     error
}

// acquire returns the connection, and makes one where there is none. Just after
// an attempt that failed it returns the error of that.
func (c *Client) acquire(ctx context.Context) (*session, error) {
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return nil, c.closedError()
	case c.session != nil:
		defer c.mu.Unlock()
		return c.session, nil
	case c.attempt == nil && c.retryAt.After(c.env.Now()):
		defer c.mu.Unlock()
		return nil, c.failure
	case c.attempt == nil:
		c.attempt = &attempt{done: make(chan struct{})}
		c.running.Go(c.dial)
	}
	a := c.attempt
	c.mu.Unlock()
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// dial makes the attempt to connect that is under way.
func (c *Client) dial() {
	s, err := c.newSession()
	if err == nil {
		if err = c.list(c.ctx, s); err != nil {
			s.close()
		}
	}
	c.mu.Lock()
	a := c.attempt
	c.attempt = nil
	switch {
	case err == nil && c.closed:
		err = c.closedError()
		defer s.close()
	case err == nil:
		c.session, c.reached = s, true
		c.failure, c.failures, c.retryAt = nil, 0, time.Time{}
		c.running.Go(func() { c.watch(s) })
	default:
		c.failure = err
		c.retryAt = c.env.Now().Add(min(firstPause<<min(c.failures, 10), longestPause))
		c.failures++
	}
	c.mu.Unlock()
	if a.err = err; err == nil {
		a.session = s
	}
	close(a.done)
}

// drop ends a connection that turned out to be of no use.
func (c *Client) drop(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s && !c.closed {
		c.session = nil
		c.running.Go(func() { s.close() })
	}
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
	switch {
	case !lost: // we ended it
		return
	case !started && cause == nil:
		c.drop(s)
		c.log.Debug("the stream is closed, and is opened by the next call")
		return
	}
	c.note(s, s.lost(cause))
}

// note notes that a connection broke. Who learns of it first, a call or who
// watches, notes it, so that the next turn knows.
func (c *Client) note(s *session, failure error) {
	c.mu.Lock()
	lost := c.session == s && !c.closed
	if lost {
		c.session, c.failure = nil, failure
	}
	c.mu.Unlock()
	switch {
	case !lost:
	case c.config.Transport == config.MCPStdio:
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
	text = plain(text)
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
