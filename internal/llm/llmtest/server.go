package llmtest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// SessionHeader names the session a request belongs to.
const SessionHeader = "Llmtest-Session"

// maxRequest bounds a request, in bytes.
const maxRequest = 64 << 20

// Options says how a server behaves beside its script.
type Options struct {
	// Key is what requests must be signed with; others are refused with 401.
	// Empty takes every request.
	Key string
	// Models are the models there are; others are refused with 404. Empty takes
	// every name.
	Models []string
	// Auto tells a message that a runtime wrote in a person's place. It begins
	// no turn. Nil takes every message for a person's.
	Auto func(text string) bool
	// Note tells a piece of text that a client writes beside what a person says, such
	// as a reminder. It is not heard, and the last other piece of its message is what
	// the person said, also where results of tools stand before it. Nil takes a
	// message as a whole. The wire of Anthropic alone has pieces.
	Note func(text string) bool
	// Forget keeps no requests, for servers that run for long.
	Forget bool
	// Dimensions is the width of embeddings where a request names none; 0 is 8.
	Dimensions int
}

// Request is a request that was made.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
	Peer   string // address at the other end of the connection
}

// Handler is the fake server as an http.Handler. It is safe for concurrent use.
type Handler struct {
	options Options
	program *script.Program
	done    chan struct{} // closed by Close

	mu       sync.Mutex
	close    sync.Once
	players  map[string]*script.Player // by session
	requests []Request
	serial   int // of the last response
}

// NewHandler returns a server that plays s. Whoever calls it calls Close when no
// more requests come.
func NewHandler(s script.Script, o Options) (*Handler, error) {
	program, err := script.Compile(s)
	if err != nil {
		return nil, err
	}
	return &Handler{options: o, program: program, done: make(chan struct{}), players: map[string]*script.Player{}}, nil
}

// Close ends the responses that a script holds up.
func (h *Handler) Close() { h.close.Do(func() { close(h.done) }) }

// Requests returns the requests so far, in the order in which they came.
func (h *Handler) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

// Server is a Handler that listens on the loopback interface.
type Server struct {
	*Handler
	URL string // such as http://127.0.0.1:12345
}

// Start returns a Server that ends with the test.
func Start(tb testing.TB, s script.Script, o Options) *Server {
	tb.Helper()
	h, err := NewHandler(s, o)
	if err != nil {
		tb.Fatal(err)
	}
	listening := httptest.NewServer(h)
	tb.Cleanup(func() {
		h.Close()
		listening.Close()
	})
	return &Server{Handler: h, URL: listening.URL}
}

// wire is an API: how its requests are read, and its responses written.
type wire interface {
	// read reads a request.
	read(r *http.Request, body []byte) (exchange, error)
	// voice returns what writes a response.
	voice(w *writer, x exchange) voice
	// refusal is the body of a refusal.
	refusal(e script.Error) any
}

// exchange is what the server knows of a request.
type exchange struct {
	model    string
	stream   bool
	messages []message
	embed    *embedding
	serial   int // of the response
}

// message is a message of the history, whoever's wire it came over.
type message struct {
	from    speaker
	text    string
	pieces  []string // of text, where the wire has them
	results []string // what tools returned
}

type speaker int

const (
	person speaker = iota
	model
	tools
)

// voice writes one response, piece by piece.
type voice interface {
	text(string)
	thinking(string)
	call(id string, c script.Call)
	// garbage says something that is not the API's.
	garbage(string)
	// fail reports an error within the response.
	fail(e script.Error)
	// finish completes the response.
	finish(reason string, u agent.Usage)
}

// writer is a ResponseWriter that knows whether anything was written.
type writer struct {
	http.ResponseWriter
	written bool
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.written = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return // the client left
	}
	h.mu.Lock()
	if !h.options.Forget {
		h.requests = append(h.requests, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body, Peer: r.RemoteAddr})
	}
	h.serial++
	serial := h.serial
	h.mu.Unlock()

	w := &writer{ResponseWriter: rw}
	api := wireOf(r.URL.Path)
	if api == nil || r.Method != http.MethodPost {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if key := h.options.Key; key != "" && !signed(r, key) {
		refuse(w, api, script.Error{Status: http.StatusUnauthorized, Message: "the key is not valid"})
		return
	}
	x, err := api.read(r, body)
	if err != nil {
		refuse(w, api, script.Error{Status: http.StatusBadRequest, Message: err.Error()})
		return
	}
	if known := h.options.Models; len(known) > 0 && !slices.Contains(known, x.model) {
		refuse(w, api, script.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("there is no model %q", x.model)})
		return
	}
	x.serial = serial
	if h.options.Note != nil {
		x.messages = heard(x.messages, h.options.Note)
	}
	if x.embed != nil {
		x.embed.dimensions = cmp.Or(x.embed.dimensions, h.options.Dimensions, defaultDimensions)
	}
	h.play(w, r, api, x)
}

// heard returns messages without the notes in them.
func heard(messages []message, note func(string) bool) []message {
	var out []message
	for _, m := range messages {
		if m.from == model {
			out = append(out, m)
			continue
		}
		said := slices.DeleteFunc(slices.Clone(m.pieces), note)
		if len(m.results) > 0 {
			out = append(out, message{from: tools, results: m.results})
		}
		if len(said) > 0 {
			out = append(out, message{from: person, text: said[len(said)-1]})
		}
	}
	return out
}

// wireOf returns the API of a path, or nil.
func wireOf(path string) wire {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.HasSuffix(path, "/embeddings"):
		return openAIEmbeddings{}
	case strings.HasSuffix(path, "/v1/messages"):
		return messages{}
	case path == "/api/chat":
		return ollama{}
	case path == "/api/embed":
		return ollamaEmbeddings{}
	}
	switch _, verb, _ := afterModels(path); verb {
	case "rawPredict", "streamRawPredict":
		return messages{}
	case "generateContent", "streamGenerateContent":
		return gemini{stream: verb == "streamGenerateContent"}
	case "batchEmbedContents":
		return geminiEmbeddings{}
	case "predict":
		return vertexEmbeddings{}
	}
	return nil
}

// signed reports whether a request carries the key, in any provider's way.
func signed(r *http.Request, key string) bool {
	for _, name := range []string{"Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
		if r.Header.Get(name) == key {
			return true
		}
	}
	return r.Header.Get("Authorization") == "Bearer "+key
}

// play answers a request as the script says.
func (h *Handler) play(w *writer, r *http.Request, api wire, x exchange) {
	s := h.situation(x)
	steps, ok := h.player(r, x).Next(s)
	if !ok && x.embed == nil {
		refuse(w, api, script.Error{
			Status:  http.StatusBadRequest,
			Message: fmt.Sprintf("the script has no rule for turn %d, round %d, of which the message is %q", s.Turn, s.Round, s.User),
		})
		return
	}
	v := api.voice(w, x)
	finish, usage := script.FinishStop, counted(x)
	for i, step := range steps {
		switch {
		case step.Text != "":
			usage.Completion += words(step.Text)
			v.text(step.Text)
		case step.Thinking != "":
			usage.Completion += words(step.Thinking)
			usage.Reasoning += words(step.Thinking)
			v.thinking(step.Thinking)
		case step.Call != nil:
			usage.Completion += words(step.Call.Args) + 1
			c := *step.Call
			c.Args = cmp.Or(c.Args, "{}")
			v.call(cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", x.serial, i)), c)
		case step.DelayMS > 0:
			if !h.wait(r, time.After(time.Duration(step.DelayMS)*time.Millisecond)) {
				return
			}
		case step.Block:
			h.wait(r, nil)
			panic(http.ErrAbortHandler)
		case step.Error != nil:
			h.fail(w, api, v, *step.Error)
			return
		case step.Cut:
			return
		case step.Garbage != "":
			v.garbage(step.Garbage)
			return
		case step.Usage != nil:
			usage = *step.Usage
		case step.Finish != "":
			finish = step.Finish
		}
	}
	usage.Total = usage.Prompt + usage.Completion
	v.finish(finish, usage)
}

// wait returns true when the time has come, false when the client left or the
// server is being closed. A nil time never comes.
func (h *Handler) wait(r *http.Request, come <-chan time.Time) bool {
	select {
	case <-come:
		return true
	case <-r.Context().Done():
	case <-h.done:
	}
	return false
}

// fail ends a response in an error.
func (h *Handler) fail(w *writer, api wire, v voice, e script.Error) {
	switch {
	case e.Status == 0:
		panic(http.ErrAbortHandler) // the connection is reset
	case w.written:
		v.fail(e)
	default:
		refuse(w, api, e)
	}
}

// refuse answers a request with an error.
func refuse(w *writer, api wire, e script.Error) {
	if ms := e.RetryAfterMS; ms > 0 {
		w.Header().Set("Retry-After", fmt.Sprint((ms+999)/1000))
		w.Header().Set("Retry-After-Ms", fmt.Sprint(ms))
	}
	writeJSON(w, e.Status, api.refusal(e))
}

// player returns what plays the script in the session of a request.
func (h *Handler) player(r *http.Request, x exchange) *script.Player {
	session := "header " + r.Header.Get(SessionHeader)
	if r.Header.Get(SessionHeader) == "" {
		session = "message " + h.opening(x)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.players[session]
	if !ok {
		p = h.program.NewPlayer()
		h.players[session] = p
	}
	return p
}

// opening returns the first message of a person.
func (h *Handler) opening(x exchange) string {
	for _, m := range x.messages {
		if m.from == person {
			return m.text
		}
	}
	return ""
}

// situation returns what a script may ask for.
func (h *Handler) situation(x exchange) script.Situation {
	s := script.Situation{Round: 1}
	if x.embed != nil {
		return script.Situation{User: strings.Join(x.embed.texts, "\n"), Turn: 1, Round: 1}
	}
	for _, m := range x.messages {
		switch {
		case m.from == person && (h.options.Auto == nil || !h.options.Auto(m.text)):
			s.Turn++
			s.User, s.Round = m.text, 1
		case m.from == model:
			s.Round++
		}
	}
	var results []string
	for _, m := range slices.Backward(x.messages) {
		if m.from != tools {
			break
		}
		results = append(slices.Clone(m.results), results...)
	}
	s.Result = strings.Join(results, "\n\n")
	return s
}

// counted returns the usage of a request before anything is said: a token a word.
func counted(x exchange) agent.Usage {
	var u agent.Usage
	for _, m := range x.messages {
		u.Prompt += words(m.text)
		for _, r := range m.results {
			u.Prompt += words(r)
		}
	}
	if x.embed != nil {
		for _, t := range x.embed.texts {
			u.Prompt += words(t)
		}
	}
	return u
}

func words(text string) int { return len(strings.Fields(text)) }

// joined joins texts as one message has them.
func joined(texts []string) string { return strings.Join(texts, "\n\n") }

// events writes a response as server-sent events.
type events struct{ w *writer }

func newEvents(w *writer) events {
	w.Header().Set("Content-Type", "text/event-stream")
	return events{w}
}

// send writes an event; without a name it has none.
func (e events) send(name string, data []byte) {
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	e.w.Write(b.Bytes())
	flush(e.w)
}

func flush(w http.ResponseWriter) { http.NewResponseController(w).Flush() }
