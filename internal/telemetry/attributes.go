package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holodeck-go/holodeck/internal/config"
)

// The attributes, as the OpenTelemetry conventions for generative AI name them.
const (
	serviceName    = attribute.Key("service.name")
	serviceVersion = attribute.Key("service.version")
	errorType      = attribute.Key("error.type")

	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	agentName      = attribute.Key("gen_ai.agent.name")
	agentDesc      = attribute.Key("gen_ai.agent.description")
	conversationID = attribute.Key("gen_ai.conversation.id")
	requestModel   = attribute.Key("gen_ai.request.model")
	requestTemp    = attribute.Key("gen_ai.request.temperature")
	requestTopP    = attribute.Key("gen_ai.request.top_p")
	requestMax     = attribute.Key("gen_ai.request.max_tokens")
	responseModel  = attribute.Key("gen_ai.response.model")
	finishReasons  = attribute.Key("gen_ai.response.finish_reasons")
	outputType     = attribute.Key("gen_ai.output.type")
	inputTokens    = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens   = attribute.Key("gen_ai.usage.output_tokens")
	cachedTokens   = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	cacheTokens    = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	tokenType      = attribute.Key("gen_ai.token.type")
	toolName       = attribute.Key("gen_ai.tool.name")
	toolCallID     = attribute.Key("gen_ai.tool.call.id")
	toolType       = attribute.Key("gen_ai.tool.type")
	toolArguments  = attribute.Key("gen_ai.tool.call.arguments")
	toolResult     = attribute.Key("gen_ai.tool.call.result")
	inputMessages  = attribute.Key("gen_ai.input.messages")
	outputMessages = attribute.Key("gen_ai.output.messages")
	systemPrompt   = attribute.Key("gen_ai.system_instructions")

	// The older names, which stand beside the current ones.
	oldSystem     = attribute.Key("gen_ai.system")
	oldPrompt     = attribute.Key("gen_ai.usage.prompt_tokens")
	oldCompletion = attribute.Key("gen_ai.usage.completion_tokens")

	// What the conventions have no name for.
	numTurns   = attribute.Key("holodeck.num_turns")
	stopReason = attribute.Key("holodeck.stop_reason")
	costUSD    = attribute.Key("holodeck.cost_usd")
	purpose    = attribute.Key("holodeck.purpose")
	parentCall = attribute.Key("holodeck.parent_call_id")
)

// scopeOf returns the instrumentation scope of an agent's runtime.
func scopeOf(a *config.Agent) string {
	short := map[config.Backend]string{
		config.BackendGoogleADK: "adk", config.BackendClaude: "claude",
		config.BackendAgentFramework: "af", config.BackendSemanticKernel: "sk",
	}[a.Runtime]
	return "holodeck.backends." + short
}

// systemOf returns gen_ai.system: the older name of what gen_ai.provider.name
// says, which google_adk has a word of its own for.
func systemOf(a *config.Agent) string {
	if a.Runtime == config.BackendGoogleADK {
		return "google_adk"
	}
	if a.Model == nil {
		return ""
	}
	return providerOf(string(a.Model.Provider))
}

// providerOf returns a provider of an agent file as the conventions spell it.
func providerOf(provider string) string {
	switch config.Provider(provider) {
	case config.ProviderAzureOpenAI:
		return "azure.ai.openai"
	case config.ProviderGoogle:
		return "gcp.gemini"
	}
	return provider
}

// modelOf returns the name of a model as traces show it. Events have it already.
func modelOf(a *config.Agent, provider, name string) string {
	return a.Runtime.ModelName(config.Provider(provider), name)
}

// ids makes the ids of traces and spans of an agent's own chance.
type ids struct{ rand *rand.Rand }

// NewIDs implements trace.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	for !id.IsValid() {
		binary.LittleEndian.PutUint64(id[:8], g.rand.Uint64())
		binary.LittleEndian.PutUint64(id[8:], g.rand.Uint64())
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements trace.IDGenerator.
func (g ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	for !id.IsValid() {
		binary.LittleEndian.PutUint64(id[:], g.rand.Uint64())
	}
	return id
}

// noTracer returns a tracer that makes nothing.
func noTracer() trace.Tracer { return noop.NewTracerProvider().Tracer("") }

// parentOf returns the span that the process was started in.
func parentOf(getenv func(string) string) trace.SpanContext {
	ctx := propagator().Extract(context.Background(), environment(getenv))
	return trace.SpanContextFromContext(ctx)
}

// environment reads what carries a trace from the variables of a process:
// TRACEPARENT and TRACESTATE.
type environment func(name string) string

// Get implements propagation.TextMapCarrier.
func (e environment) Get(key string) string { return e(strings.ToUpper(key)) }

// Set implements propagation.TextMapCarrier; a process does not set its own.
func (environment) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (environment) Keys() []string { return []string{"TRACEPARENT", "TRACESTATE"} }
