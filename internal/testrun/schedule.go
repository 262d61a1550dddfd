package testrun

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// ahead is how many attempts a run may be ahead of the first that has not
// finished. It bounds what is held for the sake of order.
const ahead = 256

// schedule hands attempts to workers and results to their takers. Its fields
// belong to the goroutine that calls run; the workers read runner.
type schedule struct {
	runner   *runner
	plan     *Plan
	parallel int
	failFast bool
	progress Progress
	earlier  func(index, attempt int) (*runs.Case, error)
	finished func(*runs.Case)
	results  func(*runs.Case) error

	sharing sharing
	early   map[int]*runs.Case // finished before an attempt that comes before them
	next    int                // number of the attempt that is handed on next
	seen    runs.Summary       // what has finished, in the order in which it did
	stopped bool               // by failFast
	summary runs.Summary
}

// job is an attempt for a worker, and its number in the plan.
type job struct {
	number  int
	attempt attempt
}

// finished is what a worker reports of a job: its result, or why there is none.
type finished struct {
	number int
	result *runs.Case
	err    error
}

// run returns when every worker has ended. The error is why attempts were left
// out: the cause of ctx, or what ended the run.
func (s *schedule) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make(chan job)
	done := s.startWorkers(ctx, jobs)
	pull, release := iter.Pull(s.plan.attempts())
	defer release()
	number := 0
	a, more := pull()
	for more && !s.stopped && ctx.Err() == nil {
		var offer chan<- job // nil, which is never ready, while the run is too far ahead
		if number < s.next+ahead {
			if c := s.resumed(a, stop); c != nil {
				s.put(number, c, stop)
				number++
				a, more = pull()
				continue
			}
			offer = jobs
		}
		select {
		case offer <- job{number, a}:
			if s.progress != nil {
				s.progress.CaseStarted(number, a.label())
			}
			number++
			a, more = pull()
		case f := <-done:
			s.take(f, stop)
		case <-ctx.Done():
		}
	}
	close(jobs)
	for f := range done {
		s.take(f, stop)
	}
	for _, number := range slices.Sorted(maps.Keys(s.early)) { // those behind one that was given up
		s.handOn(s.early[number], stop)
	}
	if s.stopped && s.summary.Attempts.Finished() < s.summary.Attempts.Total {
		s.summary.Stopped = "a case failed, and the run was to end with the first (--fail-fast)"
	}
	return context.Cause(ctx)
}

// startWorkers starts the workers, which end when jobs is closed. The channel
// it returns is closed when they have.
func (s *schedule) startWorkers(ctx context.Context, jobs <-chan job) <-chan finished {
	done := make(chan finished)
	var workers sync.WaitGroup
	for range s.parallel {
		workers.Go(func() {
			for j := range jobs {
				c, err := s.runner.runCase(ctx, j.attempt)
				done <- finished{j.number, c, err}
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	return done
}

// resumed returns what an earlier part of the run has of an attempt, or nil.
func (s *schedule) resumed(a attempt, stop context.CancelCauseFunc) *runs.Case {
	if s.earlier == nil {
		return nil
	}
	c, err := s.earlier(a.index, a.number)
	if err != nil {
		stop(err)
		return nil
	}
	return c
}

// take tells of a finished attempt and shows it.
func (s *schedule) take(f finished, stop context.CancelCauseFunc) {
	if f.err != nil {
		stop(f.err)
		return
	}
	s.sharing.add(f.result)
	if s.finished != nil {
		s.finished(f.result)
	}
	if s.progress != nil {
		s.progress.CaseFinished(f.number, f.result)
	}
	s.put(f.number, f.result, stop)
}

// put hands on the attempts whose turn has come with c.
func (s *schedule) put(number int, c *runs.Case, stop context.CancelCauseFunc) {
	if s.failFast {
		verdict, last := s.seen.Add(c)
		s.stopped = s.stopped || last && verdict == runs.Failed
	}
	s.early[number] = c
	for c := s.early[s.next]; c != nil; c = s.early[s.next] {
		delete(s.early, s.next)
		s.next++
		s.handOn(c, stop)
	}
}

// handOn counts an attempt and gives it to the results, until they fail.
// Counting in the order of the file keeps sums of fractions the same in every
// run.
func (s *schedule) handOn(c *runs.Case, stop context.CancelCauseFunc) {
	s.summary.Add(c)
	if s.results == nil {
		return
	}
	if err := s.results(c); err != nil {
		s.results = nil
		stop(err)
	}
}
