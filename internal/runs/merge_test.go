package runs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

func journal(t *testing.T, s runs.Stored) *runs.Journal {
	t.Helper()
	j, err := runs.ReadJournal(s.JournalFile())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestMerge(t *testing.T) {
	d := newDesk(t)
	first, second := d.run(numbered(0, runs.Passed), numbered(2, runs.Failed)), d.run(numbered(1, runs.Passed))
	d.now = d.now.Add(time.Hour)
	parts := []*runs.Journal{journal(t, second), journal(t, first)}
	stored, err := runs.Merge(d.env, d.store, d.agent, d.header(4), parts)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, stored)
	if r.State != runs.Incomplete || r.Cases != 4 || r.Passed != 2 || r.Failed != 1 || r.Elapsed != 4*time.Second {
		t.Errorf("merged into %+v", r.Overview)
	}
	var order []int
	for _, c := range read(t, r) {
		order = append(order, c.Index)
	}
	if !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("the cases are %v", order)
	}
	if merged := journal(t, stored).Header.Merged; !slices.Equal(merged, []string{parts[0].Header.ID, parts[1].Header.ID}) {
		t.Errorf("it is said to be made of %v", merged)
	}
	if ids, err := r.FailedIDs(); err != nil || !slices.Equal(ids, []string{"case-2"}) {
		t.Errorf("the failed cases are %v, %v", ids, err)
	}
	// The rest of it can still run.
	again, err := runs.Resume(d.env, d.agent, stored)
	if err != nil {
		t.Fatal(err)
	}
	add(t, again, numbered(3, runs.Passed))
	if _, err := again.Finish(runs.Finished, "", runs.Summary{}); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if r := open(t, stored); r.State != runs.Finished || r.Passed != 3 {
		t.Errorf("after the rest it is %+v", r.Overview)
	}
}

func TestMergeRefusesACaseThatIsThereTwice(t *testing.T) {
	d := newDesk(t)
	first, second := d.run(numbered(0, runs.Passed)), d.run(numbered(1, runs.Passed), numbered(0, runs.Failed))
	_, err := runs.Merge(d.env, d.store, d.agent, d.header(2), []*runs.Journal{journal(t, first), journal(t, second)})
	var twice *runs.DuplicateError
	if !errors.As(err, &twice) || twice.Case != "case-0" || !strings.Contains(err.Error(), first.Name) || !strings.Contains(err.Error(), second.Name) {
		t.Errorf("got %v, want an error that names the case and both runs", err)
	}
	if list, err := d.store.List(); err != nil || len(list) != 2 {
		t.Errorf("there are %d runs, %v", len(list), err)
	}
}
