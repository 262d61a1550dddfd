package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// reasons returns everything that fails a turn, a line each, as it came: errors,
// demands on tool calls, metrics.
func reasons(t *runs.Turn) []string {
	list := append([]string(nil), t.Errors...)
	for _, check := range t.ToolChecks {
		if !check.Matched {
			list = append(list, check.Title()+": "+check.Reason)
		}
	}
	for _, m := range t.Metrics {
		if m.Failed() {
			text := m.Name + ": " + outcome(m)
			if m.Reason != "" {
				text += ", " + m.Reason
			}
			list = append(list, text)
		}
	}
	return list
}

// caseReasons returns everything that fails a case; in a conversation each
// begins with its turn.
func caseReasons(c *runs.Case) []string {
	var list []string
	for n := range c.Turns {
		for _, why := range reasons(&c.Turns[n]) {
			if c.Conversation {
				why = fmt.Sprintf("turn %d: %s", n+1, why)
			}
			list = append(list, why)
		}
	}
	return list
}

// outcome says how a metric ended: by its score where it has one.
func outcome(m runs.Metric) string {
	var text string
	switch m.Status {
	case runs.MetricError:
		text = "ERROR"
	case runs.MetricSkipped:
		text = "skipped"
	case runs.MetricNotApplicable:
		text = "not applicable"
	default:
		if m.Score != nil {
			text = fmt.Sprintf("%.2f", *m.Score)
		}
	}
	if m.Threshold != nil && m.Score != nil {
		text += fmt.Sprintf(" (threshold: %.2f)", *m.Threshold)
	}
	return text
}

// took returns such as "12 ms", "2.41 s" and "3 min 5 s".
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// facts returns what an attempt took, such as "812 ms, 34 tokens, $0.0125".
func facts(c *runs.Case) string {
	list := []string{took(c.Elapsed)}
	if u := c.Usage(); u != nil && u.Total > 0 {
		list = append(list, count(u.Total, "token"))
	}
	if cost := c.CostUSD(); cost != nil && *cost > 0 {
		list = append(list, dollars(*cost))
	}
	return strings.Join(list, ", ")
}
