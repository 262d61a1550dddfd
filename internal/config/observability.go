package config

import "github.com/holodeck-go/holodeck/internal/secret"

// Observability is the observability section.
type Observability struct {
	Block
	Enabled                bool              `key:"enabled" default:"false" doc:"Whether telemetry is on."`
	ServiceName            *string           `key:"service_name" doc:"Name of the service; holodeck-<agent> when absent."`
	ResourceAttributes     map[string]string `key:"resource_attributes" default:"{}" doc:"Attributes of the resource."`
	DisableProviderTracing bool              `key:"disable_provider_tracing" default:"false" doc:"Turns the model SDK's own tracing off."`
	Traces                 Traces            `key:"traces" doc:"Spans."`
	Metrics                TelemetryMetrics  `key:"metrics" doc:"Metrics."`
	Logs                   Logs              `key:"logs" doc:"Logs."`
	Exporters              Exporters         `key:"exporters" doc:"Where telemetry goes."`
}

// Traces configures spans.
type Traces struct {
	Block
	Enabled                  bool     `key:"enabled" default:"true" doc:"Whether spans are made."`
	SampleRate               float64  `key:"sample_rate" default:"1.0" rule:"min=0,max=1" doc:"Share of turns that are traced."`
	CaptureContent           bool     `key:"capture_content" default:"false" doc:"Whether messages are recorded."`
	CaptureEvaluationContent bool     `key:"capture_evaluation_content" default:"false" doc:"Whether what judges see is recorded."`
	RedactionPatterns        []string `key:"redaction_patterns" default:"[]" doc:"Regular expressions that are masked."`
	MaxQueueSize             int      `key:"max_queue_size" default:"2048" rule:"min=1" doc:"Most spans that wait."`
	MaxExportBatchSize       int      `key:"max_export_batch_size" default:"512" rule:"min=1" doc:"Most spans of a batch."`
	ScheduleDelayMillis      int      `key:"schedule_delay_millis" default:"2000" rule:"min=100" doc:"Milliseconds between batches."`
}

// TelemetryMetrics configures metrics.
type TelemetryMetrics struct {
	Block
	Enabled          bool `key:"enabled" default:"true" doc:"Whether metrics are made."`
	ExportIntervalMS int  `key:"export_interval_ms" default:"5000" rule:"min=1000" doc:"Milliseconds between exports."`
}

// Logs configures logs.
type Logs struct {
	Block
	Enabled             bool     `key:"enabled" default:"true" doc:"Whether logs are exported."`
	Level               LogLevel `key:"level" default:"INFO" doc:"Lowest level."`
	IncludeTraceContext bool     `key:"include_trace_context" default:"true" doc:"Whether records name their span."`
	FilterNamespaces    []string `key:"filter_namespaces" default:"[semantic_kernel]" doc:"Loggers that are left out."`
}

// LogLevel is the level of a log record.
type LogLevel string

// Values implements the enumeration.
func (LogLevel) Values() []string { return []string{"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"} }

// Exporters says where telemetry goes.
type Exporters struct {
	Block
	Console      *ConsoleExporter      `key:"console" doc:"To stderr."`
	OTLP         *OTLPExporter         `key:"otlp" doc:"To an OpenTelemetry collector."`
	Prometheus   *PrometheusExporter   `key:"prometheus" doc:"Scraped by Prometheus."`
	AzureMonitor *AzureMonitorExporter `key:"azure_monitor" doc:"To Azure Monitor."`
}

// ConsoleExporter writes to stderr.
type ConsoleExporter struct {
	Block
	Enabled           bool `key:"enabled" default:"true" doc:"Whether it is on."`
	PrettyPrint       bool `key:"pretty_print" default:"true" doc:"Indented."`
	IncludeTimestamps bool `key:"include_timestamps" default:"true" doc:"With times."`
}

// OTLPExporter sends to a collector.
type OTLPExporter struct {
	Block
	Enabled     bool                     `key:"enabled" default:"true" doc:"Whether it is on."`
	Endpoint    string                   `key:"endpoint" default:"http://localhost:4317" doc:"Its address."`
	Protocol    OTLPProtocol             `key:"protocol" default:"grpc" doc:"How it is spoken to."`
	Headers     map[string]secret.String `key:"headers" default:"{}" doc:"Headers of a request."`
	TimeoutMS   int                      `key:"timeout_ms" default:"30000" rule:"min=1000" doc:"Milliseconds a request may take."`
	Compression *OTLPCompression         `key:"compression" doc:"How bodies are compressed."`
	Insecure    bool                     `key:"insecure" default:"true" doc:"Without TLS."`
}

// OTLPProtocol is how a collector is spoken to.
type OTLPProtocol string

// Values implements the enumeration.
func (OTLPProtocol) Values() []string { return []string{"grpc", "http"} }

// OTLPCompression is how bodies are compressed.
type OTLPCompression string

// Values implements the enumeration.
func (OTLPCompression) Values() []string { return []string{"gzip", "deflate"} }

// PrometheusExporter is scraped.
type PrometheusExporter struct {
	Block
	Enabled bool   `key:"enabled" default:"false" doc:"Whether it is on."`
	Port    int    `key:"port" default:"8889" rule:"min=1024,max=65535" doc:"Port to listen on."`
	Host    string `key:"host" default:"0.0.0.0" doc:"Address to listen on."`
	Path    string `key:"path" default:"/metrics" doc:"Path of the page."`
}

// AzureMonitorExporter sends to Azure Monitor.
type AzureMonitorExporter struct {
	Block
	Enabled               bool          `key:"enabled" default:"false" doc:"Whether it is on."`
	ConnectionString      secret.String `key:"connection_string" doc:"Required when on."`
	DisableOfflineStorage bool          `key:"disable_offline_storage" default:"false" doc:"Nothing is kept on disk."`
	StorageDirectory      *string       `key:"storage_directory" doc:"Where it is kept."`
}
