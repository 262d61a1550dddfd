package telemetry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// delivery counts what was made for one exporter and what it delivered. The
// difference was dropped: the queue was full, or the receiver did not take it.
type delivery struct {
	what            string          // such as "spans"
	life            context.Context // ends when nothing more is waited for
	made, delivered atomic.Int64
	mu              sync.Mutex
	last            error // why the last batch that failed did
}

// deliver returns a new count, which Close tells of.
func (t *Telemetry) deliver(what string) *delivery {
	d := &delivery{what: what, life: t.life}
	t.deliveries = append(t.deliveries, d)
	return d
}

// attempt runs one delivery of a batch, which ends with d.life at the latest: what
// exporters do on their own when they are shut down may take as long as a request.
func (d *delivery) attempt(ctx context.Context, n int, deliver func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.life, cancel)()
	err := deliver(ctx)
	if err != nil && d.life.Err() != nil {
		err = errors.New("the receiver did not take them in time")
	}
	return d.settle(n, err)
}

// settle counts a batch. It returns nil: the error is told once, at the end,
// and not by the SDK for each batch.
func (d *delivery) settle(n int, err error) error {
	if err == nil {
		d.delivered.Add(int64(n))
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = err
	return nil
}

// lost says what was dropped, or returns "".
func (d *delivery) lost() string {
	made, lost := d.made.Load(), d.made.Load()-d.delivered.Load()
	if lost <= 0 {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	why := "they came faster than they could be sent"
	switch {
	case d.last != nil:
		why = d.last.Error()
	case d.life.Err() != nil:
		why = "the receiver did not take them in time"
	case d.what == "spans":
		why += "; raise observability.traces.max_queue_size"
	}
	return fmt.Sprintf("telemetry: %d of %d %s were not delivered: %s", lost, made, d.what, why)
}

// countedSpans counts the spans that are handed to a processor.
type countedSpans struct {
	sdktrace.SpanProcessor
	delivery *delivery
}

// OnEnd implements trace.SpanProcessor.
func (p *countedSpans) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		p.delivery.made.Add(1)
	}
	p.SpanProcessor.OnEnd(s)
}

// spanExporter masks spans on their way out, whoever made them.
type spanExporter struct {
	sdktrace.SpanExporter
	mask     func(string) string
	delivery *delivery
}

// ExportSpans implements trace.SpanExporter.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	masked := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		masked[i] = maskedSpan{s, e.mask}
	}
	return e.delivery.attempt(ctx, len(spans), func(ctx context.Context) error { return e.SpanExporter.ExportSpans(ctx, masked) })
}

// maskedSpan is a span whose texts are masked.
type maskedSpan struct {
	sdktrace.ReadOnlySpan
	mask func(string) string
}

// Name implements trace.ReadOnlySpan.
func (s maskedSpan) Name() string { return s.mask(s.ReadOnlySpan.Name()) }

// Attributes implements trace.ReadOnlySpan.
func (s maskedSpan) Attributes() []attribute.KeyValue {
	return maskAttributes(s.ReadOnlySpan.Attributes(), s.mask)
}

// Events implements trace.ReadOnlySpan.
func (s maskedSpan) Events() []sdktrace.Event {
	events := append([]sdktrace.Event(nil), s.ReadOnlySpan.Events()...)
	for i := range events {
		events[i].Name = s.mask(events[i].Name)
		events[i].Attributes = maskAttributes(events[i].Attributes, s.mask)
	}
	return events
}

// Status implements trace.ReadOnlySpan.
func (s maskedSpan) Status() sdktrace.Status {
	status := s.ReadOnlySpan.Status()
	status.Description = s.mask(status.Description)
	return status
}

func maskAttributes(attributes []attribute.KeyValue, mask func(string) string) []attribute.KeyValue {
	masked := make([]attribute.KeyValue, len(attributes))
	for i, kv := range attributes {
		switch kv.Value.Type() {
		case attribute.STRING:
			kv.Value = attribute.StringValue(mask(kv.Value.AsString()))
		case attribute.STRINGSLICE:
			list := kv.Value.AsStringSlice()
			for j := range list {
				list[j] = mask(list[j])
			}
			kv.Value = attribute.StringSliceValue(list)
		}
		masked[i] = kv
	}
	return masked
}

// metricExporter counts batches of metrics.
type metricExporter struct {
	sdkmetric.Exporter
	delivery *delivery
}

// Export implements metric.Exporter.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	e.delivery.made.Add(1)
	return e.delivery.attempt(ctx, 1, func(ctx context.Context) error { return e.Exporter.Export(ctx, m) })
}

// countedLogs counts the records that are handed to a processor.
type countedLogs struct {
	sdklog.Processor
	delivery *delivery
}

// OnEmit implements log.Processor.
func (p *countedLogs) OnEmit(ctx context.Context, r *sdklog.Record) error {
	p.delivery.made.Add(1)
	return p.Processor.OnEmit(ctx, r)
}

// logExporter counts the records that were delivered. They were masked where
// they were made.
type logExporter struct {
	sdklog.Exporter
	delivery *delivery
}

// Export implements log.Exporter.
func (e *logExporter) Export(ctx context.Context, records []sdklog.Record) error {
	return e.delivery.attempt(ctx, len(records), func(ctx context.Context) error { return e.Exporter.Export(ctx, records) })
}
