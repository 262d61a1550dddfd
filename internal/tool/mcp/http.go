package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holodeck-go/holodeck/internal/config"
)

// opener returns how the server is reached.
func (c *Client) opener() (opener, error) {
	switch c.config.Transport {
	case config.MCPStdio:
		return c.stdio()
	case config.MCPSSE:
		return c.sse()
	case config.MCPHTTP:
		return c.streamable()
	case config.MCPWebsocket:
		return c.websocket()
	}
	return nil, c.wrong("transport", fmt.Sprintf("%q is no transport", c.config.Transport), "one of stdio, sse, websocket, http")
}

// sse returns the opener of a server of the HTTP transport of protocol 2024-11-05.
func (c *Client) sse() (opener, error) {
	guard, err := c.guard()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *session) (sdk.Connection, error) {
		t := sdk.SSEClientTransport{Endpoint: *c.config.URL, HTTPClient: guard.client(), MaxEventSize: MaxMessage}
		return t.Connect(ctx)
	}, nil
}

// streamable returns the opener of a server of the HTTP transport of protocol
// 2025-03-26 and later.
func (c *Client) streamable() (opener, error) {
	guard, err := c.guard()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *session) (sdk.Connection, error) {
		t := sdk.StreamableClientTransport{Endpoint: *c.config.URL, HTTPClient: guard.client(), MaxEventSize: MaxMessage}
		if o := c.config.OAuth; o != nil {
			var err error
			if t.OAuthHandler, err = guard.oauth(o); err != nil {
				return nil, c.wrong("oauth", err.Error(), "")
			}
		}
		return t.Connect(ctx)
	}, nil
}

// guard stands between a transport and the network. It speaks to the configured
// origin alone, because the headers it adds may be credentials; it bounds what the
// SDK leaves unbounded; and it says more of a refusal than the SDK does.
type guard struct {
	base      http.RoundTripper
	origin    string
	headers   http.Header
	idle      time.Duration // without anything on an event stream; 0 is no bound
	answer    time.Duration // for the head of an event stream to come
	authorize bool          // a refusal for want of a token is the SDK's to handle
	endless   bool          // sessions are not ended on the server
}

// guard returns the guard of the server.
func (c *Client) guard() (*guard, error) {
	if c.config.URL == nil {
		return nil, c.wrong("url", fmt.Sprintf("is required for %s transport", c.config.Transport), "")
	}
	u, err := url.Parse(*c.config.URL)
	if err != nil || u.Host == "" {
		return nil, c.wrong("url", "is not a URL", "such as https://example.com/mcp")
	}
	g := &guard{
		base: http.DefaultTransport, origin: originOf(u), headers: http.Header{}, answer: min(c.connect/2, streamHead),
		authorize: c.config.OAuth != nil, endless: c.config.TerminateOnClose != nil && !*c.config.TerminateOnClose,
	}
	if c.opts.HTTP != nil && c.opts.HTTP.Transport != nil {
		g.base = c.opts.HTTP.Transport
	}
	for name, value := range c.config.Headers {
		g.headers.Set(name, value.Reveal())
	}
	if c.config.SSEReadTimeout != nil {
		g.idle = time.Duration(*c.config.SSEReadTimeout * float64(time.Second))
	}
	return g, nil
}

// streamHead is how long a server may take to begin the stream on which it sends
// what nobody asked for. One that takes longer has no such stream for us.
const streamHead = 10 * time.Second

// originOf returns scheme, host and port; a websocket's are those of its
// handshake.
func originOf(u *url.URL) string {
	scheme := map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	scheme = cmp.Or(scheme, u.Scheme)
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[scheme])
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// client returns an HTTP client behind the guard.
func (g *guard) client() *http.Client { return &http.Client{Transport: g} }

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin := originOf(req.URL); origin != g.origin {
		return nil, &httpError{text: fmt.Sprintf("it sends us to %s, and is configured at %s", origin, g.origin), hint: "set url to where the server is"}
	}
	if req.Method == http.MethodDelete && g.endless {
		return answered(req, http.StatusNoContent), nil
	}
	req = req.Clone(req.Context())
	for name, values := range g.headers {
		if req.Header.Get(name) == "" { // what the protocol itself says wins
			req.Header[name] = values
		}
	}
	optional := isOptional(req)
	resp, err := g.roundTrip(req, optional)
	if err != nil {
		return nil, err
	}
	if sessionGone(resp) {
		resp.Body.Close()
		return answered(req, http.StatusNotFound), nil
	}
	if !optional && g.refused(resp) {
		return nil, newHTTPError(resp)
	}
	if isEventStream(resp) {
		if g.idle > 0 && !optional { // that one is silent as a rule
			resp.Body = newIdleBody(resp.Body, g.idle)
		}
		return resp, nil
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: MaxMessage}
	}
	return resp, nil
}

// isOptional says whether a request asks for the stream on which a streamable
// server may send what nobody asked for.
func isOptional(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Mcp-Protocol-Version") != "" && req.Header.Get("Last-Event-ID") == ""
}

// roundTrip makes a request. Some servers send the head of the optional stream
// with its first event: that must not hold up the start.
func (g *guard) roundTrip(req *http.Request, optional bool) (*http.Response, error) {
	if !optional {
		return g.base.RoundTrip(req)
	}
	ctx, cancel := context.WithCancel(req.Context())
	timer := time.AfterFunc(g.answer, cancel)
	resp, err := g.base.RoundTrip(req.WithContext(ctx))
	inTime := timer.Stop()
	switch {
	case err == nil && inTime:
		resp.Body = &cancelBody{resp.Body, cancel}
		return resp, nil
	case err == nil:
		resp.Body.Close()
	}
	cancel()
	if !inTime && req.Context().Err() == nil {
		return answered(req, http.StatusMethodNotAllowed), nil // as a server says that it has none
	}
	return nil, err
}

// sessionGone says whether a server does not know our session any more, as after
// it was restarted. The protocol has 404 for it, and the SDK takes it for that only
// without an error of the protocol in the body. Servers that are made after an
// example of the TypeScript SDK say 400 instead, with a text about the session.
func sessionGone(resp *http.Response) bool {
	if resp.Request.Header.Get("Mcp-Session-Id") == "" {
		return false
	}
	switch resp.StatusCode {
	case http.StatusNotFound:
		return true
	case http.StatusBadRequest:
		const most = 4 << 10
		head, err := io.ReadAll(io.LimitReader(resp.Body, most))
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
		return err == nil && bytes.Contains(bytes.ToLower(head), []byte("session"))
	}
	return false
}

// refused says whether a response is an error of which the SDK would tell the
// status alone. What it knows to handle is left to it: sessions that are gone,
// streams there are none of, errors in the form of the protocol.
func (g *guard) refused(resp *http.Response) bool {
	switch code := resp.StatusCode; {
	case code < 400, code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return false
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return !g.authorize
	}
	return !isMediaType(resp, "application/json") && resp.Request.Method == http.MethodPost
}

func isEventStream(resp *http.Response) bool { return isMediaType(resp, "text/event-stream") }

func isMediaType(resp *http.Response, want string) bool {
	got, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && got == want
}

// answered is a response that no server gave.
func answered(req *http.Request, code int) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

// httpError is a refusal in terms of HTTP, and what to do about it.
type httpError struct{ text, hint string }

// newHTTPError reads a refusal and closes it.
func newHTTPError(resp *http.Response) *httpError {
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // what could be read will do
	e := &httpError{text: fmt.Sprintf("it answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
	if line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n"); line != "" && !strings.HasPrefix(line, "<") {
		e.text += ": " + excerpt([]byte(line))
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		e.hint = "give a token in headers, such as Authorization: Bearer ${TOKEN}, or oauth"
	case code == http.StatusTooManyRequests, code >= 500:
		e.hint = "try again later"
	default:
		e.hint = "see that url is right and that transport is what the server speaks"
	}
	return e
}

// Error implements error.
func (e *httpError) Error() string { return e.text }

// cancelBody ends the request's context with its body.
type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *cancelBody) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

// errIdle is the end of an event stream on which nothing came.
var errIdle = errors.New("nothing came on the event stream within sse_read_timeout")

// idleBody is an event stream that is closed when nothing comes for a while.
type idleBody struct {
	io.ReadCloser
	limit time.Duration
	timer *time.Timer
}

func newIdleBody(body io.ReadCloser, limit time.Duration) *idleBody {
	return &idleBody{body, limit, time.AfterFunc(limit, func() { body.Close() })}
}

// Read implements io.Reader.
func (b *idleBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.timer.Reset(b.limit) { // it had fired, and closed the body
		b.timer.Stop()
		return n, errIdle
	}
	return n, err
}

// Close implements io.Closer.
func (b *idleBody) Close() error {
	b.timer.Stop()
	return b.ReadCloser.Close()
}

// boundedBody is a body that is cut with an error when it is too long.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, tooLong()
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	b.left -= n
	if b.left < 0 {
		return 0, tooLong()
	}
	return n, err
}
