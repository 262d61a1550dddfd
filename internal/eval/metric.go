package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Status is how a metric ended.
type Status string

// The statuses; see the package comment for what each counts as.
const (
	Pass          Status = "pass"
	Fail          Status = "fail"
	Error         Status = "error"
	Skipped       Status = "skipped"
	NotApplicable Status = "not_applicable"
)

// Input is what a metric may look at.
type Input struct {
	// Answer is the agent's answer as text.
	Answer string
	// Structured is the answer as a value, when the agent gave one.
	Structured json.RawMessage
	// GroundTruth is the right answer; nil when the case declares none.
	GroundTruth *string
	// Retrieval says that the case has something to judge retrieval by: the
	// agent has a retrieval tool, or the case a retrieval_context.
	Retrieval bool
	// AllowEmpty says that the case accepts an empty answer.
	AllowEmpty bool
}

// empty reports whether there is no answer.
func (in Input) empty() bool {
	return strings.TrimSpace(in.Answer) == "" && len(in.Structured) == 0
}

// Outcome is what a metric made of an answer.
type Outcome struct {
	Name   string
	Kind   config.MetricType
	Status Status
	// Counts says that the status takes part in the verdict of the case.
	Counts bool
	// Score is between 0 and 1; nil when the metric gave none.
	Score *float64
	// Threshold is the lowest score that passes; nil when none is set.
	Threshold *float64
	// Reason says why the metric ended as it did; empty when it passed and
	// there is nothing to add.
	Reason string
}

// scorer computes one metric. It is called with a non-empty answer, already cut
// to the metric's response_path, and with the ground truth if it needs one.
//
// An error is the metric's own failure; an answer that it cannot read is a
// score of 0 with a reason.
type scorer interface {
	score(ctx context.Context, answer, truth string) (score, error)
}

// score is what a scorer gives.
type score struct {
	value  float64
	pass   bool // the verdict when no threshold is set
	reason string
}

// Options says in which circumstances metrics run.
type Options struct {
	// Offline says that there is no judge and that a metric which cannot be
	// computed does not count.
	Offline bool
}

// Metric is one entry of a metric list, ready to score answers. Two entries of
// one name are two Metrics and share nothing. It is safe for concurrent use.
type Metric struct {
	name      string
	kind      config.MetricType
	threshold *float64
	path      *responsePath
	needs     needs

	scorer      scorer // nil when unavailable
	unavailable string // why the metric cannot be computed here

	ignoreMissing bool // skipped does not count
	ignoreError   bool // error does not count
}

// needs is what a case must declare for a metric to apply.
type needs struct{ groundTruth, retrieval bool }

// NewMetrics returns the enabled entries of a metric list, in its order. The
// error says which entry cannot be used; a list that config.Load accepted has
// none.
func NewMetrics(list []config.Metric, opts Options) ([]*Metric, error) {
	metrics := make([]*Metric, 0, len(list))
	for _, entry := range list {
		if !entry.Base().Enabled {
			continue
		}
		m, err := newMetric(entry, opts)
		if err != nil {
			return nil, fmt.Errorf("metric %s: %w", entry.Name(), err)
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
}

func newMetric(entry config.Metric, opts Options) (*Metric, error) {
	base := entry.Base()
	m := &Metric{
		name:          entry.Name(),
		kind:          base.Type,
		ignoreMissing: base.OnMissing == onEventIgnore,
		ignoreError:   ignoresError(base),
	}
	informs := false // without a threshold its score decides nothing
	switch entry := entry.(type) {
	case *config.StandardMetric:
		m.threshold = entry.Threshold
		m.scorer = newScorer(entry)
		m.needs.groundTruth = !isJudge(entry)
		informs = m.threshold == nil && !ownVerdict(entry)
		if entry.ResponsePath != nil {
			path, err := parseResponsePath(*entry.ResponsePath)
			if err != nil {
				return nil, fmt.Errorf("response_path: %w", err)
			}
			m.path = path
		}
	case *config.GEvalMetric:
		m.threshold = entry.Threshold
		if m.threshold == nil {
			m.threshold = new(defaultGEvalThreshold)
		}
		m.needs = gevalNeeds(entry)
	case *config.RAGMetric:
		m.threshold = &entry.Threshold
		m.needs = ragNeeds(entry)
	case *config.CodeMetric:
		m.threshold = entry.Threshold
	}
	if m.scorer == nil {
		m.unavailable = fmt.Sprintf("this build cannot compute %s yet", describe(entry))
		if opts.Offline && isJudge(entry) {
			m.unavailable = "it needs a judge, which --offline has not"
		}
		m.ignoreMissing = m.ignoreMissing || opts.Offline || informs
	}
	return m, nil
}

// onEventIgnore is the value of on_missing and on_error that keeps an event out
// of the verdict.
const onEventIgnore config.OnEvent = "ignore"

// defaultGEvalThreshold is the threshold of a geval metric that sets none.
const defaultGEvalThreshold = 0.5

// ignoresError reports whether an error of the metric stays out of the verdict.
// fail_on_error is false by default, so only a false that somebody wrote means
// anything; on_error, where written, says it plainly and wins.
func ignoresError(base *config.MetricBase) bool {
	if base.Wrote("on_error") {
		return base.OnError == onEventIgnore
	}
	return base.Wrote("fail_on_error") && !base.FailOnError
}

// Evaluate scores an answer. It never fails: what goes wrong is the Outcome's
// status and reason.
func (m *Metric) Evaluate(ctx context.Context, in Input) Outcome {
	switch {
	case m.needs.groundTruth && in.GroundTruth == nil:
		return m.notApplicable("the case has no ground_truth")
	case m.needs.retrieval && !in.Retrieval:
		return m.notApplicable("the agent has no retrieval tool and the case no retrieval_context")
	case in.empty() && in.AllowEmpty:
		return m.notApplicable("the answer is empty, as the case allows")
	case m.scorer == nil:
		return m.skipped(m.unavailable)
	case in.empty():
		return m.skipped("the answer is empty")
	}
	answer := in.Answer
	switch {
	case m.path != nil:
		var err error
		if answer, err = m.path.find(in); err != nil {
			return m.scored(score{reason: err.Error()})
		}
	case strings.TrimSpace(answer) == "":
		answer = string(in.Structured)
	}
	var truth string
	if in.GroundTruth != nil {
		truth = *in.GroundTruth
	}
	s, err := m.scorer.score(ctx, answer, truth)
	if err != nil {
		out := m.outcome(Error)
		out.Counts = !m.ignoreError
		out.Reason = err.Error()
		return out
	}
	if m.path != nil && s.reason != "" {
		s.reason += fmt.Sprintf(" (%s of the answer is %s)", m.path.text, excerpt(answer))
	}
	return m.scored(s)
}

func (m *Metric) outcome(status Status) Outcome {
	return Outcome{Name: m.name, Kind: m.kind, Status: status, Threshold: m.threshold}
}

func (m *Metric) notApplicable(reason string) Outcome {
	out := m.outcome(NotApplicable)
	out.Reason = reason
	return out
}

func (m *Metric) skipped(reason string) Outcome {
	out := m.outcome(Skipped)
	out.Counts = !m.ignoreMissing
	out.Reason = reason
	return out
}

// scored gives the verdict on a score: the threshold's where one is set, else
// the metric's own.
func (m *Metric) scored(s score) Outcome {
	pass := s.pass
	if m.threshold != nil {
		pass = s.value >= *m.threshold
	}
	status := Fail
	if pass {
		status = Pass
	}
	out := m.outcome(status)
	out.Counts = true
	out.Score = &s.value
	out.Reason = s.reason
	return out
}
