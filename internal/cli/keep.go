package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// unfinished stands for --resume without a value.
const unfinished = "unfinished"

// keptRun is a run of test cases that is kept as it goes. The zero value keeps
// nothing.
type keptRun struct {
	recorder *runs.Recorder
	tell     func(format string, args ...any)
	kept     bool  // it has ended, and can be found
	err      error // once there is one, nothing more is kept
}

// storeOf returns where the runs of the agent at path are. The agent need not be
// able to run.
func (a *app) storeOf(path string) (*runs.Store, error) {
	agent, problems := config.Load(path, a.loadOptions().Options)
	if agent == nil || agent.Name == "" {
		return nil, &config.Error{Problems: problems}
	}
	return a.store(agent)
}

// store returns where the runs of an agent are.
func (a *app) store(agent *config.Agent) (*runs.Store, error) {
	store, err := runs.NewStore(agent.Dir, agent.Name, a.variable)
	if err != nil {
		return nil, fmt.Errorf("find the results: %w", err)
	}
	return store, nil
}

// passOver returns what says of a file among the runs that it cannot be read, once
// of each.
func (a *app) passOver() func(error) {
	said := map[string]bool{}
	return func(err error) {
		if text := err.Error(); !said[text] {
			said[text] = true
			a.tell("%s; it is passed over", text)
		}
	}
}

// selectFailed selects the cases that failed in the newest run of the agent. It
// reports false, having said so, when none did.
func (a *app) selectFailed(agent *config.Agent, sel *testrun.Selection) (bool, error) {
	store, err := a.store(agent)
	if err != nil {
		return false, err
	}
	stored, err := store.Find(runs.Latest, a.passOver())
	switch {
	case errors.As(err, new(*runs.NotFoundError)):
		return false, &usageError{fmt.Errorf("--failed: %s has not been tested yet; leave out --failed", agent.File)}
	case err != nil:
		return false, err
	}
	record, err := a.openRun(stored)
	if err != nil {
		return false, fmt.Errorf("--failed: %w", err)
	}
	if sel.IDs, err = record.FailedIDs(); err != nil {
		return false, fmt.Errorf("--failed: %w", err)
	}
	if len(sel.IDs) == 0 {
		_, err := fmt.Fprintf(a.Stdout, "no case failed in the run %s; nothing ran\n", stored.Name)
		return false, err
	}
	left, err := testrun.NewPlan(agent, testrun.Selection{IDs: sel.IDs})
	if err != nil {
		return false, err
	}
	if gone := len(sel.IDs) - left.Cases; gone > 0 {
		a.tell("--failed: %s of the run %s are no longer among the cases of %s", plural(gone, "case"), stored.Name, agent.File)
	}
	return true, nil
}

// resumedRun is a run that is to go on.
type resumedRun struct {
	stored  runs.Stored
	journal *runs.Journal
}

// say says what goes on, once nothing keeps it from that.
func (r *resumedRun) say(a *app) {
	j := r.journal
	a.tell("going on with the run %s: %d of %d attempts at cases have finished", r.stored.Name, j.Finished(), j.Header.Attempts)
	if j.Damaged > 0 {
		a.tell("%s of %s cannot be read; what stood there runs again", plural(j.Damaged, "line"), j.Path())
	}
}

// resume looks for the run that --resume means, and sets the options to what
// that run began with.
func (a *app) resume(path string, opts *testOptions) (*resumedRun, error) {
	j, stored, err := a.findUnfinished(path, opts.resume)
	if err != nil {
		return nil, err
	}
	switch h := j.Header; {
	case opts.open.offline && !h.Offline:
		return nil, &usageError{fmt.Errorf("--resume: the run %s began without --offline; leave that out", stored.Name)}
	default:
		opts.open.offline = h.Offline
	}
	if err := json.Unmarshal(j.Header.Selection, &opts.selection); err != nil {
		return nil, fmt.Errorf("--resume: the run %s says in a way unknown to this build which cases it was to run: %w", stored.Name, err)
	}
	return &resumedRun{stored, j}, nil
}

// findUnfinished returns the run that --resume means: the newest that is not
// finished, or the one that is named.
func (a *app) findUnfinished(path, ref string) (*runs.Journal, runs.Stored, error) {
	refuse := func(format string, args ...any) (*runs.Journal, runs.Stored, error) {
		return nil, runs.Stored{}, &usageError{fmt.Errorf("--resume: "+format, args...)}
	}
	store, err := a.storeOf(path)
	if err != nil {
		return nil, runs.Stored{}, err
	}
	if ref != unfinished {
		stored, err := store.Find(ref, a.passOver())
		if err != nil {
			return refuse("%w", err)
		}
		j, err := runs.ReadJournal(stored.JournalFile())
		switch {
		case err != nil:
			return refuse("%w", err)
		case j.End != nil && j.End.State == runs.Finished && j.Finished() >= j.Header.Attempts:
			return refuse("the run %s is finished; leave out --resume to start another", stored.Name)
		}
		return j, stored, nil
	}
	list, err := store.List()
	if err != nil {
		return nil, runs.Stored{}, err
	}
	passOver := a.passOver()
	for _, stored := range list {
		o, err := stored.Overview()
		if err != nil {
			passOver(err)
			continue
		}
		if o.ID == "" || o.State == runs.Finished || o.State == runs.Running {
			continue // what is no run of ours cannot go on
		}
		j, err := runs.ReadJournal(stored.JournalFile())
		if err != nil {
			return refuse("%w", err)
		}
		return j, stored, nil
	}
	return refuse("every run of this agent is finished; leave out --resume to start another")
}

// checkUnchanged refuses to go on with a run that an agent of another state
// began.
func checkUnchanged(flag string, h runs.Header, name string, agent *config.Agent, version string) error {
	changed := h.Config.Changed(runs.NewFingerprint(agent))
	if len(changed) == 0 {
		return nil
	}
	other := ""
	if h.Version != version {
		other = fmt.Sprintf(" (or are read in another way: that was version %s, this is %s)", h.Version, version)
	}
	return &usageError{fmt.Errorf("%s: %s has changed since the run %s: its %s differ%s; put that back, or start another run",
		flag, agent.File, name, strings.Join(changed, ", "), other)}
}

// keep begins to keep a run, or goes on with one. An error says that results
// cannot be kept; nothing has run then.
func (t *testRun) keep(run runs.Run) error {
	a, env := t.app, t.opened.env.Scope("results")
	t.kept.tell = a.tell
	if t.noSave {
		return nil
	}
	if t.resumed != nil {
		recorder, err := runs.Resume(env, t.opened.config, t.resumed.stored)
		if errors.Is(err, runs.ErrRunning) {
			return &usageError{fmt.Errorf("--resume: %w", err)}
		}
		if err != nil {
			return err
		}
		t.resumed.say(a)
		t.kept.begin(recorder)
		return nil
	}
	store, err := a.store(t.opened.config)
	if err != nil {
		return err
	}
	chosen, err := json.Marshal(t.selection)
	if err != nil {
		return fmt.Errorf("keep the selection of cases: %w", err)
	}
	recorder, err := store.Create(env, t.opened.config, runs.Header{
		Run: run, Args: a.args, Selection: chosen, Cases: t.plan.Cases, Attempts: t.plan.Attempts,
	})
	if err != nil {
		return fmt.Errorf("%w; --no-save runs the cases without keeping results", err)
	}
	t.kept.begin(recorder)
	return nil
}

// begin takes the recorder of the run, and says it when
// the files of that were removed.
func (k *keptRun) begin(recorder *runs.Recorder) {
	k.recorder = recorder
	recorder.Restored = func() {
		k.tell("%s was removed while the run was under way; it has been written anew, with every result so far", recorder.Stored().JournalFile())
	}
}

// add keeps a finished attempt. When that fails it says so, and the run goes on:
// what it finds is printed all the same.
func (k *keptRun) add(c *runs.Case) {
	if k.recorder == nil || k.err != nil {
		return
	}
	if k.err = k.recorder.Add(c); k.err != nil {
		k.tell("%v; the run goes on, and its results are printed but not kept", k.err)
	}
}

// finish ends the run, which ended says why it did before every attempt had
// finished.
func (k *keptRun) finish(s runs.Summary, ended error) error {
	if k.recorder == nil {
		return nil
	}
	state, reason := runs.Finished, s.Stopped
	switch {
	case errors.As(ended, new(interrupted)):
		state, reason = runs.Interrupted, ended.Error()
	case ended != nil:
		state, reason = runs.Incomplete, ended.Error()
	case s.Attempts.Finished() < s.Attempts.Total || s.Finished() < s.Total:
		state = runs.Incomplete
	}
	if k.err == nil {
		k.kept, k.err = k.recorder.Finish(state, reason, s)
	}
	err := errors.Join(k.err, k.recorder.Close())
	if err == nil {
		return nil
	}
	if _, gone := os.Stat(k.recorder.Stored().JournalFile()); gone == nil {
		return fmt.Errorf("%w (what was kept before that is left: once it can be written again, --resume goes on with it)", err)
	}
	return fmt.Errorf("%w (nothing of this run is kept; run it again once results can be written)", err)
}

// say says where the run is kept.
func (k *keptRun) say() {
	if k.kept {
		k.tell("this run is kept in %s", filepath.ToSlash(k.recorder.Stored().File()))
	}
}

// earlier returns what an earlier part of the run has of an attempt.
func (k *keptRun) earlier(index, attempt int) (*runs.Case, error) {
	if k.recorder == nil {
		return nil, nil
	}
	return k.recorder.Earlier(index, attempt)
}

// done returns how many attempts earlier parts of the run have.
func (k *keptRun) done() int {
	if k.recorder == nil {
		return 0
	}
	return k.recorder.Done()
}

// before returns how long earlier parts of the run took.
func (k *keptRun) before() time.Duration {
	if k.recorder == nil {
		return 0
	}
	return k.recorder.Before()
}
