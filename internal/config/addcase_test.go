package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func turnOf(input, answer string) config.CaseDraft {
	return config.CaseDraft{Turns: []config.TurnDraft{{Input: input, GroundTruth: answer}}}
}

func TestAddCaseChangesNothingElse(t *testing.T) {
	const head = "# mine\nname: a   # the name\nmodel: {provider: offline, name: m}\n\ninstructions: {inline: Help.}\n"
	draft := config.CaseDraft{Name: "lamps", Turns: []config.TurnDraft{{
		Input: "Do you have lamps?", GroundTruth: "Yes: two.\n\n- one\n- two", ExpectedTools: []string{"kb_search"},
		Files: []config.FileDraft{{Path: "notes/my file.md", Type: "text"}},
	}}}
	const entry = "- name: lamps\n  input: Do you have lamps?\n  ground_truth: |-\n    Yes: two.\n\n    - one\n    - two\n" +
		"  expected_tools: [kb_search]\n  files:\n    - {path: \"notes/my file.md\", type: text}\n"
	indented := func(by string) string {
		var b strings.Builder
		for line := range strings.Lines(entry) {
			if line != "\n" {
				b.WriteString(by)
			}
			b.WriteString(line)
		}
		return b.String()
	}
	for _, tt := range []struct{ name, before, after string }{
		{"no cases yet", head, head + "\ntest_cases:\n" + indented("  ")},
		{"no line end at the end", strings.TrimSuffix(head, "\n"), head + "\ntest_cases:\n" + indented("  ")},
		{"a key without a value", head + "test_cases:\n# after\n", head + "test_cases:\n" + indented("  ") + "# after\n"},
		{"a list, comments behind it", head + "test_cases:\n  - input: x # first\n\n# the end\n", head + "test_cases:\n  - input: x # first\n" + indented("  ") + "\n# the end\n"},
		{"a list that is not indented, a key behind it", "test_cases:\n- input: |\n    x\n    # no comment\n\n" + head, "test_cases:\n- input: |\n    x\n    # no comment\n" + entry + "\n" + head},
		{"four spaces", head + "test_cases:\n    - input: x\n", head + "test_cases:\n    - input: x\n" + indented("    ")},
		{"Windows line ends", strings.ReplaceAll(head, "\n", "\r\n"), strings.ReplaceAll(head+"\ntest_cases:\n"+indented("  "), "\n", "\r\n")},
		{"brackets", head + "test_cases: [{input: x}]  # short\n", head +
			`test_cases: [{input: x}, {"expected_tools":["kb_search"],"files":[{"path":"notes/my file.md","type":"text"}],"ground_truth":"Yes: two.\n\n- one\n- two","input":"Do you have lamps?","name":"lamps"}]` + "  # short\n"},
		{"a list alone", "- input: x\n", "- input: x\n" + entry},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.AddCase("agent.yaml", []byte(tt.before), draft)
			if err != nil || string(got) != tt.after {
				t.Errorf("%v, got:\n%s\nwant:\n%s", err, got, tt.after)
			}
		})
	}
}

func TestAddCaseToOtherForms(t *testing.T) {
	for _, tt := range []struct{ file, before, after string }{
		{"cases.jsonl", `{"input": "a ${X}"}`, "{\"input\": \"a ${X}\"}\n{\"ground_truth\":\"5 ${Y}\",\"input\":\"<b>\"}\n"},
		{"cases.json", "[\n  {\"input\": \"a\"}\n]\n", "[\n  {\"input\": \"a\"}\n, {\"ground_truth\":\"5 ${Y}\",\"input\":\"<b>\"}]\n"},
		{"cases.yaml", "test_cases: []\n", "test_cases: [{\"ground_truth\":\"5 ${Y}\",\"input\":\"<b>\"}]\n"},
	} {
		got, err := config.AddCase(tt.file, []byte(tt.before), turnOf("<b>", "5 ${Y}"))
		if tt.file != "cases.jsonl" {
			tt.after = strings.ReplaceAll(tt.after, "${Y}", "$${Y}")
		}
		if err != nil || string(got) != tt.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.file, err, got, tt.after)
		}
	}
}

func TestAddCaseRefuses(t *testing.T) {
	for _, tt := range []struct{ before, want string }{
		{"test_cases: 5\n", "not a list"},
		{"test_cases: ~\n", "not written as a list"},
		{"{name: a}", "written in braces"},
		{"a: [", "add a case to agent.yaml"},
		{"test_cases:\n  - {name: n, input: x}\n", `has a test case called "n" already`},
		{"name: a\n...\n", "add a case to agent.yaml"},
	} {
		draft := turnOf("x", "y")
		draft.Name = "n"
		got, err := config.AddCase("agent.yaml", []byte(tt.before), draft)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v\n%s", tt.before, err, got)
		}
	}
}

func TestCasesFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ cases, want, refused string }{
		{"", "agent.yaml", ""},
		{"more.yaml", "more.yaml", ""},
		{"more.csv", "", "by hand"},
	} {
		text := "name: a\nmodel: {provider: offline, name: m}\ninstructions: {inline: Help.}\n"
		if tt.cases != "" {
			text += "test_cases_file: " + tt.cases + "\n"
			write(tt.cases, "[]")
		}
		write("agent.yaml", text)
		a, _ := config.Load(dir, config.Options{WorkDir: dir})
		got, err := a.CasesFile()
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %q, %v", tt.cases, got, err)
			}
		} else if err != nil || got != filepath.Join(dir, tt.want) {
			t.Errorf("%s: %q, %v", tt.cases, got, err)
		}
	}
}

// FuzzAddCase holds that whatever is said is read back as it was said, and that
// any text of a file is either refused or keeps its cases.
func FuzzAddCase(f *testing.F) {
	f.Add("name: a\ntest_cases:\n  - input: x\n", "is this: a #test?", "- yes\n\n  no ${HOME} \u2028 \x00")
	f.Add("", "@a.md `x`", "'")
	f.Add("[]", " lead", "trail \n")
	f.Add("test_cases: &a\n- *b", "y", "\ttab\nline")
	f.Fuzz(func(t *testing.T, text, input, answer string) {
		if strings.TrimSpace(input) == "" || strings.TrimSpace(answer) == "" {
			return
		}
		got, err := config.AddCase("agent.yaml", []byte(text), turnOf(strings.ToValidUTF8(input, "?"), strings.ToValidUTF8(answer, "?")))
		if err != nil {
			return
		}
		if again, err := config.AddCase("agent.yaml", got, turnOf("x", "y")); err != nil {
			t.Errorf("the next case finds no place: %v\n%s\n%s", err, got, again)
		}
	})
}
