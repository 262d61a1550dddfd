package config

import (
	"fmt"
	"regexp"
	"strings"
)

// observability checks the observability section.
func (c *checker) observability() {
	o := c.agent.Observability
	if o == nil {
		return
	}
	if t := o.Traces; t.MaxExportBatchSize > t.MaxQueueSize && t.MaxQueueSize > 0 {
		key := "max_export_batch_size"
		if !t.Wrote(key) {
			key = "max_queue_size"
		}
		c.fail(t.Block, key, CodeConflict, fmt.Sprintf("a batch of %d does not fit into a queue of %d", t.MaxExportBatchSize, t.MaxQueueSize), "make max_queue_size the larger of the two")
	}
	for i, pattern := range o.Traces.RedactionPatterns {
		c.redactionPattern(o.Traces.Block, i, pattern)
	}
	if m := o.Exporters.AzureMonitor; m != nil && m.Enabled && (!m.Wrote("connection_string") || m.known("connection_string") && strings.TrimSpace(m.ConnectionString.Reveal()) == "") {
		c.fail(m.Block, "connection_string", CodeMissing, "is required when azure_monitor is enabled", "such as connection_string: ${APPLICATIONINSIGHTS_CONNECTION_STRING}")
	}
}

// redactionPattern checks a redaction pattern. It must run in linear time,
// since it is tried on every span.
func (c *checker) redactionPattern(b Block, i int, pattern string) {
	if !b.known("redaction_patterns") {
		return
	}
	_, err := regexp.Compile(pattern)
	if err == nil {
		return
	}
	if CheckPattern(pattern) == nil {
		c.fail(b, "redaction_patterns", CodeUnsupported, fmt.Sprintf("pattern %d needs a backtracking engine", i+1), "write it without look-around and back-references")
		return
	}
	c.fail(b, "redaction_patterns", CodeValue, fmt.Sprintf("pattern %d is not a regular expression: %v", i+1, rewordPattern(err, pattern)), "")
}
