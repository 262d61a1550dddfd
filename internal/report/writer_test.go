package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// every is every format of a file.
var every = []report.Format{report.JSON, report.Markdown, report.JUnit, report.HTML, report.CSV, report.JSONL}

func demo() runs.Run {
	return runs.Run{
		Agent: "demo", Path: "agents/demo", Version: "1.2.3",
		Started:     time.Date(2026, 4, 18, 14, 22, 9, 812_345_000, time.UTC),
		Environment: map[string]string{"runtime": "agent_framework", "offline": "true", "execution_config": "{}"},
	}
}

// whole is cases, with what only some cases have: a place in the file, tags,
// files, context, and a case that ran three times.
func whole() []*runs.Case {
	list := cases()
	for _, c := range list {
		c.Attempt, c.Repeats = 1, 1
	}
	list[0].ID, list[0].Tags, list[0].Pos = "hours", []string{"smoke", "hours"}, config.Pos{File: "agents/demo/agent.yaml", Line: 12, Column: 5}
	turn := &list[1].Turns[0]
	turn.GroundTruth = new("within 30 days")
	turn.RetrievalContext = []string{"Returns are free."}
	turn.Files = []runs.File{
		{Input: config.FileInput{Path: new("order.csv"), Type: "csv"}, Content: "a,b", Size: 3},
		{Input: config.FileInput{URL: new("https://example.com/x.pdf"), Type: "pdf"}, Err: "cannot be fetched"},
	}
	turn.ToolCalls[0].Arguments = json.RawMessage(`{"query":"return","n":12345678901234567890}`)
	turn.ToolCalls[0].Result = "Found 1 result:\n[1] Returns"
	turn.Structured = json.RawMessage(`{"days":30}`)
	for attempt := 1; attempt <= 3; attempt++ {
		c := &runs.Case{
			Index: 4, ID: "greet", Name: "Greeting", Attempt: attempt, Repeats: 3, PassRule: config.PassMajority,
			Status: runs.Passed, Elapsed: time.Duration(attempt) * time.Millisecond,
			Turns: []runs.Turn{{Input: "Hello", Answer: "Hello!", Status: runs.Passed}},
		}
		if attempt == 2 {
			c.Status, c.Turns[0].Status, c.Turns[0].Answer = runs.Failed, runs.Failed, ""
			c.Turns[0].Errors = []string{"the answer is empty; a case that expects that says allow_empty: true"}
		}
		list = append(list, c)
	}
	return list
}

// scratch returns a report.Scratch whose file goes with the test.
func scratch(t testing.TB) report.Scratch {
	return func() (io.ReadWriteSeeker, error) {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err == nil {
			t.Cleanup(func() { f.Close() })
		}
		return f, err
	}
}

// write hands a run to a Writer.
func write(t testing.TB, w report.Writer, run runs.Run, list ...*runs.Case) {
	t.Helper()
	s := runs.Summary{Total: 5, Elapsed: 1500 * time.Millisecond}
	if err := w.Begin(run); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		s.Add(c)
		if err := w.Case(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(s); err != nil {
		t.Fatal(err)
	}
}

func written(t testing.TB, f report.Format, list ...*runs.Case) string {
	t.Helper()
	var out strings.Builder
	write(t, report.New(f, &out, scratch(t)), demo(), list...)
	return out.String()
}

// The forms that people and build servers read are what the golden files show.
func TestGoldenReports(t *testing.T) {
	for f, name := range map[report.Format]string{
		report.Markdown: "report.md", report.JUnit: "report.xml", report.CSV: "report.csv", report.JSONL: "report.jsonl",
	} {
		golden := filepath.Join("testdata", name)
		got := written(t, f, whole()...)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("the report is not %s any more:\n%s", golden, got)
		}
	}
}

func TestAReportOfNothing(t *testing.T) {
	for _, f := range every {
		if got := written(t, f); got == "" || strings.Contains(got, "NaN") {
			t.Errorf("%s: got %q", f, got)
		}
	}
}

func TestFormatsByNameAndEnding(t *testing.T) {
	for name, want := range map[string]report.Format{
		"json": report.JSON, "markdown": report.Markdown, "md": report.Markdown, "junit": report.JUnit, "xml": report.JUnit,
		"html": report.HTML, "HTM": report.HTML, "csv": report.CSV, "jsonl": report.JSONL, "ndjson": report.JSONL,
	} {
		if got, err := report.ParseFormat(name); err != nil || got != want {
			t.Errorf("ParseFormat(%q) is %q, %v", name, got, err)
		}
		if got, err := report.FormatOf("out/report." + name); err != nil || got != want {
			t.Errorf("FormatOf(report.%s) is %q, %v", name, got, err)
		}
	}
	if _, err := report.ParseFormat("pdf"); err == nil || !strings.Contains(err.Error(), "json, markdown, junit, html, csv, jsonl") {
		t.Errorf("an unknown name: %v", err)
	}
	for _, path := range []string{"report", "report.pdf", "json", "x."} {
		if _, err := report.FormatOf(path); err == nil || !strings.Contains(err.Error(), "--format") {
			t.Errorf("FormatOf(%q): %v", path, err)
		}
	}
}

// hostile are texts that mean something to one form or another.
var hostile = []string{
	"</script><script>alert(1)</script><img src=http://canary.invalid/x onerror=alert(1)>",
	"<!--<script>", "]]>", "&lt;b&gt;", "\x1b[31mred\x1b[0m\x00\x08\ufffe", "bad \xff utf-8", "line one\nline two\r\n\n# heading\n- item\n1. one\n    code\n```\nfence\n```",
	"| a | b |\n|---|---|", "[link](http://canary.invalid) ![i](http://canary.invalid) `code` **bold** $x$ ~~s~~ <b>", "=cmd|' /C calc'!A0", "@SUM(1)", "-2+3", "\u202eevil\u2028\u2029",
	`"quoted", with, commas`, "::error::injected\n::add-mask::x", "%0A,:", strings.Repeat("long ", 4000),
}

// hostileCase has a text wherever a case can have one.
func hostileCase(index int, text string) *runs.Case {
	return &runs.Case{
		Index: index, ID: text, Name: text, Tags: []string{text}, Status: runs.Failed, Conversation: true,
		Pos: config.Pos{File: text, Line: 3},
		Turns: []runs.Turn{{
			Input: text, Answer: text, GroundTruth: &text, Status: runs.Failed, Errors: []string{text}, RetrievalContext: []string{text},
			Structured: json.RawMessage(text), StopReason: agent.StopReason(text),
			Files:      []runs.File{{Input: config.FileInput{Path: &text}, Content: text, Err: text}},
			ToolCalls:  []runs.ToolCall{{Name: text, Arguments: json.RawMessage(text), Result: text, Err: text}},
			ToolChecks: []runs.ToolCheck{{Expected: config.ExpectedTool{Name: text}, Reason: text}},
			Metrics:    []runs.Metric{{Name: text, Status: runs.MetricFail, Counts: true, Score: new(0.0), Reason: text}},
		}},
	}
}

func TestJUnitIsXMLWhateverTheTexts(t *testing.T) {
	var list []*runs.Case
	for i, text := range hostile {
		list = append(list, hostileCase(i, text))
	}
	got := written(t, report.JUnit, append(list, whole()...)...)
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suite    struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
				Output  string    `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	dec := xml.NewDecoder(strings.NewReader(got))
	dec.Strict = true
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	n := len(hostile)
	if doc.Tests != n+5 || doc.Failures != n+2 || doc.Errors != 0 || doc.Skipped != 1 || len(doc.Suite.Cases) != n+5 {
		t.Errorf("counts are %+v", doc)
	}
	names := map[string]bool{}
	for _, c := range doc.Suite.Cases {
		if names[c.Name] {
			t.Errorf("two test cases are called %q", c.Name)
		}
		names[c.Name] = true
	}
	for _, want := range []string{"user: line one\nline two", "result: Found 1 result:\n[1] Returns", "── turn 2 ──"} {
		if !strings.Contains(strings.ReplaceAll(got, "\r", ""), want) {
			t.Errorf("there is no %q in the transcripts", want)
		}
	}
}

// A case that nothing but a metric's own error fails is an error, not a failure.
func TestJUnitTellsErrorsFromFailures(t *testing.T) {
	c := &runs.Case{Name: "x", Status: runs.Failed, Turns: []runs.Turn{{
		Status: runs.Failed, Metrics: []runs.Metric{{Name: "judge", Status: runs.MetricError, Counts: true, Reason: "no answer"}},
	}}}
	got := written(t, report.JUnit, c)
	if !strings.Contains(got, `<error type="failed" message="judge: ERROR, no answer">`) || !strings.Contains(got, `failures="0" errors="1"`) {
		t.Errorf("got\n%s", got)
	}
}

// Several attempts are one test case, which has the verdict of the pass rule.
func TestJUnitHasTheVerdictOfThePassRule(t *testing.T) {
	attempts := func(rule config.PassRule, repeats int, statuses ...runs.Status) []*runs.Case {
		var list []*runs.Case
		for i, status := range statuses {
			c := &runs.Case{Name: "x", Attempt: i + 1, Repeats: repeats, PassRule: rule, Status: status, Elapsed: time.Second,
				Turns: []runs.Turn{{Input: "hi", Answer: "there", Status: status}}}
			if status == runs.Failed {
				c.Turns[0].Errors = []string{"it broke"}
			}
			list = append(list, c)
		}
		return list
	}
	for _, tt := range []struct {
		name  string
		cases []*runs.Case
		want  []string
	}{
		{"passed by its rule", attempts(config.PassAny, 2, runs.Failed, runs.Passed), []string{
			`tests="1" failures="0" errors="0" skipped="0"`, `name="x" time="2.000"`, "── attempt 1 of 2: failed ──\n✗ it broke\nuser: hi\n", "── attempt 2 of 2: passed ──"}},
		{"failed by its rule", attempts("", 2, runs.Failed, runs.Passed), []string{
			`tests="1" failures="1" errors="0" skipped="0"`, `message="1 of 2 attempts failed (pass_rule: all): it broke">attempt 1 of 2: it broke</failure>`}},
		{"unchecked", attempts("", 2, runs.Unchecked, runs.Unchecked), []string{`skipped="1"`, `message="nothing was checked"`}},
		{"cut short", attempts("", 3, runs.Passed, runs.Passed), []string{
			`tests="1" failures="0" errors="0" skipped="1"`, `<skipped message="2 of 3 attempts have finished"/>`}},
	} {
		got := written(t, report.JUnit, tt.cases...)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: there is no %s in\n%s", tt.name, want, got)
			}
		}
	}
}

func TestCSVIsATableWhateverTheTexts(t *testing.T) {
	var list []*runs.Case
	for i, text := range hostile {
		list = append(list, hostileCase(i, text))
	}
	rows, err := csv.NewReader(strings.NewReader(written(t, report.CSV, list...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+3*len(hostile) { // an error, a tool and a metric each
		t.Fatalf("%d rows", len(rows))
	}
	answer := -1
	for i, name := range rows[0] {
		if name == "answer" {
			answer = i
		}
	}
	for _, row := range rows[1:] {
		for i, text := range row {
			if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
				t.Errorf("a spreadsheet would run column %s: %q", rows[0][i], text)
			}
		}
	}
	for i, text := range hostile {
		if got := strings.TrimPrefix(rows[1+3*i][answer], "'"); got != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("the answer %q became %q", text, got)
		}
	}
	numbers := &runs.Case{Turns: []runs.Turn{{Answer: "-5"}, {Answer: "+1.5e3"}}}
	if got := written(t, report.CSV, numbers); !strings.Contains(got, ",-5,") || !strings.Contains(got, ",+1.5e3,") {
		t.Errorf("a number is no formula:\n%s", got)
	}
}

// In JSON Lines everything that is known of a case is there.
func TestJSONLHoldsTheWholeCase(t *testing.T) {
	list := whole()
	lines := strings.Split(strings.TrimSpace(written(t, report.JSONL, list...)), "\n")
	if len(lines) != len(list)+2 {
		t.Fatalf("%d lines", len(lines))
	}
	var first, last struct {
		Schema string `json:"schema"`
		Type   string `json:"type"`
		Agent  string `json:"agent"`
		Passed int    `json:"passed"`
		Failed int    `json:"failed"`
	}
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &first), json.Unmarshal([]byte(lines[len(lines)-1]), &last)); err != nil {
		t.Fatal(err)
	}
	if first.Schema != "holodeck.run/v1" || first.Type != "run" || first.Agent != "demo" || last.Type != "end" || last.Passed != 2 || last.Failed != 2 {
		t.Errorf("begins with %+v and ends with %+v", first, last)
	}
	for i, want := range list {
		var got struct {
			Type string `json:"type"`
			runs.Case
		}
		if err := json.Unmarshal([]byte(lines[i+1]), &got); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got.Case)
		b, _ := json.Marshal(want)
		if got.Type != "case" || !bytes.Equal(a, b) {
			t.Errorf("line %d is\n%s\nwant\n%s", i+2, a, b)
		}
	}
}

// Trap T19: a report with an object of expected_tools that does not match is
// written as any other.
func TestTrapT19ObjectsInExpectedTools(t *testing.T) {
	c := &runs.Case{Name: "x", Status: runs.Failed, Turns: []runs.Turn{{
		Status: runs.Failed,
		ToolChecks: []runs.ToolCheck{{
			Expected: config.ExpectedTool{Name: "order", Args: map[string]any{"id": map[string]any{"regex": "A"}}, Count: 2},
			Call:     -1, Reason: "it was not called",
		}},
	}}}
	for _, f := range every {
		if got := written(t, f, c); !strings.Contains(got, "it was not called") {
			t.Errorf("%s does not say why:\n%s", f, got)
		}
	}
}

var errFull = errors.New("no space left")

// full takes some bytes and then no more, as a full disk does.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestEveryWriterTellsOfAFullDisk(t *testing.T) {
	for _, f := range every {
		size := len(written(t, f, whole()...))
		for _, room := range []int{0, size / 2, size - 1} {
			w := report.New(f, &full{left: room}, scratch(t))
			err := w.Begin(demo())
			s := runs.Summary{Total: 5, Elapsed: 1500 * time.Millisecond}
			for _, c := range whole() {
				s.Add(c)
				if err == nil {
					err = w.Case(c)
				}
			}
			if err == nil {
				err = w.End(s)
			}
			if !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d of %d bytes: %v", f, room, size, err)
			}
		}
	}
	noScratch := func() (io.ReadWriteSeeker, error) { return nil, errFull }
	for _, f := range []report.Format{report.Markdown, report.JUnit} {
		if err := report.New(f, io.Discard, noScratch).Begin(demo()); !errors.Is(err, errFull) {
			t.Errorf("%s without a scratch file: %v", f, err)
		}
	}
}

// What a Writer keeps does not depend on how many cases there are.
func TestWritersKeepNoCases(t *testing.T) {
	c := hostileCase(0, `"`+strings.Repeat("words ", 200)+`"`) // JSON as well
	for _, f := range every {
		w := report.New(f, io.Discard, scratch(t))
		if err := w.Begin(demo()); err != nil {
			t.Fatal(err)
		}
		kept := func(n int) int64 {
			for range n {
				if err := w.Case(c); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := kept(2 * report.MaxFailures)
		if grown := kept(1000) - before; grown > 1<<20 {
			t.Errorf("%s keeps %d bytes of 1000 cases", f, grown)
		}
	}
}

func FuzzReports(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := hostileCase(0, text)
		if err := xml.Unmarshal([]byte(written(t, report.JUnit, c)), new(struct{})); err != nil {
			t.Errorf("JUnit: %v", err)
		}
		if _, err := csv.NewReader(strings.NewReader(written(t, report.CSV, c))).ReadAll(); err != nil {
			t.Errorf("CSV: %v", err)
		}
		readPage(t, written(t, report.HTML, c))
		for _, line := range strings.Split(written(t, report.Markdown, c), "\n") {
			if strings.ContainsAny(line, "\x00\x1b\r") {
				t.Errorf("Markdown has a control character in %q", line)
			}
		}
	})
}

func BenchmarkWriters(b *testing.B) {
	list := whole()
	for _, f := range every {
		b.Run(string(f), func(b *testing.B) {
			w := report.New(f, io.Discard, scratch(b))
			if err := w.Begin(demo()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := w.Case(list[i%len(list)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestAttemptsInTheTerminal(t *testing.T) {
	always := whole()[4:]
	got := printed(t, report.Options{}, always...)
	for _, want := range []string{"] PASS Greeting (1 of 3)\n", "] FAIL Greeting (2 of 3)\n", "Test Results: 1/1 passed", "  Repeated: 1 case: 0 stable, 1 flaky, 0 failing; pass@3 100.0%, pass^3 0.0%\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "Failures") {
		t.Errorf("a case that passes by its rule is no failure:\n%s", got)
	}
	for _, c := range always {
		c.PassRule = config.PassAll
	}
	got = printed(t, report.Options{}, always...)
	want := "1. ✗ Greeting (2 of 3 attempts passed)\n   attempt 2\n   asked: Hello\n     ✗ the answer is empty"
	if !strings.Contains(got, want) {
		t.Errorf("there is no\n%s\nin\n%s", want, got)
	}
	var many []*runs.Case
	for attempt := 1; attempt <= 9; attempt++ {
		many = append(many, &runs.Case{Name: "x", Attempt: attempt, Repeats: 9, Status: runs.Failed, Turns: []runs.Turn{{Status: runs.Failed, Errors: []string{"boom"}}}})
	}
	if got := printed(t, report.Options{}, many...); strings.Count(got, "boom") != 3 || !strings.Contains(got, "   … and 6 more attempts\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestAnnotations(t *testing.T) {
	var out strings.Builder
	write(t, report.NewAnnotations(&out), demo(), whole()...)
	want := "::error title=Refund::the turn ended early (max_turns): 20 rounds%0Aexpected tool refund: it was not called; called: kb_search, orders%0A" +
		"contains: 0.00, \"30 days\" is not in the answer%0Anumeric: ERROR, ground_truth is not a number\n" +
		"::error title=Hello::turn 2: not run: the runtime failed in the two turns before\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	var list []*runs.Case
	for i, text := range hostile {
		list = append(list, hostileCase(i, text))
	}
	write(t, report.NewAnnotations(&out), demo(), list...)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 11 || lines[10] != fmt.Sprintf("::notice::%d more cases failed", len(hostile)-10) {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	for _, line := range lines[:10] {
		if !strings.HasPrefix(line, "::error file=") || !strings.Contains(line, ",line=3,title=") {
			t.Errorf("not a command: %q", line)
		}
	}
}

// What an agent says is no command to GitHub Actions.
func TestNoCommandsInTheLog(t *testing.T) {
	text := "##[set-output name=x]y\n::add-mask::z"
	for _, verbose := range []bool{false, true} {
		got := printed(t, report.Options{Actions: true, Verbose: verbose}, hostileCase(0, text))
		for _, line := range strings.Split(got, "\n") {
			if strings.Contains(line, "##[") || strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("a command: %q", line)
			}
		}
	}
}

func TestStepSummary(t *testing.T) {
	var out strings.Builder
	write(t, report.NewStepSummary(&out), demo(), whole()...)
	for _, want := range []string{
		"## demo\n\n## ❌ 2/4 passed (50.0%)\n", "| ❌ Failed | Why |", "| Refund | the turn ended early (max\\_turns): 20 rounds<br>expected tool refund",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	// GitHub drops a summary that is too long.
	out.Reset()
	var list []*runs.Case
	for i := range 500 {
		list = append(list, hostileCase(i, strings.Repeat("[\U0001F600]", 5000)))
	}
	write(t, report.NewStepSummary(&out), demo(), list...)
	if out.Len() > report.MaxStepSummary/2 {
		t.Errorf("the summary has %d bytes", out.Len())
	}
}

// What a person should know of a run as a whole is in every form that has a place
// for it: the Python edition's JSON and the rows of CSV have none.
func TestNotesOfARun(t *testing.T) {
	const note = "MCP server memory is shared, and 2 cases called tools that may change it"
	s := runs.Summary{Total: 1, Passed: 1, Notes: []string{note}}
	for _, f := range []report.Format{report.HTML, report.Markdown, report.JUnit, report.JSONL} {
		var out strings.Builder
		w := report.New(f, &out, scratch(t))
		if err := errors.Join(w.Begin(demo()), w.End(s)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), note) {
			t.Errorf("%v does not say the note:\n%s", f, out.String())
		}
	}
	var out strings.Builder
	if err := report.NewTerminal(report.Options{Out: &out}).End(s); err != nil || !strings.Contains(out.String(), "  Note: "+note+"\n") {
		t.Errorf("the terminal shows %v\n%s", err, out.String())
	}
}
