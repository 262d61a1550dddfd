package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/holodeck-go/holodeck/internal/provider"
)

const (
	// batchBytes bounds the text of one request. OpenAI takes 300,000 tokens at
	// once; so much text is at most a third of that, in any script.
	batchBytes = 200_000
	// parallelRequests is how many requests are under way at once.
	parallelRequests = 4
	// maxResponse bounds a response, in bytes: 2,048 vectors of 4,096 numbers.
	maxResponse = 256 << 20
)

// api is how one provider is asked for vectors.
type api struct {
	path string // of the endpoint
	most int    // texts a request may have
	// request returns the body of a request.
	request func(texts []string) any
	// response reads one, into vectors in the order of the texts.
	response func(body []byte) ([][]float32, error)
}

// remote is an embedder at the other end of a connection.
type remote struct {
	access     provider.Access
	client     *http.Client
	chance     *rand.Rand
	api        api
	model      string
	dimensions atomic.Int64 // 0 until it is known
}

// Model implements Embedder.
func (r *remote) Model() string { return r.model }

// Dimensions implements Embedder.
func (r *remote) Dimensions() int { return int(r.dimensions.Load()) }

// Chance implements Embedder. What cosine unrelated texts reach differs from
// model to model, and no provider says it.
func (r *remote) Chance() float64 { return 0 }

// Embed implements Embedder. It asks in batches, several of them at once, and
// asks again where that may help. The first batch that fails ends the others.
func (r *remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	vectors := make([][]float32, len(texts))
	var (
		running sync.WaitGroup
		places  = make(chan struct{}, parallelRequests)
	)
	for from, batch := range batches(texts, r.api.most) {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-places }()
			got, err := r.batch(ctx, batch)
			if err != nil {
				cancel(fmt.Errorf("embed texts %d to %d of %d: %w", from+1, from+len(batch), len(texts), err))
				return
			}
			copy(vectors[from:], got)
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return vectors, nil
}

// batches yields the texts in batches that a request can hold, each with its
// place among the texts.
func batches(texts []string, most int) func(yield func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		for from := 0; from < len(texts); {
			to, size := from, 0
			for to < len(texts) && to-from < most && (to == from || size+len(texts[to]) <= batchBytes) {
				size += len(texts[to])
				to++
			}
			if !yield(from, texts[from:to]) {
				return
			}
			from = to
		}
	}
}

// batch returns the vectors of the texts of one request.
func (r *remote) batch(ctx context.Context, texts []string) ([][]float32, error) {
	for attempt := 1; ; attempt++ {
		vectors, err := r.ask(ctx, texts)
		if err == nil {
			return vectors, nil
		}
		wait, err := provider.Pause(ctx, err, attempt, r.chance)
		if err != nil {
			return nil, err
		}
		if err := provider.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// ask makes one request and checks what comes back.
func (r *remote) ask(ctx context.Context, texts []string) ([][]float32, error) {
	// A text of nothing is refused by some, and has nothing to be found by.
	texts = slices.Clone(texts)
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			texts[i] = "-"
		}
	}
	body, err := r.post(ctx, r.api.request(texts))
	if err != nil {
		return nil, r.explain(err)
	}
	vectors, err := r.api.response(body)
	if err != nil {
		return nil, r.access.Unusable(inWords(err, body))
	}
	if len(vectors) != len(texts) {
		return nil, r.access.Unusable(fmt.Sprintf("%d vectors came for %d texts", len(vectors), len(texts)))
	}
	for i, v := range vectors {
		if err := r.check(v); err != nil {
			return nil, r.access.Unusable(fmt.Sprintf("the vector of text %d %v", i+1, err))
		}
	}
	return vectors, nil
}

// inWords says what is wrong with a response that cannot be read.
func inWords(err error, body []byte) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(e.Value, "number ") {
		return "a vector holds the " + e.Value + ", which is too large to be one of its numbers"
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok && e.Offset > 0 && e.Offset <= int64(len(body)) {
		rest := body[e.Offset-1:]
		for _, word := range []string{"NaN", "Infinity"} {
			if bytes.HasPrefix(rest, []byte(word)) {
				return "a vector holds " + word + ", which is no number"
			}
		}
	}
	return err.Error()
}

// check refuses a vector that cannot be compared with the others.
func (r *remote) check(v []float32) error {
	if len(v) == 0 {
		return errors.New("is empty")
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return errors.New("holds what is no number")
	case sum == 0:
		return errors.New("is zero")
	}
	r.dimensions.CompareAndSwap(0, int64(len(v))) // the first says how long all are
	if want := r.Dimensions(); len(v) != want {
		return fmt.Errorf("has %d numbers, want %d: set embedding_dimensions to what the model gives", len(v), want)
	}
	return nil
}

// explain adds what to do to an error that shorter texts would not have.
func (r *remote) explain(err error) error {
	refused, ok := errors.AsType[*provider.Error](err)
	if ok && refused.ContextOverflow() {
		refused.Permanent = true
		refused.Hint = "the model reads no text as long as these; make them shorter: chunk_size (vectorstore) or max_chunk_tokens (hierarchical_document)"
	}
	return provider.Of(err)
}

// post makes a request and returns the body of its response.
func (r *remote) post(ctx context.Context, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.access.URL+r.api.path, bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxResponse {
		return nil, r.access.Unusable(fmt.Sprintf("it is larger than %d bytes", maxResponse))
	}
	return data, nil
}
