package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The versions of MCP that the program may ask for, the newest last.
var protocols = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// bridge hands the messages of the program to an MCP server of this process.
//
// The program greets a server more than once, also twice at a time, and a session
// of the SDK may be greeted once. So the bridge greets the server itself, answers
// every greeting with what the server said, and gives requests ids of its own.
type bridge struct {
	in     chan jsonrpc.Message
	closed chan struct{}
	close  sync.Once

	mu      sync.Mutex
	next    int64
	pending map[int64]chan *jsonrpc.Response
	theirs  map[any]context.CancelFunc // of the program's requests under way, by its ids

	session  *mcp.ServerSession
	greeting map[string]json.RawMessage
}

// connect starts a session with a server.
func connect(ctx context.Context, server *mcp.Server) (*bridge, error) {
	b := &bridge{
		in: make(chan jsonrpc.Message), closed: make(chan struct{}),
		pending: map[int64]chan *jsonrpc.Response{}, theirs: map[any]context.CancelFunc{},
	}
	var err error
	if b.session, err = server.Connect(ctx, transportOf{b}, nil); err != nil {
		return nil, err
	}
	params, err := json.Marshal(map[string]any{
		"protocolVersion": protocols[len(protocols)-1], "capabilities": struct{}{},
		"clientInfo": map[string]string{"name": "claude-code", "version": Tested.String()},
	})
	if err == nil {
		var reply *jsonrpc.Response
		if reply, err = b.call(ctx, "initialize", params); err == nil {
			if err = reply.Error; err == nil {
				err = json.Unmarshal(reply.Result, &b.greeting)
			}
		}
	}
	if err == nil {
		err = b.send(ctx, &jsonrpc.Request{Method: "notifications/initialized", Params: json.RawMessage("{}")})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("greet the server: %w", err), b.end())
	}
	return b, nil
}

// end ends the session.
func (b *bridge) end() error {
	b.hangUp()
	if err := b.session.Wait(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return err
	}
	return nil
}

func (b *bridge) hangUp() { b.close.Do(func() { close(b.closed) }) }

// acknowledged answers a notification. Without it the program waits for ever.
var acknowledged = json.RawMessage(`{"jsonrpc":"2.0","result":{}}`)

// begin takes a message of the program in, in the order of their coming, and
// returns what answers it. That ends when it has the answer, when ctx is done, or
// with an error when the message is none.
func (b *bridge) begin(ctx context.Context, raw json.RawMessage) func() (json.RawMessage, error) {
	m, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return func() (json.RawMessage, error) { return nil, fmt.Errorf("read an MCP message: %w", err) }
	}
	req, ok := m.(*jsonrpc.Request)
	if !ok || !req.IsCall() { // an answer to nothing, or a notification
		if ok && req.Method == "notifications/cancelled" {
			b.cancelled(req.Params)
		}
		return func() (json.RawMessage, error) { return acknowledged, nil }
	}
	key := req.ID.Raw()
	call, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	b.theirs[key] = cancel
	b.mu.Unlock()
	return func() (json.RawMessage, error) {
		defer func() {
			cancel()
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.theirs, key)
		}()
		reply, err := b.reply(call, req)
		if err != nil {
			reply = &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}}
		}
		out, err := jsonrpc.EncodeMessage(reply)
		if err != nil {
			return nil, fmt.Errorf("write an MCP message: %w", err)
		}
		return out, nil
	}
}

// reply has a request answered.
func (b *bridge) reply(ctx context.Context, req *jsonrpc.Request) (*jsonrpc.Response, error) {
	if req.Method == "initialize" {
		result, err := b.greet(req.Params)
		return &jsonrpc.Response{ID: req.ID, Result: result}, err
	}
	got, err := b.call(ctx, req.Method, req.Params)
	if err != nil {
		return nil, err
	}
	return &jsonrpc.Response{ID: req.ID, Result: got.Result, Error: got.Error}, nil
}

// greet answers a greeting in the version it asks for, or in the newest.
func (b *bridge) greet(params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("read a greeting: %w", err)
	}
	version := p.Version
	if !slices.Contains(protocols, version) {
		version = protocols[len(protocols)-1]
	}
	answer := map[string]any{}
	for key, value := range b.greeting {
		answer[key] = value
	}
	answer["protocolVersion"] = version
	out, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("write a greeting: %w", err)
	}
	return out, nil
}

// cancelled ends the call that a notification names.
func (b *bridge) cancelled(params json.RawMessage) {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil {
		return
	}
	b.mu.Lock()
	cancel := b.theirs[id.Raw()]
	b.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// call makes a request and waits for the answer. When ctx is done the server is
// told that nobody waits any more.
func (b *bridge) call(ctx context.Context, method string, params json.RawMessage) (*jsonrpc.Response, error) {
	answer := make(chan *jsonrpc.Response, 1)
	b.mu.Lock()
	b.next++
	n := b.next
	b.pending[n] = answer
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.pending, n)
	}()
	id, err := jsonrpc.MakeID(float64(n))
	if err != nil {
		return nil, err
	}
	if err := b.send(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		return r, nil
	case <-b.closed:
		return nil, io.ErrClosedPipe
	case <-ctx.Done():
		told, _ := json.Marshal(map[string]int64{"requestId": n}) // numbers always encode
		b.send(context.WithoutCancel(ctx), &jsonrpc.Request{Method: "notifications/cancelled", Params: told})
		return nil, ctx.Err()
	}
}

// send hands a message to the server.
func (b *bridge) send(ctx context.Context, m jsonrpc.Message) error {
	select {
	case b.in <- m:
		return nil
	case <-b.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transportOf is the server's end of a bridge.
type transportOf struct{ b *bridge }

// Connect implements mcp.Transport.
func (t transportOf) Connect(context.Context) (mcp.Connection, error) { return t, nil }

// SessionID implements mcp.Connection.
func (transportOf) SessionID() string { return "" }

// Read implements mcp.Connection.
func (t transportOf) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-t.b.in:
		return m, nil
	case <-t.b.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. Notifications have nobody who would hear
// them, and requests of the server find nobody who answers.
func (t transportOf) Write(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		n, _ := m.ID.Raw().(int64)
		t.b.mu.Lock()
		answer := t.b.pending[n]
		t.b.mu.Unlock()
		if answer != nil {
			answer <- m // buffered, and written once
		}
	case *jsonrpc.Request:
		if m.IsCall() {
			refused := &jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the program takes no requests"}}
			go t.b.send(ctx, refused) // Read may be waiting for this Write to end
		}
	}
	return nil
}

// Close implements mcp.Connection.
func (t transportOf) Close() error {
	t.b.hangUp()
	return nil
}
