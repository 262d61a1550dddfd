package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// maxAnnotations is how many errors of a step GitHub shows.
const maxAnnotations = 10

// annotations ends a run with commands for GitHub Actions, which show an error
// at a line of a file. Their form is in GitHub's documentation of workflow
// commands.
type annotations struct {
	out      sink
	failures failures
}

// NewAnnotations returns a Writer that ends a run with a GitHub annotation for
// each of the first failures, at the line of its case. w is the stdout of a step.
func NewAnnotations(w io.Writer) Writer {
	return &annotations{out: sink{w: w}, failures: failures{why: func(c *runs.Case) string {
		list := caseReasons(c)
		for i, why := range list {
			list[i] = reason(why)
		}
		return strings.Join(list, "\n")
	}}}
}

// Begin implements Writer.
func (a *annotations) Begin(runs.Run) error { return nil }

// Case implements Writer.
func (a *annotations) Case(c *runs.Case) error {
	a.failures.add(c)
	return nil
}

// End implements Writer.
func (a *annotations) End(runs.Summary) error {
	for n, f := range a.failures.list {
		if n == maxAnnotations {
			a.out.printf("::notice::%s failed\n", count(len(a.failures.list)-n+a.failures.hidden, "more case"))
			break
		}
		var where strings.Builder
		if f.file != "" {
			fmt.Fprintf(&where, "file=%s,", commandProperty(filepath.ToSlash(f.file)))
		}
		if f.line > 0 {
			fmt.Fprintf(&where, "line=%d,", f.line)
		}
		a.out.printf("::error %stitle=%s::%s\n", where.String(), commandProperty(f.title), commandData(strings.Join(f.attempts, "\n")))
	}
	return a.out.err
}

// noCommands returns text in which GitHub Actions finds no command of the old
// form, ##[name], which it looks for anywhere in a line. The new form must begin
// a line, and no line of a Terminal begins with a text of the agent.
func noCommands(text string) string { return strings.ReplaceAll(text, "##[", "## [") }

// commandData escapes the message of a workflow command.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// commandProperty escapes a property of a workflow command.
func commandProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// MaxStepSummary is how many bytes of summary GitHub keeps of a step; a longer
// one it drops whole.
const MaxStepSummary = 1 << 20

// stepSummary ends a run with its counts and failures in Markdown.
type stepSummary struct {
	out      sink
	run      runs.Run
	failures failures
}

// NewStepSummary returns a Writer of the summary of a step of GitHub Actions: at
// most a quarter of [MaxStepSummary], since other parts of a step write there, too.
func NewStepSummary(w io.Writer) Writer {
	return &stepSummary{out: sink{w: w}, failures: failures{why: mdWhy}}
}

// Begin implements Writer.
func (s *stepSummary) Begin(run runs.Run) error {
	s.run = run
	return nil
}

// Case implements Writer.
func (s *stepSummary) Case(c *runs.Case) error {
	s.failures.add(c)
	return nil
}

// End implements Writer.
func (s *stepSummary) End(summary runs.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", mdLine(s.run.Agent))
	mdSummary(&b, summary)
	mdFailures(&b, &s.failures)
	s.out.print(b.String())
	return s.out.err
}
