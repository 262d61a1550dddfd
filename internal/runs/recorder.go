package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Recorder keeps a run as it goes: each finished attempt is in the journal when
// Add returns, and stays there however the process ends. While it is open, no
// other process can record the same run. Its methods are called from one
// goroutine.
type Recorder struct {
	// Restored, if set, is called when the files of the run were removed while it
	// was under way and have been written anew, with all that they held.
	Restored func()

	stored  Stored
	agent   *config.Agent
	now     func() time.Time
	header  Header
	lock    *durable.FileLock
	journal *durable.Journal
	// earlier is what had finished before the run was resumed; nil for a new run.
	earlier *Journal
	added   int
}

// Create begins a new run of an agent in the store. Of the header the caller
// gives Run, Args, Selection, Cases, Attempts and Merged; the rest is filled in,
// and secrets are masked.
func (s *Store) Create(env agent.Env, a *config.Agent, h Header) (_ *Recorder, err error) {
	h.Schema, h.Type, h.ID = Schema, typeRun, env.NewID()
	h.Offline = a.Offline
	h.Config = NewFingerprint(a)
	h.Commit = GitCommit(a.Dir)
	if h.AgentSHA256, err = hashFile(a.File); err != nil {
		return nil, fmt.Errorf("begin the run: %w", err)
	}
	h.redact(a.Redactor)
	stored, err := s.make(h.Started, env.Rand)
	if err != nil {
		return nil, err
	}
	r := &Recorder{stored: stored, agent: a, now: env.Now, header: h}
	if err := r.begin(); err != nil {
		return nil, fmt.Errorf("begin the run: %w", r.giveUp(err))
	}
	return r, nil
}

// giveUp removes what there is of the run and returns err.
func (r *Recorder) giveUp(err error) error {
	err = errors.Join(err, r.Close(), os.RemoveAll(r.stored.sidecar()))
	r.stored.tidy()
	return err
}

// begin opens the files of a new run.
func (r *Recorder) begin() (err error) {
	if r.lock, err = durable.TryLock(r.stored.lockFile()); err != nil {
		return err
	}
	if err := writeConfig(filepath.Join(r.stored.sidecar(), configFile), r.agent); err != nil {
		return err
	}
	if r.journal, err = durable.OpenJournal(r.stored.JournalFile(), 0o644); err != nil {
		return err
	}
	return r.journal.Append(r.header)
}

// ErrRunning is returned by Resume, wrapped, for a run that is under way.
var ErrRunning = errors.New("it is under way")

// Resume goes on with a run of the store, which must not be under way. Whether
// the agent is still the one that the run began with is for the caller to say.
func Resume(env agent.Env, a *config.Agent, stored Stored) (*Recorder, error) {
	r := &Recorder{stored: stored, agent: a, now: env.Now}
	err := r.resume()
	if errors.Is(err, durable.ErrLocked) {
		err = ErrRunning
	}
	if err != nil {
		return nil, fmt.Errorf("resume the run %s: %w", stored.Name, errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Recorder) resume() (err error) {
	if r.lock, err = durable.TryLock(r.stored.lockFile()); err != nil {
		return err
	}
	if err := r.stored.sweep(); err != nil {
		return err
	}
	if r.earlier, err = ReadJournal(r.stored.JournalFile()); err != nil {
		return err
	}
	r.header = r.earlier.Header
	if r.journal, err = durable.OpenJournal(r.stored.JournalFile(), 0o644); err != nil { // cuts off a torn line
		return err
	}
	return r.journal.Append(resumedLine{typeResumed, r.now()})
}

// Header returns what the run began with.
func (r *Recorder) Header() Header { return r.header }

// Stored says where the run is.
func (r *Recorder) Stored() Stored { return r.stored }

// Done returns how many attempts earlier parts of the run have, and Before how
// long these took.
func (r *Recorder) Done() int {
	if r.earlier == nil {
		return 0
	}
	return r.earlier.Finished()
}

// Before: see Done.
func (r *Recorder) Before() time.Duration {
	if r.earlier == nil {
		return 0
	}
	return r.earlier.Elapsed
}

// Earlier returns what an earlier part of the run has of an attempt, counted
// from 1, or nil when the attempt has still to run.
func (r *Recorder) Earlier(index, number int) (*Case, error) {
	if r.earlier == nil {
		return nil, nil
	}
	return r.earlier.Case(index, number)
}

// Add keeps a finished attempt. After an error the journal takes no more.
func (r *Recorder) Add(c *Case) error {
	if err := r.restore(); err != nil {
		return fmt.Errorf("keep the results: %w", err)
	}
	if err := r.journal.Append(caseLine{typeCase, c}); err != nil {
		return fmt.Errorf("keep the results: %w", err)
	}
	r.added++
	return nil
}

// restore writes the files of the run anew when somebody has removed them. The
// system keeps what an open file holds, so that nothing is lost.
func (r *Recorder) restore() error {
	if !r.journal.Displaced() {
		return nil
	}
	put := func() error {
		if err := os.MkdirAll(r.stored.sidecar(), 0o755); err != nil {
			return err
		}
		if _, err := os.Stat(r.stored.lockFile()); errors.Is(err, fs.ErrNotExist) {
			lock, err := durable.TryLock(r.stored.lockFile())
			if err != nil {
				return err
			}
			_ = r.lock.Unlock() // of a file that is gone
			r.lock = lock
		}
		if err := writeConfig(filepath.Join(r.stored.sidecar(), configFile), r.agent); err != nil {
			return err
		}
		return r.journal.Restore(0o644)
	}
	if err := put(); err != nil {
		return fmt.Errorf("%s was removed while the run was under way, and cannot be written anew: %w", r.stored.JournalFile(), err)
	}
	if r.Restored != nil {
		r.Restored()
	}
	return nil
}

// Finish ends the run: it writes the stored form from the journal and says there
// how the run ended; s is what it came to over all its parts. Of a run without a
// single result nothing is kept, and Finish reports false. The caller still closes the Recorder.
func (r *Recorder) Finish(state State, reason string, s Summary) (kept bool, err error) {
	if r.added+r.Done() == 0 {
		if err := r.giveUp(nil); err != nil {
			return false, fmt.Errorf("remove the run without results: %w", err)
		}
		return false, nil
	}
	// The end is said last: a run that says it has ended has its stored form.
	if err = r.restore(); err == nil {
		err = WriteStored(r.stored, r.agent)
	}
	var notes []string
	for _, note := range s.Notes {
		notes = append(notes, r.agent.Redactor.String(note))
	}
	if err == nil {
		err = r.journal.Append(End{
			Type: typeEnd, State: state, Reason: r.agent.Redactor.String(reason), Ended: r.now(), Elapsed: s.Elapsed,
			Passed: s.Passed, Failed: s.Failed, Unchecked: s.Unchecked, Notes: notes,
		})
	}
	if err == nil {
		err = r.journal.Sync()
	}
	if err != nil {
		return false, fmt.Errorf("keep the results: %w", err)
	}
	return true, nil
}

// Close lets go of the run. It is idempotent.
func (r *Recorder) Close() error {
	var err error
	if r.journal != nil {
		err = r.journal.Close()
	}
	if r.lock != nil {
		err = errors.Join(err, r.lock.Unlock())
	}
	return err
}

// redact masks secrets in what is known of a run.
func (h *Header) redact(r *secret.Redactor) {
	h.Agent, h.Path = r.String(h.Agent), r.String(h.Path)
	args := make([]string, len(h.Args))
	for i, arg := range h.Args {
		args[i] = r.String(arg)
	}
	h.Args = args
	environment := make(map[string]string, len(h.Environment))
	for name, value := range h.Environment {
		environment[name] = r.String(value)
	}
	h.Environment = environment
	h.Selection = r.JSON(h.Selection)
}

// hashFile returns the SHA-256 of a file in hex.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// writeConfig writes every setting of the agent, masked, with where it comes
// from. The test cases are in the journal.
func writeConfig(path string, a *config.Agent) error {
	without := *a
	without.TestCases = config.Cases{}
	return durable.Replace(path, 0o644, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			File     string           `json:"file"`
			Settings []config.Setting `json:"settings"`
		}{a.File, without.Effective()})
	})
}
