package telemetry

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
)

// azureUnsupported says why azure_monitor is refused.
const azureUnsupported = "azure_monitor is not supported; send to an OpenTelemetry collector by otlp, and from there to Azure Monitor"

// Check says what this build cannot do with an agent's observability section.
func Check(a *config.Agent) []config.Problem {
	o := a.Observability
	if o == nil {
		return nil
	}
	var problems []config.Problem
	if m := o.Exporters.AzureMonitor; m != nil {
		severity := config.SeverityError
		if !o.Enabled || !m.Enabled {
			severity = config.SeverityWarning
		}
		problems = append(problems, o.Exporters.Problem(severity, "azure_monitor", config.CodeUnsupported,
			"azure_monitor is not supported", "send to an OpenTelemetry collector by otlp, and from there to Azure Monitor"))
	}
	if c := o.Exporters.OTLP; c != nil && c.Enabled {
		problems = append(problems, checkOTLP(c)...)
	}
	if p := o.Exporters.Prometheus; p != nil && p.Enabled && !strings.HasPrefix(p.Path, "/") {
		problems = append(problems, p.Problem(config.SeverityError, "path", config.CodeValue,
			fmt.Sprintf("%q does not begin with a slash", p.Path), `such as "/metrics"`))
	}
	return problems
}

func checkOTLP(c *config.OTLPExporter) []config.Problem {
	var problems []config.Problem
	if c.Compression != nil && *c.Compression == "deflate" {
		problems = append(problems, c.Problem(config.SeverityError, "compression", config.CodeUnsupported,
			"deflate is not supported", "write gzip, or leave it out"))
	}
	if _, err := collectorOf(c, nil); err != nil {
		return append(problems, c.Problem(config.SeverityError, "endpoint", config.CodeValue,
			"is not the address of a collector", "write it as http://host:port or host:port"))
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || !c.Wrote("insecure") || u.Scheme != "http" && u.Scheme != "https" {
		return problems
	}
	if plain := u.Scheme == "http"; plain != c.Insecure {
		problems = append(problems, c.Problem(config.SeverityError, "insecure", config.CodeConflict,
			fmt.Sprintf("insecure is %t, but the endpoint begins with %s://", c.Insecure, u.Scheme), "make the two agree, or leave insecure out"))
	}
	return problems
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
