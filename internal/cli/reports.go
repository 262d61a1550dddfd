package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/report"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// reportFile is a file that --output names.
type reportFile struct {
	path   string
	format report.Format
}

// reportFiles returns the files that --output names, in the format of their
// ending or, of a single file, in that of --format. A file that could not be
// written once the cases have run is a *usageError.
func reportFiles(paths []string, format string) ([]reportFile, error) {
	if format != "" && len(paths) != 1 {
		return nil, &usageError{fmt.Errorf("--format is the format of one file, and --output names %d; end the names in .json, .md, .xml, .html, .csv or .jsonl", len(paths))}
	}
	var files []reportFile
	seen := map[string]bool{}
	for _, path := range paths {
		if path == "-" {
			return nil, &usageError{errors.New("--output -: a report is a file, and stdout has what is printed; name a file, such as --output report.json (runs show --json prints a run)")}
		}
		f, err := report.FormatOf(path)
		if format != "" {
			if f, err = report.ParseFormat(format); err != nil {
				return nil, &usageError{fmt.Errorf("--format: %w", err)}
			}
		}
		if err != nil {
			return nil, &usageError{fmt.Errorf("--output %s: %w", path, err)}
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil, &usageError{fmt.Errorf("--output %s: is not a file", path)}
		}
		if seen[filepath.Clean(path)] {
			return nil, &usageError{fmt.Errorf("--output %s: is named twice", path)}
		}
		seen[filepath.Clean(path)] = true
		files = append(files, reportFile{path, f})
	}
	return files, nil
}

// spareInputs returns a *usageError when a report would replace a file that the
// agent is made of.
func spareInputs(files []reportFile, a *config.Agent) error {
	type input struct{ what, path string }
	inputs := []input{{"the agent file", a.File}}
	add := func(what, path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Dir, path)
		}
		inputs = append(inputs, input{what, path})
	}
	if a.TestCasesFile != nil {
		add("its test_cases_file", *a.TestCasesFile)
	}
	if a.Instructions != nil && a.Instructions.File != nil {
		add("the file of its instructions", *a.Instructions.File)
	}
	if a.ResponseFormat != nil && a.ResponseFormat.File != "" {
		add("its response_format", a.ResponseFormat.File)
	}
	for _, f := range files {
		output, err := os.Stat(f.path)
		if err != nil {
			continue // there is nothing to replace
		}
		for _, in := range inputs {
			if info, err := os.Stat(in.path); err == nil && os.SameFile(info, output) {
				return &usageError{fmt.Errorf("--output %s: is %s, which the report would replace; give another name", f.path, in.what)}
			}
		}
	}
	return nil
}

// reports is the [report.Writer] of several reports at once. One that fails does
// not keep the others from being written: its error comes back from End.
type reports struct {
	list []*openReport
	tell func(format string, args ...any)
}

// openReport is a report that is being written.
type openReport struct {
	report.Writer
	name    string
	file    *durable.File // nil when it does not go to a file of its own
	scratch *os.File      // see report.Scratch; nil until it is asked for
	err     error         // once there is one, nothing more is written
}

// openReports begins the files, of which each is replaced when the run has
// ended. The caller calls Close.
func (a *app) openReports(files []reportFile) (*reports, error) {
	r := &reports{tell: a.tell}
	for _, f := range files {
		if err := r.open(f); err != nil {
			return nil, errors.Join(fmt.Errorf("--output %s: %w", f.path, err), r.Close())
		}
	}
	return r, nil
}

func (r *reports) open(f reportFile) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	file, err := durable.Create(f.path, 0o644)
	if err != nil {
		return err
	}
	o := &openReport{name: f.path, file: file}
	o.Writer = report.New(f.format, file, o.newScratch)
	r.list = append(r.list, o)
	return nil
}

// inActions reports whether the process is a step of GitHub Actions.
func (a *app) inActions() bool { return a.variable("GITHUB_ACTIONS") == "true" }

// addGitHub adds what GitHub Actions shows of a run, when this is a step there.
func (r *reports) addGitHub(a *app) {
	if !a.inActions() {
		return
	}
	r.list = append(r.list, &openReport{name: "stdout", Writer: report.NewAnnotations(a.Stdout)})
	if path := a.variable("GITHUB_STEP_SUMMARY"); path != "" {
		r.list = append(r.list, &openReport{name: path, Writer: report.NewStepSummary(appender(path))})
	}
}

// appender appends what is written to the file of that name.
type appender string

// Write implements io.Writer.
func (a appender) Write(p []byte) (int, error) {
	f, err := os.OpenFile(string(a), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(p)
	return n, errors.Join(err, f.Close())
}

// newScratch is a report.Scratch.
func (o *openReport) newScratch() (_ io.ReadWriteSeeker, err error) {
	o.scratch, err = os.CreateTemp("", "holodeck-report-*")
	return o.scratch, err
}

// Begin implements report.Writer. The error is always nil.
func (r *reports) Begin(run runs.Run) error {
	r.each(func(o *openReport) error { return o.Begin(run) })
	return nil
}

// Case implements report.Writer. The error is always nil.
func (r *reports) Case(c *runs.Case) error {
	r.each(func(o *openReport) error { return o.Case(c) })
	return nil
}

// End ends the reports and puts the files in place. The error names those that
// could not be written, and why.
func (r *reports) End(s runs.Summary) error {
	r.each(func(o *openReport) error {
		if err := o.End(s); err != nil || o.file == nil {
			return err
		}
		return o.file.Commit()
	})
	var errs []error
	for _, o := range r.list {
		switch {
		case o.err != nil:
			errs = append(errs, fmt.Errorf("write the report %s: %w", o.name, o.err))
		case o.file != nil:
			r.tell("results are in %s", o.name)
		}
	}
	return errors.Join(errs...)
}

// each calls do for the reports that have not failed.
func (r *reports) each(do func(*openReport) error) {
	for _, o := range r.list {
		if o.err == nil {
			o.err = do(o)
		}
	}
}

// Close gives up the files that End did not put in place, which stay as they
// were.
func (r *reports) Close() error {
	var errs []error
	for _, o := range r.list {
		if o.file != nil {
			errs = append(errs, o.file.Discard())
		}
		if o.scratch != nil {
			errs = append(errs, o.scratch.Close(), os.Remove(o.scratch.Name()))
			o.scratch = nil
		}
	}
	return errors.Join(errs...)
}
