package runs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// foreign is a run as the Python edition stores it, with keys of a later
// version, one metric from before the kind was stored, and two cases of one name.
const foreign = `{"report":{"agent_name":"demo","agent_config_path":"agent.yaml","results":[
  {"test_name":"t1","test_input":"2+2?","processed_files":[],"agent_response":"4","tool_calls":["calc_search"],
   "tool_invocations":[{"name":"calc_search","args":{"q":"2+2"},"result":{"hits":[4]},"bytes":12,"duration_ms":null,"error":null,"cached":true}],
   "expected_tools":["calc","ghost"],"tools_matched":false,
   "metric_results":[{"metric_name":"numeric","kind":"standard","score":1.0,"threshold":null,"passed":true,"scale":"0-1",
     "error":null,"retry_count":0,"evaluation_time_ms":3,"model_used":null,"reasoning":null},
     {"metric_name":"faithfulness","score":0.25,"passed":false,"reasoning":"it made things up"},
     {"metric_name":"Tone","kind":"geval","score":0,"passed":false,"error":"no judge"}],
   "ground_truth":"4","passed":false,"execution_time_ms":812,"errors":["a warning"],"timestamp":"2026-05-01T10:00:01.000002+00:00",
   "token_usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10,"cache_creation_tokens":0,"cache_read_tokens":0,"audio":1},
   "turns":null,"mood":"good"},
  {"test_name":"t1","test_input":"a\n---\nb","passed":true,"execution_time_ms":100,"timestamp":"2026-05-01T10:00:01Z",
   "turns":[{"turn_index":0,"input":"a","response":"x","passed":true,"execution_time_ms":40,"expected_tools":[{"name":"calc","args":{"n":{"fuzzy":"1"}},"count":2}],
     "tools_matched":true,"arg_match_details":[{"expected_tool":"calc","args_asserted":{"n":{"fuzzy":"1"}},"matched_call_index":0,"unmatched_reason":null}],"tool_calls":["calc","calc"]},
    {"turn_index":1,"input":"b","passed":false,"execution_time_ms":60,"skipped":true,"errors":["not run"]}]},
  {"test_name":null,"test_input":"unnamed","passed":true,"execution_time_ms":5,"timestamp":"yesterday"}],
  "summary":{"total_tests":99,"passed":99,"failed":0,"pass_rate":0.99,"total_duration_ms":812},
  "timestamp":"2026-05-01T10:00:02.000003+00:00","holodeck_version":"0.6.2","environment":{"execution_config":"{}"},"trend":[1]},
 "metadata":{"agent_config":{"name":"demo","model":{"provider":"openai","name":"m"},"instructions":{"inline":"hi"}},
  "prompt_version":{"version":"auto-8f434346","source":"inline","body_hash":"8f"},
  "holodeck_version":"0.6.2","cli_args":["test","agent.yaml"],"git_commit":"abc","host":"ci-7"}}`

// foreignRun puts a file into the store of a desk.
func (d *desk) foreignRun(name, text string) runs.Stored {
	d.t.Helper()
	s := runs.Stored{Folder: filepath.Join(d.dir, "results", "help-desk"), Name: name}
	if err := errors.Join(os.MkdirAll(s.Folder, 0o755), os.WriteFile(s.File(), []byte(text), 0o644)); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func TestAForeignRunIsRead(t *testing.T) {
	d := newDesk(t)
	stored := d.foreignRun("2026-05-01T10-00-02.000003+00-00", foreign)
	if found, err := d.store.Find("2026-05-01", nil); err != nil || found != stored {
		t.Fatalf("found %v, %v", found, err)
	}
	r := open(t, stored)
	if r.Agent != "demo" || r.Version != "0.6.2" || r.Commit != "abc" || r.State != runs.Finished || r.Cases != 3 || r.Passed != 2 || r.Failed != 1 {
		t.Errorf("the run is %+v", r.Overview)
	}
	if !r.Started.Equal(time.Date(2026, 5, 1, 10, 0, 2, 3000, time.UTC)) || r.Elapsed != 917*time.Millisecond {
		t.Errorf("it began %s and took %s", r.Started, r.Elapsed)
	}
	want := []string{"keys that are not part of the form were passed over: metadata.host, report.trend, " +
		"results[].mood, results[].token_usage.audio, results[].tool_invocations[].cached"}
	if len(r.Notes) != 1 || r.Notes[0] != want[0] {
		t.Errorf("it is said %q, want %q", r.Notes, want)
	}

	cases := read(t, r)
	first := cases[0].Turns[0]
	if cases[0].ID != "t1" || cases[1].ID != "t1#2" || cases[2].ID != "unnamed" {
		t.Errorf("the cases are %s, %s and %s", cases[0].ID, cases[1].ID, cases[2].ID)
	}
	if first.Answer != "4" || first.Usage.Total != 10 || len(first.Errors) != 1 || first.ToolCalls[0].Result != `{"hits":[4]}` || string(first.ToolCalls[0].Arguments) != `{"q":"2+2"}` {
		t.Errorf("the first turn is %+v", first)
	}
	if c := first.ToolChecks; len(c) != 2 || !c[0].Matched || c[1].Matched || c[1].Reason != "it was not called" {
		t.Errorf("its tool checks are %+v", c)
	}
	statuses := []runs.MetricStatus{first.Metrics[0].Status, first.Metrics[1].Status, first.Metrics[2].Status}
	if statuses[0] != runs.MetricPass || statuses[1] != runs.MetricFail || statuses[2] != runs.MetricError || first.Metrics[1].Kind != config.MetricRAG || first.Metrics[2].Reason != "no judge" {
		t.Errorf("its metrics are %+v", first.Metrics)
	}
	second := cases[1]
	if !second.Conversation || len(second.Turns) != 2 || second.Turns[1].Status != runs.NotRun || !second.Turns[0].ToolChecks[0].Matched || second.Turns[0].ToolChecks[0].Expected.Count != 2 {
		t.Errorf("the conversation is %+v", second)
	}
	for i := range r.Each() { // and one can stop after the first
		if i.ID != "t1" {
			t.Errorf("got %s", i.ID)
		}
		break
	}
}

// A run of ours whose journal was lost is read from its stored form, and says
// the same of itself in it.
func TestAStoredRunReadsBack(t *testing.T) {
	d := newDesk(t)
	cases := whole()
	cases[0].Turns[0].ToolChecks[1].Expected.Args["n"] = 1.5
	stored := d.run(cases...)
	with := open(t, stored)
	if err := os.RemoveAll(filepath.Join(stored.Folder, ".holodeck")); err != nil {
		t.Fatal(err)
	}
	without := open(t, stored)
	if without.Failed != with.Failed || without.Cases != with.Cases || len(without.Notes) != 0 || !without.Started.Equal(with.Started) {
		t.Errorf("with a journal it is %+v, without %+v (%v)", with.Overview, without.Overview, without.Notes)
	}
	var before, after bytes.Buffer
	for _, out := range []struct {
		to    *bytes.Buffer
		cases []*runs.Case
	}{{&before, cases}, {&after, read(t, without)}} {
		w := runs.NewReportWriter(out.to, runs.Run{})
		for _, c := range out.cases {
			if err := w.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(runs.Summary{}); err != nil {
			t.Fatal(err)
		}
	}
	was, is := strings.Split(before.String(), "\n"), strings.Split(after.String(), "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("line %d of what was read back is\n%s\nand was\n%s", i+1, strings.Join(is[i:min(i+3, len(is))], "\n"), strings.Join(was[i:min(i+3, len(was))], "\n"))
		}
	}
}

func TestWhatIsNoRunIsRefused(t *testing.T) {
	d := newDesk(t)
	for _, text := range []string{
		"", "{", "[]", "null", `"x"`, "{}", `{"report":{}}`, `{"report":[]}`, `{"report":{"results":{}}}`, `{"report":{"results":[1]}}`,
		`{"report":{"results":[{"test_input":5}]}}`, `{"report":{"results":[]}} {}`, `{"report":{"results":[]}`, `{"trials":[]}`,
	} {
		stored := d.foreignRun("x", text)
		if _, err := stored.Open(); err == nil || !strings.Contains(err.Error(), stored.File()) {
			t.Errorf("%s: got %v, want an error that names the file", text, err)
		}
	}
	if _, err := d.foreignRun("x", `{"report":{"results":[]}}`).Open(); err != nil {
		t.Errorf("a run without cases: %v", err)
	}
	if _, err := d.foreignRun("x", `{"agent_name":"a","results":[{"test_input":"?","passed":true}]}`).Open(); err != nil {
		t.Errorf("a report on its own: %v", err)
	}
}

func TestAJournalThatCannotBeReadLeavesTheStoredForm(t *testing.T) {
	d := newDesk(t)
	stored := d.run(numbered(0, runs.Passed))
	if err := os.WriteFile(stored.JournalFile(), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := open(t, stored)
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "journal.jsonl") || r.Passed != 1 {
		t.Errorf("the run is %+v, %v", r.Overview, r.Notes)
	}
}

func FuzzOpenStored(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add([]byte(`{"report":{"results":[{"turns":[{}],"expected_tools":[5,null,{"name":[]}],"tools_matched":false}]}}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		s := runs.Stored{Folder: dir, Name: "x"}
		if err := os.WriteFile(s.File(), text, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open()
		if err != nil {
			return
		}
		w := runs.NewReportWriter(discard{}, r.Run)
		for c, err := range r.Each() {
			if err != nil {
				t.Fatalf("the second reading failed: %v", err)
			}
			if err := w.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(r.Summary()); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReadJournal(f *testing.F) {
	header := `{"schema":"holodeck.run/v1","type":"run","id":"x","agent":"a","started":"2026-05-01T10:00:02Z","cli_args":[],"cases":2,"attempts":2}` + "\n"
	f.Add([]byte(header + `{"type":"case","index":0,"attempt":1,"turns":[{"input":"x","status":"passed"}]}` + "\n" + `{"type":"end","state":"finished"}` + "\n"))
	f.Add([]byte(header + `{"type":"resumed"}` + "\n" + `{"type":"case"`))
	f.Add([]byte("\x00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := runs.ReadJournal(path)
		if err != nil {
			return
		}
		n := 0
		for c, err := range j.Cases() {
			if err != nil {
				break // a value that does not fit, which is told
			}
			if !j.Has(c.Index, c.Attempt) {
				t.Errorf("case %d.%d is not known", c.Index, c.Attempt)
			}
			n++
		}
		if n > j.Finished() {
			t.Errorf("%d cases, and %d are said to have finished", n, j.Finished())
		}
	})
}
