package acceptance_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocs runs what the pages show. In README.md, docs/ and the READMEs of the
// examples, a fenced block marked
//
//	yaml FILE, csv FILE, text FILE …   is written to FILE;
//	console                            is run, line by line, and must print what it shows;
//	console python                     the same, where the tests run with a Python interpreter.
//
// A line of a console block that begins with "$ " is a command: holodeck (or
// `go run ./cmd/holodeck`), which may end in `< FILE`, or `echo $?` for the exit
// code. A line "..." stands
// for any lines, "..." at the end of a line for any rest of it, and durations are
// not compared. All blocks of a page share a
// folder that begins as a copy of the examples.
func TestDocs(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../examples/*/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		t.Run(strings.TrimPrefix(filepath.ToSlash(page), "../"), func(t *testing.T) {
			t.Parallel()
			runPage(t, page)
		})
	}
}

func runPage(t *testing.T, page string) {
	blocks := readBlocks(t, page)
	needsIt := func(b block) bool { return b.kind == "console" && b.file == interpreter }
	if len(blocks) == 0 || interpreter != "" && !slices.ContainsFunc(blocks, needsIt) {
		return
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join("..", "examples"))); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.kind == "console" && b.file != "" && b.file != interpreter {
			continue
		}
		if b.kind == "console" {
			runConsole(t, dir, page, b)
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(b.file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(b.lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// block is a fenced block that the test acts on.
type block struct {
	kind, file string
	line       int // of its first line
	lines      []string
}

func readBlocks(t *testing.T, page string) []block {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var (
		blocks []block
		open   *block
		n      int
	)
	for scanner := bufio.NewScanner(bytes.NewReader(data)); scanner.Scan(); {
		n++
		line := scanner.Text()
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && fence:
			if open.kind == "console" || open.file != "" {
				blocks = append(blocks, *open)
			}
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		case fence:
			kind, file, _ := strings.Cut(info, " ")
			open = &block{kind: kind, file: strings.TrimSpace(file), line: n + 1}
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is not closed", page, open.line)
	}
	return blocks
}

// runConsole runs the commands of a block and compares what they print.
func runConsole(t *testing.T, dir, page string, b block) {
	t.Helper()
	exit := 0
	for i := 0; i < len(b.lines); {
		command, ok := strings.CutPrefix(b.lines[i], "$ ")
		if !ok {
			t.Fatalf("%s:%d: a console block shows commands that begin with \"$ \"", page, b.line+i)
		}
		at := b.line + i
		var want []string
		for i++; i < len(b.lines) && !strings.HasPrefix(b.lines[i], "$ "); i++ {
			want = append(want, b.lines[i])
		}
		var got string
		if command == "echo $?" {
			got = fmt.Sprintln(exit)
		} else {
			got, exit = runHolodeck(t, dir, command)
		}
		gotLines := strings.Split(strings.TrimRight(got, "\n"), "\n")
		if got == "" {
			gotLines = nil
		}
		if !linesMatch(want, gotLines) {
			t.Errorf("%s:%d: $ %s\nprinted:\n%s\nbut the page shows:\n%s", page, at, command, got, strings.Join(want, "\n"))
		}
	}
}

// runHolodeck runs a command line of a page; stdout and stderr come in one.
func runHolodeck(t *testing.T, dir, command string) (output string, exit int) {
	t.Helper()
	args := splitWords(t, strings.Replace(command, "go run ./cmd/holodeck", "holodeck", 1))
	if args[0] != "holodeck" {
		t.Fatalf("the page runs %q; only holodeck can be run", args[0])
	}
	var input io.Reader
	if n := len(args) - 2; n > 0 && args[n] == "<" {
		file, err := os.Open(filepath.Join(dir, filepath.FromSlash(args[n+1])))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		input, args = file, args[:n]
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = dir, input
	cmd.Env = append(withoutAccounts(os.Environ()), "GITHUB_ACTIONS=", "HOLODECK_CLAUDE_CLI=off", "HOME="+filepath.Join(dir, "home"), "USERPROFILE="+filepath.Join(dir, "home"))
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.ReplaceAll(string(out), dir+string(filepath.Separator), "/home/you/"), cmd.ProcessState.ExitCode()
}

// withoutAccounts leaves out what would let a page reach the accounts of whoever
// runs the test.
func withoutAccounts(environ []string) []string {
	return slices.DeleteFunc(environ, func(entry string) bool {
		for _, prefix := range []string{"OPENAI_", "AZURE_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OLLAMA_", "AWS_", "HOLODECK_"} {
			if strings.HasPrefix(entry, prefix) {
				return true
			}
		}
		return false
	})
}

// splitWords splits a command line as a shell does, with double and single quotes.
func splitWords(t *testing.T, s string) []string {
	t.Helper()
	var (
		words  []string
		word   strings.Builder
		quote  rune
		inWord bool
	)
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		t.Fatalf("unclosed quote in %q", s)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// passing is what differs each time: durations, times (as in the name of a run)
// and ids.
var passing = regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b` +
	`|\b\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d[-:]\d\d(\.\d+)?([+]00[-:]00)?(-[0-9a-f]{4}\b)?` +
	`|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)

// linesMatch compares lines; a "..." in want stands for any number of lines, at
// the end of a line for any rest of it, and durations, times and ids are alike.
func linesMatch(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "..." {
		for skip := 0; skip <= len(got); skip++ {
			if linesMatch(want[1:], got[skip:]) {
				return true
			}
		}
		return false
	}
	if len(got) == 0 {
		return false
	}
	alike := func(s string) string { return strings.TrimRight(passing.ReplaceAllString(s, "0"), " ") }
	same := alike(want[0]) == alike(got[0])
	if begin, cut := strings.CutSuffix(want[0], "..."); cut {
		same = strings.HasPrefix(alike(got[0]), begin)
	}
	return same && linesMatch(want[1:], got[1:])
}
