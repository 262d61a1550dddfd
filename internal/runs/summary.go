package runs

import (
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// Summary is what is kept of a run: counts and sums. Its size depends on the
// number of different metrics, not on the number of cases.
type Summary struct {
	// Total is how many cases were to run; fewer finished when the run was
	// interrupted.
	Total                     int
	Passed, Failed, Unchecked int
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
}

// MetricSummary is one metric over a run.
type MetricSummary struct {
	Name string
	Kind config.MetricType
	// Cases is how many cases it scored, and Mean the mean of their scores,
	// zeros included.
	Cases int
	Mean  float64
	// Skipped is how many turns skipped it, and SkipReason why the first did.
	Skipped    int
	SkipReason string
	sum        float64
}

// Add counts a finished case.
func (s *Summary) Add(c *Case) {
	switch c.Status {
	case Passed:
		s.Passed++
	case Unchecked:
		s.Unchecked++
	default:
		s.Failed++
	}
	if c.failedByMetricErrorsOnly() {
		s.MetricErrors++
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
		for _, m := range t.Metrics {
			if m.Status == MetricSkipped {
				s.metric(m.Name, m.Kind).skip(m.Reason)
			}
		}
	}
	for _, score := range c.Scores() {
		if score.Turns > 0 {
			s.metric(score.Name, score.Kind).score(score.Value)
		}
	}
}

// Finished returns how many cases finished.
func (s Summary) Finished() int { return s.Passed + s.Failed + s.Unchecked }

func (s *Summary) metric(name string, kind config.MetricType) *MetricSummary {
	for i := range s.Metrics {
		if s.Metrics[i].Name == name && s.Metrics[i].Kind == kind {
			return &s.Metrics[i]
		}
	}
	s.Metrics = append(s.Metrics, MetricSummary{Name: name, Kind: kind})
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
	m.Cases++
	m.Mean = m.sum / float64(m.Cases)
}
