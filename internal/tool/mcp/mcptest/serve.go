package mcptest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve runs a server over stdin and stdout until stdin ends.
func Serve(s *mcp.Server) error { return s.Run(context.Background(), &mcp.StdioTransport{}) }

// Listen runs a server over a transport other than stdio, named as in the agent
// file, until the test ends. It returns its URL. Requests pass through the
// wrappers, the first of them outermost.
func Listen(t testing.TB, transport string, s *mcp.Server, wrap ...func(http.Handler) http.Handler) string {
	t.Helper()
	h := Handler(transport, s)
	for i := len(wrap) - 1; i >= 0; i-- {
		h = wrap[i](h)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections() // event streams do not end by themselves
		server.Close()
	})
	if transport == "websocket" {
		return strings.Replace(server.URL, "http", "ws", 1)
	}
	return server.URL
}

// Handler returns what answers the requests of a transport: sse, http or
// websocket.
func Handler(transport string, s *mcp.Server) http.Handler {
	of := func(*http.Request) *mcp.Server { return s }
	switch transport {
	case "sse":
		return mcp.NewSSEHandler(of, nil)
	case "http":
		return mcp.NewStreamableHTTPHandler(of, nil)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			return // it has been answered
		}
		defer conn.CloseNow()
		conn.SetReadLimit(64 << 20)
		session, err := s.Connect(r.Context(), socket{conn}, nil)
		if err == nil {
			session.Wait()
		}
	})
}

// socket is the server's end of a websocket, as the SDK takes it.
type socket struct{ conn *websocket.Conn }

// Connect implements mcp.Transport.
func (s socket) Connect(context.Context) (mcp.Connection, error) { return s, nil }

// Read implements mcp.Connection.
func (s socket) Read(ctx context.Context) (jsonrpc.Message, error) {
	_, data, err := s.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(data)
}

// Write implements mcp.Connection.
func (s socket) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// Close implements mcp.Connection.
func (s socket) Close() error { return s.conn.Close(websocket.StatusNormalClosure, "") }

// SessionID implements mcp.Connection.
func (socket) SessionID() string { return "" }
