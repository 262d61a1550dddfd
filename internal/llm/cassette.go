package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
)

// describedModel is the kind under which a cassette has what a model can do.
const describedModel = "model"

// newRecorded returns m so that its calls are recorded. It stands round all that
// robust puts round a model: what the caller gets is recorded, and not what was
// needed for it.
func newRecorded(m Model, r *cassette.Recorder) Model {
	info := m.Info()
	r.Describe(describedModel, fullName(info.Provider, info.Name), info.Capabilities)
	return &recorded{m, r}
}

// fullName names a model in a cassette.
func fullName(provider, name string) string { return provider + "/" + name }

// recorded records the calls of a model.
type recorded struct {
	Model
	recorder *cassette.Recorder
}

// Unwrap returns the model that is called.
func (m *recorded) Unwrap() Model { return m.Model }

// Stream implements Model. A call that was cancelled, or whose reader left, is
// not recorded: nothing follows from it.
func (m *recorded) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		var r transcript
		for chunk, err := range m.Model.Stream(ctx, req) {
			switch done, ok := chunk.(Done); {
			case err != nil:
				r.Failed = newFailure(ctx, err)
			case ok:
				r.Done = &done
			default:
				r.add(chunk)
			}
			if r.Failed != nil || r.Done != nil {
				r.mask(m.recorder.Redact)
				m.recorder.Add(placeOf(req), fieldsOf(m.Info(), req), r)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// replayed is a model whose calls are played from a cassette.
type replayed struct {
	info   Info
	player *cassette.Player
}

// newReplayed returns the model that c names as the cassette has it.
func newReplayed(p *cassette.Player, c *config.Model) (Model, error) {
	m := &replayed{Info{Provider: string(c.Provider), Name: c.Name}, p}
	var others []string
	found := false
	err := p.Described(describedModel, func(name string, into func(any) error) error {
		if name != fullName(m.info.Provider, m.info.Name) {
			others = append(others, name)
			return nil
		}
		found = true
		return into(&m.info.Capabilities)
	})
	if err == nil && !found {
		err = fmt.Errorf("replay: the cassette in %s has no calls of %s; it was recorded with %s",
			p.Dir(), fullName(m.info.Provider, m.info.Name), cmp.Or(strings.Join(others, ", "), "no model at all"))
	}
	return m, err
}

// Info implements Model.
func (m *replayed) Info() Info { return m.info }

// Stream implements Model.
func (m *replayed) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		var r transcript
		err := m.player.Next(placeOf(req), fieldsOf(m.info, req), &r)
		switch {
		case err != nil:
			yield(nil, err)
			return
		case r.Done == nil && r.Failed == nil:
			yield(nil, fmt.Errorf("replay: the response to %s is not complete; record it again", placeOf(req)))
			return
		}
		for chunk := range r.chunks() {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(chunk, nil) {
				return
			}
		}
		if r.Failed != nil {
			yield(nil, r.Failed.error())
			return
		}
		yield(*r.Done, nil)
	}
}

// placeOf returns where in a cassette a call stands.
func placeOf(req Request) cassette.Place {
	return cassette.Place{Session: req.Session, Kind: cassette.Model, Turn: req.Turn, Ordinal: req.Ordinal}
}

// fieldsOf returns what of a call must be as it was recorded.
func fieldsOf(info Info, req Request) []cassette.Field {
	fields := []cassette.Field{
		{Name: "model", Value: fullName(info.Provider, info.Name)},
		{Name: "system", Value: req.System},
		{Name: "tools", Value: req.Tools},
		{Name: "schema", Value: req.Schema},
		{Name: "sampling", Value: req.Sampling},
		{Name: "messages", Value: req.Messages},
	}
	if req.CodeExecution { // older cassettes have no such field
		fields = append(fields, cassette.Field{Name: "code_execution", Value: true})
	}
	return fields
}

// transcript is a response as a cassette has it.
type transcript struct {
	Chunks []pieces `json:"chunks,omitempty"`
	Done   *Done    `json:"done,omitempty"`
	Failed *failure `json:"error,omitempty"`
}

// pieces are chunks of one kind that came one after the other.
type pieces struct {
	Text     []string `json:"text,omitempty"`
	Thinking []string `json:"thinking,omitempty"`
	Notice   *Notice  `json:"notice,omitempty"`
}

// add appends a chunk.
func (r *transcript) add(chunk Chunk) {
	var last *pieces
	if n := len(r.Chunks); n > 0 {
		last = &r.Chunks[n-1]
	}
	switch c := chunk.(type) {
	case Notice:
		r.Chunks = append(r.Chunks, pieces{Notice: &c})
	case Text:
		if last == nil || last.Text == nil {
			r.Chunks = append(r.Chunks, pieces{})
			last = &r.Chunks[len(r.Chunks)-1]
		}
		last.Text = append(last.Text, string(c))
	case Thinking:
		if last == nil || last.Thinking == nil {
			r.Chunks = append(r.Chunks, pieces{})
			last = &r.Chunks[len(r.Chunks)-1]
		}
		last.Thinking = append(last.Thinking, string(c))
	}
}

// chunks yields the chunks as they were added.
func (r *transcript) chunks() iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		for _, p := range r.Chunks {
			if p.Notice != nil && !yield(*p.Notice) {
				return
			}
			for _, s := range p.Text {
				if !yield(Text(s)) {
					return
				}
			}
			for _, s := range p.Thinking {
				if !yield(Thinking(s)) {
					return
				}
			}
		}
	}
}

// mask masks secrets that are spread over several chunks or parts. What stands
// within one is masked where it is written.
func (r *transcript) mask(redact func(string) string) {
	var text, thinking []*string
	for i := range r.Chunks {
		for j := range r.Chunks[i].Text {
			text = append(text, &r.Chunks[i].Text[j])
		}
		for j := range r.Chunks[i].Thinking {
			thinking = append(thinking, &r.Chunks[i].Thinking[j])
		}
	}
	maskSpread(redact, text)
	maskSpread(redact, thinking)
	if r.Done == nil {
		return
	}
	done := *r.Done
	done.Message.Parts = slices.Clone(done.Message.Parts) // the caller has them, too
	text, thinking = nil, nil
	for i := range done.Message.Parts {
		switch p := &done.Message.Parts[i]; p.Kind {
		case agent.PartText:
			text = append(text, &p.Text)
		case agent.PartThinking:
			thinking = append(thinking, &p.Text)
		}
	}
	maskSpread(redact, text)
	maskSpread(redact, thinking)
	r.Done = &done
}

// maskSpread masks what the texts have when they are read as one. When there is
// something to mask the first of them gets it all, and the others stay without a
// word: their number, and with it that of the events, is as it was.
func maskSpread(redact func(string) string, texts []*string) {
	var whole strings.Builder
	for _, s := range texts {
		whole.WriteString(*s)
	}
	clean := redact(whole.String())
	if clean == whole.String() {
		return
	}
	for _, s := range texts {
		*s, clean = clean, ""
	}
}

// failure is an error as a cassette has it: its text, and what a caller may ask
// of it.
type failure struct {
	Text string `json:"text"`
	// Provider is set when the provider refused the call or broke it off.
	Provider *refused `json:"provider,omitempty"`
	// Deadline is set when that of the call passed, or of its turn.
	Deadline *cassette.Deadline `json:"deadline,omitempty"`
}

type refused struct {
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Status     int    `json:"status"`
	Code       string `json:"code,omitempty"`
	Message    string `json:"message"`
	Hint       string `json:"hint,omitempty"`
	RetryAfter int64  `json:"retry_after_ms,omitempty"`
	Permanent  bool   `json:"permanent,omitempty"`
}

// newFailure returns err as a cassette has it, or nil when it says no more than
// that the call was cancelled.
func newFailure(ctx context.Context, err error) *failure {
	f := &failure{Text: err.Error(), Deadline: cassette.DeadlineOf(ctx)}
	switch {
	case f.Deadline != nil:
		return f
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return nil
	}
	if p, ok := errors.AsType[*ProviderError](err); ok {
		f.Provider = &refused{p.Provider, p.Model, p.Status, p.Code, p.Message, p.Hint, p.RetryAfter.Milliseconds(), p.Permanent}
	}
	return f
}

// error returns the error again.
func (f *failure) error() error {
	switch {
	case f.Deadline != nil:
		return f.Deadline.Err()
	case f.Provider != nil:
		p := f.Provider
		return &replayedError{f.Text, &ProviderError{
			Provider: p.Provider, Model: p.Model, Status: p.Status, Code: p.Code, Message: p.Message, Hint: p.Hint,
			RetryAfter: time.Duration(p.RetryAfter) * time.Millisecond, Permanent: p.Permanent,
		}}
	}
	return errors.New(f.Text)
}

// replayedError is an error with the text it had when it was recorded.
type replayedError struct {
	text string
	err  error
}

// Error implements error.
func (e *replayedError) Error() string { return e.text }

// Unwrap returns the error that the text was about.
func (e *replayedError) Unwrap() error { return e.err }
