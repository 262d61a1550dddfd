package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// caseAt returns a case of the agent.
func caseAt(a *config.Agent, n int) *config.TestCase {
	for i, tc := range a.TestCases.All() {
		if i == n {
			return tc
		}
	}
	return nil
}

// longAgent writes an agent whose list of cases is kept as text.
func longAgent(t *testing.T, cases int, last string) string {
	t.Helper()
	var doc strings.Builder
	doc.WriteString("name: a\nmodel: {provider: offline, name: m}\ninstructions: {inline: hi}\ntest_cases:\n")
	for i := range cases {
		fmt.Fprintf(&doc, "  - name: case %d\n    input: \"hello ${WHO:-you} %d\"\n    ground_truth: |\n      two\n      lines and some more words to fill the file\n", i, i)
	}
	doc.WriteString(last + "description: after the list\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(doc.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLongListsOfCasesReadAsShortOnes(t *testing.T) {
	const n = 4000 // well beyond the size from which a list is kept as text
	agent := mustLoad(t, longAgent(t, n, ""), config.Options{Environ: []string{"WHO=world"}})
	if agent.TestCases.Len() != n || agent.Description == nil {
		t.Fatalf("%d cases, description %v", agent.TestCases.Len(), agent.Description)
	}
	seen := 0
	for i, tc := range agent.TestCases.All() {
		if want := fmt.Sprintf("hello world %d", i); i != seen || *tc.Input != want || *tc.GroundTruth != "two\nlines and some more words to fill the file\n" {
			t.Fatalf("case %d: input %q, ground truth %q", i, *tc.Input, *tc.GroundTruth)
		}
		if want := 5 + 5*i; tc.Pos().Line != want || tc.Path() != fmt.Sprintf("test_cases[%d]", i) {
			t.Fatalf("case %d stands at %s as %s, want line %d", i, tc.Pos(), tc.Path(), want)
		}
		seen++
	}
	if seen != n {
		t.Errorf("%d cases of %d", seen, n)
	}
}

func TestProblemsInLongListsAreFoundOnceAndInPlace(t *testing.T) {
	dir := longAgent(t, 4000, "  - {name: bad, inptu: x}\n  - {name: worse, input: x, ground_truth: 5}\n")
	_, problems := config.Load(dir, config.Options{})
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d %s %s", p.Pos.Line, p.Path, p.Code))
	}
	want := "20005 test_cases[4000].input missing\n20005 test_cases[4000].inptu unknown_key\n20006 test_cases[4001].ground_truth type"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestCasesMayBeReadAtOnceAndEdited(t *testing.T) {
	agent := mustLoad(t, longAgent(t, 3000, ""), config.Options{})
	agent.TestCases.Edit(func(tc *config.TestCase) { tc.AllowEmpty = true })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, tc := range agent.TestCases.All() {
				if !tc.AllowEmpty {
					t.Error("a case was not edited")
					return
				}
				tc.AllowEmpty = false // the caller's own
			}
		})
	}
	wg.Wait()
}

// longJSON writes an agent and its cases, a JSON list beyond the size from which
// it is kept as text, and returns the folder.
func longJSON(t testing.TB, cases int, between, last string) string {
	t.Helper()
	var doc strings.Builder
	doc.WriteString("[")
	for i := range cases {
		if i > 0 {
			doc.WriteString("," + between)
		}
		fmt.Fprintf(&doc, `{"name": "case %d", "input": "hello ${WHO:-you} %d",%s"ground_truth": "some words to fill the file: é"}`, i, i, between)
	}
	doc.WriteString(last + "]\n")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agent.yaml": "name: a\nmodel: {provider: offline, name: m}\ninstructions: {inline: hi}\ntest_cases_file: cases.json\n",
		"cases.json": doc.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLongListsOfJSON(t *testing.T) {
	const n = 4000
	for name, between := range map[string]string{"in one line": " ", "over lines": "\n  "} {
		t.Run(name, func(t *testing.T) {
			dir := longJSON(t, n, between, "")
			agent := mustLoad(t, dir, config.Options{Environ: []string{"WHO=world"}})
			if agent.TestCases.Len() != n {
				t.Fatalf("%d cases", agent.TestCases.Len())
			}
			seen := 0
			for i, tc := range agent.TestCases.All() {
				if want := fmt.Sprintf("hello world %d", i); i != seen || *tc.Input != want {
					t.Fatalf("case %d: input %q", i, *tc.Input)
				}
				if between != " " && (tc.Pos().Line != 1+2*i || tc.PosOf("ground_truth").Line != 2+2*i || tc.PosOf("ground_truth").Column != 19) {
					t.Fatalf("case %d stands at %s, its ground_truth at %s", i, tc.Pos(), tc.PosOf("ground_truth"))
				}
				seen++
			}
			if seen != n {
				t.Errorf("%d cases of %d", seen, n)
			}
		})
	}
}

func TestProblemsInLongListsOfJSON(t *testing.T) {
	for last, want := range map[string]string{
		`, {"name": "bad", "inptu": "x"}`: "2 test_cases[4000].input missing\n2 test_cases[4000].inptu unknown_key",
		`, {"input": "x", "input": "y"}`:  "2  duplicate",
		`, {"input": "x"`:                 "2  syntax",
		`]  [`:                            "2  syntax",
	} {
		_, problems := config.Load(longJSON(t, 4000, " ", "\n"+last), config.Options{})
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d %s %s", p.Pos.Line, p.Path, p.Code))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got\n%s\nwant\n%s", last, strings.Join(got, "\n"), want)
		}
	}
}

// A long dataset is kept as text: as a tree it would take many times as
// much.
func TestALongDatasetTakesLittleMemory(t *testing.T) {
	const cases = 20_000
	for name, text := range map[string]string{
		"c.jsonl": strings.Repeat(`{"input": "What does the lamp cost?", "ground_truth": "49.5", "tags": ["a", "b"]}`+"\n", cases),
		"c.csv":   "input,ground_truth,tags\n" + strings.Repeat("What does the lamp cost?,49.5,a;b\n", cases),
	} {
		dir := folder(t, map[string]string{"agent.yaml": head + "\ntest_cases_file: " + name + "\n", name: text})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		agent := mustLoad(t, dir, config.Options{})
		runtime.GC()
		runtime.ReadMemStats(&after)
		if agent.TestCases.Len() != cases {
			t.Errorf("%s: %d cases", name, agent.TestCases.Len())
		}
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > int64(4*len(text)) {
			t.Errorf("%s: %d bytes are kept of a file of %d", name, kept, len(text))
		}
		runtime.KeepAlive(agent)
	}
}
