package runs

import (
	"fmt"
	"iter"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Score is one metric of a whole case: the mean over the turns it scored.
type Score struct {
	Name string
	Kind config.MetricType
	// Place is which of the entries of that name it is, from 1.
	Place int
	// Value is the mean score; Turns is how many turns it is taken over, 0 when
	// the metric scored none.
	Value float64
	Turns int
	// Counts says that the metric took part in the verdict of a turn, and
	// Failed that it failed one.
	Counts, Failed bool
	// Threshold is that of the first turn; nil when none is set.
	Threshold *float64
	// Elapsed is the sum over the turns.
	Elapsed time.Duration
	sum     float64
}

// Scores returns the case's metrics over all turns, in order of first
// appearance. Two entries of one name in a turn are two metrics: they meet the
// entries of that name and place in the other turns.
func (c *Case) Scores() []Score {
	var scores []Score
	index := map[entry]int{}
	for _, t := range c.Turns {
		for k, m := range t.entries() {
			i, ok := index[k]
			if !ok {
				i = len(scores)
				index[k] = i
				scores = append(scores, Score{Name: m.Name, Kind: m.Kind, Place: k.place, Threshold: m.Threshold})
			}
			scores[i].add(m)
		}
	}
	return scores
}

func (s *Score) add(m Metric) {
	s.Counts = s.Counts || m.Counts
	s.Failed = s.Failed || m.Failed()
	s.Elapsed += m.Elapsed
	if m.Score == nil {
		return
	}
	s.sum += *m.Score
	s.Turns++
	s.Value = s.sum / float64(s.Turns)
}

// entry names a metric of a turn: two of one name are told apart by their order.
type entry struct {
	name  string
	kind  config.MetricType
	place int // among the entries of the name, from 1
}

// title tells the entry from others of its name.
func (e entry) title() string {
	if e.place > 1 {
		return fmt.Sprintf("%s #%d", e.name, e.place)
	}
	return e.name
}

// entries yields the metrics of a turn.
func (t *Turn) entries() iter.Seq2[entry, Metric] {
	return func(yield func(entry, Metric) bool) {
		seen := map[entry]int{}
		for _, m := range t.Metrics {
			e := entry{name: m.Name, kind: m.Kind}
			seen[e]++
			e.place = seen[e] // of the entry without a place
			if !yield(e, m) {
				return
			}
		}
	}
}
