package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/worker"
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
	// AgentTime is how long the agent took.
	AgentTime time.Duration
	// Usage is nil when no model was called, CostUSD when the cost is not known.
	Usage   *agent.Usage
	CostUSD *float64
	// Case returns what graders are told; it may be called from several goroutines,
	// and is nil where there are none.
	Case func() *grader.Case
	// Redactor masks what reasons quote; nil masks by shape alone.
	Redactor *secret.Redactor
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
	// Details are what a grader has to say beside, a JSON object; nil when nothing.
	Details json.RawMessage
	// Retries is how often the metric was tried again after an error.
	Retries int
	// Elapsed is how long it took, waiting for a place not counted; EvaluateAll
	// sets it.
	Elapsed time.Duration
}

// scorer computes one metric.
//
// An error is the metric's own failure, or errMissing; an answer that it cannot
// read is a score of 0 with a reason.
type scorer interface {
	score(ctx context.Context, s sample) (score, error)
}

// sample is what a scorer is given. Unless the metric looks at no answer, there
// is one.
type sample struct {
	answer string          // cut to the metric's response_path
	value  json.RawMessage // the same as a value, for a metric that needs one
	truth  string          // empty when the case declares none
	in     Input
}

// score is what a scorer gives.
type score struct {
	value   float64
	pass    bool // the verdict when no threshold is set
	final   bool // the verdict whatever the threshold says
	reason  string
	details json.RawMessage
}

// missingError says that something is not there which was to be expected.
type missingError string

// Error implements error.
func (e missingError) Error() string { return string(e) }

// Options says in which circumstances metrics run.
type Options struct {
	// Offline says that there is no judge and that a metric which cannot be
	// computed does not count.
	Offline bool
	// Code runs graders; a list that has one needs it.
	Code *worker.Pool
}

// Metric is one entry of a metric list, ready to score answers. Two entries of
// one name are two Metrics and share nothing. It is safe for concurrent use.
type Metric struct {
	name      string
	kind      config.MetricType
	threshold *float64
	path      *responsePath
	needs     needs
	informs   bool // no threshold, and no verdict of its own: the score decides nothing
	retries   int
	timeout   time.Duration // 0: none

	scorer      scorer // nil when unavailable
	unavailable string // why the metric cannot be computed here

	ignoreMissing bool // skipped does not count
	ignoreError   bool // error does not count
}

// needs is what a metric needs to be computed.
type needs struct {
	groundTruth, retrieval bool // the case must declare it
	noAnswer               bool // the answer does not matter
	value                  bool // the answer must be a value, not a text
}

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
	switch entry := entry.(type) {
	case *config.StandardMetric:
		if err := m.standard(entry); err != nil {
			return nil, err
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
		if err := m.code(entry, opts.Code); err != nil {
			return nil, err
		}
	}
	if m.scorer == nil {
		m.unavailable = fmt.Sprintf("this build cannot compute %s yet", describe(entry))
		if opts.Offline && isJudge(entry) {
			m.unavailable = "it needs a judge, which --offline has not"
		}
		m.ignoreMissing = m.ignoreMissing || opts.Offline || m.informs
	}
	return m, nil
}

// standard takes over the settings of a standard metric.
func (m *Metric) standard(entry *config.StandardMetric) error {
	f, err := newFamily(entry)
	if err != nil {
		return err
	}
	m.scorer, m.needs = f.scorer, f.needs
	m.threshold = entry.Threshold
	if entry.Threshold != nil && entry.Scale != nil {
		m.threshold = new(*entry.Threshold / float64(*entry.Scale))
	}
	m.informs = m.threshold == nil && !f.verdict
	if entry.TimeoutMS != nil {
		m.timeout = time.Duration(*entry.TimeoutMS) * time.Millisecond
	}
	if entry.RetryOnFailure != nil {
		m.retries = *entry.RetryOnFailure
	}
	if entry.ResponsePath != nil {
		if m.path, err = parseResponsePath(*entry.ResponsePath); err != nil {
			return fmt.Errorf("response_path: %w", err)
		}
	}
	return nil
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

// Conditions are what metrics that work side by side share.
type Conditions struct {
	// Slots bounds how many metrics work at once, in all: each takes a place in
	// it. nil is no bound.
	Slots chan struct{}
	// Clock returns what tells the time to the i-th metric; nil means time.Now
	// for all of them.
	Clock func(i int) func() time.Time
}

// EvaluateAll scores an answer by every metric, all at once, and returns the
// outcomes in the order of the metrics.
func EvaluateAll(ctx context.Context, metrics []*Metric, in Input, c Conditions) []Outcome {
	out := make([]Outcome, len(metrics))
	evaluate := func(i int) {
		if c.Slots != nil {
			select {
			case c.Slots <- struct{}{}:
				defer func() { <-c.Slots }()
			case <-ctx.Done():
				out[i] = metrics[i].failed(context.Cause(ctx))
				return
			}
		}
		now := time.Now
		if c.Clock != nil {
			now = c.Clock(i)
		}
		start := now()
		out[i] = metrics[i].Evaluate(ctx, in)
		out[i].Elapsed = now().Sub(start)
	}
	var others sync.WaitGroup
	for i := 1; i < len(metrics); i++ {
		others.Go(func() { evaluate(i) })
	}
	if len(metrics) > 0 {
		evaluate(0) // where there is one metric, nothing need be started
	}
	others.Wait()
	return out
}

// Evaluate scores an answer. It never fails: what goes wrong is the Outcome's
// status and reason. It does not tell how long it took.
func (m *Metric) Evaluate(ctx context.Context, in Input) Outcome {
	switch {
	case m.needs.groundTruth && in.GroundTruth == nil:
		return m.notApplicable("the case has no ground_truth")
	case m.needs.retrieval && !in.Retrieval:
		return m.notApplicable("the agent has no retrieval tool and the case no retrieval_context")
	case m.scorer == nil:
		return m.skipped(m.unavailable)
	case m.needs.noAnswer:
	case in.empty() && in.AllowEmpty:
		return m.notApplicable("the answer is empty, as the case allows")
	case in.empty():
		return m.skipped("the answer is empty")
	}
	sample, err := m.sample(in)
	if err != nil {
		return m.scored(score{reason: err.Error()})
	}
	s, err := m.try(ctx, sample)
	retries := 0
	for ; err != nil && !errors.As(err, new(missingError)) && retries < m.retries && ctx.Err() == nil; retries++ {
		s, err = m.try(ctx, sample)
	}
	var out Outcome
	switch {
	case errors.As(err, new(missingError)):
		out = m.skipped(err.Error())
	case err != nil:
		out = m.failed(err)
	default:
		if m.path != nil && s.reason != "" && !m.needs.value {
			s.reason += fmt.Sprintf(" (%s of the answer is %s)", m.path.text, in.excerpt(sample.answer))
		}
		out = m.scored(s)
	}
	out.Retries = retries
	return out
}

// sample returns what the metric looks at. The error says why the answer has no
// such thing.
func (m *Metric) sample(in Input) (sample, error) {
	s := sample{answer: in.Answer, in: in}
	if in.GroundTruth != nil {
		s.truth = *in.GroundTruth
	}
	var err error
	switch {
	case m.needs.noAnswer:
	case m.needs.value && m.path != nil:
		s.value, err = m.path.find(in)
	case m.needs.value:
		s.value, err = in.value()
	case m.path != nil:
		s.answer, err = m.path.findText(in)
	case strings.TrimSpace(in.Answer) == "":
		s.answer = string(in.Structured)
	}
	return s, err
}

// try computes the score once, within the metric's own time.
func (m *Metric) try(ctx context.Context, in sample) (score, error) {
	if m.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.timeout, errTooLong)
		defer cancel()
	}
	s, err := m.scorer.score(ctx, in)
	switch {
	case errors.Is(context.Cause(ctx), errTooLong):
		return score{}, fmt.Errorf("it took longer than %d ms (timeout_ms)", m.timeout.Milliseconds())
	case err != nil:
		return score{}, err
	case math.IsNaN(s.value) || s.value < 0 || s.value > 1:
		return score{}, fmt.Errorf("the score is %v, and scores lie between 0 and 1", s.value)
	}
	return s, nil
}

// errTooLong is why the context of a metric ends whose time is over.
var errTooLong = errors.New("timeout_ms is over")

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

func (m *Metric) failed(err error) Outcome {
	out := m.outcome(Error)
	out.Counts = !m.ignoreError
	out.Reason = err.Error()
	return out
}

// scored gives the verdict on a score: the metric's own where it is final, the
// threshold's where one is set, else the metric's own. A metric that has neither
// informs.
func (m *Metric) scored(s score) Outcome {
	pass := s.pass || m.informs
	if m.threshold != nil && !s.final {
		pass = s.value >= *m.threshold
	}
	status := Fail
	if pass {
		status = Pass
	}
	out := m.outcome(status)
	out.Counts = !m.informs
	out.Score = &s.value
	out.Reason, out.Details = s.reason, s.details
	return out
}
