package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// junit writes a run as JUnit's XML: one suite, one testcase a case, with the
// verdict of its pass rule. A case that fails is a failure, or an error where
// nothing but a metric's own error fails it; one that was not checked is skipped,
// as is one of which attempts are missing. The output of a testcase is the
// transcript of its attempts.
type junit struct {
	out      sink
	scratch  Scratch
	run      runs.Run
	cases    *held
	verdicts runs.Summary
	open     *testcase // some of its attempts are still to come
	counts   struct{ tests, failures, errors, skipped int }
}

// testcase is a case as far as its attempts have come.
type testcase struct {
	index, repeats   int
	finished, failed int // of its attempts
	name             string
	rule             string // its pass rule
	file             string // where it stands; empty when that is not known
	line             int
	elapsed          time.Duration   // of all attempts
	first            string          // why the first attempt that failed did
	why              []string        // every reason
	output           strings.Builder // the transcripts
}

// Begin implements Writer.
func (j *junit) Begin(run runs.Run) (err error) {
	j.run = run
	j.cases, err = hold(j.scratch)
	return err
}

// Case implements Writer.
func (j *junit) Case(c *runs.Case) error {
	if j.open != nil && j.open.index != c.Index {
		j.unfinished()
	}
	if j.open == nil {
		j.open = &testcase{
			index: c.Index, repeats: max(c.Repeats, 1), name: caseName(c), rule: cmp.Or(string(c.PassRule), "all"),
			file: filepath.ToSlash(c.Pos.File), line: c.Pos.Line,
		}
	}
	j.open.add(c)
	errorsBefore := j.verdicts.MetricErrors
	verdict, done := j.verdicts.Add(c)
	if !done {
		return j.cases.err
	}
	t := j.open
	switch verdict {
	case runs.Passed:
		j.write("")
	case runs.Unchecked:
		j.skip("nothing was checked")
	default:
		element := "failure"
		if j.verdicts.MetricErrors > errorsBefore {
			element = "error"
			j.counts.errors++
		} else {
			j.counts.failures++
		}
		message := t.first
		if t.repeats > 1 {
			message = fmt.Sprintf("%d of %d attempts failed (pass_rule: %s): %s", t.failed, t.finished, t.rule, t.first)
		}
		j.write(fmt.Sprintf("      <%s type=\"%s\" message=%s>%s</%s>\n", element, verdict, attribute(message), xmlText(strings.Join(t.why, "\n")), element))
	}
	return j.cases.err
}

// add takes an attempt at the case.
func (t *testcase) add(c *runs.Case) {
	t.finished++
	t.elapsed += c.Elapsed
	attempt := ""
	if t.repeats > 1 {
		attempt = fmt.Sprintf("attempt %d of %d: ", c.Attempt, t.repeats)
		fmt.Fprintf(&t.output, "── %s%s ──\n", attempt, c.Status)
	}
	if c.Status == runs.Failed {
		why := caseReasons(c)
		if len(why) == 0 {
			why = []string{"failed"}
		}
		if t.failed++; t.failed == 1 {
			t.first = cut(why[0], reasonLen)
		}
		for _, reason := range why {
			t.why = append(t.why, attempt+reason)
			if t.repeats > 1 { // the rule may let the case pass, and no failure tells of them
				fmt.Fprintf(&t.output, "%s %s\n", ink(false).mark(runs.Failed), reason)
			}
		}
	}
	t.output.WriteString(transcript(c))
}

// unfinished writes the open case, of which attempts are missing.
func (j *junit) unfinished() {
	j.skip(fmt.Sprintf("%d of %d attempts have finished", j.open.finished, j.open.repeats))
}

// skip writes the open case as skipped.
func (j *junit) skip(why string) {
	j.counts.skipped++
	j.write(fmt.Sprintf("      <skipped message=%s/>\n", attribute(why)))
}

// write writes the open case with an element that says how it ended, which is
// empty for one that passed.
func (j *junit) write(result string) {
	t := j.open
	j.open = nil
	j.counts.tests++
	w := &j.cases.sink
	w.printf("    <testcase classname=%s name=%s time=\"%s\"", attribute(j.run.Agent), attribute(t.name), seconds(t.elapsed))
	if t.file != "" {
		w.printf(" file=%s line=\"%d\"", attribute(t.file), t.line)
	}
	w.print(">\n" + result)
	w.printf("      <system-out>%s</system-out>\n    </testcase>\n", xmlText(t.output.String()))
}

// End implements Writer.
func (j *junit) End(s runs.Summary) error {
	if j.open != nil {
		j.unfinished()
	}
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
	for _, note := range s.Notes {
		property("note", note)
	}
	j.out.print("    </properties>\n")
	j.cases.moveTo(&j.out)
	j.out.print("  </testsuite>\n</testsuites>\n")
	return j.out.err
}

// caseName returns a name that no other case of the run has, since build
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
	return name
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
