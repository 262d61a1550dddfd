package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"time"
)

// Overview is what a list says of a run.
type Overview struct {
	Stored
	// ID is empty for a run of the Python edition.
	ID      string
	Agent   string
	Version string
	Commit  string
	Offline bool
	Started time.Time
	Elapsed time.Duration
	State   State
	// Cases is how many were to run; the others count those that have finished.
	Cases, Passed, Failed, Unchecked int
}

// PassRate is the share of the cases that passed among those that were checked.
func (o Overview) PassRate() Rate { return NewRate(o.Passed, o.Passed+o.Failed) }

// Record is a run that can be looked at, whether it has ended or not.
type Record struct {
	Overview
	Run Run
	// Args is the command line, without the name of the program.
	Args []string
	// Reason is why the run is not finished, where that is known.
	Reason string
	// Config is nil for a run of the Python edition.
	Config Fingerprint
	// Notes say what could not be read or was passed over.
	Notes []string

	journal *Journal // nil: the cases are in the stored file
	summary Summary
}

// Overview returns what a list says of the run. Of a run with a journal that
// ended by itself it reads two lines, of others everything.
func (s Stored) Overview() (Overview, error) {
	header, err := readHeader(s.JournalFile())
	if err == nil {
		if end, ok := readEnd(s.JournalFile()); ok {
			o := s.overview(header)
			o.State, o.Elapsed, o.Passed, o.Failed, o.Unchecked = end.State, end.Elapsed, end.Passed, end.Failed, end.Unchecked
			return o, nil
		}
	}
	r, err := s.Open()
	if err != nil {
		return Overview{}, err
	}
	return r.Overview, nil
}

// overview returns what a header says of the run.
func (s Stored) overview(h Header) Overview {
	return Overview{
		Stored: s, ID: h.ID, Agent: h.Agent, Version: h.Version, Commit: h.Commit, Offline: h.Offline,
		Started: h.Started, Cases: h.Cases,
	}
}

// readEnd reads the last line of the journal at path. It reports false when
// that is not an End.
func readEnd(path string) (End, bool) {
	f, err := os.Open(path)
	if err != nil {
		return End{}, false
	}
	defer f.Close()
	const most = 64 << 10 // longer than an End ever is
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return End{}, false
	}
	tail := make([]byte, min(size, most))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return End{}, false
	}
	tail, whole := bytes.CutSuffix(tail, []byte("\n"))
	var end End
	err = json.Unmarshal(tail[bytes.LastIndexByte(tail, '\n')+1:], &end)
	return end, whole && err == nil && end.Type == typeEnd
}

// Open reads the run, from its journal when it has one and else from its stored
// file. A run of the Python edition, or of a later version of it, is read as far
// as it is known. The cases stay in the file.
func (s Stored) Open() (*Record, error) {
	j, err := ReadJournal(s.JournalFile())
	if err == nil {
		return s.openJournal(j)
	}
	r, fileErr := s.openFile()
	switch {
	case fileErr == nil:
		if !errors.Is(err, fs.ErrNotExist) {
			r.Notes = append(r.Notes, err.Error())
		}
		return r, nil
	case errors.Is(fileErr, fs.ErrNotExist) && !errors.Is(err, fs.ErrNotExist):
		return nil, err // the journal is all there was
	}
	return nil, fileErr
}

func (s Stored) openJournal(j *Journal) (*Record, error) {
	h := j.Header
	r := &Record{Overview: s.overview(h), Run: h.Run, Args: h.Args, Config: h.Config, journal: j}
	switch {
	case j.End != nil:
		r.State, r.Reason = j.End.State, j.End.Reason
	case s.running():
		r.State = Running
	default:
		r.State = Killed
	}
	r.Elapsed = j.Elapsed
	if j.Damaged > 0 {
		damaged := "1 damaged line of %s was"
		if j.Damaged > 1 {
			damaged = strconv.Itoa(j.Damaged) + " damaged lines of %s were"
		}
		r.Notes = append(r.Notes, fmt.Sprintf(damaged+" passed over", s.JournalFile()))
	}
	var err error
	if r.summary, err = j.Summary(); err != nil {
		return nil, err
	}
	r.count()
	return r, nil
}

func (s Stored) openFile() (*Record, error) {
	r := &Record{Overview: Overview{Stored: s, State: Finished}}
	run, err := readStored(s.File(), func(c *Case) error {
		r.summary.Add(c)
		r.Elapsed += c.Elapsed
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Notes = run.notes()
	r.Agent, r.Version, r.Args = run.agent, run.version, run.args
	if run.commit != nil {
		r.Commit = *run.commit
	}
	if r.Started, err = time.Parse(time.RFC3339Nano, run.timestamp); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("its timestamp %q is no time", run.timestamp))
	}
	r.Run = Run{Agent: run.agent, Path: run.path, Version: run.version, Started: r.Started, Environment: run.environment}
	r.Cases = r.summary.Finished()
	r.summary.Total, r.summary.Attempts.Total, r.summary.Elapsed = r.Cases, r.Cases, r.Elapsed
	r.count()
	return r, nil
}

// count takes the counts from the summary.
func (r *Record) count() {
	r.Passed, r.Failed, r.Unchecked = r.summary.Passed, r.summary.Failed, r.summary.Unchecked
}

// FailedIDs returns the ids of the cases that failed, in the order of the agent
// file. It is never nil.
func (r *Record) FailedIDs() ([]string, error) {
	list, err := verdicts(r, r.journal != nil)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, v := range list {
		if v.Run == Failed {
			ids = append(ids, v.ID)
		}
	}
	return ids, nil
}

// Summary returns the counts of the run.
func (r *Record) Summary() Summary { return r.summary }

// Each yields the attempts that have finished, in the order of the agent file.
// An error ends it.
func (r *Record) Each() iter.Seq2[*Case, error] {
	if r.journal != nil {
		return r.journal.Cases()
	}
	return func(yield func(*Case, error) bool) {
		stop := errors.New("enough")
		_, err := readStored(r.File(), func(c *Case) error {
			if !yield(c, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(nil, err)
		}
	}
}
