package testrun

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// ahead is how many cases a run may be ahead of the first that has not
// finished. It bounds what is held for the sake of order.
const ahead = 256

// schedule hands cases to workers and results to their takers. Its fields
// belong to the goroutine that calls run; the workers read runner.
type schedule struct {
	runner   *runner
	cases    config.Cases
	total    int // how many of them run
	parallel int
	progress Progress
	earlier  func(index, attempt int) (*runs.Case, error)
	finished func(*runs.Case)
	results  func(*runs.Case) error

	early   map[int]*runs.Case // finished before a case that stands before them
	next    int                // index of the case that is handed on next
	summary runs.Summary
}

// job is a case for a worker.
type job struct {
	index int
	tc    *config.TestCase
}

// finished is what a worker reports of a case: its result, or why there is none.
type finished struct {
	result *runs.Case
	err    error
}

// run returns when every worker has ended. The error is why cases were left
// out: the cause of ctx, or what ended the run.
func (s *schedule) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make(chan job)
	done := s.startWorkers(ctx, jobs)
	next, release := iter.Pull2(s.cases.All())
	defer release()
	index, tc, more := next()
	for more && index < s.total && ctx.Err() == nil {
		var offer chan<- job // nil, which is never ready, while the run is too far ahead
		if index < s.next+ahead {
			if c := s.resumed(index, stop); c != nil {
				s.put(c, stop)
				index, tc, more = next()
				continue
			}
			offer = jobs
		}
		select {
		case offer <- job{index, tc}:
			if s.progress != nil {
				s.progress.CaseStarted(index, s.runner.title(tc))
			}
			index, tc, more = next()
		case f := <-done:
			s.take(f, stop)
		case <-ctx.Done():
		}
	}
	close(jobs)
	for f := range done {
		s.take(f, stop)
	}
	for _, index := range slices.Sorted(maps.Keys(s.early)) { // those behind a case that was given up
		s.handOn(s.early[index], stop)
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
				c, err := s.runner.runCase(ctx, j.index, j.tc)
				done <- finished{c, err}
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	return done
}

// resumed returns what an earlier part of the run has of a case, or nil.
func (s *schedule) resumed(index int, stop context.CancelCauseFunc) *runs.Case {
	if s.earlier == nil {
		return nil
	}
	c, err := s.earlier(index, 1)
	if err != nil {
		stop(err)
		return nil
	}
	return c
}

// take tells of a finished case and shows it.
func (s *schedule) take(f finished, stop context.CancelCauseFunc) {
	if f.err != nil {
		stop(f.err)
		return
	}
	if s.finished != nil {
		s.finished(f.result)
	}
	if s.progress != nil {
		s.progress.CaseFinished(f.result)
	}
	s.put(f.result, stop)
}

// put hands on the cases whose turn has come with c.
func (s *schedule) put(c *runs.Case, stop context.CancelCauseFunc) {
	s.early[c.Index] = c
	for c := s.early[s.next]; c != nil; c = s.early[s.next] {
		delete(s.early, s.next)
		s.next++
		s.handOn(c, stop)
	}
}

// handOn counts a case and gives it to the results, until they fail. Counting in
// the order of the file keeps sums of fractions the same in every run.
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
