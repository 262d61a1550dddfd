package embed

import (
	"context"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Embed returns one vector of Dimensions numbers for each text, in order.
	// No vector is zero. When it fails for any text it returns no vectors.
	Embed(ctx context.Context, texts []string) ([][]float32, error)

	// Model names what makes the vectors: provider, model and, where the
	// embedder has versions of its own, the version. Vectors of different
	// Models are never compared.
	Model() string

	// Dimensions is the length of a vector.
	Dimensions() int

	// Chance is the cosine that texts with nothing in common may reach by
	// chance, from 0 to below 1. A search takes it for no likeness at all.
	Chance() float64
}

// Open returns the embedder that was chosen. A provider this build has no
// embedder for is an error that says what works. ctx bounds what the provider
// is asked at the start; the offline embedder asks nothing.
func Open(_ context.Context, c Choice) (Embedder, error) {
	if c.Model.Provider == config.ProviderOffline {
		return NewHashing(c.Dimensions), nil
	}
	return nil, fmt.Errorf("this build has no embedder for provider %s (model %s): "+
		"set embedding_provider to {provider: offline, name: hashing}, or run with --offline", c.Model.Provider, c.Model.Name)
}
