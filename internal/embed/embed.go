package embed

import (
	"context"
	"math/rand/v2"
	"net/http"

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

	// Dimensions is the length of a vector. It is 0 until the first vector has
	// come, where neither a file nor the name of the model says it.
	Dimensions() int

	// Chance is the cosine that texts with nothing in common may reach by
	// chance, from 0 to below 1. A search takes it for no likeness at all.
	Chance() float64
}

// Options says how a provider is reached.
type Options struct {
	// Getenv is asked for what a section leaves to the environment, such as
	// OPENAI_API_KEY; nil knows no variable.
	Getenv func(name string) string
	// HTTP makes the requests; nil is http.DefaultClient.
	HTTP *http.Client
	// Rand spreads requests that are made again.
	Rand *rand.Rand
}

// Open returns the embedder that was chosen. What is missing to reach it, such
// as a key, is a *config.Error. The provider is not asked before there is a text
// to embed, and once for a text, as long as its vector is among the 32 MiB that
// the embedder remembers.
func Open(c Choice, o Options) (Embedder, error) {
	if c.Model.Provider == config.ProviderOffline {
		return NewHashing(c.Dimensions), nil
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	r, err := openRemote(c, o)
	if err != nil {
		return nil, err
	}
	return newCached(r, cacheBytes), nil
}
