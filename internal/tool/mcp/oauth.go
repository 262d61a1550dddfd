package mcp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/holodeck-go/holodeck/internal/config"
)

// authLimit bounds one request to an authorization server.
const authLimit = 30 * time.Second

// clientCredentials gets tokens by the client credentials grant of OAuth 2.0
// (RFC 6749 §4.4): where they are to be had is found by the metadata the server
// points to (RFC 9728, RFC 8414). It makes the SDK's handler safe for concurrent
// use, and free of the context of the call that happened to need a token first.
type clientCredentials struct {
	mu      sync.Mutex
	handler *extauth.ClientCredentialsHandler
}

// oauth returns the handler of a server's OAuth. Its requests go to other origins
// than the server's, and so not through the guard.
func (g *guard) oauth(o *config.MCPOAuth) (auth.OAuthHandler, error) {
	h, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
		Credentials: &oauthex.ClientCredentials{
			ClientID:         o.ClientID,
			ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret.Reveal()},
		},
		HTTPClient: &http.Client{Transport: g.base, Timeout: authLimit},
	})
	if err != nil {
		return nil, err
	}
	return &clientCredentials{handler: h}, nil
}

// TokenSource implements auth.OAuthHandler.
func (c *clientCredentials) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handler.TokenSource(ctx)
}

// Authorize implements auth.OAuthHandler. Of several calls that were refused
// together, the first gets the token for all.
func (c *clientCredentials) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renewed(ctx, req) {
		resp.Body.Close()
		return nil
	}
	// The token's source keeps the context for when the token has expired.
	if err := c.handler.Authorize(context.WithoutCancel(ctx), req, resp); err != nil {
		return &httpError{"no token was given: " + err.Error(), "see that oauth.client_id and oauth.client_secret are right"}
	}
	return nil
}

// renewed says whether there is another token than the one that was refused.
func (c *clientCredentials) renewed(ctx context.Context, req *http.Request) bool {
	source, err := c.handler.TokenSource(ctx)
	if err != nil || source == nil {
		return false
	}
	token, err := source.Token()
	return err == nil && req.Header.Get("Authorization") != "Bearer "+token.AccessToken
}
