package llm

import (
	"context"
	"iter"

	"github.com/holodeck-go/holodeck/internal/llm/price"
)

// priced says what a call cost where the provider does not.
type priced struct {
	Model
	price price.Price
}

// newPriced returns m with the price that the table has for it, or m itself
// when there is none.
func newPriced(m Model, prices *price.Table) Model {
	info := m.Info()
	p, ok := prices.Of(info.Provider, info.Name)
	if !ok {
		return m
	}
	return &priced{m, p}
}

// Unwrap returns the model that is called.
func (m *priced) Unwrap() Model { return m.Model }

// Info implements Model.
func (m *priced) Info() Info {
	info := m.Model.Info()
	info.Capabilities.Cost = true
	return info
}

// Stream implements Model.
func (m *priced) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for chunk, err := range m.Model.Stream(ctx, req) {
			if done, ok := chunk.(Done); ok && err == nil && done.CostUSD == nil {
				done.CostUSD = new(m.price.Cost(done.Usage))
				chunk = done
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}
