package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/sse"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// remote is a model at the other end of a connection.
type remote struct {
	access provider.Access
	client *http.Client // of access
	info   Info
	// maxUnasked says that max_tokens is the default, which nobody asked for.
	maxUnasked bool
	// temperatureUnasked says the same of temperature.
	temperatureUnasked bool
}

func newRemote(a provider.Access, c *config.Model, client *http.Client, can agent.Capabilities) remote {
	return remote{
		access: a, client: a.Client(client),
		info:               Info{Provider: string(a.Provider), Name: a.Model, Capabilities: can},
		maxUnasked:         c.LayerOf("max_tokens") == config.LayerDefault,
		temperatureUnasked: c.LayerOf("temperature") == config.LayerDefault,
	}
}

// Info implements Model.
func (m *remote) Info() Info { return m.info }

// post sends a JSON request to a path of the endpoint, with headers given as
// names and values. The caller closes the body of the response.
func (m *remote) post(ctx context.Context, path string, body any, headers ...string) (*http.Response, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // shorter, and as a person would write it
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.access.URL+path, &data)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return m.client.Do(req)
}

// maxDocument bounds a document that came in place of a stream, in bytes.
const maxDocument = 64 << 10

// events sends a JSON request as post does, where the answer is a stream of
// events. Some gateways report an error as a document with status 200, and some
// servers know no streams; both are told as what they are.
func (m *remote) events(ctx context.Context, path string, body any, headers ...string) (*http.Response, error) {
	resp, err := m.post(ctx, path, body, headers...)
	if err != nil {
		return nil, err
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "application/json" {
		return resp, nil
	}
	buffered := bufio.NewReader(resp.Body)
	// What cannot be read here fails again where the stream is read.
	if first, _ := buffered.Peek(1); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{buffered, resp.Body} // a stream under another name
		return resp, nil
	}
	data, err := io.ReadAll(io.LimitReader(buffered, maxDocument))
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	document := json.NewDecoder(bytes.NewReader(bytes.TrimLeft(data, " \r\n\t["))) // Google's errors stand in a list
	if document.Decode(&said) == nil && len(said.Error) > 0 && string(said.Error) != "null" {
		return nil, m.access.Refused(http.StatusOK, data)
	}
	return nil, m.access.Unusable(fmt.Sprintf("%s answered with a document and not with a stream, as a model's API does (check endpoint): %s",
		resp.Request.URL.Redacted(), excerpt(data)))
}

// goodbye is how long a server may take to end a response that is complete.
const goodbye = 50 * time.Millisecond

// hangUp closes a response. Where it is complete but for its end it reads that,
// so that the connection can be used again.
func hangUp(body io.ReadCloser, complete bool) {
	if complete {
		impatience := time.AfterFunc(goodbye, func() { body.Close() })
		io.Copy(io.Discard, io.LimitReader(body, 4<<10))
		impatience.Stop()
	}
	body.Close()
}

// decode reads a piece of a response.
func (m *remote) decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return m.access.Unusable(fmt.Sprintf("%v, in %s", err, excerpt(data)))
	}
	return nil
}

// excerpt returns the beginning of what a server said, for a message.
func excerpt(data []byte) string {
	const most = 200
	text := strings.ToValidUTF8(string(data[:min(len(data), most)]), "")
	if len(data) > most {
		text += "…"
	}
	return fmt.Sprintf("%q", text)
}

// end ends a call that failed. A prompt that was too long or was filtered is not
// an error but a response that says so.
func (r *reply) end(ctx context.Context, err error) {
	if cause := ctx.Err(); cause != nil {
		r.fail(cause)
		return
	}
	err = provider.Of(err)
	refused, ok := errors.AsType[*ProviderError](err)
	switch {
	case ok && refused.ContextOverflow():
		r.done(Done{Stop: agent.StopContextOverflow, FinishReason: refused.Message})
	case ok && refused.Filtered():
		r.done(Done{Stop: agent.StopBlocked, PromptBlocked: true, FinishReason: refused.Message})
	case errors.Is(err, sse.ErrTooLong):
		r.fail(fmt.Errorf("read the response: %w", err))
	default:
		r.fail(err)
	}
}

// api is one provider's way of making a call: B is the body of its requests.
type api[B any] interface {
	request(Request) (B, error)
	ask(ctx context.Context, body B) (*http.Response, error)
	// read hands what the response streams to r.
	read(ctx context.Context, resp *http.Response, r *reply)
}

// exchange makes one call over an API.
func exchange[B any](ctx context.Context, m api[B], req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		r := newReply(ctx, yield)
		body, err := m.request(req)
		if err != nil {
			r.fail(err)
			return
		}
		resp, err := m.ask(ctx, body)
		if err != nil {
			r.end(ctx, err)
			return
		}
		m.read(ctx, resp, r)
	}
}
