package telemetry

import (
	"context"
	"iter"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Model returns m with a span round every call. It is an llm.Decorator.
func (t *Telemetry) Model(m llm.Model) llm.Model {
	if t == nil {
		return m
	}
	return &tracedModel{m, t}
}

// tracedModel traces the calls of a model.
type tracedModel struct {
	llm.Model
	t *Telemetry
}

// Unwrap returns the model that is traced.
func (m *tracedModel) Unwrap() llm.Model { return m.Model }

// Stream implements llm.Model.
func (m *tracedModel) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		c := m.t.startChat(ctx, m.Info(), req)
		defer c.end()
		for chunk, err := range m.Model.Stream(c.ctx, req) {
			c.observe(chunk, err)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// chatSpan is the span of a model call under way.
type chatSpan struct {
	t          *Telemetry
	turn       *turnSpan // that the call is made in; nil outside of turns
	ctx        context.Context
	span       trace.Span
	start      int64 // nanoseconds
	info       llm.Info
	done       *llm.Done
	err        error
	capture    bool
	attributes []attribute.KeyValue // of the metrics
}

func (t *Telemetry) startChat(ctx context.Context, info llm.Info, req llm.Request) *chatSpan {
	now := t.env.Now()
	model := modelOf(t.agent, info.Provider, info.Name)
	c := &chatSpan{t: t, info: info, start: now.UnixNano(), capture: t.captures(), attributes: []attribute.KeyValue{
		operationName.String("chat"), providerName.String(providerOf(info.Provider)), requestModel.String(model),
	}}
	conversation, aside, isAside := strings.Cut(req.Session, "/")
	if turn, ok := ctx.Value(turnKey{}).(*turnSpan); ok {
		c.turn = turn
		turn.spanned.Add(1)
	} else if isAside { // what is said about a turn, and not in it: a judge's call
		c.capture = t.agent.Observability.Traces.CaptureEvaluationContent
	}
	attributes := append(c.attributes[:3:3], oldSystem.String(t.system), responseModel.String(model))
	if conversation != "" {
		attributes = append(attributes, conversationID.String(conversation))
	}
	if isAside {
		attributes = append(attributes, purpose.String(aside))
	}
	attributes = append(attributes, samplingAttributes(req)...)
	c.ctx, c.span = t.tracer.Start(ctx, "chat "+model,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(now), trace.WithAttributes(attributes...))
	if c.capture && c.span.IsRecording() {
		c.span.SetAttributes(systemPrompt.String(t.instructions(req.System)), inputMessages.String(t.messages(req.Messages)))
	}
	return c
}

// samplingAttributes say how an answer is asked for.
func samplingAttributes(req llm.Request) []attribute.KeyValue {
	var attributes []attribute.KeyValue
	s := req.Sampling
	if s.Temperature != nil {
		attributes = append(attributes, requestTemp.Float64(*s.Temperature))
	}
	if s.TopP != nil {
		attributes = append(attributes, requestTopP.Float64(*s.TopP))
	}
	if s.MaxTokens != nil {
		attributes = append(attributes, requestMax.Int(*s.MaxTokens))
	}
	if len(req.Schema) > 0 {
		attributes = append(attributes, outputType.String("json"))
	}
	return attributes
}

func (c *chatSpan) observe(chunk llm.Chunk, err error) {
	if err != nil {
		c.err = err
		return
	}
	if done, ok := chunk.(llm.Done); ok {
		c.done = &done
	}
}

func (c *chatSpan) end() {
	t, now := c.t, c.t.env.Now()
	if c.done == nil && c.turn != nil {
		c.turn.spanned.Add(-1) // no event tells of it
	}
	switch {
	case c.err != nil:
		kind := kindOf(c.err)
		c.attributes = append(c.attributes, errorType.String(kind))
		c.span.SetAttributes(errorType.String(kind))
		c.span.SetStatus(codes.Error, t.reason(c.capture, c.err.Error()))
	case c.done == nil: // the reader left
		c.attributes = append(c.attributes, errorType.String("cancelled"))
		c.span.SetAttributes(errorType.String("cancelled"))
	default:
		name, provider := c.info.Name, c.info.Provider
		if c.done.Model != "" {
			name, provider = c.done.Model, c.done.Provider
		}
		response := responseModel.String(modelOf(t.agent, provider, name))
		c.attributes = append(c.attributes, response)
		c.span.SetAttributes(response)
		c.span.SetAttributes(usageAttributes(c.done.Usage)...)
		if c.done.FinishReason != "" {
			c.span.SetAttributes(finishReasons.StringSlice([]string{c.done.FinishReason}))
		}
		if c.done.CostUSD != nil {
			c.span.SetAttributes(costUSD.Float64(*c.done.CostUSD))
		}
		if c.capture && c.span.IsRecording() {
			c.span.SetAttributes(outputMessages.String(t.messages([]llm.Message{c.done.Message})))
		}
		t.recordTokens(c.ctx, c.done.Usage, c.attributes)
	}
	t.record(c.ctx, float64(now.UnixNano()-c.start)/1e9, c.attributes)
	c.span.End(trace.WithTimestamp(now))
}

// chatOfEvent makes the span of a model call that a runtime made by itself.
func (t *Telemetry) chatOfEvent(ctx context.Context, e agent.ModelCall) {
	model := e.Model
	attributes := []attribute.KeyValue{
		operationName.String("chat"), providerName.String(providerOf(e.Provider)),
		requestModel.String(model), responseModel.String(model),
	}
	_, span := t.tracer.Start(ctx, "chat "+model, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(e.Start),
		trace.WithAttributes(append(attributes[:4:4], oldSystem.String(t.system))...))
	span.SetAttributes(usageAttributes(e.Usage)...)
	if e.FinishReason != "" {
		span.SetAttributes(finishReasons.StringSlice([]string{e.FinishReason}))
	}
	if e.CostUSD != nil {
		span.SetAttributes(costUSD.Float64(*e.CostUSD))
	}
	if e.Purpose != "" {
		span.SetAttributes(purpose.String(e.Purpose))
	}
	if e.Head.Parent != "" {
		span.SetAttributes(parentCall.String(e.Head.Parent))
	}
	span.End(trace.WithTimestamp(e.End))
	t.recordTokens(ctx, e.Usage, attributes)
	t.record(ctx, e.End.Sub(e.Start).Seconds(), attributes)
}
