package runs

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/holodeck-go/holodeck/internal/durable"
)

// Schema names the form of a journal: a JSON object a line, each with a type.
// The first is the [Header] (run), then comes one for each attempt that finished
// (case), in the order in which they did, and an [End] (end) when the run ended
// by itself. A run that is resumed goes on with a line that says when (resumed).
const Schema = "holodeck.run/v1"

// The types of a journal's lines.
const (
	typeRun     = "run"
	typeCase    = "case"
	typeEnd     = "end"
	typeResumed = "resumed"
)

// Header is what is known of a run before its first case.
type Header struct {
	Schema string `json:"schema"`
	Type   string `json:"type"`
	ID     string `json:"id"` // a ULID
	Run
	// Args is the command line, without the name of the program.
	Args []string `json:"cli_args"`
	// Commit is that of the repository which the agent file is in; empty where
	// there is none.
	Commit string `json:"git_commit,omitempty"`
	// Offline says that stand-ins were at work.
	Offline bool `json:"offline,omitempty"`
	// AgentSHA256 is the hash of the agent file, and Config of what decides the
	// results.
	AgentSHA256 string      `json:"agent_sha256"`
	Config      Fingerprint `json:"config"`
	// Selection says which cases are to run; its form is the caller's.
	Selection json.RawMessage `json:"selection,omitempty"`
	// Cases is how many they are, and Attempts how often they are to run.
	Cases    int `json:"cases"`
	Attempts int `json:"attempts"`
	// Merged are the ids of the runs that were put together into this one.
	Merged []string `json:"merged,omitempty"`
}

// State is how a run ended.
type State string

// The states. Only a run in one of the first three has an End.
const (
	Finished    State = "finished"    // every attempt has finished
	Incomplete  State = "incomplete"  // some have not: it was stopped or failed
	Interrupted State = "interrupted" // by a signal
	Running     State = "running"     // it is under way
	Killed      State = "killed"      // its process ended without a word
)

// End says how a run ended.
type End struct {
	Type   string    `json:"type"`
	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"` // why it is not finished
	Ended  time.Time `json:"ended"`
	// Elapsed is the wall-clock time of the run, over all its parts.
	Elapsed time.Duration `json:"elapsed_ns"`
	// These count cases, over the run as a whole.
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Unchecked int `json:"unchecked"`
	// Notes are what a person should know of the run as a whole.
	Notes []string `json:"notes,omitempty"`
}

// caseLine is the line of a finished attempt.
type caseLine struct {
	Type string `json:"type"`
	*Case
}

// resumedLine is the line of a run that goes on.
type resumedLine struct {
	Type string    `json:"type"`
	At   time.Time `json:"at"`
}

// attempt names an attempt at a case within a run.
type attempt struct{ index, number int }

// place is where the line of an attempt stands in a journal.
type place struct {
	attempt
	offset int64
	length int
}

// Journal is what a journal holds, read. The cases stay in the file.
type Journal struct {
	Header Header
	// End is the last one, or nil.
	End *End
	// Elapsed is the wall-clock time of the run, as far as it is known.
	Elapsed time.Duration
	// Damaged is how many lines could not be read. What they held is lost.
	Damaged int

	path   string
	places []place // by case and attempt
	known  map[attempt]int
}

// ReadJournal reads the journal at path. It may run beside a writer. Lines that
// are damaged are passed over; only without its first line is a journal
// nothing.
func ReadJournal(path string) (*Journal, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	j := &Journal{path: path, known: map[attempt]int{}}
	clock := stopwatch{}
	for line, err := range lines(f) {
		if err != nil {
			return nil, fmt.Errorf("read journal %s: %w", path, err)
		}
		if line.offset == 0 {
			if j.Header, err = parseHeader(path, line.text); err != nil {
				return nil, err
			}
			clock.start(j.Header.Started)
			continue
		}
		if err := j.line(line, &clock); err != nil {
			j.Damaged++
		}
	}
	if j.Header.Schema == "" {
		return nil, fmt.Errorf("read journal %s: it has no complete line", path)
	}
	clock.lap()
	j.Elapsed = clock.sum
	slices.SortFunc(j.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
	for i, p := range j.places {
		j.known[p.attempt] = i
	}
	return j, nil
}

// line takes in a line after the first.
func (j *Journal) line(l line, clock *stopwatch) error {
	var record struct {
		Type    string
		Index   int
		Attempt int
		Started time.Time
		Elapsed time.Duration `json:"elapsed_ns"`
		At      time.Time
	}
	if err := json.Unmarshal(l.text, &record); err != nil {
		return err
	}
	switch record.Type {
	case typeCase:
		if ended := record.Started.Add(record.Elapsed); ended.After(clock.last) {
			clock.last = ended
		}
		j.add(place{attempt{record.Index, record.Attempt}, l.offset, len(l.text)})
	case typeResumed:
		j.End = nil
		clock.lap()
		clock.start(record.At)
	case typeEnd:
		end := new(End)
		if err := json.Unmarshal(l.text, end); err != nil {
			return err
		}
		j.End = end
		clock.sum, clock.open = end.Elapsed, false
	}
	return nil
}

// stopwatch sums up the wall-clock time of a run that may have been resumed. A
// part that was killed counts up to the last case that finished.
type stopwatch struct {
	began, last time.Time
	open        bool
	sum         time.Duration
}

func (s *stopwatch) start(at time.Time) { s.began, s.last, s.open = at, at, true }

func (s *stopwatch) lap() {
	if s.open && s.last.After(s.began) {
		s.sum += s.last.Sub(s.began)
	}
	s.open = false
}

// add takes note of an attempt. Of two lines for one the later counts.
func (j *Journal) add(p place) {
	if i, ok := j.known[p.attempt]; ok {
		j.places[i] = p
		return
	}
	j.known[p.attempt] = len(j.places)
	j.places = append(j.places, p)
}

// Path returns the path of the journal.
func (j *Journal) Path() string { return j.path }

// Finished returns how many attempts have finished.
func (j *Journal) Finished() int { return len(j.places) }

// Has reports whether an attempt, counted from 1, at the case with that index
// has finished.
func (j *Journal) Has(index, number int) bool {
	_, ok := j.known[attempt{index, number}]
	return ok
}

// Case returns the attempt, or nil when it has not finished.
func (j *Journal) Case(index, number int) (*Case, error) {
	i, ok := j.known[attempt{index, number}]
	if !ok {
		return nil, nil
	}
	f, err := os.Open(j.path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	return j.read(f, j.places[i])
}

// Cases yields what has finished, in the order of the agent file. An error ends
// it.
func (j *Journal) Cases() iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		f, err := os.Open(j.path)
		if err != nil {
			yield(nil, fmt.Errorf("read journal: %w", err))
			return
		}
		defer f.Close()
		for _, p := range j.places {
			c, err := j.read(f, p)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// read reads the attempt at a place.
func (j *Journal) read(f io.ReaderAt, p place) (*Case, error) {
	text := make([]byte, p.length)
	if _, err := f.ReadAt(text, p.offset); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", j.path, err)
	}
	line := caseLine{Case: new(Case)}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // arguments keep their digits
	if err := dec.Decode(&line); err != nil {
		return nil, fmt.Errorf("read journal %s: case %d: %w", j.path, p.index, err)
	}
	return line.Case, nil
}

// Summary counts what has finished.
func (j *Journal) Summary() (Summary, error) {
	s := j.emptySummary()
	for c, err := range j.Cases() {
		if err != nil {
			return s, err
		}
		s.Add(c)
	}
	return s, nil
}

// emptySummary returns what is known of the run beside its cases.
func (j *Journal) emptySummary() Summary {
	s := Summary{Total: j.Header.Cases, Attempts: Attempts{Total: j.Header.Attempts}, Elapsed: j.Elapsed}
	if j.End != nil {
		s.Notes = j.End.Notes
		if j.End.State == Incomplete {
			s.Stopped = j.End.Reason
		}
	}
	return s
}

// readHeader reads the first line of the journal at path.
func readHeader(path string) (Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	for line, err := range lines(f) {
		if err != nil {
			return Header{}, fmt.Errorf("read journal %s: %w", path, err)
		}
		return parseHeader(path, line.text)
	}
	return Header{}, fmt.Errorf("read journal %s: it has no complete line", path)
}

// parseHeader reads the first line of a journal.
func parseHeader(path string, text []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(text, &h); err != nil || h.Schema != Schema || h.Type != typeRun {
		return Header{}, fmt.Errorf("read journal %s: its first line is not the beginning of a %s", path, Schema)
	}
	return h, nil
}

// line is a line of a journal and where it begins.
type line struct {
	offset int64
	text   []byte // valid until the next line
}

// lines yields the lines of r that end in a newline.
func lines(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var offset int64
		var text []byte
		for {
			text = text[:0]
			part, err := in.ReadSlice('\n')
			for errors.Is(err, bufio.ErrBufferFull) && len(text) <= durable.MaxRecord {
				text = append(text, part...)
				part, err = in.ReadSlice('\n')
			}
			text = append(text, part...)
			switch {
			case errors.Is(err, io.EOF): // what a killed writer left
				return
			case errors.Is(err, bufio.ErrBufferFull):
				yield(line{}, fmt.Errorf("a line is longer than %d bytes", durable.MaxRecord))
				return
			case err != nil:
				yield(line{}, err)
				return
			}
			if !yield(line{offset, text[:len(text)-1]}, nil) {
				return
			}
			offset += int64(len(text))
		}
	}
}
