package telemetry

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/log"

	"github.com/holodeck-go/holodeck/internal/config"
)

// logHandler hands the log of the process to the exporters.
type logHandler struct {
	t       *Telemetry
	level   slog.Level
	traced  bool // records name their span
	without []string
	attrs   []log.KeyValue
	group   string // prefix of the names of attributes, with its dot
}

func newLogHandler(t *Telemetry) *logHandler {
	c := t.agent.Observability.Logs
	return &logHandler{t: t, level: levelOf(c.Level), traced: c.IncludeTraceContext, without: c.FilterNamespaces}
}

// levelOf returns the level of the file; CRITICAL is above any that slog has a
// name for.
func levelOf(l config.LogLevel) slog.Level {
	switch l {
	case "DEBUG":
		return slog.LevelDebug
	case "WARNING":
		return slog.LevelWarn
	case "ERROR":
		return slog.LevelError
	case "CRITICAL":
		return slog.LevelError + 4
	}
	return slog.LevelInfo
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	child := *h
	child.attrs = slices.Clip(h.attrs)
	for _, a := range attrs {
		child.attrs = h.add(child.attrs, h.group, a)
	}
	return &child
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	child := *h
	if name != "" {
		child.group += name + "."
	}
	return &child
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	namespace := namespaceOf(r.PC)
	for _, left := range h.without {
		if namespace == left || strings.HasPrefix(namespace, left+".") {
			return nil
		}
	}
	if r.Level < slog.LevelWarn && !h.t.captures() && slices.Contains(quoting(), namespace) {
		return nil
	}
	var out log.Record
	out.SetTimestamp(r.Time)
	out.SetSeverity(severityOf(r.Level))
	out.SetSeverityText(r.Level.String())
	out.SetBody(log.StringValue(h.t.mask(r.Message)))
	out.AddAttributes(h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttributes(h.add(nil, h.group, a)...)
		return true
	})
	if !h.traced {
		ctx = context.WithoutCancel(context.Background())
	}
	h.t.logs.Logger(namespace).Emit(ctx, out)
	return nil
}

// quoting are the rooms whose log has in it what user code and servers say: below
// a warning that is content.
func quoting() []string {
	return []string{"holodeck.worker", "holodeck.tool.mcp", "holodeck.tool.function", "holodeck.claudecode"}
}

// add appends an attribute, whose groups become dotted names.
func (h *logHandler) add(list []log.KeyValue, prefix string, a slog.Attr) []log.KeyValue {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range v.Group() {
			list = h.add(list, prefix, member)
		}
		return list
	}
	if a.Key == "" {
		return list
	}
	name := prefix + a.Key
	switch v.Kind() {
	case slog.KindBool:
		return append(list, log.Bool(name, v.Bool()))
	case slog.KindInt64:
		return append(list, log.Int64(name, v.Int64()))
	case slog.KindFloat64:
		return append(list, log.Float64(name, v.Float64()))
	}
	return append(list, log.String(name, h.t.mask(v.String())))
}

// severityOf returns a level as OpenTelemetry numbers it: slog's Info is 0 and
// Error 8, OpenTelemetry's 9 and 17, with four steps between two names in both.
func severityOf(l slog.Level) log.Severity {
	return log.Severity(min(max(int(l)+int(log.SeverityInfo), int(log.SeverityTrace1)), int(log.SeverityFatal4)))
}

// namespaceOf returns whose record it is: the room it was written in, such as
// holodeck.tool.mcp.
func namespaceOf(pc uintptr) string {
	const own = "github.com/holodeck-go/holodeck/internal/"
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	path, ok := strings.CutPrefix(frame.Function, own)
	if !ok {
		return "holodeck"
	}
	// The package ends at the first dot behind the last slash.
	folder := strings.LastIndexByte(path, '/') + 1
	if dot := strings.IndexByte(path[folder:], '.'); dot >= 0 {
		path = path[:folder+dot]
	}
	return "holodeck." + strings.ReplaceAll(path, "/", ".")
}
