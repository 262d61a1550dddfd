package telemetry

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Backend returns b with a span round every turn of its sessions.
func (t *Telemetry) Backend(b agent.Backend) agent.Backend {
	if t == nil {
		return b
	}
	return &tracedBackend{b, t}
}

// tracedBackend traces the turns of a backend.
type tracedBackend struct {
	agent.Backend
	t *Telemetry
}

// NewSession implements agent.Backend.
func (b *tracedBackend) NewSession(ctx context.Context, opts agent.SessionOptions) (agent.Session, error) {
	s, err := b.Backend.NewSession(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &tracedSession{s, b.t}, nil
}

// tracedSession traces the turns of a session.
type tracedSession struct {
	agent.Session
	t *Telemetry
}

// Send implements agent.Session.
func (s *tracedSession) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	var seq iter.Seq2[agent.Event, error] // made once, so that ranging twice stays the error it is
	turn := &turnSpan{t: s.t}
	return func(yield func(agent.Event, error) bool) {
		if seq == nil {
			ctx := turn.start(ctx, s.ID(), m)
			seq = s.Session.Send(ctx, m)
			defer turn.end()
		}
		for e, err := range seq {
			turn.observe(e, err)
			if !yield(e, err) {
				return
			}
		}
	}
}

// turnSpan is the span of one turn under way.
type turnSpan struct {
	t    *Telemetry
	ctx  context.Context // with the span
	span trace.Span
	// spanned counts the model calls that got a span where they were made, and
	// whose events are still to come.
	spanned atomic.Int64
	result  agent.Folder
	err     error
}

// turnKey is the key of the turn under way in a context.
type turnKey struct{}

func (s *turnSpan) start(ctx context.Context, session string, m agent.Message) context.Context {
	t, a := s.t, s.t.agent
	attributes := []attribute.KeyValue{
		operationName.String("invoke_agent"), agentName.String(a.Name), conversationID.String(session), oldSystem.String(t.system),
	}
	if a.Description != nil {
		attributes = append(attributes, agentDesc.String(*a.Description))
	}
	attributes = append(attributes, t.modelAttributes()...)
	if !trace.SpanContextFromContext(ctx).IsValid() && t.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, t.parent)
	}
	ctx, s.span = t.tracer.Start(ctx, "invoke_agent "+a.Name,
		trace.WithSpanKind(trace.SpanKindInternal), trace.WithTimestamp(t.env.Now()), trace.WithAttributes(attributes...))
	if t.captures() && s.span.IsRecording() {
		s.span.SetAttributes(systemPrompt.String(t.instructions(a.Prompt.Text)), inputMessages.String(t.said("user", m.Parts)))
	}
	s.ctx = context.WithValue(ctx, turnKey{}, s)
	return s.ctx
}

// modelAttributes name the agent's own model.
func (t *Telemetry) modelAttributes() []attribute.KeyValue {
	m := t.agent.Model
	if m == nil {
		return nil
	}
	return []attribute.KeyValue{
		providerName.String(providerOf(string(m.Provider))),
		requestModel.String(modelOf(t.agent, string(m.Provider), m.Name)),
		responseModel.String(modelOf(t.agent, string(m.Provider), m.Name)), // until another is known
	}
}

// observe takes note of what a turn yielded.
func (s *turnSpan) observe(e agent.Event, err error) {
	if err != nil {
		s.err = err
		return
	}
	s.result.Add(e)
	switch e := e.(type) {
	case agent.ModelCall:
		if s.spanned.Load() > 0 {
			s.spanned.Add(-1)
			return
		}
		s.t.chatOfEvent(s.ctx, e)
	case agent.Notice:
		options := []trace.EventOption{trace.WithTimestamp(e.Head.Time)}
		if text := s.t.reason(s.t.captures(), e.Text); text != "" {
			options = append(options, trace.WithAttributes(attribute.String("message", text)))
		}
		s.span.AddEvent(e.Code, options...)
	}
}

// end ends the span with what the turn came to.
func (s *turnSpan) end() {
	t := s.t
	now := t.env.Now()
	r := s.result.Result()
	s.span.SetAttributes(usageAttributes(r.Usage)...)
	s.span.SetAttributes(numTurns.Int(r.NumTurns))
	if r.Model != "" {
		s.span.SetAttributes(responseModel.String(r.Model))
	}
	if r.CostUSD != nil {
		s.span.SetAttributes(costUSD.Float64(*r.CostUSD))
	}
	if r.StopReason != "" {
		s.span.SetAttributes(stopReason.String(string(r.StopReason)), finishReasons.StringSlice([]string{string(r.StopReason)}))
	}
	if t.captures() && s.span.IsRecording() {
		s.span.SetAttributes(outputMessages.String(t.said("assistant", agent.Text(r.Response).Parts)))
	}
	kind := ""
	switch {
	case s.err != nil:
		kind = kindOf(s.err)
		s.span.SetStatus(codes.Error, t.reason(t.captures(), s.err.Error()))
	case r.IsError:
		kind = string(r.StopReason)
		s.span.SetStatus(codes.Error, t.reason(t.captures(), r.ErrorReason))
	case r.StopReason == "": // the reader left
		kind = "cancelled"
	}
	if kind != "" {
		s.span.SetAttributes(errorType.String(kind))
	}
	s.span.End(trace.WithTimestamp(now))
}

// reason returns what may be sent of a sentence that can quote what was said.
func (t *Telemetry) reason(capture bool, text string) string {
	if !capture {
		return ""
	}
	return t.mask(text)
}

// usageAttributes are the tokens under their current and their older names.
func usageAttributes(u agent.Usage) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		inputTokens.Int(u.Prompt), outputTokens.Int(u.Completion), oldPrompt.Int(u.Prompt), oldCompletion.Int(u.Completion),
	}
	if u.Cached > 0 {
		attributes = append(attributes, cachedTokens.Int(u.Cached))
	}
	if u.CacheWrite > 0 {
		attributes = append(attributes, cacheTokens.Int(u.CacheWrite))
	}
	return attributes
}

// kindOf returns error.type of an error, of few values, so that they can be
// counted: the status that a provider gave, where there is one.
func kindOf(err error) string {
	refused, ofProvider := errors.AsType[*llm.ProviderError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, new(*agent.BackendBudgetError)):
		return "budget"
	case ofProvider && refused.Status == http.StatusOK:
		return "unusable_response"
	case ofProvider && refused.Status != 0:
		return strconv.Itoa(refused.Status)
	}
	return "_OTHER"
}

// record adds a call to the metrics.
func (t *Telemetry) record(ctx context.Context, seconds float64, attributes []attribute.KeyValue) {
	t.durations.Record(ctx, seconds, metric.WithAttributes(attributes...))
}

// recordTokens adds the tokens of a model call to the metrics.
func (t *Telemetry) recordTokens(ctx context.Context, u agent.Usage, attributes []attribute.KeyValue) {
	base := attributes[:len(attributes):len(attributes)]
	t.tokens.Record(ctx, int64(u.Prompt), metric.WithAttributes(append(base, tokenType.String("input"))...))
	t.tokens.Record(ctx, int64(u.Completion), metric.WithAttributes(append(base, tokenType.String("output"))...))
}
