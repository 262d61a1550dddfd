package provider

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Error says that a provider refused a call or broke it off.
type Error struct {
	Provider, Model string
	// Status is the HTTP status, or 0 when the connection broke. A status that
	// is no error (2xx) means that what the endpoint answered cannot be used.
	Status int
	// Code is the provider's own word for the kind of error, such as
	// "insufficient_quota"; it may be empty.
	Code    string
	Message string // the provider's own words
	// Hint is what to do next; it may be empty.
	Hint string
	// RetryAfter is how long the provider asks to wait; 0 when it does not say.
	RetryAfter time.Duration
	// Permanent says that to try again cannot help, whatever Status says: an
	// account that is used up, an endpoint that does not exist.
	Permanent bool
	// Err is the cause, where the connection failed.
	Err error
}

// Retryable reports whether the same call may succeed a little later: the
// connection broke, or the provider answered 408, 409, 429 or 5xx.
func (e *Error) Retryable() bool {
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
func (e *Error) Error() string {
	what := "connection broken"
	switch {
	case e.Status >= 200 && e.Status < 300:
		what = "unusable response"
	case e.Status != 0:
		what = strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	}
	s := fmt.Sprintf("%s model %s: %s: %s", e.Provider, e.Model, what, e.Message)
	if e.RetryAfter > 0 {
		s += fmt.Sprintf("; try again after %s", e.RetryAfter)
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// overflowWords stand in refusals of a prompt that is longer than the model can
// read, in lower case. Not every provider has a code for it.
var overflowWords = [...]string{
	"context length", "context_length", "context window", "context size",
	"prompt is too long", "input is too long", "too many input tokens",
	"exceeds the maximum number of tokens", "reduce the length of the messages",
}

// ContextOverflow reports whether the prompt was longer than the model can read.
func (e *Error) ContextOverflow() bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return false
	}
	if strings.HasPrefix(e.Code, "context_length_exceeded") || e.Code == "exceed_context_size_error" {
		return true
	}
	message := strings.ToLower(e.Message)
	return slices.ContainsFunc(overflowWords[:], func(words string) bool { return strings.Contains(message, words) })
}

// Filtered reports whether the provider's content filter refused the prompt.
func (e *Error) Filtered() bool {
	return e.Status == http.StatusBadRequest && (e.Code == "content_filter" || e.Code == "content_policy_violation")
}

// Of returns the *Error in err's chain without what clients put round it, or
// err itself when there is none.
func Of(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return err
}
