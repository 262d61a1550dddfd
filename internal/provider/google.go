package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
)

// cloudScope is what a token for Vertex AI must be good for.
const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

// errNoCredentials is why a request to Vertex AI could not be signed.
var errNoCredentials = errors.New("there are no application default credentials of Google")

// googleTokens returns what gives a token of Google's application default
// credentials. They are looked for once; the library keeps a token until it is
// about to expire.
func googleTokens(client *http.Client, file string) func(ctx context.Context) (string, error) {
	find := sync.OnceValues(func() (*auth.Credentials, error) {
		return credentials.DetectDefault(&credentials.DetectOptions{
			Scopes: []string{cloudScope}, CredentialsFile: file, Client: client,
		})
	})
	return func(ctx context.Context) (string, error) {
		found, err := find()
		if err != nil {
			return "", fmt.Errorf("%w: %w", errNoCredentials, err)
		}
		token, err := found.Token(ctx)
		if err != nil {
			return "", fmt.Errorf("get a token from Google: %w", err)
		}
		return token.Value, nil
	}
}
