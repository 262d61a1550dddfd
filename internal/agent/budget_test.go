package agent

import "testing"

func TestABudgetBelowACentIsShown(t *testing.T) {
	for want, e := range map[string]BackendBudgetError{
		"backend claude: cost 0.0000225 USD reached the budget of 0.000001 USD": {"claude", 0.0000225, 0.000001},
		"backend claude: cost 0.5000 USD reached the budget of 0.5000 USD":      {"claude", 0.5, 0.5},
		"backend claude: cost 12.3000 USD reached the budget of 12.0000 USD":    {"claude", 12.1 + 0.2, 12},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
