package runs

import "github.com/holodeck-go/holodeck/internal/config"

// tally counts the attempts of one case.
type tally struct {
	passed, failed, unchecked int
	metricErrors              int // failed for no other reason than metrics that ended in an error
}

func (t *tally) add(c *Case) {
	switch c.Status {
	case Passed:
		t.passed++
	case Unchecked:
		t.unchecked++
	default:
		t.failed++
	}
	if c.FailedByMetricErrorsOnly() {
		t.metricErrors++
	}
}

func (t *tally) finished() int { return t.passed + t.failed + t.unchecked }

// verdict judges the case. Attempts in which nothing was checked say nothing.
func (t *tally) verdict(rule config.PassRule) Status {
	checked := t.passed + t.failed
	switch {
	case checked == 0:
		return Unchecked
	case rule.Holds(t.passed, checked):
		return Passed
	}
	return Failed
}

// Repeats is what became of cases that ran more than once: how many of their
// attempts passed, among those in which something was checked. The zero value
// holds no case.
type Repeats struct {
	cases map[outcome]int
}

// outcome is how many attempts at a case were checked and how many passed.
type outcome struct{ checked, passed int }

func (r *Repeats) add(t tally) {
	checked := t.passed + t.failed
	if checked == 0 {
		return
	}
	if r.cases == nil {
		r.cases = map[outcome]int{}
	}
	r.cases[outcome{checked, t.passed}]++
}

// count returns how many cases have an outcome that is wanted.
func (r Repeats) count(wanted func(outcome) bool) int {
	n := 0
	for o, cases := range r.cases {
		if wanted(o) {
			n += cases
		}
	}
	return n
}

// Cases returns how many cases ran more than once and were checked.
func (r Repeats) Cases() int { return r.count(func(outcome) bool { return true }) }

// Stable returns how many of them passed every time.
func (r Repeats) Stable() int {
	return r.count(func(o outcome) bool { return o.passed == o.checked })
}

// Failing returns how many of them failed every time.
func (r Repeats) Failing() int { return r.count(func(o outcome) bool { return o.passed == 0 }) }

// Flaky returns how many of them passed at times.
func (r Repeats) Flaky() int { return r.Cases() - r.Stable() - r.Failing() }

// Fewest returns the smallest number of checked attempts that any of the cases
// has, which is the largest k for which [Repeats.PassAt] and [Repeats.PassAll]
// speak of all of them; 0 when there is no case.
func (r Repeats) Fewest() int {
	fewest := 0
	for o := range r.cases {
		if fewest == 0 || o.checked < fewest {
			fewest = o.checked
		}
	}
	return fewest
}

// PassAt returns pass@k: how likely at least one of k attempts at a case
// passes, on average over the cases with k checked attempts or more. It is the
// estimator without bias of Chen et al. (2021), "Evaluating Large Language
// Models Trained on Code", section 2.1: with c of n attempts passed,
//
//	1 − C(n−c, k) / C(n, k)
//
// It reports false when k is less than 1 or no case has so many attempts.
func (r Repeats) PassAt(k int) (float64, bool) {
	return r.mean(k, func(n, c int) float64 { return 1 - share(n-c, n, k) })
}

// PassAll returns pass^k: how likely all of k attempts at a case pass, on
// average over the cases with k checked attempts or more. It is the estimator
// of Yao et al. (2024), "τ-bench", section 3: with c of n attempts passed,
//
//	C(c, k) / C(n, k)
//
// It reports false when k is less than 1 or no case has so many attempts.
func (r Repeats) PassAll(k int) (float64, bool) {
	return r.mean(k, func(n, c int) float64 { return share(c, n, k) })
}

// mean averages an estimate over the cases with k checked attempts or more.
func (r Repeats) mean(k int, estimate func(n, c int) float64) (float64, bool) {
	var sum float64
	cases := 0
	for o, n := range r.cases {
		if k >= 1 && o.checked >= k {
			sum += float64(n) * estimate(o.checked, o.passed)
			cases += n
		}
	}
	if cases == 0 {
		return 0, false
	}
	return sum / float64(cases), true
}

// share returns C(part, k) / C(whole, k), without numbers that overflow.
func share(part, whole, k int) float64 {
	ratio := 1.0
	for i := range k {
		ratio *= float64(max(0, part-i)) / float64(whole-i)
	}
	return ratio
}
