package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// subprotocol is the websocket subprotocol of MCP, as the clients and servers of
// other languages name it. The protocol itself does not define this transport.
const subprotocol = "mcp"

// websocket returns the opener of a server that is reached over websocket: one
// message of the protocol is one text message of the socket.
func (c *Client) websocket() (opener, error) {
	guard, err := c.guard()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *session) (sdk.Connection, error) {
		conn, resp, err := websocket.Dial(ctx, *c.config.URL, &websocket.DialOptions{
			HTTPClient: guard.client(), Subprotocols: []string{subprotocol},
		})
		if err != nil {
			if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols && resp.StatusCode >= 400 {
				return nil, newHTTPError(resp)
			}
			return nil, fmt.Errorf("open the websocket: %w", err)
		}
		conn.SetReadLimit(MaxMessage)
		return &socketConn{conn, newOutbox(func(data []byte) error {
			return conn.Write(context.Background(), websocket.MessageText, data) // ends with the connection
		})}, nil
	}, nil
}

// socketConn speaks over a websocket.
type socketConn struct {
	conn *websocket.Conn
	out  *outbox
}

// Read implements the SDK's Connection.
func (c *socketConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	_, data, err := c.conn.Read(ctx)
	switch {
	case err == nil:
	case errors.Is(err, websocket.ErrMessageTooBig):
		return nil, tooLong()
	case websocket.CloseStatus(err) == websocket.StatusNormalClosure, websocket.CloseStatus(err) == websocket.StatusGoingAway:
		return nil, io.EOF
	default:
		return nil, fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	m, err := decodeMessage(data)
	if err != nil {
		return nil, &messageError{fmt.Sprintf("what came over the websocket is no message: %q", excerpt(data)), "see that url is that of an MCP server"}
	}
	return m, nil
}

// Write implements the SDK's Connection.
func (c *socketConn) Write(ctx context.Context, m jsonrpc.Message) error {
	return c.out.send(ctx, m)
}

// Close implements the SDK's Connection. It says goodbye, for which the library
// sets a bound of a few seconds.
func (c *socketConn) Close() error {
	err := c.conn.Close(websocket.StatusNormalClosure, "")
	c.out.stop()
	return err
}

// SessionID implements the SDK's Connection.
func (*socketConn) SessionID() string { return "" }
