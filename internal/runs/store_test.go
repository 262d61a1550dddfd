package runs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/runs"
)

const agentFile = `name: Help Desk
instructions: {inline: hi}
model: {provider: offline, name: m, script: [{do: [{text: hi}]}]}
`

// desk is an agent in a folder of its own, with a clock that stands still until
// it is told otherwise.
type desk struct {
	t     testing.TB
	dir   string
	agent *config.Agent
	store *runs.Store
	env   agent.Env
	now   time.Time
	state string // HOLODECK_STATE_DIR
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), now: start()}
	d.agent = d.load(agentFile)
	ids := 0
	d.env = agent.Env{
		Now:   func() time.Time { return d.now },
		NewID: func() string { ids++; return fmt.Sprintf("01K%023d", ids) },
		Rand:  rand.New(rand.NewPCG(1, 2)),
		Log:   slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	d.open()
	return d
}

func (d *desk) open() {
	d.t.Helper()
	store, err := runs.NewStore(d.dir, d.agent.Name, func(name string) string {
		if name != durable.StateVariable {
			d.t.Errorf("%s was asked for", name)
		}
		return d.state
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.store = store
}

// load writes an agent file and loads it. $TOKEN is a secret.
func (d *desk) load(text string) *config.Agent {
	d.t.Helper()
	file := filepath.Join(d.dir, "agent.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	a, problems := config.Load(file, config.Options{Environ: []string{"TOKEN=canary-token-1"}, WorkDir: d.dir})
	if config.HasErrors(problems) {
		d.t.Fatal(problems)
	}
	return a
}

// header is what a command says of a run of n cases.
func (d *desk) header(n int) runs.Header {
	return runs.Header{
		Run:   runs.Run{Agent: d.agent.Name, Path: "agent.yaml", Version: "1.2.3", Started: d.now, Environment: map[string]string{"runtime": "agent_framework"}},
		Args:  []string{"test", "agent.yaml"},
		Cases: n, Attempts: n,
	}
}

func (d *desk) create(n int) *runs.Recorder {
	d.t.Helper()
	r, err := d.store.Create(d.env, d.agent, d.header(n))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { r.Close() })
	return r
}

// run keeps a finished run of those cases.
func (d *desk) run(cases ...*runs.Case) runs.Stored {
	d.t.Helper()
	r := d.create(len(cases))
	s := runs.Summary{Elapsed: 4 * time.Second}
	for _, c := range cases {
		add(d.t, r, c)
		s.Add(c)
	}
	d.now = d.now.Add(s.Elapsed)
	if kept, err := r.Finish(runs.Finished, "", s); err != nil || !kept {
		d.t.Fatal(kept, err)
	}
	if err := r.Close(); err != nil {
		d.t.Fatal(err)
	}
	return r.Stored()
}

func add(t testing.TB, r *runs.Recorder, cases ...*runs.Case) {
	t.Helper()
	for _, c := range cases {
		if err := r.Add(c); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered returns a case with that index and status.
func numbered(index int, status runs.Status) *runs.Case {
	return &runs.Case{
		Index: index, ID: fmt.Sprintf("case-%d", index), Name: fmt.Sprintf("Case %d", index), Attempt: 1, Repeats: 1, Status: status, Started: start(),
		Turns: []runs.Turn{{Input: "?", Answer: "!", Status: status}},
	}
}

// whole returns the three cases of the report's tests as attempts of a run.
func whole() []*runs.Case {
	cases := []*runs.Case{single(), conversation(), unchecked()}
	cases[0].Turns[0].ToolChecks[1].Expected.Args["n"] = json.Number("12345678901234567890") // loading refuses what is not finite
	for i, c := range cases {
		c.ID, c.Attempt, c.Repeats = fmt.Sprintf("case-%d", i), 1, 1
	}
	return cases
}

func open(t *testing.T, s runs.Stored) *runs.Record {
	t.Helper()
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, r *runs.Record) []*runs.Case {
	t.Helper()
	var list []*runs.Case
	for c, err := range r.Each() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// files returns the paths below a folder, without the folder's own.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhereAFinishedRunIs(t *testing.T) {
	d := newDesk(t)
	stored := d.run(numbered(0, runs.Passed))
	const name = "2026-04-18T14-22-09.812345+00-00"
	want := []string{
		"agent.yaml",
		"results/help-desk/.holodeck/" + name + "/config.json",
		"results/help-desk/.holodeck/" + name + "/journal.jsonl",
		"results/help-desk/.holodeck/" + name + "/lock",
		"results/help-desk/" + name + ".json",
	}
	if got := files(t, d.dir); !slices.Equal(got, want) {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
	if got := stored.File(); got != filepath.Join(d.dir, "results", "help-desk", name+".json") {
		t.Errorf("the run is said to be in %s", got)
	}
}

func TestRunsThatBeganAtOnceHaveNamesOfTheirOwn(t *testing.T) {
	d := newDesk(t)
	names := map[string]bool{}
	for range 5 {
		d.now = start()
		names[d.run(numbered(0, runs.Passed)).Name] = true
	}
	// A file of that name that came from elsewhere is not written over either.
	for name := range names {
		if rest, ok := strings.CutPrefix(name, "2026-04-18T14-22-09.812345+00-00"); !ok || len(rest) != 0 && (len(rest) != 5 || rest[0] != '-' || strings.Trim(rest[1:], "0123456789abcdef") != "") {
			t.Errorf("a run is called %s", name)
		}
	}
	if len(names) != 5 {
		t.Errorf("5 runs have the names %v", names)
	}
	other := newDesk(t)
	folder := filepath.Join(other.dir, "results", "help-desk")
	foreign := filepath.Join(folder, "2026-04-18T14-22-09.812345+00-00.json")
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(foreign, []byte("{}"), 0o644)); err != nil {
		t.Fatal(err)
	}
	stored := other.run(numbered(0, runs.Passed))
	if text, err := os.ReadFile(foreign); string(text) != "{}" || err != nil || stored.File() == foreign {
		t.Errorf("the file of another run is now %s, %v", text, err)
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Help Desk":      "help-desk",
		"--a__b  (C)--":  "a-b-c",
		"naïve café 2":   "na-ve-caf-2",
		"../../etc":      "etc",
		"CON":            "con",
		"ヘルプ":            "agent-306728",
		"помощь":         "agent-e70d45",
		"a-b--c":         "a-b-c",
		"x/y\\z":         "x-y-z",
		"already-a-slug": "already-a-slug",
	} {
		if got := runs.Slug(name); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
}

// What finished is in the journal when Add returns, whatever becomes of the
// process, and reads back as it was, in the order of the file.
func TestAJournalHoldsWhatFinished(t *testing.T) {
	d := newDesk(t)
	r := d.create(4)
	cases := whole()
	add(t, r, cases[2], cases[0], cases[1])

	record := open(t, r.Stored())
	if record.State != runs.Running {
		t.Errorf("the run is said to be %s while it is under way", record.State)
	}
	if err := r.Close(); err != nil { // what the end of a process does
		t.Fatal(err)
	}
	record = open(t, r.Stored())
	if record.State != runs.Killed || record.Cases != 4 || record.Failed != 2 || record.Unchecked != 1 || record.ID != "01K00000000000000000000001" {
		t.Errorf("the run is %+v", record.Overview)
	}
	if record.Elapsed != 3*time.Second { // until the last of them finished
		t.Errorf("it took %s", record.Elapsed)
	}
	for i, got := range read(t, record) {
		if a, b := toJSON(t, got), toJSON(t, cases[i]); a != b {
			t.Errorf("case %d came back as\n%s\nand was\n%s", i, a, b)
		}
		if (got.Turns[0].ToolChecks == nil) != (cases[i].Turns[0].ToolChecks == nil) {
			t.Errorf("case %d: no checks and an empty list of checks are not told apart", i)
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestResumeGoesOnBehindWhatFinished(t *testing.T) {
	d := newDesk(t)
	r := d.create(3)
	add(t, r, numbered(1, runs.Passed))
	d.now = d.now.Add(10 * time.Second)
	if _, err := r.Finish(runs.Interrupted, "interrupted by canary-token-1", runs.Summary{Passed: 1, Elapsed: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if record := open(t, r.Stored()); record.State != runs.Interrupted || record.Elapsed != 10*time.Second || record.Reason == "" {
		t.Errorf("the run is %+v", record)
	}
	stored, err := os.ReadFile(r.Stored().File())
	if err != nil || !bytes.Contains(stored, []byte(`"total_tests": 1`)) {
		t.Errorf("what finished before the interruption is not stored: %v\n%s", err, stored)
	}

	d.now = d.now.Add(time.Hour)
	again, err := runs.Resume(d.env, d.agent, r.Stored())
	if err != nil {
		t.Fatal(err)
	}
	if c, err := again.Earlier(1, 1); err != nil || c == nil || c.ID != "case-1" {
		t.Errorf("the case that finished is %v, %v", c, err)
	}
	if c, err := again.Earlier(0, 1); err != nil || c != nil {
		t.Errorf("a case that did not is %v, %v", c, err)
	}
	if again.Header().Cases != 3 || again.Header().ID != open(t, r.Stored()).ID {
		t.Errorf("the header is %+v", again.Header())
	}
	add(t, again, numbered(2, runs.Failed), numbered(0, runs.Passed))
	if again.Done() != 1 || again.Before() != 10*time.Second {
		t.Errorf("before, %d cases finished within %s", again.Done(), again.Before())
	}
	if _, err := again.Finish(runs.Finished, "", runs.Summary{Passed: 2, Failed: 1, Elapsed: again.Before() + 5*time.Second}); err != nil {
		t.Fatal(err)
	}
	again.Close()

	record := open(t, r.Stored())
	if record.State != runs.Finished || record.Elapsed != 15*time.Second || record.Passed != 2 || record.Failed != 1 {
		t.Errorf("the run is %+v", record.Overview)
	}
	var order []int
	for _, c := range read(t, record) {
		order = append(order, c.Index)
	}
	if !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("its cases are %v", order)
	}
	if list, err := d.store.List(); err != nil || len(list) != 1 {
		t.Errorf("there are %d runs, %v", len(list), err)
	}
}

// A process that is killed can leave half a line, a system that crashes can
// leave anything. What stands before and behind it is not lost.
func TestADamagedJournalIsReadAsFarAsItGoes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		damage  func(lines []string) string
		left    []int
		damaged bool
	}{
		{"half a last line", func(l []string) string { return l[0] + l[1] + l[2] + l[3][:len(l[3])/2] }, []int{0, 1}, false},
		{"a last line without its end", func(l []string) string { return l[0] + l[1] + l[2] + strings.TrimSuffix(l[3], "\n") }, []int{0, 1}, false},
		{"zeros", func(l []string) string { return strings.Join(l, "") + "\x00\x00\x00\x00" }, []int{0, 1, 2}, false},
		{"zeros and a line", func(l []string) string { return l[0] + l[1] + "\x00\x00\x00\n" + l[3] }, []int{0, 2}, true},
		{"a line of another kind", func(l []string) string { return l[0] + l[1] + "[1, 2]\n" + l[2] + l[3] }, []int{0, 1, 2}, true},
		{"a later kind of line", func(l []string) string { return l[0] + l[1] + `{"type":"mood"}` + "\n" + l[2] + l[3] }, []int{0, 1, 2}, false},
		{"a line twice", func(l []string) string { return l[0] + l[1] + l[2] + l[3] + l[1] }, []int{0, 1, 2}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			r := d.create(4)
			add(t, r, numbered(0, runs.Passed), numbered(1, runs.Passed), numbered(2, runs.Failed))
			r.Close()
			text, err := os.ReadFile(r.Stored().JournalFile())
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n")
			if err := os.WriteFile(r.Stored().JournalFile(), []byte(tt.damage(lines)), 0o644); err != nil {
				t.Fatal(err)
			}
			indexes := func() (list []int) {
				record := open(t, r.Stored())
				for _, c := range read(t, record) {
					list = append(list, c.Index)
				}
				if (len(record.Notes) > 0) != tt.damaged {
					t.Errorf("it is said %q", record.Notes)
				}
				return list
			}
			if got := indexes(); !slices.Equal(got, tt.left) {
				t.Errorf("the cases are %v, want %v", got, tt.left)
			}
			again, err := runs.Resume(d.env, d.agent, r.Stored())
			if err != nil {
				t.Fatal(err)
			}
			add(t, again, numbered(3, runs.Passed))
			if _, err := again.Finish(runs.Finished, "", runs.Summary{}); err != nil {
				t.Fatal(err)
			}
			again.Close()
			if got := indexes(); !slices.Equal(got, append(slices.Clone(tt.left), 3)) {
				t.Errorf("after a resumption the cases are %v", got)
			}
		})
	}
}

func TestAJournalWithoutABeginningIsNone(t *testing.T) {
	d := newDesk(t)
	for _, text := range []string{"", "{", "x\n", "{}\n", `{"schema":"holodeck.run/v2","type":"run"}` + "\n", `{"schema":"holodeck.run/v1","type":"case"}` + "\n"} {
		r := d.create(1)
		r.Close()
		if err := os.WriteFile(r.Stored().JournalFile(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Stored().Open(); err == nil || !strings.Contains(err.Error(), r.Stored().JournalFile()) {
			t.Errorf("%q: got %v, want an error that names the file", text, err)
		}
		if _, err := runs.Resume(d.env, d.agent, r.Stored()); err == nil {
			t.Errorf("%q was resumed", text)
		}
	}
}

func TestARunWithoutResultsLeavesNothingBehind(t *testing.T) {
	d := newDesk(t)
	r := d.create(3)
	if kept, err := r.Finish(runs.Interrupted, "", runs.Summary{}); kept || err != nil {
		t.Errorf("kept %v, %v", kept, err)
	}
	if got := files(t, d.dir); !slices.Equal(got, []string{"agent.yaml"}) {
		t.Errorf("the folder holds %v", got)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "results")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the results folder is left: %v", err)
	}
}

// A folder cannot be made where a file is, which stops even the superuser.
func TestWhereResultsCannotBeKept(t *testing.T) {
	d := newDesk(t)
	if err := os.WriteFile(filepath.Join(d.dir, "results"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := d.store.Create(d.env, d.agent, d.header(1))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(d.dir, "results", "help-desk")) || !strings.Contains(err.Error(), durable.StateVariable) {
		t.Errorf("the error %v must name the folder and the variable", err)
	}

	d.state = t.TempDir()
	d.open()
	stored := d.run(numbered(0, runs.Passed))
	if !strings.HasPrefix(stored.File(), d.state) {
		t.Errorf("the run is in %s, want it in %s", stored.File(), d.state)
	}
	if found, err := d.store.Find("latest", nil); err != nil || found != stored {
		t.Errorf("found %v, %v", found, err)
	}

	blocked := filepath.Join(d.state, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d.state = blocked
	d.open()
	_, err = d.store.Create(d.env, d.agent, d.header(1))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(d.dir, "results")) || !strings.Contains(err.Error(), blocked) {
		t.Errorf("the error %v must name both folders", err)
	}
}

// Results that lie in the agent folder are found although there is a state
// folder.
func TestRunsOfBothFoldersAreListed(t *testing.T) {
	d := newDesk(t)
	first := d.run(numbered(0, runs.Passed))
	d.state = t.TempDir()
	d.open()
	second := d.run(numbered(0, runs.Failed))
	if second.Folder != first.Folder {
		t.Errorf("a folder that can be written was left for %s", second.Folder)
	}
	if list, err := d.store.List(); err != nil || !slices.Equal(list, []runs.Stored{second, first}) {
		t.Errorf("listed %v, %v", list, err)
	}
}

// Files that are removed under a run are there again, whole, with the next case
// that finishes.
func TestResultsThatAreRemovedMidRun(t *testing.T) {
	d := newDesk(t)
	r := d.create(3)
	restored := 0
	r.Restored = func() { restored++ }
	add(t, r, numbered(0, runs.Passed))
	if err := os.RemoveAll(filepath.Join(d.dir, "results")); err == nil { // else this system keeps files that are open
		add(t, r, numbered(1, runs.Passed))
		if restored != 1 {
			t.Errorf("restored %d times with the next case", restored)
		}
		if _, err := runs.Resume(d.env, d.agent, r.Stored()); !errors.Is(err, runs.ErrRunning) {
			t.Errorf("resumed a run that is under way: %v", err)
		}
		if err := os.Remove(r.Stored().JournalFile()); err != nil { // and that alone
			t.Fatal(err)
		}
	} else {
		add(t, r, numbered(1, runs.Passed))
	}
	add(t, r, numbered(2, runs.Passed))
	if kept, err := r.Finish(runs.Finished, "", runs.Summary{Passed: 3}); !kept || err != nil {
		t.Errorf("kept %v, %v", kept, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if record := open(t, r.Stored()); record.Passed != 3 || record.State != runs.Finished || len(record.Notes) > 0 {
		t.Errorf("the run has %d of 3 cases, %s, %v", record.Passed, record.State, record.Notes)
	}
	want := []string{".holodeck/" + r.Stored().Name + "/config.json", ".holodeck/" + r.Stored().Name + "/journal.jsonl", ".holodeck/" + r.Stored().Name + "/lock", r.Stored().Name + ".json"}
	if got := files(t, r.Stored().Folder); !slices.Equal(got, want) {
		t.Errorf("the folder holds %v", got)
	}
}

// Where something else stands in place of what was removed, it is left alone, and
// that nothing more is kept is said with the next case.
func TestResultsThatAreRemovedAndCannotBeRestored(t *testing.T) {
	d := newDesk(t)
	r := d.create(2)
	add(t, r, numbered(0, runs.Passed))
	results := filepath.Join(d.dir, "results")
	if err := os.RemoveAll(results); err != nil {
		return // this system keeps files that are open
	}
	if err := os.WriteFile(results, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(numbered(1, runs.Passed)); err == nil || !strings.Contains(err.Error(), "journal.jsonl was removed while the run was under way") {
		t.Errorf("got %v, want an error that says what is lost", err)
	}
	if text, err := os.ReadFile(results); err != nil || string(text) != "mine" {
		t.Errorf("the file of somebody else is %q, %v", text, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A process that is killed while it writes the stored form leaves a file behind,
// and one that is killed before its first line a run that never began.
func TestWhatAKilledProcessLeavesBehindIsSwept(t *testing.T) {
	d := newDesk(t)
	r := d.create(1)
	add(t, r, numbered(0, runs.Passed))
	r.Close()
	d.now = d.now.Add(time.Second)
	other := d.create(1)
	other.Close()
	if err := os.Truncate(other.Stored().JournalFile(), 0); err != nil {
		t.Fatal(err)
	}
	half := func(s runs.Stored) string { return filepath.Join(s.Folder, "."+s.Name+".json.123.tmp") }
	for _, s := range []runs.Stored{r.Stored(), other.Stored()} {
		if err := os.WriteFile(half(s), []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := d.store.List(); err != nil || !slices.Equal(list, []runs.Stored{r.Stored()}) {
		t.Errorf("listed %v, %v", list, err)
	}
	again, err := runs.Resume(d.env, d.agent, r.Stored())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Finish(runs.Finished, "", runs.Summary{Passed: 1}); err != nil {
		t.Fatal(err)
	}
	again.Close()
	if left, err := filepath.Glob(filepath.Join(r.Stored().Folder, ".*.tmp")); err != nil || !slices.Equal(left, []string{half(other.Stored())}) {
		t.Errorf("left are %v, %v; want that of another run alone", left, err)
	}
}

// A run that says it has ended has its stored form: a kill between the two
// leaves one that can go on.
func TestTheEndIsSaidAfterTheRunIsStored(t *testing.T) {
	d := newDesk(t)
	r := d.create(1)
	add(t, r, numbered(0, runs.Passed))
	if err := os.Mkdir(r.Stored().File(), 0o755); err != nil { // nothing can be stored
		t.Fatal(err)
	}
	if _, err := r.Finish(runs.Finished, "", runs.Summary{Passed: 1}); err == nil {
		t.Fatal("a folder was replaced")
	}
	r.Close()
	if record := open(t, r.Stored()); record.State != runs.Killed {
		t.Errorf("the run is said to be %s", record.State)
	}
}

func TestTwoProcessesCannotRecordOneRun(t *testing.T) {
	d := newDesk(t)
	r := d.create(2)
	add(t, r, numbered(0, runs.Passed))
	if _, err := runs.Resume(d.env, d.agent, r.Stored()); !errors.Is(err, runs.ErrRunning) {
		t.Errorf("resumed a run that is under way: %v", err)
	}
	if err := r.Stored().Remove(); err == nil {
		t.Error("removed a run that is under way")
	}
	r.Close()
	if err := r.Stored().Remove(); err != nil {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	d := newDesk(t)
	var stored []runs.Stored
	for range 3 {
		stored = append(stored, d.run(numbered(0, runs.Passed)))
		d.now = d.now.Add(time.Hour)
	}
	for ref, want := range map[string]runs.Stored{
		"latest": stored[2], "latest~0": stored[2], "latest~2": stored[0],
		"2026-04-18T15": stored[1], "2026-04-18T15:22": stored[1], stored[0].Name: stored[0], "2026-04-18T16:22:17.812345+00:00": stored[2],
		"01K00000000000000000000002": stored[1], "01k00000000000000000000003": stored[2],
	} {
		if got, err := d.store.Find(ref, nil); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %s", ref, got.Name, err, want.Name)
		}
	}
	for ref, want := range map[string]string{
		"latest~3": "which holds 3", "latest~x": "no run", "latest~-1": "no run", "2026": "beginning of 3 runs", "01K": "beginning of 3 runs", "nothing": "no run", "": "no run",
	} {
		_, err := d.store.Find(ref, nil)
		if !errors.As(err, new(*runs.NotFoundError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", ref, err, want)
		}
	}
	if _, err := newDesk(t).store.Find("latest", nil); !errors.As(err, new(*runs.NotFoundError)) {
		t.Errorf("without any run: %v", err)
	}
}

// A stray file and a damaged journal, later than every run, hide none of them.
func TestLatestPassesOverWhatCannotBeRead(t *testing.T) {
	d := newDesk(t)
	first, second := d.run(numbered(0, runs.Passed)), d.run(numbered(0, runs.Passed))
	stray := filepath.Join(second.Folder, "notes.json")
	if err := os.WriteFile(stray, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	damaged := runs.Stored{Folder: second.Folder, Name: "2099-01-01T00-00-00.000000+00-00"}
	if err := os.MkdirAll(filepath.Dir(damaged.JournalFile()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged.JournalFile(), make([]byte, 4096), 0o644); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]runs.Stored{"latest": second, "latest~1": first} {
		var passed []string
		got, err := d.store.Find(ref, func(err error) { passed = append(passed, err.Error()) })
		if err != nil || got != want {
			t.Errorf("%s is %v, %v; want %s", ref, got.Name, err, want.Name)
		}
		if text := strings.Join(passed, "\n"); len(passed) != 2 || !strings.Contains(text, stray) || !strings.Contains(text, damaged.JournalFile()) {
			t.Errorf("%s: said %q, want both files", ref, text)
		}
	}
	if _, err := d.store.Find("latest~2", nil); !errors.As(err, new(*runs.NotFoundError)) || !strings.Contains(err.Error(), "which holds 2") {
		t.Errorf("got %v, want that there are two runs", err)
	}
	if got, err := d.store.Find("notes", nil); err != nil || got.Name != "notes" {
		t.Errorf("by its name it is %v, %v", got, err)
	}
}

func TestStoredAt(t *testing.T) {
	d := newDesk(t)
	stored := d.run(numbered(0, runs.Passed))
	for _, path := range []string{stored.File(), stored.JournalFile(), filepath.Dir(stored.JournalFile())} {
		if got, err := runs.StoredAt(path); err != nil || got != stored {
			t.Errorf("%s is %v, %v", path, got, err)
		}
	}
	if _, err := runs.StoredAt(filepath.Join(d.dir, "agent.yaml")); err == nil {
		t.Error("an agent file is taken for a run")
	}
	if _, err := runs.StoredAt(filepath.Join(d.dir, "absent.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestRemove(t *testing.T) {
	d := newDesk(t)
	first, second := d.run(numbered(0, runs.Passed)), d.run(numbered(0, runs.Passed))
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if list, err := d.store.List(); err != nil || !slices.Equal(list, []runs.Stored{second}) {
		t.Errorf("left are %v, %v", list, err)
	}
	if err := second.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, d.dir); !slices.Equal(got, []string{"agent.yaml"}) {
		t.Errorf("the folder holds %v", got)
	}
}

// What a list says of a run is what reading all of it says.
func TestOverviewAgreesWithTheWhole(t *testing.T) {
	d := newDesk(t)
	finished := d.run(numbered(0, runs.Passed), numbered(1, runs.Failed), numbered(2, runs.Unchecked))
	killed := d.create(5)
	add(t, killed, numbered(0, runs.Passed), numbered(1, runs.Failed))
	killed.Close()
	for _, s := range []runs.Stored{finished, killed.Stored()} {
		o, err := s.Overview()
		if whole := open(t, s).Overview; err != nil || o != whole {
			t.Errorf("the overview is %+v, %v; the whole says %+v", o, err, whole)
		}
	}
	if rate := open(t, finished).PassRate(); rate.Passed != 1 || rate.Of != 2 {
		t.Errorf("the rate is %s", rate)
	}
}

func TestRedactReachesEveryText(t *testing.T) {
	const canary = "canary-token-1"
	var c runs.Case
	fill(reflect.ValueOf(&c).Elem(), canary)
	if n := strings.Count(toJSON(t, c), canary); n < 30 {
		t.Fatalf("only %d texts are filled", n)
	}
	d := newDesk(t)
	c.Redact(d.load(agentFile + "description: $${TOKEN} ${TOKEN}\n").Redactor)
	if text := toJSON(t, c); strings.Contains(text, canary) {
		t.Errorf("a secret is left in %s", text)
	}
}

// fill puts text into every text of v.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		switch v.Type() {
		case reflect.TypeFor[string]():
			v.SetString(text)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Block" {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"` + text + `": ["` + text + `"]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]any]() {
			v.Set(reflect.ValueOf(map[string]any{text: []any{text, map[string]any{text: text}}}))
		}
	}
}
