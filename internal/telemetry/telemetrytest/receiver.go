// Package telemetrytest is a collector for tests: it takes spans, metrics and
// logs by OTLP over http and over grpc, and shows them as plain values.
package telemetrytest

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // grpc clients may compress
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// Receiver is a collector that keeps what it is sent.
type Receiver struct {
	// URL is where it takes OTLP over http, and Address, a host and a port, where
	// it takes OTLP over grpc.
	URL, Address string

	mu      sync.Mutex
	refuse  bool
	headers []map[string]string
	spans   []Span
	metrics []Metric
	logs    []Log
}

// Span is a span that was received.
type Span struct {
	Name, Trace, ID, Parent string // ids in hexadecimal; Parent is empty for a root
	Scope                   string
	Attributes, Resource    map[string]string // values as text
	Events                  []Event
	Status                  string // Unset, Ok or Error
	Message                 string // of the status
	Start, End              uint64 // nanoseconds since 1970
}

// Event is something that happened within a span.
type Event struct {
	Name       string
	Attributes map[string]string
}

// Metric is a data point of a histogram.
type Metric struct {
	Name, Unit string
	Attributes map[string]string
	Count      uint64
	Sum        float64
}

// Log is a log record.
type Log struct {
	Scope, Severity, Body string
	Trace, Span           string
	Attributes            map[string]string
}

// New starts a receiver that ends with the test.
func New(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.URL = server.URL
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.Address = listener.Addr().String()
	g := grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(g, &traces{r: r})
	collectormetrics.RegisterMetricsServiceServer(g, &metrics{r: r})
	collectorlogs.RegisterLogsServiceServer(g, &logs{r: r})
	served := make(chan error, 1)
	go func() { served <- g.Serve(listener) }()
	t.Cleanup(func() {
		g.Stop()
		<-served
	})
	return r
}

// Refuse lets the receiver refuse what it is sent from now on.
func (r *Receiver) Refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = true
}

// Spans returns the spans so far, by start.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := slices.Clone(r.spans)
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	return spans
}

// Metrics returns the data points so far.
func (r *Receiver) Metrics() []Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.metrics)
}

// Logs returns the records so far.
func (r *Receiver) Logs() []Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.logs)
}

// Headers returns the headers of each request so far, their names in lower
// case.
func (r *Receiver) Headers() []map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.headers)
}

// Tree returns the spans as lines, each under its parent and two spaces further
// in, siblings by name.
func (r *Receiver) Tree() string {
	spans := r.Spans()
	known := map[string]bool{}
	for _, s := range spans {
		known[s.ID] = true
	}
	var out strings.Builder
	var print func(parent, indent string)
	print = func(parent, indent string) {
		var children []Span
		for _, s := range spans {
			if s.Parent == parent || parent == "" && !known[s.Parent] {
				children = append(children, s)
			}
		}
		slices.SortStableFunc(children, func(a, b Span) int { return cmp.Compare(a.Name, b.Name) })
		for _, s := range children {
			fmt.Fprintf(&out, "%s%s\n", indent, s.Name)
			print(s.ID, indent+"  ")
		}
	}
	print("", "")
	return out.String()
}

func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	header := map[string]string{}
	for name := range req.Header {
		header[strings.ToLower(name)] = req.Header.Get(name)
	}
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	data, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var in proto.Message
	switch req.URL.Path {
	case "/v1/traces":
		in = &collectortrace.ExportTraceServiceRequest{}
	case "/v1/metrics":
		in = &collectormetrics.ExportMetricsServiceRequest{}
	case "/v1/logs":
		in = &collectorlogs.ExportLogsServiceRequest{}
	default:
		http.NotFound(w, req)
		return
	}
	if err := proto.Unmarshal(data, in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := r.take(header, in); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
	}
}

// take keeps what one request holds.
func (r *Receiver) take(header map[string]string, in proto.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, header)
	if r.refuse {
		return fmt.Errorf("the collector takes nothing")
	}
	switch in := in.(type) {
	case *collectortrace.ExportTraceServiceRequest:
		r.takeSpans(in)
	case *collectormetrics.ExportMetricsServiceRequest:
		r.takeMetrics(in)
	case *collectorlogs.ExportLogsServiceRequest:
		r.takeLogs(in)
	}
	return nil
}

func (r *Receiver) takeSpans(in *collectortrace.ExportTraceServiceRequest) {
	for _, rs := range in.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				span := Span{
					Name: s.Name, Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
					Scope: ss.Scope.GetName(), Attributes: texts(s.Attributes), Resource: resourceOf(rs.Resource),
					Status: []string{"Unset", "Ok", "Error"}[s.Status.GetCode()], Message: s.Status.GetMessage(),
					Start: s.StartTimeUnixNano, End: s.EndTimeUnixNano,
				}
				for _, e := range s.Events {
					span.Events = append(span.Events, Event{e.Name, texts(e.Attributes)})
				}
				r.spans = append(r.spans, span)
			}
		}
	}
}

func (r *Receiver) takeMetrics(in *collectormetrics.ExportMetricsServiceRequest) {
	for _, rm := range in.ResourceMetrics {
		for _, sm := range rm.ScopeMetrics {
			for _, m := range sm.Metrics {
				for _, p := range m.GetHistogram().GetDataPoints() {
					r.metrics = append(r.metrics, Metric{m.Name, m.Unit, texts(p.Attributes), p.Count, p.GetSum()})
				}
			}
		}
	}
}

func (r *Receiver) takeLogs(in *collectorlogs.ExportLogsServiceRequest) {
	for _, rl := range in.ResourceLogs {
		for _, sl := range rl.ScopeLogs {
			for _, l := range sl.LogRecords {
				r.logs = append(r.logs, Log{
					Scope: sl.Scope.GetName(), Severity: l.SeverityText, Body: text(l.Body),
					Trace: hex.EncodeToString(l.TraceId), Span: hex.EncodeToString(l.SpanId), Attributes: texts(l.Attributes),
				})
			}
		}
	}
}

func resourceOf(r *resource.Resource) map[string]string { return texts(r.GetAttributes()) }

func texts(attributes []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range attributes {
		m[kv.Key] = text(kv.Value)
	}
	return m
}

func text(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_ArrayValue:
		var list []string
		for _, item := range v.ArrayValue.Values {
			list = append(list, text(item))
		}
		return strings.Join(list, ",")
	}
	return ""
}

type traces struct {
	collectortrace.UnimplementedTraceServiceServer
	r *Receiver
}

// Export implements the service.
func (s *traces) Export(ctx context.Context, in *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	return &collectortrace.ExportTraceServiceResponse{}, s.r.take(header(ctx), in)
}

type metrics struct {
	collectormetrics.UnimplementedMetricsServiceServer
	r *Receiver
}

// Export implements the service.
func (s *metrics) Export(ctx context.Context, in *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	return &collectormetrics.ExportMetricsServiceResponse{}, s.r.take(header(ctx), in)
}

type logs struct {
	collectorlogs.UnimplementedLogsServiceServer
	r *Receiver
}

// Export implements the service.
func (s *logs) Export(ctx context.Context, in *collectorlogs.ExportLogsServiceRequest) (*collectorlogs.ExportLogsServiceResponse, error) {
	return &collectorlogs.ExportLogsServiceResponse{}, s.r.take(header(ctx), in)
}

// header returns the metadata of a grpc request.
func header(ctx context.Context) map[string]string {
	md, _ := metadata.FromIncomingContext(ctx)
	h := map[string]string{}
	for name, values := range md {
		h[strings.ToLower(name)] = strings.Join(values, ",")
	}
	return h
}
