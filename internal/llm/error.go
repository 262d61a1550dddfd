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
	// Permanent says that to try again cannot help, whatever Status says: an
	// account that is used up, an endpoint that does not exist.
	Permanent bool
}

// Retryable reports whether the same call may succeed a little later: the
// connection broke, or the provider answered 408, 409, 429 or 5xx.
func (e *ProviderError) Retryable() bool {
	if e.Permanent {
		return false
	}
	switch e.Status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= 500
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
