package report

import (
	"fmt"
	"io"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// Writer writes a run in one form. Begin comes first, then Case for each
// attempt at a case in the order in which they are to stand, the attempts at
// one case together, and then End; all of them from one goroutine. A Writer
// does not keep the case.
//
// After an error the report is not complete. The caller gives up what was
// written, and calls no more.
type Writer interface {
	Begin(run runs.Run) error
	Case(c *runs.Case) error
	End(s runs.Summary) error
}

// Scratch returns an empty file for what a Writer learns before the place where
// it stands has come: Markdown and JUnit begin with counts. It is called at most
// once; whoever supplies it removes the file.
type Scratch func() (io.ReadWriteSeeker, error)

// New returns the Writer of a file. The caller closes w after End.
func New(f Format, w io.Writer, scratch Scratch) Writer {
	switch f {
	case Markdown:
		return &markdown{out: sink{w: w}, scratch: scratch}
	case JUnit:
		return &junit{out: sink{w: w}, scratch: scratch}
	case HTML:
		return &page{out: sink{w: w}}
	case CSV:
		return newTable(w)
	case JSONL:
		return &lines{out: sink{w: w}}
	}
	return &document{w: w}
}

// sink writes until there is an error, and keeps that one.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) print(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}

func (s *sink) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

// document is the JSON report, which runs writes.
type document struct {
	w      io.Writer
	report *runs.ReportWriter
}

// Begin implements Writer.
func (d *document) Begin(run runs.Run) error {
	d.report = runs.NewReportWriter(d.w, run)
	return nil
}

// Case implements Writer.
func (d *document) Case(c *runs.Case) error { return d.report.Add(c) }

// End implements Writer.
func (d *document) End(s runs.Summary) error { return d.report.Close(s) }

// held is what is written to a scratch file first.
type held struct {
	file io.ReadWriteSeeker
	sink
}

// hold begins to write to the file of s.
func hold(s Scratch) (*held, error) {
	file, err := s()
	if err != nil {
		return nil, err
	}
	return &held{file: file, sink: sink{w: file}}, nil
}

// moveTo appends what was held to out.
func (h *held) moveTo(out *sink) {
	if h.err == nil {
		_, h.err = h.file.Seek(0, io.SeekStart)
	}
	switch {
	case out.err != nil:
	case h.err != nil:
		out.err = h.err
	default:
		_, out.err = io.Copy(out.w, h.file)
	}
}
