package llm

import (
	"fmt"
	"net/http"
	"time"
)

// ProviderError says that a provider refused a call or broke it off. Decorators
// decide by it whether to try again; a runtime wraps it in its own error.
type ProviderError struct {
	Provider, Model string
	// Status is the HTTP status, or 0 when the connection broke.
	Status  int
	Message string // the provider's own words
	// RetryAfter is how long the provider asks to wait; 0 when it does not say.
	RetryAfter time.Duration
}

// Error implements error.
func (e *ProviderError) Error() string {
	what := "connection broken"
	if e.Status != 0 {
		what = fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	}
	s := fmt.Sprintf("%s model %s: %s: %s", e.Provider, e.Model, what, e.Message)
	if e.RetryAfter > 0 {
		s += fmt.Sprintf("; try again after %s", e.RetryAfter)
	}
	return s
}
