//go:build !noadk

package adk

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// seeing is a tool that says in which span it runs.
type seeing struct {
	look
	span *trace.SpanContext
}

func (s seeing) Definition() agent.Definition {
	return agent.Definition{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (s seeing) Call(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
	*s.span = trace.SpanContextFromContext(ctx)
	return agent.TextResult("canary-result"), nil
}

// everywhere sets a provider of spans for the whole program: once, since ADK takes
// the first there is for good.
var everywhere = sync.OnceValues(func() (*tracetest.InMemoryExporter, trace.TracerProvider) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	otel.SetTracerProvider(provider)
	return exporter, provider
})

// TestNothingOfACallIsInTheSpansOfADK holds ADK to it where somebody has set a
// provider of spans for the whole program, which ADK takes.
func TestNothingOfACallIsInTheSpansOfADK(t *testing.T) {
	exporter, provider := everywhere()
	exporter.Reset()
	var inModel, inTool trace.SpanContext
	m := &puppet{provider: "google", name: "g", respond: func(ctx context.Context, req llm.Request) ([]llm.Chunk, error) {
		inModel = trace.SpanContextFromContext(ctx)
		if req.Ordinal == 1 {
			return says([]string{"canary-text"}, llm.Call{Name: "look", Arguments: json.RawMessage(`{"n":"canary-argument"}`)}, llm.Call{Name: "canary-tool", Arguments: json.RawMessage(`{"n":"canary-argument"}`)}), nil
		}
		return says([]string{"canary-answer"}), nil
	}}
	s := begin(t, open(t, m, "", seeing{look{"look"}, &inTool}), agent.SessionOptions{})
	ctx, span := provider.Tracer("holodeck").Start(t.Context(), "invoke_agent")
	if _, err := agent.Collect(s.Send(ctx, agent.Text("canary-message"))); err != nil {
		t.Fatal(err)
	}
	span.End()
	if own := span.SpanContext(); inModel.SpanID() != own.SpanID() || inTool.SpanID() != own.SpanID() {
		t.Errorf("the model runs in span %s and the tool in %s, want that of the turn, %s", inModel.SpanID(), inTool.SpanID(), own.SpanID())
	}
	spans := exporter.GetSpans()
	if len(spans) < 4 {
		t.Fatalf("ADK made %d spans, so this proves nothing", len(spans)-1)
	}
	for _, sp := range spans {
		if scope := sp.InstrumentationScope.Name; scope != "gcp.vertex.agent" && scope != "holodeck" {
			t.Errorf("ADK makes spans as %s, too", scope)
		}
		text := strings.ReplaceAll(fmt.Sprint(sp.Attributes, sp.Events, sp.Status), "tool:canary-tool", "")
		if strings.Contains(text, "canary") {
			t.Errorf("span %s: %s", sp.Name, text)
		}
	}
}
