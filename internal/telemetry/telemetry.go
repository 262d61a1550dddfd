package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// closeGrace bounds how long Close waits for what is still to be delivered. It
// is what a person at a terminal waits when a collector is down.
const closeGrace = 5 * time.Second

// Options says where telemetry of a process goes besides its exporters.
type Options struct {
	// Version is that of the program.
	Version string
	// Console is where the console exporter writes; nil is nowhere.
	Console io.Writer
	// Quiet keeps the console silent where the file does not name it.
	Quiet bool
	// HTTP makes the requests of otlp over http; nil is http.DefaultClient.
	HTTP *http.Client
	// Getenv is asked for TRACEPARENT and TRACESTATE; nil knows no variable.
	Getenv func(name string) string
	// Notice, if set, is told in whole sentences what a person should know, such
	// as what could not be delivered.
	Notice func(message string)

	grace time.Duration // 0 means closeGrace
}

// Telemetry is the telemetry of one opened agent. A nil Telemetry is one that
// is switched off: it decorates nothing. It is safe for concurrent use.
type Telemetry struct {
	env        agent.Env
	agent      *config.Agent
	notice     func(string)
	mask       func(string) string
	traces     *sdktrace.TracerProvider // nil when spans are off
	metrics    *sdkmetric.MeterProvider // nil when metrics are off
	logs       *sdklog.LoggerProvider   // nil when logs are off
	tracer     trace.Tracer             // never nil
	parent     trace.SpanContext        // of the process that started this one
	tokens     metric.Int64Histogram
	durations  metric.Float64Histogram
	system     string // gen_ai.system of this runtime
	deliveries []*delivery
	exposed    *exposition     // for Prometheus, if it is on
	ownLog     bool            // the console exporter shows the log
	life       context.Context // of deliveries
	end        context.CancelFunc
	grace      time.Duration
	closed     atomic.Bool
}

// Open sets up the telemetry of an agent. Where its observability section is
// absent or off it returns nil, which is ready to use. Nothing is asked of an
// exporter's receiver yet: one that is down costs its own data only.
func Open(ctx context.Context, env agent.Env, a *config.Agent, opts Options) (*Telemetry, error) {
	o := a.Observability
	if o == nil || !o.Enabled || opts.Getenv != nil && strings.EqualFold(opts.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	mask, err := masker(a)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{env: env, agent: a, notice: opts.Notice, mask: mask, system: systemOf(a), grace: cmp.Or(opts.grace, closeGrace)}
	t.life, t.end = context.WithCancel(context.WithoutCancel(ctx))
	if t.notice == nil {
		t.notice = func(string) {}
	}
	if opts.Getenv != nil {
		t.parent = parentOf(opts.Getenv)
	}
	exporters, err := t.openExporters(ctx, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the exporters of observability: %w", err), t.Close())
	}
	res := resourceOf(a, opts.Version, mask)
	t.openTraces(o, res, exporters.traces, env)
	t.openLogs(o, res, exporters.logs)
	if err := t.openMetrics(o, res, exporters.metrics); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// resourceOf describes the service that reports.
func resourceOf(a *config.Agent, version string, mask func(string) string) *resource.Resource {
	o := a.Observability
	name := "holodeck-" + a.Name
	if o.ServiceName != nil {
		name = *o.ServiceName
	}
	attributes := []attribute.KeyValue{serviceName.String(mask(name)), serviceVersion.String(version)}
	for _, key := range slices.Sorted(maps.Keys(o.ResourceAttributes)) {
		attributes = append(attributes, attribute.String(key, mask(o.ResourceAttributes[key])))
	}
	return resource.NewSchemaless(attributes...)
}

func (t *Telemetry) openTraces(o *config.Observability, res *resource.Resource, exporters []sdktrace.SpanExporter, env agent.Env) {
	t.tracer = noTracer()
	if len(exporters) == 0 {
		return
	}
	c := o.Traces
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(res),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.SampleRate))),
		sdktrace.WithIDGenerator(ids{env.Rand}),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{ // not those of variables nobody knows of
			AttributeValueLengthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1, LinkCountLimit: -1,
			AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1,
		}),
	}
	for _, e := range exporters {
		d := t.deliver("spans")
		options = append(options, sdktrace.WithSpanProcessor(&countedSpans{
			SpanProcessor: sdktrace.NewBatchSpanProcessor(&spanExporter{SpanExporter: e, mask: t.mask, delivery: d},
				sdktrace.WithMaxQueueSize(c.MaxQueueSize),
				sdktrace.WithMaxExportBatchSize(c.MaxExportBatchSize),
				sdktrace.WithBatchTimeout(time.Duration(c.ScheduleDelayMillis)*time.Millisecond)),
			delivery: d,
		}))
	}
	t.traces = sdktrace.NewTracerProvider(options...)
	t.tracer = t.traces.Tracer(scopeOf(t.agent))
}

func (t *Telemetry) openMetrics(o *config.Observability, res *resource.Resource, readers []sdkmetric.Reader) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(res)}
	for _, r := range readers {
		options = append(options, sdkmetric.WithReader(r))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	if len(readers) > 0 {
		t.metrics = provider
	}
	meter := provider.Meter(scopeOf(t.agent))
	var err error
	if t.tokens, err = meter.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Number of tokens of a model call."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)); err != nil {
		return fmt.Errorf("make the metric of tokens: %w", err)
	}
	if t.durations, err = meter.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("How long an operation took."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)); err != nil {
		return fmt.Errorf("make the metric of durations: %w", err)
	}
	return nil
}

func (t *Telemetry) openLogs(o *config.Observability, res *resource.Resource, exporters []sdklog.Exporter) {
	if len(exporters) == 0 {
		return
	}
	options := []sdklog.LoggerProviderOption{sdklog.WithResource(res)}
	for _, e := range exporters {
		d := t.deliver("log records")
		options = append(options, sdklog.WithProcessor(&countedLogs{
			Processor: sdklog.NewBatchProcessor(&logExporter{Exporter: e, delivery: d}),
			delivery:  d,
		}))
	}
	t.logs = sdklog.NewLoggerProvider(options...)
}

// masker returns what masks a text before it leaves the process: the agent's
// secrets first, and then what the file's own patterns match.
func masker(a *config.Agent) (func(string) string, error) {
	var patterns []*regexp.Regexp
	for _, p := range a.Observability.Traces.RedactionPatterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("observability.traces.redaction_patterns: %q: %w", p, err) // loading has refused it
		}
		patterns = append(patterns, re)
	}
	return func(s string) string {
		s = a.Redactor.String(s)
		for _, re := range patterns {
			s = re.ReplaceAllString(s, "[redacted]")
		}
		return s
	}, nil
}

// Close delivers what is left, for a few seconds at most, and then says what
// was not delivered. It is idempotent.
func (t *Telemetry) Close() error {
	if t == nil || t.closed.Swap(true) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.grace)
	defer cancel()
	defer context.AfterFunc(ctx, t.end)()
	// What fails here is counted as not delivered, and said below.
	var closing sync.WaitGroup
	if t.traces != nil {
		closing.Go(func() { t.traces.Shutdown(ctx) })
	}
	if t.metrics != nil {
		closing.Go(func() { t.metrics.Shutdown(ctx) })
	}
	if t.logs != nil {
		closing.Go(func() { t.logs.Shutdown(ctx) })
	}
	closing.Wait()
	defer t.end()
	var err error
	if t.exposed != nil {
		err = t.exposed.Close()
	}
	for _, d := range t.deliveries {
		if text := d.lost(); text != "" {
			t.notice(t.mask(text))
		}
	}
	return err
}

// Log returns the log to use in place of log: what it is told goes to the
// exporters, too. Where the console exporter shows the log it goes there alone.
func (t *Telemetry) Log(log *slog.Logger) *slog.Logger {
	if t == nil || t.logs == nil {
		return log
	}
	h := newLogHandler(t)
	if t.ownLog {
		return slog.New(h)
	}
	return slog.New(slog.NewMultiHandler(log.Handler(), h))
}

// propagator carries traces across processes, as W3C Trace Context says.
func propagator() propagation.TextMapPropagator { return propagation.TraceContext{} }
