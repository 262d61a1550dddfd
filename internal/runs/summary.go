package runs

import (
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Summary is what is kept of a run: counts and sums. Its size depends on the
// number of different metrics and of attempts at once, not on the number of
// cases.
type Summary struct {
	// Total is how many cases were to run; fewer finished when the run was
	// interrupted or stopped.
	Total int
	// Passed, Failed and Unchecked count the cases whose attempts have all
	// finished, each judged by its pass rule.
	Passed, Failed, Unchecked int
	// Attempts counts every attempt that finished. Where each case runs once, it
	// says the same as the counts above.
	Attempts Attempts
	// Repeats is what became of the cases that ran more than once.
	Repeats Repeats
	// Stopped says why the run left out cases of its own accord; empty when it
	// did not.
	Stopped string
	// Notes are what a person should know of the run as a whole, in sentences.
	Notes []string
	// MetricErrors is how many of the failed cases failed for no other reason
	// than that a metric ended in an error.
	MetricErrors int
	// Elapsed is the wall-clock time of the run, AgentTime the sum of what the
	// agent took for each case.
	Elapsed, AgentTime time.Duration
	Usage              agent.Usage
	// CostUSD is the sum of the turns whose cost is known; nil when none is.
	CostUSD *float64
	// Metrics are in order of first appearance.
	Metrics []MetricSummary

	open map[int]*tally // of the cases some of whose attempts have finished
}

// Attempts counts attempts at cases.
type Attempts struct {
	Total                     int // that were to run
	Passed, Failed, Unchecked int
}

// Finished returns how many attempts finished.
func (a Attempts) Finished() int { return a.Passed + a.Failed + a.Unchecked }

// MetricSummary is one metric over a run.
type MetricSummary struct {
	// Name is the metric's; of the second entry of one name in a turn it is
	// "NAME #2", since entries of one name may have different settings.
	Name string
	Kind config.MetricType
	// Attempts is how many attempts at cases it scored, and Mean the mean of their
	// scores, zeros included.
	Attempts int
	Mean     float64
	// Skipped is how many turns skipped it, and SkipReason why the first did.
	Skipped    int
	SkipReason string
	entry      entry
	sum        float64
}

// Add counts a finished attempt. When it is the last of its case, Add returns
// the verdict on the case and true.
func (s *Summary) Add(c *Case) (Status, bool) {
	switch c.Status {
	case Passed:
		s.Attempts.Passed++
	case Unchecked:
		s.Attempts.Unchecked++
	default:
		s.Attempts.Failed++
	}
	s.AgentTime += c.AgentTime()
	for _, t := range c.Turns {
		if t.Usage != nil {
			s.Usage = s.Usage.Add(*t.Usage)
		}
		if t.CostUSD != nil {
			if s.CostUSD == nil {
				s.CostUSD = new(float64)
			}
			*s.CostUSD += *t.CostUSD
		}
		for e, m := range t.entries() {
			if m.Status == MetricSkipped {
				s.metric(e).skip(m.Reason)
			}
		}
	}
	for _, score := range c.Scores() {
		if score.Turns > 0 {
			s.metric(entry{score.Name, score.Kind, score.Place}).score(score.Value)
		}
	}
	return s.addToCase(c)
}

// addToCase counts an attempt towards the verdict on its case.
func (s *Summary) addToCase(c *Case) (Status, bool) {
	t := s.open[c.Index]
	if t == nil {
		t = &tally{}
	}
	t.add(c)
	if t.finished() < c.Repeats {
		if s.open == nil {
			s.open = map[int]*tally{}
		}
		s.open[c.Index] = t
		return "", false
	}
	delete(s.open, c.Index)
	verdict := t.verdict(c.PassRule)
	switch verdict {
	case Passed:
		s.Passed++
	case Unchecked:
		s.Unchecked++
	default:
		s.Failed++
		if t.failed == t.metricErrors {
			s.MetricErrors++
		}
	}
	if c.Repeats > 1 {
		s.Repeats.add(*t)
	}
	return verdict, true
}

// Finished returns how many cases finished, with all their attempts.
func (s Summary) Finished() int { return s.Passed + s.Failed + s.Unchecked }

// PassRate is the share of the cases that passed among those that were checked.
func (s Summary) PassRate() Rate { return NewRate(s.Passed, s.Passed+s.Failed) }

func (s *Summary) metric(e entry) *MetricSummary {
	for i := range s.Metrics {
		if s.Metrics[i].entry == e {
			return &s.Metrics[i]
		}
	}
	s.Metrics = append(s.Metrics, MetricSummary{Name: e.title(), Kind: e.kind, entry: e})
	return &s.Metrics[len(s.Metrics)-1]
}

func (m *MetricSummary) skip(reason string) {
	if m.Skipped == 0 {
		m.SkipReason = reason
	}
	m.Skipped++
}

func (m *MetricSummary) score(value float64) {
	m.sum += value
	m.Attempts++
	m.Mean = m.sum / float64(m.Attempts)
}
