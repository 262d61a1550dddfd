package telemetry

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// ToolCall begins the span of a tool call. What it returns is handed the end of
// the call. def is nil when there is no such tool.
func (t *Telemetry) ToolCall(ctx context.Context, name, id string, arguments json.RawMessage, def *agent.Definition) (context.Context, func(agent.ToolCallFinished)) {
	if t == nil {
		return ctx, func(agent.ToolCallFinished) {}
	}
	kind := "function"
	if def != nil && def.Retrieval {
		kind = "datastore"
	}
	attributes := []attribute.KeyValue{operationName.String("execute_tool"), toolName.String(name)}
	counted := name // metrics keep a series for each name, and a model may invent any
	if def == nil {
		counted = "_OTHER"
	}
	ctx, span := t.tracer.Start(ctx, "execute_tool "+name, trace.WithSpanKind(trace.SpanKindInternal), trace.WithTimestamp(t.env.Now()),
		trace.WithAttributes(append(attributes[:2:2], toolCallID.String(id), toolType.String(kind), oldSystem.String(t.system))...))
	if t.captures() && span.IsRecording() {
		span.SetAttributes(toolArguments.String(string(t.maskJSON(arguments))))
	}
	return ctx, func(f agent.ToolCallFinished) {
		failed := false
		if f.Err != "" {
			failed = true
			span.SetAttributes(errorType.String("tool_error"))
			span.SetStatus(codes.Error, t.reason(t.captures(), f.Err))
		}
		if t.captures() && span.IsRecording() {
			span.SetAttributes(toolResult.String(t.mask(f.Result.Text())))
		}
		span.SetAttributes(attribute.Int("holodeck.passages", len(f.Result.Passages)))
		labels := []attribute.KeyValue{operationName.String("execute_tool"), toolName.String(counted)}
		if failed {
			labels = append(labels, errorType.String("tool_error"))
		}
		t.record(ctx, f.End.Sub(f.Start).Seconds(), labels)
		span.End(trace.WithTimestamp(t.env.Now()))
	}
}
