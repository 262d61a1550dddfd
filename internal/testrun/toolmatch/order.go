package toolmatch

import (
	"fmt"
	"math"

	"github.com/holodeck-go/holodeck/internal/config"
)

// CheckOrder says where the calls of a turn are not in the order of the
// expectations, or returns "". In a subsequence the calls that satisfy an
// expectation, as many as it needs, come after those for the expectation before
// it, and other calls may stand between them. Strict order allows no other
// calls: an expectation takes as many calls in a row as it needs, or up to its
// max.
func CheckOrder(order config.ToolOrder, names *Names, expected []*Expectation, calls []Call) string {
	switch order {
	case config.OrderSubsequence:
		return checkSubsequence(names, expected, calls)
	case config.OrderStrict:
		return checkStrict(names, expected, calls)
	}
	return ""
}

// checkSubsequence takes the first calls that fit: whatever comes later fits
// behind them as well as behind any others.
func checkSubsequence(names *Names, expected []*Expectation, calls []Call) string {
	next := 0
	for n, x := range expected {
		for taken := 0; taken < x.least; next++ {
			if next == len(calls) {
				return fmt.Sprintf("%s (number %d) was not called after those before it; %s", x.name, n+1, sequence(calls))
			}
			if x.fits(names, calls[next]) {
				taken++
			}
		}
	}
	return ""
}

// place is a state of strict order: so many calls of an expectation are taken.
type place struct{ expectation, taken int }

// checkStrict follows every way to share the calls out among the expectations
// at once.
func checkStrict(names *Names, expected []*Expectation, calls []Call) string {
	places := map[place]bool{}
	reach(places, expected, place{})
	for i, call := range calls {
		next := map[place]bool{}
		for p := range places {
			if p.expectation == len(expected) {
				continue
			}
			if x := expected[p.expectation]; p.taken < x.inARow() && x.fits(names, call) {
				reach(next, expected, place{p.expectation, p.taken + 1})
			}
		}
		if len(next) == 0 {
			return misplaced(names, expected, calls, i, furthest(places))
		}
		places = next
	}
	if places[place{expectation: len(expected)}] {
		return ""
	}
	n := furthest(places)
	return fmt.Sprintf("the calls end before %s (number %d); %s", expected[n].name, n+1, sequence(calls))
}

// reach adds a place, and those behind it that are reached without a call.
func reach(places map[place]bool, expected []*Expectation, p place) {
	places[p] = true
	for p.expectation < len(expected) && p.taken >= expected[p.expectation].least {
		p = place{expectation: p.expectation + 1}
		places[p] = true
	}
}

// furthest returns the last expectation that is reached.
func furthest(places map[place]bool) int {
	n := 0
	for p := range places {
		n = max(n, p.expectation)
	}
	return n
}

// misplaced says what is wrong with call i where expectation n is next.
func misplaced(names *Names, expected []*Expectation, calls []Call, i, n int) string {
	call := calls[i]
	if n == len(expected) {
		return fmt.Sprintf("call %d, %s, comes after all that are expected; %s", i+1, call.Name, sequence(calls))
	}
	x := expected[n]
	why := ""
	if names.Match(x.name, call.Name) {
		why = ": " + x.mismatch(call)
	}
	return fmt.Sprintf("call %d is %s, want %s (number %d)%s; %s", i+1, call.Name, x.name, n+1, why, sequence(calls))
}

// inARow is how many calls an expectation takes in strict order: as many as it
// needs, or up to its max.
func (x *Expectation) inARow() int {
	if x.most == math.MaxInt {
		return x.least
	}
	return x.most
}

// sequence lists the calls in order.
func sequence(calls []Call) string {
	if len(calls) == 0 {
		return "no tool was called"
	}
	text := "the calls were "
	for i, c := range calls {
		if i == maxCalled {
			return text + fmt.Sprintf(" and %d more", len(calls)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += c.Name
	}
	return text
}
