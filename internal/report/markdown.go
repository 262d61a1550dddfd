package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// markdown writes a run as the Python edition lays it out: the counts, the
// averages, and every case with its answer, tools, metrics and errors. Texts of
// the agent and of the file are shown as they are: nothing in them is Markdown
// or HTML.
type markdown struct {
	out      sink
	scratch  Scratch
	run      runs.Run
	cases    *held
	failures failures
	number   int
}

// Begin implements Writer.
func (m *markdown) Begin(run runs.Run) (err error) {
	m.run = run
	m.failures.why = mdWhy
	m.cases, err = hold(m.scratch)
	return err
}

// Case implements Writer.
func (m *markdown) Case(c *runs.Case) error {
	m.failures.add(c)
	m.number++
	var b strings.Builder
	fmt.Fprintf(&b, "### %d. %s %s\n\n", m.number, emoji(c.Status), mdLine(title(c)))
	fmt.Fprintf(&b, "%s\n\n", mdLine(strings.Join(caseFacts(c), " · ")))
	for n := range c.Turns {
		if c.Conversation {
			fmt.Fprintf(&b, "#### Turn %d %s\n\n", n+1, emoji(c.Turns[n].Status))
		}
		mdTurn(&b, &c.Turns[n])
	}
	m.cases.print(b.String())
	return m.cases.err
}

// End implements Writer.
func (m *markdown) End(s runs.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Test report: %s\n\n", mdLine(m.run.Agent))
	mdFacts(&b, m.run)
	mdSummary(&b, s)
	mdFailures(&b, &m.failures)
	if m.number > 0 {
		b.WriteString("## Cases\n\n")
	}
	m.out.print(b.String())
	m.cases.moveTo(&m.out)
	m.out.printf("---\n\n%s in %s\n", mdLine(passRate(s)), took(s.Elapsed))
	return m.out.err
}

// caseFacts returns what is known of an attempt beside its turns.
func caseFacts(c *runs.Case) []string {
	list := []string{facts(c)}
	if where := where(c); where != "" {
		list = append(list, where)
	}
	if len(c.Tags) > 0 {
		list = append(list, "tags: "+strings.Join(c.Tags, ", "))
	}
	return list
}

// mdFacts writes what is known of the run as a whole.
func mdFacts(b *strings.Builder, run runs.Run) {
	b.WriteString("| | |\n|---|---|\n")
	row := func(key, value string) { fmt.Fprintf(b, "| %s | %s |\n", mdLine(key), mdLine(value)) }
	row("Agent file", run.Path)
	row("Started", run.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	row("HoloDeck", run.Version)
	for _, key := range environment(run) {
		row(key, run.Environment[key])
	}
	b.WriteString("\n")
}

// environment returns the keys of a run's environment that a person asks for,
// in order: all but the execution section, which is JSON.
func environment(run runs.Run) []string {
	var keys []string
	for key := range run.Environment {
		if key != "execution_config" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// mdSummary writes the counts and the averages of a run.
func mdSummary(b *strings.Builder, s runs.Summary) {
	status := emoji(runs.Passed)
	switch {
	case s.Failed > 0 || s.Finished() < s.Total:
		status = emoji(runs.Failed)
	case s.Passed == 0:
		status = emoji(runs.Unchecked)
	}
	fmt.Fprintf(b, "## %s %s\n\n", status, mdLine(passRate(s)))
	heads, cells := []string{"Cases", "Passed", "Failed", "Unchecked"}, []string{fmt.Sprint(s.Total), fmt.Sprint(s.Passed), fmt.Sprint(s.Failed), fmt.Sprint(s.Unchecked)}
	column := func(head, cell string) { heads, cells = append(heads, head), append(cells, cell) }
	if left := s.Total - s.Finished(); left > 0 {
		column("Not finished", fmt.Sprint(left))
	}
	if rate := s.PassRate(); rate.Of > 0 {
		column("Pass rate", percent(rate.Value)+"%")
		column("95% interval", fmt.Sprintf("%s to %s%%", percent(rate.Low), percent(rate.High)))
	}
	column("Duration", took(s.Elapsed))
	if s.Usage.Total > 0 {
		column("Tokens", fmt.Sprintf("%d in, %d out", s.Usage.Prompt, s.Usage.Completion))
	}
	if s.CostUSD != nil && *s.CostUSD > 0 {
		column("Cost", dollars(*s.CostUSD))
	}
	mdRow(b, heads...)
	b.WriteString(strings.Repeat("|---", len(heads)) + "|\n")
	mdRow(b, cells...)
	b.WriteString("\n")
	if s.Stopped != "" {
		fmt.Fprintf(b, "Stopped: %s\n\n", mdLine(s.Stopped))
	}
	if s.Repeats.Cases() > 0 {
		fmt.Fprintf(b, "Repeated: %s\n\n", mdLine(repeats(s.Repeats)))
	}
	for _, note := range s.Notes {
		fmt.Fprintf(b, "Note: %s\n\n", mdLine(note))
	}
	mdMetrics(b, s.Metrics, unit(s))
}

// mdMetrics writes the averages, and what was skipped.
func mdMetrics(b *strings.Builder, metrics []runs.MetricSummary, unit string) {
	if len(metrics) > 0 {
		b.WriteString("| Metric | Kind | Average | Over | Skipped |\n|---|---|---|---|---|\n")
		for _, m := range metrics {
			mean := "–"
			if m.Attempts > 0 {
				mean = fmt.Sprintf("%.2f", m.Mean)
			}
			mdRow(b, cut(printable(m.Name), excerptLen), string(m.Kind), mean, count(m.Attempts, unit), fmt.Sprint(m.Skipped))
		}
		b.WriteString("\n")
	}
	for _, line := range skipped(metrics) {
		fmt.Fprintf(b, "Skipped: %s\n\n", mdLine(line))
	}
}

// mdFailures writes a table of the cases that failed.
func mdFailures(b *strings.Builder, f *failures) {
	if len(f.list) == 0 {
		return
	}
	b.WriteString("| ❌ Failed | Why |\n|---|---|\n")
	for _, failed := range f.list {
		name := mdLine(failed.title)
		if failed.repeats > 1 {
			name += fmt.Sprintf("<br>%d of %d attempts passed", failed.passed, failed.checked)
		}
		fmt.Fprintf(b, "| %s | %s |\n", name, failed.attempts[0])
	}
	if f.hidden > 0 {
		fmt.Fprintf(b, "| … and %d more | |\n", f.hidden)
	}
	b.WriteString("\n")
}

// mdReasons is how many reasons stand in a row of the table of failures.
const mdReasons = 5

// mdWhy returns why an attempt failed, as a cell of a table.
func mdWhy(c *runs.Case) string {
	list := caseReasons(c)
	left := len(list) - mdReasons
	if left > 0 {
		list = list[:mdReasons]
	}
	for i, why := range list {
		list[i] = mdLine(cut(printable(why), excerptLen))
	}
	if left > 0 {
		list = append(list, fmt.Sprintf("… and %d more", left))
	}
	return strings.Join(list, "<br>")
}

// mdTurn writes a turn: input, answer, tools, metrics, errors.
func mdTurn(b *strings.Builder, t *runs.Turn) {
	mdQuote(b, "Input", t.Input)
	mdFiles(b, t.Files)
	if t.Answer != "" || t.Status != runs.NotRun {
		mdQuote(b, "Answer", t.Answer)
	}
	if len(t.Structured) > 0 {
		mdCode(b, "Structured answer", indented(t.Structured))
	}
	if t.GroundTruth != nil {
		mdQuote(b, "Ground truth", *t.GroundTruth)
	}
	mdTools(b, t)
	if len(t.Metrics) > 0 {
		b.WriteString("| Metric | Score | Threshold | Status | Time | Reason |\n|---|---|---|---|---|---|\n")
		for _, m := range t.Metrics {
			mdRow(b, m.Name, number(m.Score), number(m.Threshold), metricEmoji(m)+" "+metricWord(m), took(m.Elapsed), m.Reason)
		}
		b.WriteString("\n")
	}
	for _, e := range t.Errors {
		fmt.Fprintf(b, "- ❌ %s\n", mdLine(e))
	}
	if len(t.Errors) > 0 {
		b.WriteString("\n")
	}
}

// mdFiles writes the files that went with an input.
func mdFiles(b *strings.Builder, files []runs.File) {
	if len(files) == 0 {
		return
	}
	b.WriteString("| File | Type | Size | Time | Problem |\n|---|---|---|---|---|\n")
	for _, f := range files {
		mdRow(b, fileName(f), string(f.Input.Type), count(int(f.Size), "byte"), took(f.Elapsed), f.Err)
	}
	b.WriteString("\n")
}

// mdTools writes the calls that were made, and the checks of them.
func mdTools(b *strings.Builder, t *runs.Turn) {
	if len(t.ToolCalls) > 0 {
		b.WriteString("| Tool called | Arguments | Result | Time |\n|---|---|---|---|\n")
		for _, call := range t.ToolCalls {
			result := excerpt(call.Result)
			if call.Err != "" {
				result = "❌ " + excerpt(call.Err)
			}
			mdRow(b, call.Name, excerpt(string(call.Arguments)), result, took(call.Elapsed))
		}
		b.WriteString("\n")
	}
	if len(t.ToolChecks) > 0 {
		b.WriteString("| Tool check | Met | Why not |\n|---|---|---|\n")
		for _, check := range t.ToolChecks {
			mdRow(b, check.Title(), emoji(passedIf(check.Matched)), check.Reason)
		}
		b.WriteString("\n")
	}
}

// fileName returns the path or address of a file.
func fileName(f runs.File) string {
	switch {
	case f.Input.Path != nil:
		return *f.Input.Path
	case f.Input.URL != nil:
		return *f.Input.URL
	}
	return ""
}

// number returns a score or threshold, or a dash.
func number(f *float64) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *f)
}

// emoji is the sign of how a case or turn ended, as the Python edition has it.
func emoji(s runs.Status) string {
	switch s {
	case runs.Passed:
		return "✅"
	case runs.Unchecked:
		return "⚪"
	}
	return "❌"
}

func metricEmoji(m runs.Metric) string {
	if !m.Counts {
		return emoji(runs.Unchecked)
	}
	return emoji(passedIf(!m.Failed()))
}

// metricWord is how a metric ended, in words.
func metricWord(m runs.Metric) string { return strings.ReplaceAll(string(m.Status), "_", " ") }

// mdRow writes a row of a table.
func mdRow(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + mdLine(cell) + " ")
	}
	b.WriteString("|\n")
}

// mdQuote writes a text as a quotation under a label.
func mdQuote(b *strings.Builder, label, text string) {
	fmt.Fprintf(b, "**%s**\n\n", label)
	if strings.TrimSpace(text) == "" {
		b.WriteString("_(empty)_\n\n")
		return
	}
	lines := strings.Split(visible(strings.TrimRightFunc(text, unicode.IsSpace)), "\n")
	for i, line := range lines {
		quoted := mdLine(line)
		// Without the sign for it, a single line break would be a blank.
		if i+1 < len(lines) && quoted != "" && strings.TrimSpace(lines[i+1]) != "" {
			quoted += "\\"
		}
		b.WriteString(strings.TrimRight("> "+quoted, " ") + "\n")
	}
	b.WriteString("\n")
}

// mdCode writes a text as code under a label.
func mdCode(b *strings.Builder, label, text string) {
	text = visible(text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "**%s**\n\n%sjson\n%s\n%s\n\n", label, fence, text, fence)
}

// mdLine returns text on one line, in which Markdown finds nothing to act on.
func mdLine(text string) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\`*_[]<>&|~#$", r) || i == 0 && strings.ContainsRune("-+=", r) {
			b.WriteByte('\\')
		}
		// "1. " and "1) " begin a list.
		if (r == '.' || r == ')') && i > 0 && strings.Trim(text[:i], "0123456789") == "" && (i+1 == len(text) || text[i+1] == ' ') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// visible returns text without anything that moves a cursor or the direction of
// the text; lines stay lines.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return -1
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
