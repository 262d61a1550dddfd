package testrun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/testrun"
)

// load loads an agent whose test cases are those lines of YAML.
func load(t *testing.T, cases string) *config.Agent {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.yaml")
	text := "name: demo\nmodel: {provider: offline, name: offline}\ninstructions: {inline: Answer.}\ntest_cases:\n" + cases
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(file, config.Options{WorkDir: t.TempDir()})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	return a
}

// runPlan runs a selection of an agent's cases, one at a time, and returns what
// the attempts were: id, name and number.
func runPlan(t *testing.T, a *config.Agent, sel testrun.Selection) (*testrun.Plan, []string) {
	t.Helper()
	plan, err := testrun.NewPlan(a, sel)
	if err != nil {
		t.Fatal(err)
	}
	rec := new(recorder)
	opts := rec.options()
	opts.Plan = plan
	s, err := testrun.Run(context.Background(), testEnv(), a, answers(func(said string) string { return said }), opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.Total != plan.Cases || s.Finished() != plan.Cases || s.Attempts.Total != plan.Attempts || s.Attempts.Finished() != plan.Attempts {
		t.Errorf("the plan has %d cases and %d attempts, the run %+v", plan.Cases, plan.Attempts, s)
	}
	var got []string
	for _, c := range rec.results {
		got = append(got, fmt.Sprintf("%s|%s|%d/%d", c.ID, c.Name, c.Attempt, c.Repeats))
	}
	return plan, got
}

func TestSelection(t *testing.T) {
	a := load(t, `
  - {name: Returns, input: a, tags: [smoke, money]}
  - {name: Price, id: p-1, input: b, tags: [money]}
  - {input: "What is [this] about?"}
  - {name: Lamp, input: "{{color}}", vars: {color: [red, blue]}, repeat: 2}
  - {name: Orders/new, input: c, tags: [slow]}
`)
	all := []string{
		"Returns|Returns|1/1", "p-1|Price|1/1", "case-1455d4e5467b||1/1",
		"Lamp[color=red]|Lamp [color=red]|1/2", "Lamp[color=red]|Lamp [color=red]|2/2",
		"Lamp[color=blue]|Lamp [color=blue]|1/2", "Lamp[color=blue]|Lamp [color=blue]|2/2",
		"Orders/new|Orders/new|1/1",
	}
	at := func(places ...int) []string {
		var out []string
		for _, i := range places {
			out = append(out, all[i])
		}
		return out
	}
	for _, tt := range []struct {
		name string
		sel  testrun.Selection
		want []string
	}{
		{"everything", testrun.Selection{}, all},
		{"a name", testrun.Selection{Only: []string{"Returns"}}, at(0)},
		{"an id", testrun.Selection{Only: []string{"p-1"}}, at(1)},
		{"the name of a case with an id", testrun.Selection{Only: []string{"Price"}}, at(1)},
		{"two", testrun.Selection{Only: []string{"p-1", "Returns"}}, at(0, 1)},
		{"a pattern", testrun.Selection{Only: []string{"R*s"}}, at(0)},
		{"a pattern over a slash", testrun.Selection{Only: []string{"Ord*w"}}, at(7)},
		{"one character", testrun.Selection{Only: []string{"Pric?"}}, at(1)},
		{"the beginning of an input, as it is shown", testrun.Selection{Only: []string{"What is [this] about?"}}, at(2)},
		{"every combination", testrun.Selection{Only: []string{"Lamp"}}, at(3, 4, 5, 6)},
		{"one combination, by its id", testrun.Selection{Only: []string{"Lamp[color=blue]"}}, at(5, 6)},
		{"one combination, by its name", testrun.Selection{Only: []string{"Lamp [color=red]"}}, at(3, 4)},
		{"a tag", testrun.Selection{Tags: []string{"money"}}, at(0, 1)},
		{"one of two tags", testrun.Selection{Tags: []string{"smoke", "slow"}}, at(0, 7)},
		{"a name and a tag", testrun.Selection{Only: []string{"*"}, Tags: []string{"slow"}}, at(7)},
		{"ids", testrun.Selection{IDs: []string{"Lamp[color=red]", "gone", "p-1"}}, at(1, 3, 4)},
		{"no ids", testrun.Selection{IDs: []string{}}, nil},
		{"the first", testrun.Selection{Limit: 2}, at(0, 1)},
		{"the first of a tag", testrun.Selection{Tags: []string{"money"}, Limit: 1}, at(0)},
		{"more than there are", testrun.Selection{Limit: 99}, all},
		{"the first part", testrun.Selection{Shard: testrun.Shard{Index: 1, Count: 2}}, at(0, 2, 5, 6)},
		{"the second part", testrun.Selection{Shard: testrun.Shard{Index: 2, Count: 2}}, at(1, 3, 4, 7)},
		{"a part of the first", testrun.Selection{Limit: 3, Shard: testrun.Shard{Index: 2, Count: 2}}, at(1)},
		{"a part that is empty", testrun.Selection{Shard: testrun.Shard{Index: 9, Count: 9}}, nil},
		{"once each", testrun.Selection{Only: []string{"Lamp[color=red]"}, Repeat: 1}, []string{"Lamp[color=red]|Lamp [color=red]|1/1"}},
		{"three times", testrun.Selection{Only: []string{"Returns"}, Repeat: 3}, []string{"Returns|Returns|1/3", "Returns|Returns|2/3", "Returns|Returns|3/3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, got := runPlan(t, a, tt.sel)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if plan.All != 6 {
				t.Errorf("the agent has %d cases, want 6", plan.All)
			}
		})
	}
}

func TestASelectionThatMatchesNothingIsAnError(t *testing.T) {
	a := load(t, `
  - {name: Returns, input: a, tags: [smoke, money]}
  - {input: "What is this about?"}
`)
	for want, sel := range map[string]testrun.Selection{
		`no test case has the name or id "Retruns"; there is Returns, What is this about?`: {Only: []string{"Returns", "Retruns"}},
		`no test case has the tag "smok"; tags are money, smoke`:                           {Tags: []string{"smok"}},
	} {
		if _, err := testrun.NewPlan(a, sel); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := testrun.NewPlan(load(t, "  - {input: a}\n"), testrun.Selection{Tags: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "there are none") {
		t.Errorf("got %v", err)
	}
}

func TestIdentityIsTheSameInEveryRunAndUnlikeAnyOther(t *testing.T) {
	const cases = `
  - {name: Twin, input: a}
  - {name: Twin, input: b}
  - {name: "Twin#2", input: c}
  - {input: said}
  - {input: said}
  - {turns: [{input: said}, {input: more}]}
  - {id: Twin, input: d}
  - {name: "A {{x}}", input: "{{y}}", vars: {x: [1, 2], y: z}}
`
	_, first := runPlan(t, load(t, cases), testrun.Selection{})
	_, again := runPlan(t, load(t, cases), testrun.Selection{})
	if !reflect.DeepEqual(first, again) {
		t.Errorf("got %v and then %v", first, again)
	}
	want := []string{
		"Twin|Twin|1/1", "Twin#2|Twin|1/1", "Twin#2#2|Twin#2|1/1",
		"case-fb46c79b7eb7||1/1", "case-fb46c79b7eb7#2||1/1", "case-785c2aa64cdf||1/1", "Twin#3||1/1",
		"A 1[x=1]|A 1|1/1", "A 2[x=2]|A 2|1/1",
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(first, "\n"), strings.Join(want, "\n"))
	}
}

func TestVarsReachTheAgentAndTheChecks(t *testing.T) {
	a := load(t, `
  - name: Lamp
    vars: {color: [red, blue]}
    input: "Is the {{color}} lamp there?"
    ground_truth: "{{color}} yes"
    evaluations: [{metric: equality}]
    expected_tools: [{name: stock, args: {color: "{{color}}"}}]
`)
	rec := new(recorder)
	s, err := testrun.Run(context.Background(), testEnv(), a, &fake{turn: stock}, rec.options())
	if err != nil || s.Passed != 2 {
		t.Fatalf("%+v, %v; want both cases passed", s, err)
	}
	if got := rec.results[1].Turns[0].Input; got != "Is the blue lamp there?" {
		t.Errorf("the second case asks %q", got)
	}
}

func TestShards(t *testing.T) {
	for text, want := range map[string]testrun.Shard{"1/1": {Index: 1, Count: 1}, "2/5": {Index: 2, Count: 5}, " 5 / 5 ": {Index: 5, Count: 5}} {
		if got, err := testrun.ParseShard(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2", "0/5", "6/5", "-1/5", "a/b", "1/0", "1/2/3"} {
		if _, err := testrun.ParseShard(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	// The parts are the whole, each case once.
	cases := strings.Repeat("  - {input: a}\n", 11)
	a := load(t, cases)
	seen := map[string]int{}
	for i := range 4 {
		_, got := runPlan(t, a, testrun.Selection{Shard: testrun.Shard{Index: i + 1, Count: 4}})
		for _, id := range got {
			seen[id]++
		}
	}
	if len(seen) != 11 {
		t.Errorf("the parts hold %d cases, want 11", len(seen))
	}
}

func TestASelectionSurvivesJSON(t *testing.T) {
	for _, sel := range []testrun.Selection{
		{},
		{Only: []string{"a"}, Tags: []string{"b"}, IDs: []string{"c"}, Limit: 3, Shard: testrun.Shard{Index: 1, Count: 2}, Repeat: 4},
	} {
		doc, err := json.Marshal(sel)
		if err != nil {
			t.Fatal(err)
		}
		var got testrun.Selection
		if err := json.Unmarshal(doc, &got); err != nil || !reflect.DeepEqual(got, sel) {
			t.Errorf("%s became %+v (%v)", doc, got, err)
		}
	}
}

func TestSecretsAreMaskedInIDsBeforeTheyAreCompared(t *testing.T) {
	a := suite(nil, config.TestCase{Name: new("key s3cret-value-1"), Input: new("a")}, config.TestCase{Name: new("key s3cret-value-1"), Input: new("b")})
	a.Redactor = secret.NewRedactor([]string{"s3cret-value-1"})
	_, got := runPlan(t, a, testrun.Selection{})
	if strings.Contains(fmt.Sprint(got), "s3cret") || !strings.Contains(got[1], "#2") {
		t.Errorf("got %v", got)
	}
	a = suite(nil, config.TestCase{Input: new("Is s3cret-value-1 a key?"), Tags: []string{"s3cret-value-1"}})
	a.Redactor = secret.NewRedactor([]string{"s3cret-value-1"})
	for _, sel := range []testrun.Selection{{Only: []string{"x"}}, {Tags: []string{"x"}}} {
		if _, err := testrun.NewPlan(a, sel); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	}
	_, rec := run(t, a, answers(func(string) string { return "y" }))
	if strings.Contains(fmt.Sprint(rec.started), "s3cret") {
		t.Errorf("progress was told of %v", rec.started)
	}
}

func FuzzOnly(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("**", "")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		a := suite(nil, config.TestCase{ID: &name, Input: new("a")})
		if _, err := testrun.NewPlan(a, testrun.Selection{Only: []string{name}}); err != nil && !strings.ContainsAny(name, "*?") {
			t.Errorf("a case is not found by its own id: %v", err)
		}
		testrun.NewPlan(a, testrun.Selection{Only: []string{pattern}}) // must return
	})
}
