package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutlog"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holodeck-go/holodeck/internal/config"
)

// exporters are where the three signals go.
type exporters struct {
	traces  []sdktrace.SpanExporter
	metrics []sdkmetric.Reader
	logs    []sdklog.Exporter
}

// openExporters opens what the file turns on, for the signals it turns on.
// Where it turns on none, the console is it.
func (t *Telemetry) openExporters(ctx context.Context, opts Options) (exporters, error) {
	o := t.agent.Observability
	var e exporters
	otlp, prom, console := o.Exporters.OTLP, o.Exporters.Prometheus, o.Exporters.Console
	toOTLP := otlp != nil && otlp.Enabled
	toPrometheus := prom != nil && prom.Enabled
	if m := o.Exporters.AzureMonitor; m != nil && m.Enabled {
		return e, errors.New(azureUnsupported) // loading has refused it
	}
	var errs []error
	if toOTLP {
		errs = append(errs, t.openOTLP(ctx, otlp, opts.HTTP, &e))
	}
	if toPrometheus && o.Metrics.Enabled {
		reader, err := t.expose(prom)
		if err != nil {
			t.notice(fmt.Sprintf("observability.exporters.prometheus: %v; metrics are not offered for scraping", err))
		} else {
			e.metrics = append(e.metrics, reader)
		}
	}
	if console == nil && !toOTLP && !toPrometheus && !opts.Quiet {
		console = &config.ConsoleExporter{Enabled: true, PrettyPrint: true, IncludeTimestamps: true}
	}
	if console != nil && console.Enabled && opts.Console != nil {
		opts.Console = &serial{w: opts.Console}
		errs = append(errs, t.openConsole(console, opts, &e))
	}
	return e, errors.Join(errs...)
}

// every returns a reader that exports metrics at the file's interval.
func (t *Telemetry) every(e sdkmetric.Exporter) sdkmetric.Reader {
	return sdkmetric.NewPeriodicReader(&metricExporter{Exporter: e, delivery: t.deliver("batches of metrics")},
		sdkmetric.WithInterval(time.Duration(t.agent.Observability.Metrics.ExportIntervalMS)*time.Millisecond))
}

// serial is a writer that the three signals share.
type serial struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (s *serial) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func (t *Telemetry) openConsole(c *config.ConsoleExporter, opts Options, e *exporters) error {
	o := t.agent.Observability
	var errs []error
	if o.Traces.Enabled {
		options := []stdouttrace.Option{stdouttrace.WithWriter(opts.Console)}
		if c.PrettyPrint {
			options = append(options, stdouttrace.WithPrettyPrint())
		}
		if !c.IncludeTimestamps {
			options = append(options, stdouttrace.WithoutTimestamps())
		}
		x, err := stdouttrace.New(options...)
		errs = append(errs, err)
		e.traces = append(e.traces, x)
	}
	if o.Metrics.Enabled {
		options := []stdoutmetric.Option{stdoutmetric.WithWriter(opts.Console)}
		if c.PrettyPrint {
			options = append(options, stdoutmetric.WithPrettyPrint())
		}
		if !c.IncludeTimestamps {
			options = append(options, stdoutmetric.WithoutTimestamps())
		}
		x, err := stdoutmetric.New(options...)
		errs = append(errs, err)
		e.metrics = append(e.metrics, t.every(x))
	}
	if o.Logs.Enabled {
		options := []stdoutlog.Option{stdoutlog.WithWriter(opts.Console)}
		if c.PrettyPrint {
			options = append(options, stdoutlog.WithPrettyPrint())
		}
		if !c.IncludeTimestamps {
			options = append(options, stdoutlog.WithoutTimestamps())
		}
		x, err := stdoutlog.New(options...)
		errs = append(errs, err)
		e.logs = append(e.logs, x)
		t.ownLog = true
	}
	return errors.Join(errs...)
}

// collector is how an OpenTelemetry collector is spoken to.
type collector struct {
	address  string // host:port for grpc, a URL without the signal's path for http
	insecure bool   // without TLS
	headers  map[string]string
	timeout  time.Duration
	gzip     bool
	http     *http.Client // nil for grpc
}

// The ports a collector listens on.
const grpcPort, httpPort = "4317", "4318"

// collectorOf reads the otlp section.
func collectorOf(c *config.OTLPExporter, client *http.Client) (collector, error) {
	k := collector{
		timeout: time.Duration(c.TimeoutMS) * time.Millisecond,
		gzip:    c.Compression != nil && *c.Compression == "gzip",
		headers: map[string]string{},
	}
	for name, value := range c.Headers {
		k.headers[strings.ToLower(name)] = value.Reveal()
	}
	endpoint := c.Endpoint
	scheme := "https"
	if c.Insecure {
		scheme = "http"
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = scheme + "://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return k, fmt.Errorf("otlp.endpoint: %q is not the address of a collector; write it as http://host:port or host:port", c.Endpoint)
	}
	k.insecure = u.Scheme == "http"
	if c.Protocol == "http" {
		// The port of grpc stands in the default, and in many files.
		if u.Port() == grpcPort && isLoopback(u.Hostname()) {
			u.Host = u.Hostname() + ":" + httpPort
		}
		k.address = strings.TrimSuffix(u.String(), "/")
		transport := *cmp.Or(client, http.DefaultClient)
		transport.Timeout = k.timeout
		k.http = &transport
		return k, nil
	}
	k.address = u.Host
	if u.Port() == "" {
		k.address = u.Hostname() + ":" + grpcPort
	}
	return k, nil
}

func (t *Telemetry) openOTLP(ctx context.Context, c *config.OTLPExporter, client *http.Client, e *exporters) error {
	k, err := collectorOf(c, client)
	if err != nil {
		return err
	}
	o := t.agent.Observability
	var errs []error
	if o.Traces.Enabled {
		x, err := k.traces(ctx)
		errs = append(errs, err)
		e.traces = append(e.traces, x)
	}
	if o.Metrics.Enabled {
		x, err := k.metrics(ctx)
		errs = append(errs, err)
		e.metrics = append(e.metrics, t.every(x))
	}
	if o.Logs.Enabled {
		x, err := k.logs(ctx)
		errs = append(errs, err)
		e.logs = append(e.logs, x)
	}
	return errors.Join(errs...)
}

func (k collector) traces(ctx context.Context) (sdktrace.SpanExporter, error) {
	if k.http != nil {
		options := []otlptracehttp.Option{
			otlptracehttp.WithEndpointURL(k.address + "/v1/traces"), otlptracehttp.WithHeaders(k.headers),
			otlptracehttp.WithTimeout(k.timeout), otlptracehttp.WithHTTPClient(k.http),
		}
		if k.gzip {
			options = append(options, otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
		}
		return otlptracehttp.New(ctx, options...)
	}
	options := []otlptracegrpc.Option{
		otlptracegrpc.WithEndpoint(k.address), otlptracegrpc.WithHeaders(k.headers), otlptracegrpc.WithTimeout(k.timeout),
	}
	if k.insecure {
		options = append(options, otlptracegrpc.WithInsecure())
	}
	if k.gzip {
		options = append(options, otlptracegrpc.WithCompressor("gzip"))
	}
	return otlptracegrpc.New(ctx, options...)
}

func (k collector) metrics(ctx context.Context) (sdkmetric.Exporter, error) {
	if k.http != nil {
		options := []otlpmetrichttp.Option{
			otlpmetrichttp.WithEndpointURL(k.address + "/v1/metrics"), otlpmetrichttp.WithHeaders(k.headers),
			otlpmetrichttp.WithTimeout(k.timeout), otlpmetrichttp.WithHTTPClient(k.http),
		}
		if k.gzip {
			options = append(options, otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
		}
		return otlpmetrichttp.New(ctx, options...)
	}
	options := []otlpmetricgrpc.Option{
		otlpmetricgrpc.WithEndpoint(k.address), otlpmetricgrpc.WithHeaders(k.headers), otlpmetricgrpc.WithTimeout(k.timeout),
	}
	if k.insecure {
		options = append(options, otlpmetricgrpc.WithInsecure())
	}
	if k.gzip {
		options = append(options, otlpmetricgrpc.WithCompressor("gzip"))
	}
	return otlpmetricgrpc.New(ctx, options...)
}

func (k collector) logs(ctx context.Context) (sdklog.Exporter, error) {
	if k.http != nil {
		options := []otlploghttp.Option{
			otlploghttp.WithEndpointURL(k.address + "/v1/logs"), otlploghttp.WithHeaders(k.headers),
			otlploghttp.WithTimeout(k.timeout), otlploghttp.WithHTTPClient(k.http),
		}
		if k.gzip {
			options = append(options, otlploghttp.WithCompression(otlploghttp.GzipCompression))
		}
		return otlploghttp.New(ctx, options...)
	}
	options := []otlploggrpc.Option{
		otlploggrpc.WithEndpoint(k.address), otlploggrpc.WithHeaders(k.headers), otlploggrpc.WithTimeout(k.timeout),
	}
	if k.insecure {
		options = append(options, otlploggrpc.WithInsecure())
	}
	if k.gzip {
		options = append(options, otlploggrpc.WithCompressor("gzip"))
	}
	return otlploggrpc.New(ctx, options...)
}
