package config

import "testing"

func TestPassRuleCheck(t *testing.T) {
	for _, rule := range []PassRule{"", "all", "any", "majority", "rate>=0.8", "rate >= 1", "rate>=0"} {
		if err := rule.Check(); err != nil {
			t.Errorf("%q: %v", rule, err)
		}
	}
	for _, rule := range []PassRule{"most", "rate", "rate>0.8", "rate>=", "rate>=80", "rate>=-0.1", "rate>=.nan", "rate>=x", "ALL"} {
		if rule.Check() == nil {
			t.Errorf("%q is accepted", rule)
		}
	}
}
