package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const keptAgent = `name: Kept
instructions: {inline: Be brief.}
model:
  provider: offline
  name: scripted
  api_key: "${TEST_API_KEY}"
  script:
    - when: {user: secret}
      do: [{text: "hunter2-hunter2"}]
    - do: [{text: Hello.}]
evaluations: {metrics: [{metric: contains}]}
test_cases:
  - {name: one, input: hello, ground_truth: Hello}
  - {name: two, input: a secret, ground_truth: Hello}
`

// desk is an agent in a folder of its own.
type desk struct {
	t   *testing.T
	dir string
	out bytes.Buffer
	err bytes.Buffer
	in  string
}

func newDesk(t *testing.T, agent string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	d.write(agent)
	return d
}

func (d *desk) write(agent string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "agent.yaml"), []byte(agent), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// run runs a command and requires an exit code.
func (d *desk) run(code int, args ...string) string {
	d.t.Helper()
	return d.runIn(context.Background(), code, args...)
}

func (d *desk) runIn(ctx context.Context, code int, args ...string) string {
	d.t.Helper()
	d.out.Reset()
	d.err.Reset()
	got := run(ctx, args, Process{
		Version: "1.2.3", Stdin: strings.NewReader(d.in), Stdout: &d.out, Stderr: &d.err,
		Environ: []string{"TEST_API_KEY=hunter2-hunter2"}, Home: d.t.TempDir(), WorkDir: d.dir,
	})
	if got != code {
		d.t.Fatalf("holodeck %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, d.out.String(), d.err.String())
	}
	return d.out.String()
}

// stored returns the files of the runs that are kept.
func (d *desk) stored() []string {
	d.t.Helper()
	list, err := filepath.Glob(filepath.Join(d.dir, "results", "kept", "*.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

func TestTheStoredRunSaysHowItWasMade(t *testing.T) {
	d := newDesk(t, keptAgent)
	d.run(exitFailed, "test", d.dir, "--timeout", "9", "--output", filepath.Join(d.dir, "hunter2-hunter2.json"))
	files := d.stored()
	if len(files) != 1 {
		t.Fatalf("the runs are %v", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Report struct {
			Timestamp   string            `json:"timestamp"`
			Environment map[string]string `json:"environment"`
		} `json:"report"`
		Metadata struct {
			Version string   `json:"holodeck_version"`
			Args    []string `json:"cli_args"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if args := doc.Metadata.Args; len(args) != 6 || args[0] != "test" || !strings.HasSuffix(args[5], "[redacted].json") {
		t.Errorf("the command line is %q", args)
	}
	if name := strings.ReplaceAll(doc.Report.Timestamp, ":", "-") + ".json"; filepath.Base(files[0]) != name {
		t.Errorf("the run of %s is in %s", doc.Report.Timestamp, files[0])
	}
	if doc.Metadata.Version != "1.2.3" || doc.Report.Environment["runtime"] != "agent_framework" {
		t.Errorf("it says %+v", doc)
	}
	// Whatever is written by a run, the secret is in none of it.
	err = filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "agent.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A run that is interrupted is kept as far as it got, and goes on only with the
// agent that it began with.
func TestResumeRefusesAnotherAgent(t *testing.T) {
	const agent = `name: Kept
instructions: {inline: Be brief.}
model:
  provider: offline
  name: scripted
  script:
    - when: {user: hang}
      do: [{block: true}]
    - do: [{text: Hello.}]
test_cases:
  - {name: first, input: hello, ground_truth: Hello, evaluations: [{metric: contains}]}
  - {name: second, input: hang}
  - {name: third, input: hello, ground_truth: Bye, evaluations: [{metric: contains}]}
`
	d := newDesk(t, agent)
	ctx, cancel := context.WithCancelCause(context.Background())
	out := &watcher{text: "PASS first", then: func() { cancel(interrupted{os.Interrupt}) }}
	var errs bytes.Buffer
	code := run(ctx, []string{"test", d.dir, "--parallel-test-cases", "1"}, Process{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: &errs, Home: t.TempDir(), WorkDir: d.dir,
	})
	if code != exitInterrupt || !strings.Contains(errs.String(), "this run is kept in ") {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	files := d.stored()
	if list := d.run(exitOK, "runs", "list", d.dir); !strings.Contains(list, "interrupted  1 of 3  1 ") {
		t.Errorf("listed\n%s", list)
	}

	for _, change := range []struct{ old, new, section string }{
		{"Be brief.", "Be long.", "instructions"},
		{"block: true", "text: Here.", "model"},
		{"name: third, input: hello", "name: third, input: hello again", "test_cases"},
	} {
		d.write(strings.Replace(agent, change.old, change.new, 1))
		d.run(exitUsage, "test", d.dir, "--resume")
		if said := d.err.String(); !strings.Contains(said, "agent.yaml has changed since the run") || !strings.Contains(said, "its "+change.section+" differ") || strings.Contains(said, "going on") {
			t.Errorf("said %s", said)
		}
	}
	if after := d.stored(); !slices.Equal(after, files) {
		t.Errorf("the runs are now %v", after)
	}
}

func TestResumeFinishesTheRestAndRepeatsNothing(t *testing.T) {
	d := newDesk(t, `name: Kept
instructions: {inline: Be brief.}
model: {provider: offline, name: scripted, script: [{do: [{delay_ms: 20}, {text: Hello.}]}]}
evaluations: {metrics: [{metric: contains}]}
test_cases:
  - {name: first, input: hello 1, ground_truth: Hello}
  - {name: second, input: hello 2, ground_truth: Bye}
  - {name: third, input: hello 3, ground_truth: Hello}
  - {name: fourth, input: hello 4, ground_truth: Bye}
`)
	ctx, cancel := context.WithCancelCause(context.Background())
	out := &watcher{text: "FAIL second", then: func() { cancel(interrupted{os.Interrupt}) }}
	if code := run(ctx, []string{"test", d.dir, "--parallel-test-cases", "1"}, Process{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: &bytes.Buffer{}, Home: t.TempDir(), WorkDir: d.dir,
	}); code != exitInterrupt {
		t.Fatalf("exit code %d", code)
	}
	report := filepath.Join(d.dir, "report.json")
	printed := d.run(exitFailed, "test", d.dir, "--resume", "--output", report)
	if strings.Contains(printed, "PASS first") || strings.Contains(printed, "] FAIL second") || !strings.Contains(printed, "/2] PASS third") {
		t.Errorf("ran\n%s", printed)
	}
	for _, want := range []string{"1. ✗ second", "2. ✗ fourth", "Test Results: 2/4 passed"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not in\n%s", want, printed)
		}
	}
	if !strings.Contains(d.err.String(), "2 of 4 attempts at cases have finished") {
		t.Errorf("said %s", d.err.String())
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"test_name"`); n != 4 {
		t.Errorf("the report has %d cases", n)
	}
	if files := d.stored(); len(files) != 1 {
		t.Errorf("the runs are %v", files)
	}
	d.run(exitUsage, "test", d.dir, "--resume")
	if !strings.Contains(d.err.String(), "every run of this agent is finished") {
		t.Errorf("said %s", d.err.String())
	}
	d.run(exitUsage, "test", d.dir, "--resume=latest")
	if !strings.Contains(d.err.String(), "is finished; leave out --resume") {
		t.Errorf("said %s", d.err.String())
	}
	d.run(exitUsage, "test", d.dir, "--resume=2020")
	d.run(exitUsage, "test", d.dir, "--resume", "--limit", "1")
	if !strings.Contains(d.err.String(), "--resume and --limit do not go together") {
		t.Errorf("said %s", d.err.String())
	}
}

// A run of --offline goes on as one, whether that is said again or not.
func TestResumeRemembersOffline(t *testing.T) {
	d := newDesk(t, `name: Kept
instructions: {inline: Be brief.}
model: {provider: openai, name: gpt-4o}
test_cases: [{name: first, input: hello}, {name: second, input: hello again}]
`)
	ctx, cancel := context.WithCancelCause(context.Background())
	out := &watcher{text: "UNCHECKED first", then: func() { cancel(interrupted{os.Interrupt}) }}
	code := run(ctx, []string{"test", d.dir, "--offline", "--parallel-test-cases", "1"}, Process{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: &bytes.Buffer{}, Home: t.TempDir(), WorkDir: d.dir,
	})
	if code == exitInterrupt { // otherwise the second was faster than the signal
		d.run(exitOK, "test", d.dir, "--resume")
	}
	if list := d.run(exitOK, "runs", "list", d.dir); strings.Count(list, "\n") != 2 || !strings.Contains(list, "finished") {
		t.Errorf("listed\n%s", list)
	}
}

// Trap T19: a report that cannot be written costs that report, and not the run.
func TestTrapT19AReportThatFailsLosesNoRun(t *testing.T) {
	d := newDesk(t, keptAgent)
	report := filepath.Join(d.dir, "report.md")
	out := &watcher{text: "PASS one", then: func() {
		if err := os.Mkdir(report, 0o755); err != nil { // a folder takes its place
			t.Error(err)
		}
	}}
	var errs bytes.Buffer
	code := run(context.Background(), []string{"test", d.dir, "--output", report}, Process{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: &errs, Environ: []string{"TEST_API_KEY=hunter2-hunter2"}, Home: t.TempDir(), WorkDir: d.dir,
	})
	if code != exitNotCarried || !strings.Contains(errs.String(), "report.md") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if files := d.stored(); len(files) != 1 || !strings.Contains(errs.String(), "this run is kept in ") {
		t.Errorf("the runs are %v: %s", files, errs.String())
	}
	if shown := d.run(exitOK, "runs", "show", d.dir); !strings.Contains(shown, "Test Results: 1/2 passed") {
		t.Errorf("shown\n%s", shown)
	}
}

// A line that was damaged costs its case, which runs again, and nothing else.
func TestResumeAfterDamage(t *testing.T) {
	d := newDesk(t, keptAgent)
	d.run(exitFailed, "test", d.dir, "--parallel-test-cases", "1")
	journals, err := filepath.Glob(filepath.Join(d.dir, "results", "kept", ".holodeck", "*", "journal.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	text, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	damaged := lines[0] + "\x00\x00\x00\n" + lines[2] + `{"type":"ca` // and its end is torn off
	if err := os.WriteFile(journals[0], []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := d.run(exitFailed, "test", d.dir, "--resume")
	if !strings.Contains(printed, "[Test 1/1] PASS one") || !strings.Contains(printed, "Test Results: 1/2 passed") {
		t.Errorf("printed\n%s", printed)
	}
	if said := d.err.String(); !strings.Contains(said, "1 line of ") || !strings.Contains(said, "journal.jsonl cannot be read; what stood there runs again") {
		t.Errorf("said %s", said)
	}
	if list := d.run(exitOK, "runs", "list", d.dir); !strings.Contains(list, "finished  2 ") {
		t.Errorf("listed\n%s", list)
	}
}
