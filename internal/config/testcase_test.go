package config_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestTestCaseRules(t *testing.T) {
	const (
		one    = "test_cases:\n  - {input: i, %}\n"
		list   = "test_cases:\n  - %\n"
		metric = "evaluations:\n  metrics: [{%}]\n"
	)
	for _, tt := range []struct{ name, form, text, want string }{
		{"two cases with one id", "test_cases:\n  - {input: i, id: a}\n  - {input: j, %}\n", "id: a", `test_cases[1].id: another case has the id "a" (give each case an id of its own)`},
		{"two cases with one name", "test_cases:\n  - {input: i, name: a}\n  - {input: j, %}\n", "name: a", `warning: test_cases[1].name: another case is called "a"; results tell them apart by their order alone (give it an id)`},
		{"two cases with one name and an id", "test_cases:\n  - {input: i, name: a}\n  - {input: j, name: a, %}\n", "id: b", ""},
		{"a blank tag", one, "tags: [smoke, '']", "test_cases[0].tags[1]: is blank (give it a value or remove the key)"},
		{"repeat of nothing", one, "repeat: 0", "test_cases[0].repeat: 0 is less than the minimum of 1"},
		{"repeat as often as may be", one, "repeat: 100000", ""},
		{"repeat too often", one, "repeat: 100001", "test_cases[0].repeat: 100001 is more than the maximum of 100000"},
		{"a pass rule", one, "repeat: 5, pass_rule: 'rate>=0.8'", ""},
		{"a pass rule of another kind", one, "repeat: 5, pass_rule: most", `test_cases[0].pass_rule: "most" is not one of all, any, majority or rate>=x with x between 0 and 1, such as rate>=0.8`},
		{"a pass rule for one attempt", one, "pass_rule: any", "warning: test_cases[0].pass_rule: has no effect: the case runs once, unless --repeat says otherwise; give repeat"},
		{"no time at all", one, "timeout_s: 0", "test_cases[0].timeout_s: 0 must be more than 0"},
		{"no money at all", one, "max_cost_usd: 0", "test_cases[0].max_cost_usd: 0 must be more than 0"},
		{"no calls at all", one, "max_calls: 0, forbidden_tools: [a]", ""},
		{"an order of nothing", one, "tool_order: strict", "warning: test_cases[0].tool_order: has no effect: no expected_tools are given"},
		{"an order of nothing in a turn", list, "{tool_order: strict, turns: [{input: i, tool_order: subsequence}, {input: j, expected_tools: [a]}]}", "warning: test_cases[0].turns[0].tool_order: has no effect: no expected_tools are given"},
		{"expected and forbidden", one, "expected_tools: [pay_refund], forbidden_tools: [refund, zzz]", `warning: test_cases[0].expected_tools[0]: pay_refund is expected, and forbidden_tools has "refund"; the case cannot pass (remove one of the two)`},
		{"expected in a turn and forbidden in the case", list, "{forbidden_tools: [pay], turns: [{input: i, expected_tools: [{name: pay}]}]}", `warning: test_cases[0].turns[0].expected_tools[0]: pay is expected, and forbidden_tools has "pay"; the case cannot pass (remove one of the two)`},
		{"a part of what is expected is forbidden by a longer name", one, "expected_tools: [pay], forbidden_tools: [pay_refund]", ""},
		{"an unknown order", one, "expected_tools: [a], tool_order: any", `test_cases[0].tool_order: "any" is not one of none, subsequence, strict`},
		{"at most fewer than at least", one, "expected_tools: [{name: a, count: 3, max: 2}]", "test_cases[0].expected_tools[0].max: is 2, which is less than count, 3"},
		{"an unknown status", one, "expected_tools: [{name: a, status: failed}]", `test_cases[0].expected_tools[0].status: "failed" is not one of ok, error`},
		{"an invalid regex", one, "expected_tools: [{name: a, args: {b: {regex: '('}}}]", "test_cases[0].expected_tools[0].args: argument \"b\": \"(\" is not a regular expression: missing closing )"},
		{"a page below the first", one, "files: [{path: docs/a.md, type: pdf, pages: [0]}]", "test_cases[0].files[0].pages[0]: 0 is less than the minimum of 1"},
		{"a range the wrong way round", one, "files: [{path: docs/a.md, type: pdf, pages: ['3-1']}]", `test_cases[0].files[0].pages[0]: "3-1" has its ends the wrong way round (such as "3-5")`},
		{"a range from nought", one, "files: [{path: docs/a.md, type: pdf, pages: ['0-1']}]", `test_cases[0].files[0].pages[0]: "0-1" is not a range of pages, which are counted from 1 (such as "3-5")`},
		{"a range of a whole library", one, "files: [{path: docs/a.md, type: pdf, pages: ['1-20000']}]", `test_cases[0].files[0].pages[0]: "1-20000" is more than 10000 pages (such as "3-5")`},

		{"vars", list, `{input: "a {{x}} {{ y }}", vars: {x: [1, b], y: true}}`, ""},
		{"a var without values", list, `{input: "{{x}}", vars: {x: []}}`, "test_cases[0].vars: x has no values (give it at least one, or remove it)"},
		{"a var of lists", list, `{input: "{{x}}", vars: {x: [[a]]}}`, "test_cases[0].vars: x holds a list, a mapping or nothing (the values are texts, numbers and truth values)"},
		{"a var that is not there", list, `{input: "{{colour}} {{color}}", vars: {color: [red]}}`, `test_cases[0].vars: {{colour}} stands in the case, and there is no such var (did you mean "color"?)`},
		{"a var that is used nowhere", list, `{input: "a", vars: {x: [1, 2]}}`, "warning: test_cases[0].vars: {{x}} stands nowhere in the case (put it into a text, or remove it)"},
		{"braces without vars", list, `{input: "a {{x}}"}`, "warning: test_cases[0]: {{x}} stands in the case, which has no vars; it is text there (give vars, or leave it if the braces are meant)"},
		{"braces without vars that are not a name", list, `{input: 'a {{"k": 1}}'}`, ""},
		{"braces that are not a name", list, `{input: 'a {{"k": 1}} {{x}}', vars: {x: 1}}`, ""},
		{"a var in an argument", list, `{input: a, vars: {x: [1, 2]}, expected_tools: [{name: t, args: {a: {one_of: ["{{x}}"]}}}]}`, ""},
		{"too many combinations", list, `{input: "{{a}}{{b}}{{c}}", vars: {a: ` + numbers(100) + `, b: ` + numbers(100) + `, c: ` + numbers(100) + `}}`, "test_cases[0].vars: make more than 100000 cases (give fewer values, or several test cases)"},

		{"json_schema without a schema", metric, "metric: json_schema", "evaluations.metrics[0].schema: is required with metric json_schema (a JSON Schema, or the path of one)"},
		{"json_schema with a missing file", metric, "metric: json_schema, schema: s.json", "evaluations.metrics[0].schema: there is no file s.json (the path is relative to the file that mentions it)"},
		{"length without a bound", metric, "metric: length", "evaluations.metrics[0]: metric length needs min or max (give one of the two, or both)"},
		{"bounds the wrong way round", metric, "metric: tokens, min: 2, max: 1", "evaluations.metrics[0].max: is less than min"},
		{"a pattern that is none", metric, "metric: regex, pattern: '['", "evaluations.metrics[0].pattern: \"[\" is not a regular expression: missing closing ]"},
		{"a metric with a name", metric, "metric: numeric, name: the price", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"docs/a.md": "text", "agent.yaml": head + strings.Replace(tt.form, "%", tt.text, 1)}
			dir := folder(t, files)
			_, problems := load(t, dir, config.Options{})
			for i, p := range problems {
				rest, isWarning := strings.CutPrefix(afterPlace(p), "warning: ")
				if isWarning {
					rest = "warning: " + rest
				}
				problems[i] = rest
			}
			if tt.want == "" {
				want(t, problems)
			} else {
				want(t, problems, tt.want)
			}
		})
	}
}

// afterPlace returns a message without the file, line and column in front.
func afterPlace(message string) string {
	_, rest, _ := strings.Cut(message, ": ")
	return rest
}

// numbers returns a YAML list of n numbers.
func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func TestMetricSchemaFromFile(t *testing.T) {
	dir := folder(t, map[string]string{
		"schemas/answer.json": `{"type": "object"}`,
		"agent.yaml":          head + "test_cases: [{input: i, evaluations: [{metric: json_schema, schema: schemas/answer.json}]}]\n",
	})
	agent := mustLoad(t, dir, config.Options{})
	m := caseAt(agent, 0).Evaluations[0].(*config.StandardMetric)
	if got := string(m.JSONSchema); got != `{"type":"object"}` {
		t.Errorf("schema is %s", got)
	}
}

// TestTrapT16: pages are counted from 1.
func TestTrapT16PagesCountFromOne(t *testing.T) {
	dir := folder(t, map[string]string{
		"docs/a.md":  "text",
		"agent.yaml": head + "test_cases: [{input: i, files: [{path: docs/a.md, type: pdf, pages: [1, 3-5, '7 - 8', '10']}]}]\n",
	})
	agent := mustLoad(t, dir, config.Options{})
	pages := caseAt(agent, 0).Files[0].Pages
	if got, want := pages.List(), []int{1, 3, 4, 5, 7, 8, 10}; !reflect.DeepEqual(got, want) {
		t.Errorf("pages are %v, want %v", got, want)
	}
}

// TestTrapT20: a metric without type is standard, wherever it stands.
func TestTrapT20TypeOfAMetricDefaults(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + `
evaluations: {metrics: [{metric: equality}]}
test_cases:
  - {input: i, evaluations: [{metric: contains}]}
  - {turns: [{input: i, evaluations: [{metric: f1_score}]}]}
`})
	agent := mustLoad(t, dir, config.Options{})
	for _, m := range []config.Metric{agent.Evaluations.Metrics[0], caseAt(agent, 0).Evaluations[0], caseAt(agent, 1).Turns[0].Evaluations[0]} {
		if m.Base().Type != config.MetricStandard {
			t.Errorf("%s has the type %q", m.Name(), m.Base().Type)
		}
	}
}

func TestExpand(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + `
test_cases:
  - name: "A {{color}} lamp"
    vars: {color: [red, blue], size: [1, 2.50], brand: x}
    input: "Is the {{ color }} one of size {{size}} by {{brand}} in stock, {{\"not\"}} {{?"
    ground_truth: "{{color}}{{size}}"
    retrieval_context: ["{{color}} lamps"]
    forbidden_tools: ["sell_{{color}}"]
    expected_tools:
      - find_{{color}}
      - {name: find, args: {size: "{{size}}", text: "about {{size}}", among: {one_of: ["{{size}}", 9]}}}
  - {input: "plain {{?"}
`})
	agent := mustLoad(t, dir, config.Options{})
	tc := caseAt(agent, 0)
	if tc.Combinations() != 4 || caseAt(agent, 1).Combinations() != 1 {
		t.Fatalf("combinations: %d, %d", tc.Combinations(), caseAt(agent, 1).Combinations())
	}
	var labels []string
	for n := range tc.Combinations() {
		_, label := tc.Expand(n)
		labels = append(labels, label)
	}
	if got, want := strings.Join(labels, " | "), "color=red, size=1 | color=red, size=2.5 | color=blue, size=1 | color=blue, size=2.5"; got != want {
		t.Errorf("labels are %s, want %s", got, want)
	}

	got, _ := tc.Expand(3)
	for _, pair := range [][2]string{
		{*got.Name, "A blue lamp"},
		{*got.Input, `Is the blue one of size 2.5 by x in stock, {{"not"}} {{?`},
		{*got.GroundTruth, "blue2.5"},
		{got.RetrievalContext[0], "blue lamps"},
		{got.ForbiddenTools[0], "sell_blue"},
		{got.ExpectedTools[0].Name, "find_blue"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("got %q, want %q", pair[0], pair[1])
		}
	}
	args, _ := json.Marshal(got.ExpectedTools[1].Args)
	if want := `{"among":{"one_of":[2.5,9]},"size":2.5,"text":"about 2.5"}`; string(args) != want {
		t.Errorf("args are %s, want %s", args, want)
	}
	if *tc.Input == *got.Input || tc.ExpectedTools[1].Args["size"] != "{{size}}" || tc.ForbiddenTools[0] != "sell_{{color}}" {
		t.Error("expanding changed the case itself")
	}
	if plain, label := caseAt(agent, 1).Expand(0); *plain.Input != "plain {{?" || label != "" {
		t.Errorf("a case without vars became %q (%s)", *plain.Input, label)
	}
}

func TestExpandTurns(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + `
test_cases:
  - vars: {x: [a, b]}
    turns:
      - {input: "1 {{x}}", expected_tools: ["t{{x}}"]}
      - {input: "2 {{x}}", ground_truth: "g{{x}}"}
`})
	tc := caseAt(mustLoad(t, dir, config.Options{}), 0)
	got, label := tc.Expand(1)
	if got.Turns[0].Input != "1 b" || got.Turns[0].ExpectedTools[0].Name != "tb" || *got.Turns[1].GroundTruth != "gb" || label != "x=b" {
		t.Errorf("turns are %q, %q (%s)", got.Turns[0].Input, got.Turns[1].Input, label)
	}
	if tc.Turns[0].Input != "1 {{x}}" || tc.Turns[0].ExpectedTools[0].Name != "t{{x}}" {
		t.Error("expanding changed the case itself")
	}
}
