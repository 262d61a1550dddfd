package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// loadDataset loads an agent whose cases stand in a file of their own.
func loadDataset(t *testing.T, name, text string) (*config.Agent, []string) {
	t.Helper()
	dir := folder(t, map[string]string{"agent.yaml": head + "test_cases_file: " + name + "\n", name: text})
	return load(t, dir, config.Options{Environ: []string{"X=substituted"}})
}

func TestDatasets(t *testing.T) {
	// The same two cases in every form.
	forms := map[string]string{
		"cases.csv": "name,input,ground_truth,expected_tools,tags,repeat,allow_empty,var_item,pass_rule\n" +
			`Price,"What does the {{item}} cost, ""now""?",49.5,"[""docs"", {""name"": ""x""}]",shop; smoke,3,true,lamp,any` + "\n\n" +
			",Thank you{{item}}!,,,,,,,\n", // a var whose cell is empty is the empty text
		"cases.jsonl": `{"name": "Price", "input": "What does the {{item}} cost, \"now\"?", "ground_truth": "49.5", "expected_tools": ["docs", {"name": "x"}], "tags": ["shop", "smoke"], "repeat": 3, "allow_empty": true, "vars": {"item": "lamp"}, "pass_rule": "any"}` +
			"\r\n\r\n" + `{"input": "Thank you!"}`,
		"cases.yaml": `
- name: Price
  input: What does the {{item}} cost, "now"?
  ground_truth: "49.5"
  expected_tools: [docs, {name: x}]
  tags: [shop, smoke]
  repeat: 3
  allow_empty: true
  vars: {item: lamp}
  pass_rule: any
- input: Thank you!
`,
	}
	var first string
	for _, name := range []string{"cases.yaml", "cases.jsonl", "cases.csv"} {
		agent, problems := loadDataset(t, name, forms[name])
		want(t, problems)
		if agent.TestCases.Len() != 2 {
			t.Fatalf("%s: %d cases", name, agent.TestCases.Len())
		}
		var shown []any
		for _, tc := range agent.TestCases.All() {
			c, _ := tc.Expand(0)
			shown = append(shown, []any{c.Name, c.Input, c.GroundTruth, len(c.ExpectedTools), c.Tags, c.Repeat, c.AllowEmpty, c.PassRule})
		}
		got, _ := json.Marshal(shown)
		if first == "" {
			first = string(got)
		}
		if string(got) != first {
			t.Errorf("%s:\n%s\nwant what YAML says:\n%s", name, got, first)
		}
	}
}

func TestDatasetIsTakenAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"c.csv":   "input\nWhat is ${X} and ${Y}?\n",
		"c.jsonl": `{"input": "What is ${X} and ${Y}?"}`,
	} {
		agent, problems := loadDataset(t, name, text)
		want(t, problems)
		if got := *caseAt(agent, 0).Input; got != "What is ${X} and ${Y}?" {
			t.Errorf("%s: input is %q", name, got)
		}
	}
}

func TestEmptyDatasetHasNoCases(t *testing.T) {
	for name, text := range map[string]string{
		"a.csv": "", "b.csv": "input,name\n", "c.csv": "\xef\xbb\xbfinput\n\n", "a.jsonl": "", "b.ndjson": "\n\n", "a.yaml": "", "b.yaml": "[]", "c.yaml": "test_cases:",
	} {
		agent, problems := loadDataset(t, name, text)
		want(t, problems)
		if agent == nil || agent.TestCases.Len() != 0 {
			t.Errorf("%s is no empty list", name)
		}
	}
}

func TestDatasetLists(t *testing.T) {
	agent, problems := loadDataset(t, "c.csv", "input,expected_tools,forbidden_tools,retrieval_context,x-note,turns\n"+
		"i,a; b ;,c,one; two,passed over,\n"+
		",,,,,\"[{\"\"input\"\": \"\"j\"\", \"\"max_calls\"\": 0}]\"\n")
	want(t, problems)
	c := caseAt(agent, 0)
	if len(c.ExpectedTools) != 2 || c.ExpectedTools[1].Name != "b" || !c.ExpectedTools[1].Bare || len(c.ForbiddenTools) != 1 {
		t.Errorf("tools are %v, %v", c.ExpectedTools, c.ForbiddenTools)
	}
	if len(c.RetrievalContext) != 1 || c.RetrievalContext[0] != "one; two" {
		t.Errorf("retrieval_context is %q", c.RetrievalContext)
	}
	if turns := caseAt(agent, 1).Turns; len(turns) != 1 || turns[0].Input != "j" || *turns[0].MaxCalls != 0 {
		t.Errorf("turns are %+v", turns)
	}
}

func TestBadDatasets(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"c.csv", "input,color\ni,red\n", `c.csv:1:7: unknown column "color" (columns are the keys of a test case; the value of a var {{x}} stands in a column var_x)`},
		{"c.csv", "input,ground_trut\ni,red\n", `c.csv:1:7: unknown column "ground_trut" (did you mean "ground_truth"?)`},
		{"c.csv", "input,vars\ni,x\n", `c.csv:1:7: unknown column "vars" (columns are the keys of a test case; the value of a var {{x}} stands in a column var_x)`},
		{"c.csv", "input;ground_truth\ni;g\n", `c.csv:1:1: unknown column "input;ground_truth" (columns are separated by commas)`},
		{"c.csv", "input,input\ni,j\n", `c.csv:1:7: column "input" stands there twice`},
		{"c.csv", "input,name\ni\n", "c.csv:2:1: is not CSV: wrong number of fields (every row has as many cells as the first; a cell that holds a comma, a quote or a line end stands in double quotes, with its own quotes doubled)"},
		{"c.csv", "input\n\"i\n", `c.csv:2:4: is not CSV: extraneous or missing " in quoted-field (a cell that holds a comma, a quote or a line end stands in double quotes, with its own quotes doubled)`},
		{"c.csv", "input,repeat\n\ni,many\n", `c.csv:3:3: test_cases[0].repeat: "many" is not a whole number`},
		{"c.csv", "input,turns\n,x\n", "c.csv:2:2: column turns: write it as a JSON list, such as [{…}]"},
		{"c.csv", "input,tags\ni,[x\n", "c.csv:2:3: column tags: the list is not JSON: invalid character 'x' looking for beginning of value"},
		{"c.csv", "name\nn\n", "c.csv:2:1: test_cases[0].input: is required unless there are turns"},
		{"c.csv", "in\xffput\n", "c.csv:1:3: byte 0xff is not UTF-8 (save the file as UTF-8)"},
		{"c.jsonl", "{\"input\": \"i\"}\n\n{\"input\": ", `c.jsonl:3: is not a line of JSON: it ends before the value does (each line is one test case, such as {"input": "…"})`},
		{"c.jsonl", `{"input": "i"} {"input": "j"}`, `c.jsonl:1: is not a line of JSON: something follows the value (each line is one test case, such as {"input": "…"})`},
		{"c.jsonl", `{"input": "i", "input": "j"}`, `c.jsonl:1: is not a line of JSON: the key "input" stands there twice (each line is one test case, such as {"input": "…"})`},
		{"c.jsonl", `{"input": "i", "colour": 1}`, `c.jsonl:1:16: test_cases[0].colour: unknown key`},
		{"c.jsonl", `{"input": 5}`, `c.jsonl:1:11: test_cases[0].input: 5 is a number; it must be text (put it in quotes)`},
		{"c.jsonl", `["input"]`, `c.jsonl:1:1: test_cases[0]: is a list; it must be a mapping`},
		{"c.jsonl", strings.Repeat("[", 200), `c.jsonl:1: is not a line of JSON: lists and mappings nest deeper than 100 levels (each line is one test case, such as {"input": "…"})`},
	} {
		_, problems := loadDataset(t, tt.name, tt.text)
		if len(problems) == 0 {
			t.Errorf("%q is accepted", tt.text)
			continue
		}
		if got := strings.Join(problems, "\n"); got != tt.want {
			t.Errorf("%q:\n%s\nwant:\n%s", tt.text, got, tt.want)
		}
	}
}

func FuzzDataset(f *testing.F) {
	f.Add("c.csv", []byte("input,tags,var_x\n\"a\nb\",x;y,1\n"))
	f.Add("c.csv", []byte("turns\n\"[{\"\"input\"\": 1}]\"\n"))
	f.Add("c.jsonl", []byte(`{"input": "a", "expected_tools": [{"name": "b", "args": {"c": null}}]}`+"\n[1e400]\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if filepath.Ext(name) != ".csv" {
			name = "c.jsonl"
		} else {
			name = "c.csv"
		}
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(head+"test_cases_file: "+name), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		agent, problems := config.Load(dir, config.Options{WorkDir: dir})
		if agent == nil {
			t.Fatal("no agent")
		}
		if config.HasErrors(problems) {
			return
		}
		for _, tc := range agent.TestCases.All() {
			for n := range min(tc.Combinations(), 10) {
				tc.Expand(n)
			}
		}
	})
}
