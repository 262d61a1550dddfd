package config_test

import (
	"fmt"
	"os"
	"path/filepath"
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
