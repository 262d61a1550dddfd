package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// bomb is a document whose aliases stand for 10^n values.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("x-0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < n; i++ {
		ref := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "x-%d: &a%d [%s]\n", i, i, strings.Join([]string{ref, ref, ref, ref, ref, ref, ref, ref, ref, ref}, ","))
	}
	fmt.Fprintf(&b, "tools: *a%d\n", n-1)
	return b.String()
}

func TestBadFiles(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	var steps strings.Builder
	for i := range 120 {
		fmt.Fprintf(&steps, "%sa:\n", strings.Repeat(" ", i))
	}
	for _, tt := range []struct {
		name, text string
		want       []string // the first lines that must be reported
	}{
		{"empty", "", []string{"agent.yaml:1:1: name: is required", "agent.yaml:1:1: model: is required", "agent.yaml:1:1: instructions: is required"}},
		{"only a comment", "# nothing\n", []string{"agent.yaml:1:1: name: is required", "agent.yaml:1:1: model: is required", "agent.yaml:1:1: instructions: is required"}},
		{"a list", "- a\n", []string{"agent.yaml:1:1: an agent file is a mapping with name, model and instructions, and this is a list"}},
		{"a word", "hello", []string{"agent.yaml:1:1: an agent file is a mapping with name, model and instructions, and this is text"}},
		{"a picture", "\x89PNG\r\n\x1a\n\x00\x00", []string{"agent.yaml:3:1: holds a NUL byte, so it is not a text file (is this the right file?)"}},
		{"Latin-1", "name: a\ndescription: caf\xe9\n", []string{"agent.yaml:2:17: byte 0xe9 is not UTF-8 (save the file as UTF-8)"}},
		{"UTF-16", "\xff\xfen\x00", []string{"agent.yaml: is UTF-16 text (save it as UTF-8)"}},
		{"tabs", "model:\n\tname: x\n", []string{"agent.yaml:2:1: is not valid YAML: found character '\t' that cannot start any token (indent with spaces, not tabs)"}},
		{"a colon", "name: a: b\n", []string{`agent.yaml:1:7: is not valid YAML: mapping value is not allowed in this context (a value that contains ": " must be in quotes)`}},
		{"an open quote", "name: \"a\n", []string{"agent.yaml:1:7: is not valid YAML: could not find end character of double-quoted text (close the quotes)"}},
		{"two documents", head + "---\nname: b\n", []string{"agent.yaml:5:1: a second YAML document begins here, and only one is read (remove the --- line, or put it in a file of its own)"}},
		{"a key given twice", head + "name: b\n", []string{`agent.yaml:4:1: key "name" is given twice, first at agent.yaml:1:1 (keep one of them)`}},
		{"a nested key given twice", head + "claude: {effort: low, effort: high}\n", []string{`agent.yaml:4:23: key "effort" is given twice, first at agent.yaml:4:10 (keep one of them)`}},
		{"an alias within itself", "name: &a [x, *a]\n", []string{"agent.yaml:1:14: alias *a stands inside the value it names (an alias may only name a value that ends before it)"}},
		{"an alias of nothing", "name: *a\n", []string{"agent.yaml:1:7: alias *a names no anchor before it"}},
		{"an alias bomb", bomb(9), []string{"agent.yaml:6:23: the aliases up to *a4 stand for more than 500000 values (write the values out, or in files of their own)"}},
		{"an empty entry", head + "tools:\n- \nclaude: {}\n", []string{"agent.yaml:6:1: the list entry before this has no value (give it one, or remove it)"}},
		{"deep brackets", "name: " + deep, []string{"agent.yaml:1:107: is not valid YAML: lists and mappings nest deeper than 100 levels"}},
		{"deep dashes", strings.Repeat("- ", 200) + "a", []string{"agent.yaml:1:201: is not valid YAML: lists and mappings nest deeper than 100 levels"}},
		{"deep indentation", steps.String(), []string{"agent.yaml:102:102: lists and mappings nest deeper than 100 levels here"}},
		{"a merge of text", "<<: a\n", []string{"agent.yaml:1:5: << merges mappings, and this is text (name an anchor of a mapping)"}},
		{"a list as a key", "? [a]\n: b\n", []string{"agent.yaml:2:1: is not valid YAML: found an invalid key for this map"}},
		{"a tag", "name: !ruby/object x\n", []string{"agent.yaml:1:7: tag !ruby/object is not known (remove the tag)"}},
		{"a wrong tag", "name: !!int x\n", []string{"agent.yaml:1:7: the value is not what its tag !!int says (remove the tag)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"agent.yaml": tt.text})
			_, problems := load(t, dir, config.Options{})
			want(t, problems, tt.want...)
		})
	}
}

func TestAliasesOfOrdinaryUseAreNoBomb(t *testing.T) {
	var cases strings.Builder
	cases.WriteString("x-tools: &tools [a, b, c, d, e, f, g, h]\ntest_cases:\n")
	for range 2000 {
		cases.WriteString("  - {input: Hello?, expected_tools: *tools}\n")
	}
	dir := folder(t, map[string]string{"agent.yaml": head + cases.String()})
	if agent := mustLoad(t, dir, config.Options{}); agent.TestCases.Len() != 2000 {
		t.Errorf("%d cases", agent.TestCases.Len())
	}
}

func TestADocumentMayBeMarked(t *testing.T) {
	for _, text := range []string{"---\n" + head, "%YAML 1.2\n---\n" + head, head + "...\n", "# note\n---\n" + head + "---\n"} {
		dir := folder(t, map[string]string{"agent.yaml": text})
		mustLoad(t, dir, config.Options{})
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		dir := t.TempDir()
		_, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir})
		if len(problems) != 1 || !strings.HasSuffix(problems[0].String(), "agent.yaml: does not exist (give the path of an agent.yaml, or of the folder that holds one)") {
			t.Error(problems)
		}
	})
	t.Run("a folder without one", func(t *testing.T) {
		dir := t.TempDir()
		_, problems := load(t, dir, config.Options{})
		want(t, problems, "DIR: holds no agent.yaml (give the path of an agent file, or of the folder that holds one)")
	})
	t.Run("a folder in its place", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml/": ""})
		_, problems := load(t, dir, config.Options{})
		want(t, problems, "agent.yaml: is a folder, and a file is expected")
	})
	t.Run("200 MB", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, "agent.yaml")
		if err := os.WriteFile(file, []byte(head), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, 200_000_000); err != nil { // sparse: the size alone decides
			t.Fatal(err)
		}
		_, problems := load(t, dir, config.Options{})
		want(t, problems, "agent.yaml: is 190 MiB large, and at most 16 MiB are read (is this the right file?)")
	})
}

func TestLineEndsAndByteOrderMark(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": "\xef\xbb\xbf" + strings.ReplaceAll(head+"description: |\n  one\n  two\n", "\n", "\r\n")})
	agent := mustLoad(t, dir, config.Options{})
	if *agent.Description != "one\ntwo\n" {
		t.Errorf("description = %q", *agent.Description)
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		head, bomb(4), "a: &a [*a]", "- - - a", "? [a]\n: b", "name: !!int x", "<<: {a: b}", "a: |\n  b\n", "\x00", "%YAML 1.2\n---\na: b",
		head + "tools: [{type: mcp, name: a, description: b, command: uvx, env: {A: '${B:-c}'}}]",
		head + "evaluations: {metrics: [{grader: 'a:b'}, {criteria: c, name: d}]}",
		head + "test_cases: [{turns: [{input: a, expected_tools: [b, {name: c, args: {d: {regex: '(?=e)'}}}]}]}]",
		head + "deployment: {registry: {url: a, repository: b}, target: {provider: azure, azure: {}}}",
		head + "response_format: {type: object, properties: {a: {type: string}}}\nhooks: [{event: Stop, action: log}]",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(dir, "agent.yaml")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		agent, problems := config.Load(file, config.Options{WorkDir: dir, Environ: []string{"A=b", "MY_SECRET=canary-canary"}})
		if agent == nil && !config.HasErrors(problems) {
			t.Error("no agent and no error")
		}
		if agent != nil {
			agent.Effective()
		}
		for _, p := range problems {
			if p.Pos.File == "" || p.Text == "" {
				t.Errorf("a problem without a file or a text: %+v", p)
			}
			if strings.Contains(p.String(), "canary-canary") {
				t.Errorf("a secret was shown: %s", p)
			}
		}
	})
}
