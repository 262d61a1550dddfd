package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// failingReport cannot write a case.
type failingReport struct{ report.Writer }

var errFull = errors.New("no space left on device")

func (failingReport) Case(*runs.Case) error { return errFull }

// A report that cannot be written is named, leaves the file as it was, and does
// not keep the others from being written.
func TestOneReportThatFails(t *testing.T) {
	dir := t.TempDir()
	var files []reportFile
	for _, name := range []string{"a.json", "b.md", "c.xml"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, reportFile{path, report.JUnit})
	}
	var errs strings.Builder
	a := &app{Process: Process{Stderr: &errs}}
	r, err := a.openReports(files)
	if err != nil {
		t.Fatal(err)
	}
	r.list[1].Writer = failingReport{r.list[1].Writer}
	run, c := runs.Run{Agent: "demo"}, &runs.Case{Name: "x", Status: runs.Passed}
	if err := errors.Join(r.Begin(run), r.Case(c), r.Case(c)); err != nil {
		t.Fatal(err)
	}
	err = r.End(runs.Summary{Total: 1})
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), files[1].path) || strings.Contains(err.Error(), files[0].path) {
		t.Errorf("the error is %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for i, want := range []string{`tests="2"`, "old", `tests="2"`} {
		if data, err := os.ReadFile(files[i].path); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s holds %q, %v; want %q", files[i].path, data, err, want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("the folder holds %v", entries)
	}
	if got := strings.Count(errs.String(), "results are in "); got != 2 {
		t.Errorf("told of %d reports: %s", got, errs.String())
	}
}

// Reports that were begun and not ended leave nothing behind.
func TestReportsThatAreGivenUp(t *testing.T) {
	dir := t.TempDir()
	a := &app{Process: Process{Stderr: new(strings.Builder)}}
	r, err := a.openReports([]reportFile{{filepath.Join(dir, "a.html"), report.HTML}, {filepath.Join(dir, "a.md"), report.Markdown}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(runs.Run{}); err != nil {
		t.Fatal(err)
	}
	scratch := r.list[1].scratch.Name()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("the folder holds %v", entries)
	}
	if _, err := os.Stat(scratch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", scratch, err)
	}
}
