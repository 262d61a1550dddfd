package claude

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// traceVariables say which trace a process is started in.
func traceVariables(ctx context.Context) []string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	var env []string
	for name, value := range carrier {
		env = append(env, strings.ToUpper(name)+"="+value)
	}
	return env
}
