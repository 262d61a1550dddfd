package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
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
		o := &credentials.DetectOptions{Scopes: []string{cloudScope}, Client: client}
		if file == "" {
			return credentials.DetectDefault(o)
		}
		kind, err := kindOfCredentials(file)
		if err != nil {
			return nil, err
		}
		return credentials.NewCredentialsFromFile(kind, file, o)
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

// kindOfCredentials returns the kind that a file of credentials says it is of.
func kindOfCredentials(file string) (credentials.CredType, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the credentials: %w", err)
	}
	var said struct {
		Type credentials.CredType `json:"type"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return "", fmt.Errorf("read the credentials in %s: %w", file, err)
	}
	if said.Type == "" {
		return "", fmt.Errorf("%s does not say what type of credentials it holds", file)
	}
	return said.Type, nil
}
