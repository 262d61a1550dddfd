package config

import (
	"fmt"
	"strings"
)

// PassRule says how many attempts at a test case must pass: all, any, majority
// (more than half) or rate>=x, where x is between 0 and 1. Empty means all.
type PassRule string

// The rules that are words.
const (
	PassAll      PassRule = "all"
	PassAny      PassRule = "any"
	PassMajority PassRule = "majority"
)

// Check says what is wrong with the rule.
func (r PassRule) Check() error {
	switch r {
	case "", PassAll, PassAny, PassMajority:
		return nil
	}
	if _, ok := r.rate(); !ok {
		return fmt.Errorf("%q is not one of all, any, majority or rate>=x with x between 0 and 1, such as rate>=0.8", string(r))
	}
	return nil
}

// rate returns the x of rate>=x.
func (r PassRule) rate() (float64, bool) {
	name, bound, ok := strings.Cut(string(r), ">=")
	if !ok || strings.TrimSpace(name) != "rate" {
		return 0, false
	}
	rate, ok := parseFloat(strings.TrimSpace(bound))
	return rate, ok && rate >= 0 && rate <= 1
}

// Holds reports whether a case passes of whose attempts so many were checked
// and so many of those passed. A rule that Check refuses counts as all.
func (r PassRule) Holds(passed, checked int) bool {
	switch r {
	case PassAny:
		return passed > 0
	case PassMajority:
		return 2*passed > checked
	}
	if rate, ok := r.rate(); ok && checked > 0 {
		return float64(passed)/float64(checked) >= rate
	}
	return passed == checked
}
