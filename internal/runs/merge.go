package runs

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// DuplicateError says that two runs that are to be merged have the same attempt.
type DuplicateError struct {
	Case   string // its id
	First  string // the runs, by name or path
	Second string
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("the case %q is in %s and in %s; leave one of them out", e.Case, e.First, e.Second)
}

// Merge puts runs of parts of an agent's cases together into one run, which it
// keeps in the store. That the parts belong together is for the caller to say;
// an attempt that two of them have is a *DuplicateError. Of the header the
// caller gives what [Store.Create] asks for. The run took as long as the longest
// of its parts, and is incomplete when it has fewer attempts than its header
// says.
func Merge(env agent.Env, s *Store, a *config.Agent, h Header, parts []*Journal) (_ Stored, err error) {
	from := map[attempt]*Journal{}
	summary := Summary{Total: h.Cases, Attempts: Attempts{Total: h.Attempts}}
	for _, part := range parts {
		h.Merged = append(h.Merged, part.Header.ID)
		summary.Elapsed = max(summary.Elapsed, part.Elapsed)
		for i, p := range part.places {
			if first, ok := from[p.attempt]; ok {
				return Stored{}, part.duplicate(i, first)
			}
			from[p.attempt] = part
		}
	}
	r, err := s.Create(env, a, h)
	if err != nil {
		return Stored{}, err
	}
	for _, part := range parts {
		for c, err := range part.Cases() {
			if err == nil {
				summary.Add(c)
				err = r.Add(c)
			}
			if err != nil {
				return Stored{}, r.giveUp(err)
			}
		}
	}
	state := Finished
	if len(from) < h.Attempts {
		state = Incomplete
	}
	if _, err := r.Finish(state, "", summary); err != nil {
		return Stored{}, r.giveUp(err)
	}
	return r.stored, r.Close()
}

// duplicate returns the error of an attempt that first has as well.
func (j *Journal) duplicate(place int, first *Journal) error {
	e := &DuplicateError{Case: fmt.Sprint(j.places[place].index), First: first.path, Second: j.path}
	if c, err := j.Case(j.places[place].index, j.places[place].number); err == nil {
		e.Case = c.ID
	}
	return e
}
