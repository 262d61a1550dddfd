package eval

import (
	"context"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// within holds the bounds of a measure, which are included; nil is no bound.
type within struct{ min, max *float64 }

// judge scores a measure 1 when it is within the bounds and 0 otherwise. The
// unit stands behind a number.
func (w within) judge(what string, value float64, unit string) (score, error) {
	show := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) + unit }
	s := score{reason: fmt.Sprintf("%s %s", what, show(value))}
	switch {
	case w.min != nil && value < *w.min:
		s.reason += ", at least " + show(*w.min) + " wanted"
	case w.max != nil && value > *w.max:
		s.reason += ", at most " + show(*w.max) + " allowed"
	default:
		s.value, s.pass = 1, true
	}
	return s, nil
}

// length passes when the answer has so many characters (code points).
type length struct{ within }

func (l length) score(_ context.Context, s sample) (score, error) {
	return l.judge("the answer has", float64(utf8.RuneCountInString(s.answer)), " characters")
}

// latency passes when the agent took so many milliseconds.
type latency struct{ within }

func (l latency) score(_ context.Context, s sample) (score, error) {
	return l.judge("the agent took", float64(s.in.AgentTime)/float64(time.Millisecond), " ms")
}

// cost passes when the model calls cost so many US dollars.
type cost struct{ within }

func (c cost) score(_ context.Context, s sample) (score, error) {
	if s.in.CostUSD == nil {
		return score{}, missingError("the cost is not known: no price is known for the model, or no model was called")
	}
	return c.judge("the model calls cost", *s.in.CostUSD, " USD")
}

// tokens passes when the model calls read and wrote so many tokens.
type tokens struct{ within }

func (t tokens) score(_ context.Context, s sample) (score, error) {
	if s.in.Usage == nil {
		return score{}, missingError("no model was called, so there are no tokens to count")
	}
	return t.judge("the model calls took", float64(s.in.Usage.Total), " tokens")
}
