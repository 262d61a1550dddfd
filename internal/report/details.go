package report

import (
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// maxTurns is how many failed turns of a case are told in full.
const maxTurns = 10

// failure returns why a case failed.
func (i ink) failure(number int, f failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d. %s %s", number, i.mark(runs.Failed), i.bold(f.title))
	if f.repeats > 1 {
		fmt.Fprintf(&b, " (%d of %d attempts passed)", f.passed, f.checked)
	}
	b.WriteString("\n" + strings.Join(f.attempts, "\n"))
	if left := f.failed() - len(f.attempts); left > 0 {
		fmt.Fprintf(&b, "   … and %d more attempts\n", left)
	}
	return b.String()
}

// why returns why an attempt failed.
func (i ink) why(c *runs.Case) string {
	var b strings.Builder
	if c.Repeats > 1 {
		fmt.Fprintf(&b, "   attempt %d\n", c.Attempt)
	}
	told, left := 0, 0
	for n := range c.Turns {
		t := &c.Turns[n]
		if t.Status != runs.Failed && t.Status != runs.NotRun {
			continue
		}
		if told == maxTurns {
			left++
			continue
		}
		told++
		label := "asked"
		if c.Conversation {
			label = fmt.Sprintf("turn %d", n+1)
		}
		fmt.Fprintf(&b, "   %s: %s\n", label, excerpt(t.Input))
		i.failedTurn(&b, t)
	}
	if left > 0 {
		fmt.Fprintf(&b, "   … and %d more turns\n", left)
	}
	return b.String()
}

// failedTurn writes every reason why a turn failed, and what would help to see
// the cause.
func (i ink) failedTurn(b *strings.Builder, t *runs.Turn) {
	if strings.TrimSpace(t.Answer) != "" {
		fmt.Fprintf(b, "   answered: %s\n", excerpt(t.Answer))
	}
	cross := i.status(runs.Failed, "✗")
	for _, e := range t.Errors {
		fmt.Fprintf(b, "     %s %s\n", cross, reason(e))
	}
	for _, check := range t.ToolChecks {
		if !check.Matched {
			fmt.Fprintf(b, "     %s %s: %s\n", cross, printable(check.Title()), reason(check.Reason))
		}
	}
	for _, m := range t.Metrics {
		if m.Failed() {
			fmt.Fprintf(b, "     %s %s\n", cross, metricText(m))
		}
	}
	if len(t.ToolCalls) > 0 {
		fmt.Fprintf(b, "   called: %s\n", callNames(t.ToolCalls))
	}
}

// maxCalls is how many tool calls of a turn are named.
const maxCalls = 12

// callNames lists the tools that were called, in order, failed calls marked.
func callNames(calls []runs.ToolCall) string {
	var names []string
	for n, call := range calls {
		if n == maxCalls {
			names = append(names, fmt.Sprintf("and %d more", len(calls)-n))
			break
		}
		name := printable(call.Name)
		if call.Err != "" {
			name += " (failed: " + cut(printable(call.Err), excerptLen) + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// metricText says how a metric ended: its score where it has one, and why.
func metricText(m runs.Metric) string {
	text := printable(m.Name) + ": " + outcome(m)
	if m.Reason != "" {
		text += ", " + reason(m.Reason)
	}
	return text
}

// checks returns the checks of a case, one a line, for --verbose.
func (i ink) checks(c *runs.Case) string {
	var b strings.Builder
	for n := range c.Turns {
		t := &c.Turns[n]
		if c.Conversation {
			fmt.Fprintf(&b, "    %s turn %d: %s\n", i.mark(t.Status), n+1, excerpt(t.Input))
		}
		if len(t.ToolCalls) > 0 {
			fmt.Fprintf(&b, "      called: %s\n", callNames(t.ToolCalls))
		}
		for _, e := range t.Errors {
			fmt.Fprintf(&b, "      %s %s\n", i.mark(runs.Failed), reason(e))
		}
		for _, check := range t.ToolChecks {
			line := fmt.Sprintf("      %s %s", i.mark(passedIf(check.Matched)), printable(check.Title()))
			if !check.Matched {
				line += ": " + reason(check.Reason)
			}
			b.WriteString(line + "\n")
		}
		for _, m := range t.Metrics {
			fmt.Fprintf(&b, "      %s %s\n", i.metricMark(m), metricText(m))
		}
	}
	return b.String()
}

func (i ink) metricMark(m runs.Metric) string {
	if !m.Counts {
		return i.mark(runs.Unchecked)
	}
	return i.mark(passedIf(!m.Failed()))
}

func passedIf(ok bool) runs.Status {
	if ok {
		return runs.Passed
	}
	return runs.Failed
}
