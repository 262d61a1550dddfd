package telemetry

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

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
	if p := o.Exporters.Prometheus; p != nil && p.Enabled {
		if u, err := url.Parse(p.Path); err != nil || !strings.HasPrefix(p.Path, "/") || u.Path != p.Path || strings.ContainsAny(p.Path, " \t{}") {
			problems = append(problems, p.Problem(config.SeverityError, "path", config.CodeValue,
				fmt.Sprintf("%q is no path of a page; it begins with a slash", p.Path), `such as "/metrics"`))
		}
	}
	return append(problems, idle(o)...)
}

// idle warns of a section, or a part of it, that comes to nothing.
func idle(o *config.Observability) []config.Problem {
	var problems []config.Problem
	warn := func(b config.Block, key, text, hint string) {
		problems = append(problems, b.Problem(config.SeverityWarning, key, config.CodeNoEffect, text, hint))
	}
	if !o.Enabled {
		if !o.Wrote("enabled") {
			warn(o.Block, "", "the section has no effect: telemetry is off", "write enabled: true")
		}
		return problems
	}
	if !o.Traces.Enabled && !o.Metrics.Enabled && !o.Logs.Enabled {
		warn(o.Block, "enabled", "traces, metrics and logs are all off: nothing is sent", "")
	}
	x := o.Exporters
	if p := x.Prometheus; p != nil && !p.Enabled && !p.Wrote("enabled") {
		warn(x.Block, "prometheus", "prometheus is off", "write enabled: true")
	}
	if x.Console != nil && !x.Console.Enabled && (x.OTLP == nil || !x.OTLP.Enabled) && (x.Prometheus == nil || !x.Prometheus.Enabled) {
		warn(x.Block, "console", "every exporter is off: nothing is sent", "")
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
	for name, value := range c.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value.Reveal()) {
			problems = append(problems, c.Problem(config.SeverityError, "headers", config.CodeValue,
				fmt.Sprintf("%q is no header: its name, or its value, has a character no header has", name), ""))
		}
	}
	if c.Protocol == "grpc" && strings.Contains(c.Endpoint, "://") {
		if u, err := url.Parse(c.Endpoint); err == nil && (strings.Trim(u.Path, "/") != "" || u.User != nil) {
			problems = append(problems, c.Problem(config.SeverityError, "endpoint", config.CodeValue,
				"has a path or a user, which grpc has no place for", "use headers, or protocol: http"))
		}
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
