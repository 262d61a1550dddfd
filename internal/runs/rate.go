package runs

import (
	"fmt"
	"math"
	"strconv"
)

// Rate is a share of cases with the interval in which the true share lies, of
// which so many cases are only a sample.
type Rate struct {
	Passed, Of int
	// Value is Passed/Of; Low and High bound Wilson's 95% interval. All are
	// between 0 and 1, and 0 when Of is.
	Value, Low, High float64
}

// z95 is the 0.975 quantile of the normal distribution: 95% lie within ±z.
const z95 = 1.959963984540054

// NewRate returns the rate of passed among of. The interval is Wilson's score
// interval without continuity correction (Wilson 1927, "Probable inference, the
// law of succession, and statistical inference"), which holds for few cases and
// for rates near 0 and 1:
//
//	(p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)
func NewRate(passed, of int) Rate {
	if of <= 0 {
		return Rate{}
	}
	n, z2 := float64(of), z95*z95
	p := float64(passed) / n
	center := p + z2/(2*n)
	spread := z95 * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	rate := Rate{Passed: passed, Of: of, Value: p, Low: (center - spread) / (1 + z2/n), High: (center + spread) / (1 + z2/n)}
	// At the ends the bound is exact, whatever rounding makes of it.
	if passed == 0 {
		rate.Low = 0
	}
	if passed == of {
		rate.High = 1
	}
	return rate
}

// String returns such as "4/5 (80.0%, 95% interval 37.6 to 96.4%)".
func (r Rate) String() string {
	if r.Of == 0 {
		return "0/0"
	}
	return fmt.Sprintf("%d/%d (%s%%, 95%% interval %s to %s%%)", r.Passed, r.Of, Percent(r.Value), Percent(r.Low), Percent(r.High))
}

// Percent returns a share of one as a number of per cent with one digit, such as
// 81.2. What is neither nothing nor all has as many digits as it takes to tell it
// from them, such as 99.96.
func Percent(share float64) string {
	const most = 9 // finer than any run is long
	for digits := 1; ; digits++ {
		text := strconv.FormatFloat(100*share, 'f', digits, 64)
		number, _ := strconv.ParseFloat(text, 64) // it was just formatted
		if digits == most || share <= 0 || share >= 1 || number > 0 && number < 100 {
			return text
		}
	}
}
