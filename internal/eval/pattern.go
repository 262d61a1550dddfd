package eval

import (
	"context"
	"fmt"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/eval/pyre"
)

// pattern passes when a regular expression matches somewhere in the answer.
type pattern struct {
	re   *pyre.Regexp // nil when the ground truth is the expression
	opts pyre.Options
}

func newPattern(m *config.StandardMetric) (scorer, error) {
	p := pattern{opts: pyre.Options{IgnoreCase: m.CaseInsensitive}}
	if m.TimeoutMS != nil {
		p.opts.Limit = time.Duration(*m.TimeoutMS) * time.Millisecond
	}
	if m.Pattern == nil {
		return p, nil
	}
	re, err := pyre.Compile(*m.Pattern, p.opts)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	p.re = re
	return p, nil
}

func (p pattern) score(_ context.Context, s sample) (score, error) {
	re := p.re
	if re == nil {
		var err error
		if re, err = pyre.Compile(s.truth, p.opts); err != nil {
			return score{}, fmt.Errorf("ground_truth: %w", err)
		}
	}
	ok, err := re.Match(s.answer)
	switch {
	case err != nil:
		return score{}, fmt.Errorf("the answer %w", err)
	case !ok:
		return score{reason: fmt.Sprintf("%q matches nowhere in %s", re, s.in.excerpt(s.answer))}, nil
	}
	return score{value: 1, pass: true}, nil
}
