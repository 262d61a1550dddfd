package config_test

import (
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestRulesOfUserCode(t *testing.T) {
	const (
		function = "tools:\n  - {name: my-tool, description: d, type: function, %}\n"
		grader   = "evaluations:\n  metrics: [{type: code, %}]\n"
	)
	for _, tt := range []struct{ name, form, text, want string }{
		{"a Python function", function, "file: tool.py, function: f, env: {TOKEN: t}", ""},
		{"a command", function, "command: [node, tool.js], parameters: {a: {type: string, required: false}}", ""},
		{"a script", function, "script: tool.star", ""},
		{"a function of a script", function, "script: tool.star, function: f", ""},
		{"no form", function, "timeout: 5", "tools[0].file: is required, or one of command, script instead of it"},
		{"two forms", function, "file: tool.py, function: f, script: tool.star", "tools[0].script: file is given, too (keep one of the two)"},
		{"a file without a function", function, "file: tool.py", "tools[0].function: is required with file (name the function in it)"},
		{"a missing file", function, "file: none.py, function: f", "tools[0].file: there is no file none.py (the path is relative to the file that mentions it)"},
		{"a missing script", function, "script: none.star", "tools[0].script: there is no file none.star (the path is relative to the file that mentions it)"},
		{"a command without a program", function, "command: ['', a]", "tools[0].command: names no program (such as [python3, tool.py])"},
		{"an empty command", function, "command: []", "tools[0].command: is empty (give it at least one entry, or remove the key)"},
		{"a function of a command", function, "command: [a], function: f", "warning: tools[0].function: has no effect: it is for file and script"},
		{"variables of a script", function, "script: tool.star, env: {A: b}", "warning: tools[0].env: has no effect: a script sees no variables"},
		{"a variable without a name", function, "command: [a], env: {'A=B': c}", `tools[0].env: "A=B" is not the name of a variable`},

		{"a grader", grader, "grader: 'graders.money:same', env: {A: b}, timeout_ms: 5", ""},
		{"a grader command", grader, "command: [node, grade.js]", ""},
		{"a grader script", grader, "script: tool.star, function: f", ""},
		{"an expression", grader, "expr: 'len(tool_calls) == 0'", ""},
		{"no grader", grader, "threshold: 1", "evaluations.metrics[0].grader: is required, or one of command, script, expr instead of it"},
		{"two graders", grader, "expr: 'true', grader: 'a:b'", "evaluations.metrics[0].expr: grader is given, too (keep one of the two)"},
		{"a function of an expression", grader, "expr: 'true', function: f", "warning: evaluations.metrics[0].function: has no effect: it is for script"},
		{"variables of an expression", grader, "expr: 'true', env: {A: b}", "warning: evaluations.metrics[0].env: has no effect: scripts and expressions see no variables"},
		{"a missing grader script", grader, "script: none.star", "evaluations.metrics[0].script: there is no file none.star (the path is relative to the file that mentions it)"},
		{"no time for a grader", grader, "expr: 'true', timeout_ms: 0", "evaluations.metrics[0].timeout_ms: 0 must be more than 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, got := load(t, folder(t, map[string]string{
				"agent.yaml": head + strings.Replace(tt.form, "%", tt.text, 1), "tool.py": "", "tool.star": "",
			}), config.Options{})
			for i, line := range got {
				_, got[i], _ = strings.Cut(line, ": ") // the place is tested elsewhere
			}
			if tt.want == "" {
				want(t, got)
			} else {
				want(t, got, tt.want)
			}
		})
	}
}

func TestNamesOfUserCode(t *testing.T) {
	for text, name := range map[string]string{
		"grader: 'graders.money:same'":                "same",
		"command: [python3, -u, graders/money.py]":    "money",
		"command: [./check]":                          "check",
		"script: graders/money.star":                  "money",
		"expr: 'latency_ms < 10'":                     "latency_ms < 10",
		"name: Money, script: graders/money.star":     "Money",
		"command: [node, graders/money.js, --strict]": "money",
	} {
		a := mustLoad(t, folder(t, map[string]string{
			"agent.yaml": head + "evaluations: {metrics: [{type: code, " + text + "}]}\n", "graders/money.star": "",
		}), config.Options{})
		if got := a.Evaluations.Metrics[0].Name(); got != name {
			t.Errorf("%s is called %q, want %q", text, got, name)
		}
	}
	tool := &config.FunctionTool{ToolBase: config.ToolBase{Name: "my-tool"}}
	if got := tool.Entry(); got != "my_tool" {
		t.Errorf("the function of my-tool is %q", got)
	}
}
