package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/proc"
)

// opener opens the stream of messages of a session. ctx is the session's own.
type opener func(ctx context.Context, s *session) (sdk.Connection, error)

// session is one connection to a server, from its start to its end.
type session struct {
	client *Client
	sdk    *sdk.ClientSession
	conn   sdk.Connection
	proc   *proc.Process // of a stdio server, and what is said with it
	pipe   *pipeConn

	// ctx ends with the session, and so do calls and answers. Its cause says why.
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	calls []*call // under way, the oldest first

	closing  sync.Once
	closeErr error
}

// call is a request that is under way.
type call struct {
	caller  context.Context // of who waits for it
	behalf  *agent.Behalf   // of a tool call; nil where there is no turn to tell
	samples int             // how often the model was asked meanwhile; the session's mu
}

// newSession reaches the server and agrees on the protocol with it.
func (c *Client) newSession() (*session, error) {
	s := &session{client: c}
	s.ctx, s.cancel = context.WithCancelCause(c.ctx)
	ctx, cancel := context.WithTimeout(c.ctx, c.connect)
	defer cancel()
	connected := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	var err error
	s.sdk, err = s.speaker().Connect(ctx, s, &sdk.ClientSessionOptions{ProtocolVersion: string(cmp.Or(c.config.ProtocolVersion, defaultProtocol))})
	if !connected() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		s.setLogLevel(ctx)
		return s, nil
	}
	s.close()
	return nil, s.explain(c.ctx, "did not answer the start of the protocol", c.connect, err)
}

// Connect implements the SDK's Transport. The stream must outlive the attempt
// that opened it, and so takes the session's context.
func (s *session) Connect(context.Context) (sdk.Connection, error) {
	var err error
	s.conn, err = s.client.open(s.ctx, s)
	return s.conn, err
}

// close ends the session: its calls, its stream and its process. It may be called
// more than once, and returns when all is over.
func (s *session) close() error {
	s.closing.Do(func() {
		s.cancel(nil)
		if s.conn != nil {
			s.conn.Close() // that a stream broke is told by wait
		}
		if s.sdk != nil {
			s.sdk.Close()
		}
		if s.proc != nil {
			s.closeErr = s.proc.Stop(context.Background(), proc.Grace{Stdin: stdinGrace, Term: termGrace})
			s.pipe.wait()
		}
	})
	return s.closeErr
}

// A process that is told to end has these times, first by the end of its stdin,
// as the protocol has it, and then by a signal.
const (
	stdinGrace = time.Second
	termGrace  = 2 * time.Second
)

// wait returns when the stream has ended. The error is nil when the server ended
// it in order.
func (s *session) wait() error {
	cause := s.sdk.Wait()
	if cause == nil {
		s.cancel(io.EOF)
	} else {
		s.cancel(cause)
	}
	return cause
}

// lost is the error of a connection that ended by itself.
func (s *session) lost(cause error) error {
	if cause == nil {
		cause = io.EOF
	}
	return s.explain(context.Background(), "broke off", 0, cause)
}

// request makes a request, which has the server's limit of time; where the caller
// has a clock that can be paused, that has the same limit and counts. doing says
// what the server fails to do when it does not answer.
func (s *session) request(caller context.Context, doing string, f func(ctx context.Context) error) error {
	ctx, cancel := s.bounded(caller)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	defer s.begin(caller)()
	err := f(ctx)
	if err == nil {
		return nil
	}
	return s.explain(caller, doing, s.client.limit, err)
}

// bounded returns the context of a request.
func (s *session) bounded(caller context.Context) (context.Context, context.CancelFunc) {
	if agent.CanPause(caller) {
		return context.WithCancel(caller)
	}
	return context.WithTimeout(caller, s.client.limit)
}

// begin notes a request that is under way until it is ended.
func (s *session) begin(caller context.Context) (end func()) {
	c := &call{caller: caller}
	c.behalf, _ = caller.Value(behalfKey{}).(*agent.Behalf)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = slices.DeleteFunc(s.calls, func(other *call) bool { return other == c })
	}
}

// pauseCalls stops the clocks of the requests that are under way while a person
// thinks. Which of them the server asks for cannot be told.
func (s *session) pauseCalls() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []func()
	for _, c := range s.calls {
		resume, _ := agent.Pause(c.caller)
		all = append(all, resume)
	}
	return func() {
		for _, resume := range all {
			resume()
		}
	}
}

// explain turns what went wrong into an error of this package. An end of the
// caller's own context is returned as it is.
func (s *session) explain(caller context.Context, what string, limit time.Duration, err error) error {
	switch {
	case s.client.ctx.Err() != nil:
		return s.client.closedError()
	case caller.Err() != nil && agent.CanPause(caller) && errors.Is(context.Cause(caller), context.DeadlineExceeded):
		return s.timeout(Fault{Server: s.client.name, What: what}, limit) // its clock has our limit
	case caller.Err() != nil:
		return context.Cause(caller)
	}
	if cause := context.Cause(s.ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause // the session ended under the request
	}
	var ours *Error
	if errors.As(err, &ours) {
		return err
	}
	fault := Fault{
		Server: s.client.name, What: what, Err: err,
		// The first is what the SDK says before it writes, the second what a server
		// says that does not know us.
		unsent: errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing),
	}
	if e := s.violation(fault); e != nil {
		return e
	}
	return s.failure(fault, limit)
}

// violation is the error of a server that refused a request or does not keep to
// the protocol, or nil.
func (s *session) violation(fault Fault) error {
	var garbage *messageError
	var refusal *jsonrpc.Error
	switch {
	case errors.As(fault.Err, &garbage):
		s.addStderr(&fault)
		fault.What, fault.Err, fault.Next = "does not keep to the protocol", garbage, garbage.next
		return &ProtocolError{Fault: fault}
	case strings.Contains(fault.Err.Error(), unsupportedVersion):
		fault.What, fault.Next = "answered with a version of the protocol that is not known here", "use a server of the versions 2024-11-05 to 2026-07-28"
		return &ProtocolError{Fault: fault}
	case errors.As(fault.Err, &refusal) && refusal.Code != rejected:
		s.addStderr(&fault)
		fault.What, fault.Err, fault.Next = "refused: "+refusal.Message, nil, afterRefusal(refusal.Code)
		return &ProtocolError{Fault: fault, Code: refusal.Code}
	}
	return nil
}

// afterRefusal is what to do about a refusal.
func afterRefusal(code int64) string {
	switch code {
	case jsonrpc.CodeInvalidParams:
		return "see that there is such a tool and that the arguments are what it takes"
	case jsonrpc.CodeMethodNotFound:
		return "the server does not do that; ask its makers, or set load_tools or load_prompts: false"
	}
	return "see the log of the server for why"
}

// failure is the error of a server that cannot be reached, or whose answer cannot
// be used.
func (s *session) failure(fault Fault, limit time.Duration) error {
	var answer *httpError
	var network net.Error
	var unreached *jsonrpc.Error // a refusal is none, see violation
	switch err := fault.Err; {
	case errors.As(err, &answer):
		fault.Err, fault.Next = answer, answer.hint
		return &ConnectionError{fault}
	case errors.Is(err, context.DeadlineExceeded):
		return s.timeout(fault, limit)
	case strings.Contains(err.Error(), noResponse):
		fault.Err, fault.Next = errors.New("the stream ended before the answer came"), "see that the server runs, and that sse_read_timeout is not too short"
		return &ConnectionError{fault}
	case fault.unsent, errors.Is(err, io.EOF), errors.As(err, &network), errors.As(err, &unreached), s.ctx.Err() != nil:
		return s.broken(fault)
	}
	fault.Next = "the answer cannot be used; ask the makers of the server"
	return &ProtocolError{Fault: fault}
}

// What the SDK says in words alone, and the code of the error that it wraps round
// what kept a request from the server.
const (
	unsupportedVersion = "unsupported protocol version"
	noResponse         = "request terminated without response"
	rejected           = -32005
)

// timeout is the error of a server that did not answer within limit.
func (s *session) timeout(fault Fault, limit time.Duration) error {
	fault.What = fmt.Sprintf("%s within %s", fault.What, limit)
	fault.Err = nil
	fault.Next = "raise request_timeout"
	s.addStderr(&fault)
	if s.sdk == nil { // it was never reached
		switch {
		case s.client.config.ConnectTimeout != nil:
			fault.Next = "raise timeout"
		case s.client.config.ProtocolVersion > defaultProtocol:
			fault.Next = "raise request_timeout, or leave protocol_version out: servers that do not know " + string(s.client.config.ProtocolVersion) + " may say nothing"
		}
	}
	return &TimeoutError{Fault: fault, After: limit}
}

// broken is the error of a connection that is no more.
func (s *session) broken(fault Fault) error {
	if s.proc == nil {
		var network *url.Error
		switch {
		case errors.As(fault.Err, &network):
			fault.Err = network.Err // without the words that the SDK puts round it
		case errors.Is(fault.Err, io.EOF):
			fault.Err = errors.New("it closed the connection")
		}
		fault.Next = "see that the server runs and that url is right"
		return &ConnectionError{fault}
	}
	s.close() // so that its end and its last words are known
	fault.Err, fault.Next = errors.New("its process ended"), "run it by hand to see what it needs: "+s.client.commandLine()
	if err := s.proc.Err(); err != nil {
		fault.Err = fmt.Errorf("its process ended: %w", err)
	}
	s.addStderr(&fault)
	return &ConnectionError{fault}
}

// addStderr adds the last lines a stdio server wrote to stderr.
func (s *session) addStderr(fault *Fault) {
	if s.proc != nil {
		fault.Stderr = s.proc.Tail()
	}
}

// defaultProtocol is the newest version that is offered in the way of all before
// it.
const defaultProtocol config.MCPProtocol = "2025-11-25"
