package price

import (
	"regexp"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// CachedInput and CacheWrite are for prompt tokens that were read from, and
	// written to, the provider's cache; nil means the same as Input.
	CachedInput *float64 `json:"cached_input,omitempty"`
	CacheWrite  *float64 `json:"cache_write,omitempty"`
	// Long is the price of calls with a long prompt; nil means the same.
	Long *Long `json:"long,omitempty"`
}

// Long is the price of calls whose prompt has more than Above tokens. All
// tokens of such a call cost it.
type Long struct {
	Above       int      `json:"above"`
	Input       float64  `json:"input"`
	Output      float64  `json:"output"`
	CachedInput *float64 `json:"cached_input,omitempty"`
	CacheWrite  *float64 `json:"cache_write,omitempty"`
}

// Cost returns what a call cost, in US dollars. Reasoning counts as output,
// which it is a share of.
func (p Price) Cost(u agent.Usage) float64 {
	if l := p.Long; l != nil && u.Prompt > l.Above {
		p = Price{Input: l.Input, Output: l.Output, CachedInput: l.CachedInput, CacheWrite: l.CacheWrite}
	}
	fresh := max(0, u.Prompt-u.Cached-u.CacheWrite)
	millionths := float64(fresh)*p.Input + float64(u.Completion)*p.Output +
		float64(u.Cached)*or(p.CachedInput, p.Input) + float64(u.CacheWrite)*or(p.CacheWrite, p.Input)
	return millionths / 1e6
}

func or(p *float64, other float64) float64 {
	if p == nil {
		return other
	}
	return *p
}

// Table is a list of prices. The nil Table knows none. It is safe for
// concurrent use and does not change.
type Table struct {
	// Date is when the built-in prices were those of the providers.
	Date   string
	models map[string]Price // by provider/model
}

// dated matches the date that providers append to the name of a model.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$`) })

// Of returns the price of a provider's model. A name with a date, such as
// gpt-4o-2024-08-06, has the price of the one without when it has none of its
// own; last comes the provider's price for all models, where there is one.
func (t *Table) Of(provider, model string) (Price, bool) {
	if t == nil {
		return Price{}, false
	}
	for _, name := range []string{model, dated().ReplaceAllString(model, ""), "*"} {
		if p, ok := t.models[provider+"/"+name]; ok {
			return p, true
		}
	}
	return Price{}, false
}
