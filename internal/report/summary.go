package report

import (
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// rule frames the summary.
var rule = strings.Repeat("=", 60)

// summary returns the counts of a run.
func (i ink) summary(s runs.Summary, opts Options) string {
	var b strings.Builder
	status := runs.Passed
	switch {
	case s.Failed > 0 || s.Finished() < s.Total:
		status = runs.Failed
	case s.Passed == 0:
		status = runs.Unchecked
	}
	mark := ""
	if opts.Terminal {
		mark = i.mark(status) + " "
	}
	fmt.Fprintf(&b, "\n%s\n%s%s\n", rule, mark, i.status(status, "Test Results: "+passRate(s)))
	if rate := s.PassRate(); rate.Of > 0 {
		fmt.Fprintf(&b, "  Pass rate: between %s%% and %s%% (95%% confidence)\n", percent(rate.Low), percent(rate.High))
	}
	if s.Failed > 0 {
		fmt.Fprintf(&b, "  Failed: %d\n", s.Failed)
	}
	skips := skipped(s.Metrics)
	if s.Unchecked > 0 {
		fmt.Fprintf(&b, "  Unchecked: %d", s.Unchecked)
		if len(skips) == 0 { // otherwise the skips say why
			b.WriteString(" (no check applied; give such a case expected_tools, or a ground_truth and a metric)")
		}
		b.WriteString("\n")
	}
	if left := s.Total - s.Finished(); left > 0 {
		fmt.Fprintf(&b, "  Not finished: %d of %d\n", left, s.Total)
	}
	if s.Stopped != "" {
		fmt.Fprintf(&b, "  Stopped: %s\n", reason(s.Stopped))
	}
	if s.Repeats.Cases() > 0 {
		fmt.Fprintf(&b, "  Repeated: %s\n", repeats(s.Repeats))
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "  Note: %s\n", reason(note))
	}
	for _, line := range skips {
		fmt.Fprintf(&b, "  Skipped: %s\n", line)
	}
	for _, m := range s.Metrics {
		if m.Attempts > 0 {
			fmt.Fprintf(&b, "  %s: %.2f on average over %s\n", printable(m.Name), m.Mean, count(m.Attempts, unit(s)))
		}
	}
	if opts.Verbose {
		fmt.Fprintf(&b, "  Tokens: %d in, %d out\n", s.Usage.Prompt, s.Usage.Completion)
	}
	if s.CostUSD != nil && *s.CostUSD > 0 {
		fmt.Fprintf(&b, "  Cost: %s\n", dollars(*s.CostUSD))
	}
	fmt.Fprintf(&b, "  Duration: %.2fs\n%s\n", s.Elapsed.Seconds(), rule)
	return b.String()
}

// unit is what a metric is taken over: a case or, where cases run more than
// once, an attempt at one.
func unit(s runs.Summary) string {
	if s.Repeats.Cases() > 0 {
		return "attempt"
	}
	return "case"
}

// percent returns a share of one as a number of per cent, such as 81.2.
func percent(share float64) string { return runs.Percent(share) }

// repeats returns what became of the cases that ran more than once.
func repeats(r runs.Repeats) string {
	text := fmt.Sprintf("%s: %d stable, %d flaky, %d failing", count(r.Cases(), "case"), r.Stable(), r.Flaky(), r.Failing())
	k := r.Fewest()
	if one, ok := r.PassAt(k); ok && k > 1 {
		all, _ := r.PassAll(k)
		text += fmt.Sprintf("; pass@%d %s%%, pass^%d %s%%", k, percent(one), k, percent(all))
	}
	return text
}

// dollars returns an amount with as many digits as its size calls for.
func dollars(amount float64) string {
	if amount < 1 {
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

// count returns such as "1 case" and "2 cases".
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// passRate returns such as "10/12 passed (83.3%)". Cases that were not checked
// are told apart, and have no part in it.
func passRate(s runs.Summary) string {
	rate := s.PassRate()
	if rate.Of == 0 {
		return "nothing was checked"
	}
	return fmt.Sprintf("%d/%d passed (%s%%)", rate.Passed, rate.Of, percent(rate.Value))
}

// skipped tells of the metrics that were skipped, one line for each reason.
func skipped(metrics []runs.MetricSummary) []string {
	var (
		reasons []string
		names   = map[string][]string{}
		times   = map[string]int{}
	)
	for _, m := range metrics {
		if m.Skipped == 0 {
			continue
		}
		why := reason(m.SkipReason)
		if times[why] == 0 {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], printable(m.Name))
		times[why] += m.Skipped
	}
	lines := make([]string, len(reasons))
	for i, why := range reasons {
		lines[i] = fmt.Sprintf("%s (%d×, %s)", strings.Join(names[why], ", "), times[why], why)
	}
	return lines
}
