package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestToolPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, tool, args string
		want                bool
	}{
		{"docs", "docs", `{}`, true},
		{"docs", "docs_search", `{}`, false},
		{"docs_*", "docs_search", `{}`, true},
		{"mem__*(path=/etc/*)", "mem__read", `{"path": "/etc/ssh/key"}`, true},
		{"mem__*(path=/etc/*)", "mem__read", `{"path": "/home/etc/"}`, false},
		{"mem__*(path=/etc/*)", "mem__read", `{}`, false},
		{"mem__*(path=/etc/*)", "mem__read", `not JSON`, false},
		{"run(command=rm *)", "run", "{\"command\": \"rm -rf /\\nls\"}", true},
		{"run(command=*rm*)", "run", `{"command": "ls; rm x"}`, true},
		{"pay(amount=????*)", "pay", `{"amount": 1000}`, true},
		{"pay(amount=????*)", "pay", `{"amount": 999}`, false},
		{"pay(amount=????*)", "pay", `{"amount": 1e3}`, true},
		{"pay(amount=????*)", "pay", `{"amount": 999.0}`, false},
		{"pay(amount=????*)", "pay", `{"amount": 1E+400}`, true},
		{"pay(amount=????*)", "pay", `{"amount": 1e99999999999}`, true},
		{"pay(amount=5000)", "pay", `{"amount": 5e3}`, true},
		{"pay(amount=5000)", "pay", `{"amount": 5000.0}`, true},
		{"pay(amount=5000)", "pay", `{"amount": 50000e-1}`, true},
		{"pay(amount=5000)", "pay", `{"amount": 5000.1}`, false},
		{"pay(amount=5000.0)", "pay", `{"amount": 5000}`, true},
		{"pay(amount=5e3)", "pay", `{"amount": 5000}`, true},
		{"pay(amount=5e3)", "pay", `{"amount": "5000"}`, false},
		{"pay(amount=0)", "pay", `{"amount": -0.0e7}`, true},
		{"pay(amount=-0.005)", "pay", `{"amount": -5e-3}`, true},
		{"pay(amount=12345678901234567890)", "pay", `{"amount": 12345678901234567890.0}`, true},
		{"pay(amount=12345678901234567890)", "pay", `{"amount": 12345678901234567891}`, false},
		{"pay(parts=*900*)", "pay", `{"parts": [{"n": 9e2}]}`, true},
		{"pay(urgent=true, to=a*)", "pay", `{"urgent": true, "to": "anna"}`, true},
		{"pay(urgent=true, to=a*)", "pay", `{"urgent": true, "to": "bert"}`, false},
		{"find(filter.city=B*)", "find", `{"filter": {"city": "Bern"}}`, true},
		{"find(filter.city=B*)", "find", `{"filter.city": "Bern"}`, true},
		{"find(filter.city=B*)", "find", `{"filter": "Bern"}`, false},
		{"find(list=*b*)", "find", `{"list": ["a", "b<"]}`, true},
		{`find(q=a\, b)`, "find", `{"q": "a, b"}`, true},
		{`find(q=a=b)`, "find", `{"q": "a=b"}`, true},
		{`find(q=1.5)`, "find", `{"q": "1x5"}`, false},
		{`find(q=\*)`, "find", `{"q": "*"}`, true},
		{`find(q=[a-c]x)`, "find", `{"q": "bx"}`, true},
		{`find(q=)`, "find", `{"q": ""}`, true},
		{`find(q=null)`, "find", `{"q": null}`, true},
	} {
		p, err := config.ParseToolPattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := p.MatchesTool(tt.tool) && p.MatchesArguments(json.RawMessage(tt.args)); got != tt.want {
			t.Errorf("%s of %s%s is %v", tt.pattern, tt.tool, tt.args, got)
		}
	}
}

func TestAToolPatternThatIsNone(t *testing.T) {
	for pattern, want := range map[string]string{
		"a[":         "close the [ in it",
		"a(b=c":      "end it with )",
		"a(b)":       "write arguments as NAME(ARGUMENT=GLOB)",
		"a(=b)":      "write arguments as NAME(ARGUMENT=GLOB)",
		"a(b=[)":     "close the [ in it, or write \\[",
		`a(b=c\)`:    "it ends in a backslash",
		"a(b=[z-a])": "is not a pattern",
	} {
		if _, err := config.ParseToolPattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

func FuzzToolPattern(f *testing.F) {
	f.Add("a(b=c*)", `{"b": "cd"}`)
	f.Add(`a(b=[a-c]\,?, d.e=\*)`, `{"d": {"e": 1}}`)
	f.Add("a(", "{")
	f.Fuzz(func(t *testing.T, pattern, args string) {
		p, err := config.ParseToolPattern(pattern)
		if err != nil {
			return
		}
		p.MatchesTool("a", args)
		if p.MatchesArguments(json.RawMessage(args)) && p.Conditional() && !json.Valid([]byte(strings.TrimSpace(args))) && !strings.HasPrefix(strings.TrimSpace(args), "{") {
			t.Errorf("%q matches %q", pattern, args)
		}
	})
}
