package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// fallback lets another model answer a call that the first one's provider
// refused as one too many (429) or could not serve (5xx). It does so once a
// call, and not when a piece of the response was handed on.
type fallback struct {
	Model
	other Model
	mask  func(string) string
}

// Unwrap returns the model that is asked first.
func (m *fallback) Unwrap() Model { return m.Model }

// EndSession implements SessionEnder for the model that Unwrap does not lead to.
func (m *fallback) EndSession(id string) { EndSession(m.other, id) }

// Info implements Model: what both models can do.
func (m *fallback) Info() Info {
	info := m.Model.Info()
	a, b := info.Capabilities, m.other.Info().Capabilities
	info.Capabilities = agent.Capabilities{
		Streaming:        a.Streaming && b.Streaming,
		Thinking:         a.Thinking || b.Thinking, // says what may come, not what can be asked for
		StructuredOutput: a.StructuredOutput && b.StructuredOutput,
		Cost:             a.Cost && b.Cost,
		Images:           a.Images && b.Images,
		Documents:        a.Documents && b.Documents,
		Sampling:         a.Sampling && b.Sampling,
	}
	return info
}

// Stream implements Model.
func (m *fallback) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		begun, reading, err := relay(m.Model.Stream(ctx, req), yield)
		if err == nil || !reading {
			return
		}
		if begun || ctx.Err() != nil || !overloaded(err) {
			yield(nil, err)
			return
		}
		other := m.other.Info()
		text := fmt.Sprintf("%v; model %s answers instead", err, other.Name)
		if !yield(Notice{Code: agent.NoticeFallback, Text: m.mask(text)}, nil) {
			return
		}
		for chunk, second := range m.other.Stream(ctx, req) {
			if second != nil {
				yield(nil, fmt.Errorf("%w; and in its place: %w", err, second))
				return
			}
			if done, ok := chunk.(Done); ok {
				done.Provider, done.Model = other.Provider, other.Name
				chunk = done
			}
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// overloaded reports whether a provider refused a call that another model may
// answer.
func overloaded(err error) bool {
	refused, ok := errors.AsType[*ProviderError](err)
	return ok && (refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError)
}
