package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/proc"
)

const (
	// stopGrace is how long the program may take to end after its input has, and
	// again after it was asked to terminate.
	stopGrace = 5 * time.Second
	// interruptGrace bounds the wait for the end of a turn that was interrupted.
	interruptGrace = 5 * time.Second
)

// Client is a running CLI with one conversation. It is safe for concurrent use;
// turns are one at a time. Whoever starts a Client closes it.
type Client struct {
	o       Options
	p       *proc.Process
	log     *slog.Logger
	hooks   map[string]Hook
	bridges map[string]*bridge
	ctx     context.Context // of everything the client answers
	cancel  context.CancelFunc
	answers sync.WaitGroup
	read    chan struct{} // closed when the program's output has ended
	writing sync.Mutex
	turn    chan struct{} // holds one element while a turn is under way
	closing sync.Once
	failed  error // of Close

	mu      sync.Mutex
	pending map[string]chan *response
	inbound map[string]context.CancelFunc
	asked   int
	current *queue
	session string
	last    string // id of the main agent's last message, when a turn last ended
	version Version
	startup []string // why the start failed, as the program says
	err     error    // why the output ended; set before read is closed
}

// ExitError says that the program ended by itself.
type ExitError struct {
	Err    error    // how it ended; nil is with status 0
	Said   []string // what it said of the reason
	Stderr []string // its last lines
}

// Error implements error.
func (e *ExitError) Error() string {
	text := "Claude Code ended unexpectedly"
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	for _, line := range append(slices.Clone(e.Said), e.Stderr...) {
		text += "\n  " + line
	}
	return text
}

// Unwrap returns how the program ended.
func (e *ExitError) Unwrap() error { return e.Err }

// Start starts the program and greets it. The error is an *ExitError when the
// program ended instead of answering.
func Start(ctx context.Context, o Options) (*Client, error) {
	if info, err := os.Stat(o.Dir); err != nil {
		return nil, fmt.Errorf("the working folder: %w", err) // or the program would be said to be missing
	} else if !info.IsDir() {
		return nil, fmt.Errorf("the working folder: %s is not a folder", o.Dir)
	}
	c := &Client{
		o: o, log: o.Log, hooks: map[string]Hook{}, bridges: map[string]*bridge{},
		read: make(chan struct{}), turn: make(chan struct{}, 1),
		pending: map[string]chan *response{}, inbound: map[string]context.CancelFunc{},
		session: o.Resume, version: o.Version,
	}
	c.o.stopGrace = cmp.Or(o.stopGrace, stopGrace)
	c.o.interruptGrace = cmp.Or(o.interruptGrace, interruptGrace)
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for name, server := range o.Servers {
		b, err := connect(c.ctx, server)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open the server %s: %w", name, err), c.endServers())
		}
		c.bridges[name] = b
	}
	var err error
	c.p, err = proc.Start(proc.Spec{
		Path: o.Path, Args: o.arguments(), Dir: o.Dir, Env: o.environment(),
		OnStderr: func(line string) { c.log.Debug("claude code", "stderr", line) },
	})
	if err != nil {
		return nil, errors.Join(err, c.endServers())
	}
	go c.listen()
	if err := c.greet(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// greet tells the program what it is to be.
func (c *Client) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.o.Start, defaultStart))
	defer cancel()
	reply, err := c.ask(ctx, c.initialize())
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("wait for Claude Code to start: %w", err)
		}
		return err
	}
	var said struct {
		Version string `json:"claude_code_version"`
	}
	if json.Unmarshal(reply, &said) == nil && said.Version != "" {
		if v, err := ParseVersion(said.Version); err == nil {
			c.version = v
		}
	}
	return nil
}

// initialize returns the first request, and numbers the hooks in it.
func (c *Client) initialize() initialize {
	req := initialize{
		Subtype: "initialize", Agents: c.o.Agents, SystemPrompt: []string{c.o.SystemPrompt}, Schema: c.o.Schema,
		Servers: slices.Sorted(maps.Keys(c.o.Servers)),
	}
	for i, h := range c.o.Hooks {
		id := "hook_" + strconv.Itoa(i)
		c.hooks[id] = h
		spec := hookSpec{Callbacks: []string{id}, Timeout: h.timeout().Seconds(), OnFailure: "block"}
		if h.Matcher != "" {
			spec.Matcher = &h.Matcher
		}
		if req.Hooks == nil {
			req.Hooks = map[HookEvent][]hookSpec{}
		}
		req.Hooks[h.Event] = append(req.Hooks[h.Event], spec)
	}
	return req
}

// Session returns the id of the conversation, or "" before its first turn.
func (c *Client) Session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// LastMessage returns the id of the main agent's last message as of the end of
// the last turn, see Options.At. A turn that was interrupted has ended, too.
func (c *Client) LastMessage() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Version returns the version of the program.
func (c *Client) Version() Version { return c.version }

// PID returns the number of the process.
func (c *Client) PID() int { return c.p.PID() }

// Alive reports whether another turn may be asked for.
func (c *Client) Alive() bool {
	select {
	case <-c.read:
		return false
	case <-c.ctx.Done():
		return false
	default:
		return true
	}
}

// Done returns a channel that is closed when the program has ended.
func (c *Client) Done() <-chan struct{} { return c.read }

// listen reads what the program writes, and sees to the end of what waits for it.
func (c *Client) listen() {
	f, r := newFrames(c.p.Stdout()), &reader{}
	var err error
	for err == nil {
		var frame []byte
		if frame, err = f.next(); err == nil {
			c.take(r, frame)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	if err != nil { // a frame that cannot be: nothing after it is worth reading
		c.p.Stop(c.ctx, proc.Grace{Stdin: time.Millisecond, Term: c.o.stopGrace})
	}
	exit := &ExitError{Err: c.p.Err(), Stderr: c.p.Tail()}
	c.mu.Lock()
	exit.Said = c.startup
	c.err = exit
	if err != nil {
		c.err = fmt.Errorf("read from Claude Code: %w", err)
	}
	current := c.current
	c.mu.Unlock()
	close(c.read)
	if current != nil {
		current.end(c.err)
	}
}

// take does what a frame asks for.
func (c *Client) take(r *reader, frame []byte) {
	var head envelope
	if err := json.Unmarshal(frame, &head); err != nil {
		c.log.Debug("claude code wrote no message", "error", err)
		return
	}
	switch head.Type {
	case "control_response":
		c.answered(head.Response)
		return
	case "control_request":
		c.answer(head.RequestID, head.Request)
		return
	case "control_cancel_request":
		c.cancelled(head.RequestID)
		return
	}
	messages, err := r.read(frame)
	c.mu.Lock()
	current := c.current
	c.mu.Unlock()
	if err != nil {
		c.log.Warn("claude code wrote a message that cannot be read", "error", err)
		if head.Type == "result" && current != nil {
			current.end(err)
		}
		return
	}
	for i, m := range messages {
		c.note(m, current == nil)
		if current == nil {
			continue
		}
		if c.o.Observe != nil {
			c.o.Observe(m)
		}
		size := 0
		if i == 0 {
			size = len(frame)
		}
		current.push(m, size, c.ctx.Done())
		if _, ok := m.(*Result); ok {
			current.end(io.EOF)
		}
	}
}

// note remembers what a message says of the conversation.
func (c *Client) note(m Message, idle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *Started:
		c.session = m.SessionID
	case *Result:
		if m.SessionID != "" && !(idle && m.IsError) {
			c.session = m.SessionID
		}
		if idle {
			c.startup = m.Errors
			return
		}
		c.last = m.LastMessage
	}
}

// Turn sends what a person says and yields what comes of it, up to a *Result or
// an error: ctx's own, or an *ExitError when the program ended. Who breaks out, or
// ends ctx, interrupts the turn, and the conversation can go on. A Turn that is
// asked for during another waits for it.
func (c *Client) Turn(ctx context.Context, said ...Content) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		defer func() { <-c.turn }()
		q := newQueue()
		c.mu.Lock()
		c.current = q
		c.mu.Unlock()
		defer func() {
			close(q.leaves)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.current = nil
		}()
		if !c.Alive() {
			yield(nil, c.ended())
			return
		}
		if err := c.say(said); err != nil {
			yield(nil, err)
			return
		}
		for {
			m, err := q.pop(ctx)
			if err != nil {
				if ctx.Err() != nil {
					c.interrupt(q)
				}
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			_, last := m.(*Result)
			if !yield(m, nil) {
				if !last {
					c.interrupt(q)
				}
				return
			}
			if last {
				return
			}
		}
	}
}

// interrupt ends a turn that nobody reads any more, and waits for its result. A
// program that does not come to an end is ended.
func (c *Client) interrupt(q *queue) {
	ctx, cancel := context.WithTimeout(c.ctx, c.o.interruptGrace)
	defer cancel()
	q.discard()
	if _, err := c.ask(ctx, map[string]string{"subtype": "interrupt"}); err == nil {
		for {
			m, err := q.pop(ctx)
			if _, ok := m.(*Result); ok || err == io.EOF {
				return
			}
			if err != nil {
				break
			}
		}
	}
	c.log.Warn("claude code could not be interrupted and is ended")
	c.p.Stop(c.ctx, proc.Grace{Stdin: time.Millisecond, Term: c.o.stopGrace})
	<-c.read
}

// ended returns why no more turns can be had.
func (c *Client) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return errors.New("the client is closed")
}

// Close ends the program: its input is closed, after a while it is asked to
// terminate, and then it is killed with all it started. It returns when nothing
// of it is left. It is idempotent.
func (c *Client) Close() error {
	c.closing.Do(func() {
		err := c.p.Stop(c.ctx, proc.Grace{Stdin: c.o.stopGrace, Term: c.o.stopGrace})
		c.cancel()
		<-c.read
		c.answers.Wait()
		c.failed = errors.Join(err, c.endServers())
	})
	return c.failed
}

func (c *Client) endServers() error {
	c.cancel()
	var errs []error
	for _, b := range c.bridges {
		errs = append(errs, b.end())
	}
	return errors.Join(errs...)
}
