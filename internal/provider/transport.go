package provider

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/config"
)

const (
	// maxRefusal bounds what is read of a refusal, in bytes.
	maxRefusal = 64 << 10
	// maxMessage bounds what is shown of one, in characters.
	maxMessage = 1000
)

// Client returns an HTTP client for requests to the model. It signs them, and
// whatever goes wrong is an *Error or the error of the request's context: a
// connection that fails or breaks, a status that is no success, an answer that
// no model gives. It follows no redirect, which would carry the key elsewhere,
// and tries nothing again.
func (a Access) Client(base *http.Client) *http.Client {
	c := *base
	t := &transport{access: a, next: base.Transport}
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	if a.google {
		t.token = googleTokens(base, a.credentialsFile)
	}
	c.Transport = t
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Unusable returns the error of a response that arrived and cannot be used.
func (a Access) Unusable(why string) *Error {
	return a.refusal(http.StatusOK, why)
}

// BrokenOff returns the error of a response that ended before it was complete.
func (a Access) BrokenOff() *Error {
	return a.refusal(0, "the response ended before it was complete")
}

// Refused returns the error that a provider reported within a response. body is
// its JSON; status is used where that says none.
func (a Access) Refused(status int, body []byte) *Error {
	r := readRefusal(body)
	if r.status != 0 {
		status = r.status
	}
	e := a.refusal(status, r.message)
	e.Code = r.code
	a.advise(e)
	return e
}

func (a Access) refusal(status int, message string) *Error {
	return &Error{Provider: string(a.Provider), Model: a.Model, Status: status, Message: message}
}

// transport is the RoundTripper of Client.
type transport struct {
	access Access
	next   http.RoundTripper
	token  func(ctx context.Context) (string, error) // nil: the key is in access
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	signed, err := t.sign(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, t.access.unreachable(r.Context(), err)
	}
	resp, err := t.next.RoundTrip(signed)
	if err != nil {
		return nil, t.access.unreachable(r.Context(), err)
	}
	if err := t.access.refused(r, resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: r.Context(), access: t.access}
	return resp, nil
}

// sign returns a copy of a request that carries the key.
func (t *transport) sign(r *http.Request) (*http.Request, error) {
	signed := r.Clone(r.Context())
	for name, values := range t.access.header {
		signed.Header[name] = values
	}
	if len(t.access.query) > 0 {
		q := signed.URL.Query()
		for name, values := range t.access.query {
			q[name] = values
		}
		signed.URL.RawQuery = q.Encode()
	}
	if t.token != nil {
		token, err := t.token(r.Context())
		if err != nil {
			return nil, err
		}
		signed.Header.Set("Authorization", "Bearer "+token)
	}
	return signed, nil
}

// body is the body of a response that arrives.
type body struct {
	io.ReadCloser
	ctx    context.Context
	access Access
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		if cause := b.ctx.Err(); cause != nil {
			return n, cause
		}
		e := b.access.BrokenOff()
		e.Message += ": " + err.Error()
		e.Err = err
		return n, e
	}
	return n, err
}

// unreachable returns the error of a request that was not answered.
func (a Access) unreachable(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	e := a.refusal(0, fmt.Sprintf("%s: %v", a.shown(), err))
	e.Err = err
	var (
		untrusted *tls.CertificateVerificationError
		unknown   *net.DNSError
	)
	switch {
	case errors.As(err, &untrusted):
		e.Permanent = true
		e.Hint = "if a proxy of your network signs certificates, name the file of its own in HOLODECK_CA_FILE"
	case errors.As(err, &unknown) && unknown.IsNotFound:
		e.Permanent = true
		e.Hint = "is the endpoint spelt right, and is there a network? --offline needs none"
	case errors.Is(err, syscall.ECONNREFUSED) && a.Provider == config.ProviderOllama:
		e.Hint = "is Ollama running there? start it with: ollama serve; or set endpoint or OLLAMA_HOST"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Hint = "nothing listens there; check endpoint"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Permanent = true
		e.Hint = "the endpoint speaks http, not https"
	case errors.Is(err, errNoCredentials):
		e.Permanent = true
		e.Hint = "run: gcloud auth application-default login; or name a file of them in GOOGLE_APPLICATION_CREDENTIALS"
	}
	return e
}

// refused returns what a response that is no success means, or nil.
func (a Access) refused(r *http.Request, resp *http.Response) error {
	ok := resp.StatusCode >= 200 && resp.StatusCode < 300
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	page := media == "text/html"
	if ok && !page {
		return nil
	}
	e := a.refusal(resp.StatusCode, "")
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		e.Message = fmt.Sprintf("%s redirects to %s", a.shown(), resp.Header.Get("Location"))
		e.Hint = "set endpoint to where the API is"
		return e
	case page:
		e.Message = fmt.Sprintf("%s answered with a web page, not as a model's API does", r.URL.Redacted())
		e.Hint = "check endpoint"
		return e
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if cause := r.Context().Err(); err != nil && cause != nil {
		return cause
	}
	said := readRefusal(data)
	e.Message, e.Code = said.message, said.code
	e.RetryAfter = cmp.Or(retryAfter(resp.Header), said.wait)
	e.Permanent = resp.Header.Get("X-Should-Retry") == "false"
	a.advise(e)
	return e
}

// advise says what to do about a refusal.
func (a Access) advise(e *Error) {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		switch {
		case a.keyFrom != "":
			e.Hint = "check the key; it comes from " + a.keyFrom
		default:
			e.Hint = "this endpoint wants a key: set api_key or " + a.keyName
		}
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		e.Hint = a.notFound()
	case http.StatusTooManyRequests:
		if e.Code == "insufficient_quota" || e.Code == "billing_hard_limit_reached" {
			e.Permanent = true
			e.Hint = "the account is used up; see the provider's billing page"
		}
	}
}

// shown returns the endpoint without a password.
func (a Access) shown() string {
	u, err := url.Parse(a.URL)
	if err != nil {
		return "the endpoint"
	}
	return u.Redacted()
}

// notFound says what to do where there is no such model, or no such API.
func (a Access) notFound() string {
	switch a.Route {
	case AzureV1, AzureDeployment:
		return fmt.Sprintf("is %q the name of a deployment of %s? model.name is the deployment's name", a.Model, a.shown())
	case Ollama:
		return fmt.Sprintf("get the model with: ollama pull %s", a.Model)
	case OpenAI:
		if !a.Default {
			return fmt.Sprintf("check name and endpoint (%s), which usually ends in /v1", a.shown())
		}
	}
	return fmt.Sprintf("check name and endpoint (%s)", a.shown())
}

// said is what a refusal says.
type said struct {
	status        int
	code, message string
	wait          time.Duration // how long to wait, where it says so
}

// readRefusal reads the body of a refusal, in any of the forms providers give
// it: {"error": {"message", "code" or "type" or "status"}}, a list of one such
// object, {"error": "…"}, {"message": "…"}, {"detail": "…"}, or plain text.
func readRefusal(data []byte) said {
	type object struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Status  string          `json:"status"`
		Code    json.RawMessage `json:"code"`
		Details json.RawMessage `json:"details"`
	}
	var form struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		object
	}
	text := strings.TrimSpace(string(data))
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var s said
	if err := json.Unmarshal(data, &form); err == nil {
		o := form.object
		o.Message = form.Message
		if json.Unmarshal(form.Error, &s.message) != nil {
			var inner object
			if json.Unmarshal(form.Error, &inner) == nil {
				o = inner
			}
		}
		var number int
		switch {
		case json.Unmarshal(o.Code, &s.code) == nil && s.code != "":
		case json.Unmarshal(o.Code, &number) == nil && number >= 400 && number < 600:
			s.status, s.code = number, o.Status
		case o.Type != "" && o.Type != "error":
			s.code = o.Type
		default:
			s.code = o.Status
		}
		if s.message == "" {
			s.message = o.Message
		}
		s.wait = retryDelay(o.Details)
		if s.message == "" && json.Unmarshal(form.Detail, &s.message) != nil {
			s.message = string(form.Detail)
		}
	}
	if s.message == "" {
		s.message = text
	}
	if s.message == "" {
		s.message = "no reason was given"
	}
	s.message = shorten(strings.Join(strings.Fields(strings.ToValidUTF8(s.message, "�")), " "))
	return s
}

// retryDelay returns how long Google asks to wait, which it says among the
// details of a refusal rather than in a header.
func retryDelay(details json.RawMessage) time.Duration {
	var list []struct {
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(details, &list) != nil {
		return 0
	}
	for _, d := range list {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}

// shorten cuts a text that nobody would read to its end.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxMessage {
		return text
	}
	return string([]rune(text)[:maxMessage]) + "…"
}

// retryAfter returns how long a response asks to wait. A date is held against
// the response's own, so that no clock is needed.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	until, err1 := http.ParseTime(value)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err1 == nil && err2 == nil && until.After(now) {
		return until.Sub(now)
	}
	return 0
}
