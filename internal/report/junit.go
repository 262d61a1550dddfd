package report

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// junit writes a run as JUnit's XML: one suite, one testcase an attempt. A case
// that fails is a failure, or an error where nothing but a metric's own error
// fails it; one that was not checked is skipped. The output of a testcase is its
// transcript.
type junit struct {
	out     sink
	scratch Scratch
	run     runs.Run
	cases   *held
	counts  struct{ tests, failures, errors, skipped int }
}

// Begin implements Writer.
func (j *junit) Begin(run runs.Run) (err error) {
	j.run = run
	j.cases, err = hold(j.scratch)
	return err
}

// Case implements Writer.
func (j *junit) Case(c *runs.Case) error {
	j.counts.tests++
	w := &j.cases.sink
	w.printf("    <testcase classname=%s name=%s time=\"%s\"", attribute(j.run.Agent), attribute(caseName(c)), seconds(c.Elapsed))
	if c.Pos.File != "" {
		w.printf(" file=%s line=\"%d\"", attribute(filepath.ToSlash(c.Pos.File)), c.Pos.Line)
	}
	w.print(">\n")
	switch c.Status {
	case runs.Passed:
	case runs.Unchecked:
		j.counts.skipped++
		w.print("      <skipped message=\"nothing was checked\"/>\n")
	default:
		element := "failure"
		if c.FailedByMetricErrorsOnly() {
			element = "error"
			j.counts.errors++
		} else {
			j.counts.failures++
		}
		why := caseReasons(c)
		first := "failed"
		if len(why) > 0 {
			first = cut(why[0], reasonLen)
		}
		w.printf("      <%s type=\"%s\" message=%s>%s</%s>\n", element, c.Status, attribute(first), xmlText(strings.Join(why, "\n")), element)
	}
	w.printf("      <system-out>%s</system-out>\n    </testcase>\n", xmlText(transcript(c)))
	return w.err
}

// End implements Writer.
func (j *junit) End(s runs.Summary) error {
	counts := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="%d" time="%s"`,
		j.counts.tests, j.counts.failures, j.counts.errors, j.counts.skipped, seconds(s.Elapsed))
	name := attribute(j.run.Agent)
	j.out.print(xml.Header)
	j.out.printf("<testsuites name=%s %s>\n", name, counts)
	j.out.printf("  <testsuite name=%s %s timestamp=\"%s\">\n", name, counts, j.run.Started.UTC().Format("2006-01-02T15:04:05"))
	j.out.print("    <properties>\n")
	property := func(key, value string) {
		j.out.printf("      <property name=%s value=%s/>\n", attribute(key), attribute(value))
	}
	property("holodeck", j.run.Version)
	property("agent_file", j.run.Path)
	for _, key := range environment(j.run) {
		property(key, j.run.Environment[key])
	}
	j.out.print("    </properties>\n")
	j.cases.moveTo(&j.out)
	j.out.print("  </testsuite>\n</testsuites>\n")
	return j.out.err
}

// caseName returns a name that no other attempt of the run has, since build
// servers take two of one name for one: the id stands in it where it says more
// than the title.
func caseName(c *runs.Case) string {
	name := c.Title()
	switch {
	case strings.HasPrefix(c.ID, name):
		name = c.ID
	case c.ID != "":
		name += " [" + c.ID + "]"
	}
	return name + attemptOf(c)
}

// seconds prints a duration as JUnit has it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// transcript returns what was said and done in an attempt, for people.
func transcript(c *runs.Case) string {
	var b strings.Builder
	for n := range c.Turns {
		t := &c.Turns[n]
		if c.Conversation {
			fmt.Fprintf(&b, "── turn %d ──\n", n+1)
		}
		fmt.Fprintf(&b, "user: %s\n", t.Input)
		for _, f := range t.Files {
			fmt.Fprintf(&b, "file: %s %s\n", fileName(f), f.Err)
		}
		for _, call := range t.ToolCalls {
			fmt.Fprintf(&b, "call: %s %s (%s)\n", call.Name, call.Arguments, took(call.Elapsed))
			if call.Err != "" {
				fmt.Fprintf(&b, "error: %s\n", call.Err)
			} else {
				fmt.Fprintf(&b, "result: %s\n", call.Result)
			}
		}
		if t.Answer != "" || t.Status != runs.NotRun {
			fmt.Fprintf(&b, "agent: %s\n", t.Answer)
		}
		for _, check := range t.ToolChecks {
			fmt.Fprintf(&b, "%s %s\n", ink(false).mark(passedIf(check.Matched)), check.Title())
		}
		for _, m := range t.Metrics {
			fmt.Fprintf(&b, "%s %s: %s\n", ink(false).metricMark(m), m.Name, outcome(m))
		}
	}
	return b.String()
}

// attribute returns text as a quoted attribute. Line breaks in it survive.
func attribute(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	// It cannot fail: a strings.Builder takes everything, and what XML has no
	// character for becomes U+FFFD.
	_ = xml.EscapeText(&b, []byte(text))
	b.WriteByte('"')
	return b.String()
}

// xmlText returns text as the content of an element, in which lines stay lines.
func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // see attribute
	return strings.NewReplacer("&#xA;", "\n", "&#x9;", "\t", "&#34;", `"`, "&#39;", "'").Replace(b.String())
}
