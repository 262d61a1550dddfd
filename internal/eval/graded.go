package eval

import (
	"context"
	"errors"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// defaultGraderThreshold is the lowest score that passes where neither the grader
// nor the metric says.
const defaultGraderThreshold = 0.5

// code takes over the settings of a code metric.
func (m *Metric) code(entry *config.CodeMetric, pool *worker.Pool) error {
	m.threshold = entry.Threshold
	m.timeout = time.Duration(entry.TimeoutMS) * time.Millisecond
	if pool == nil {
		return errors.New("nothing runs graders here")
	}
	g, err := grader.Open(pool, entry)
	if err != nil {
		return err
	}
	m.scorer = graded{g}
	return nil
}

// graded is scored by the user's own code.
type graded struct{ grader grader.Grader }

func (g graded) score(ctx context.Context, s sample) (score, error) {
	if s.in.Case == nil {
		return score{}, errors.New("nothing is known of the case")
	}
	v, err := g.grader.Grade(ctx, s.in.Case())
	if err != nil {
		return score{}, err
	}
	out := score{value: v.Score, pass: v.Score >= defaultGraderThreshold, reason: v.Reason, details: v.Details}
	if v.Passed != nil {
		out.pass, out.final = *v.Passed, true
	}
	return out, nil
}
