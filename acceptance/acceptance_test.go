package acceptance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holodeck-go/holodeck/internal/cli"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"holodeck": func() { os.Exit(cli.Main(os.Args[1:], cli.System("test"))) },
		"npx":      npx,
		"usercode": usercode,
	})
}

func TestScripts(t *testing.T) { runScripts(t, "testdata") }

// runScripts runs the scripts of a folder.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	testscript.Run(t, scriptParams(t, dir))
}

// scriptParams says how the scripts of a folder are run.
func scriptParams(t *testing.T, dir string) testscript.Params {
	t.Helper()
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", repo)
			env.Setenv("HOLODECK_CLAUDE_CLI", "off") // wherever the tests run
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"copydir":     copyDir,
			"exits":       exits,
			"replace":     replace,
			"shows":       shows,
			"makefile":    makeFile,
			"jsonpath":    jsonPath,
			"modelserver": modelServer,
			"mcpserver":   mcpServer,
		},
	}
}

// exits implements exits CODE COMMAND [ARG…].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// copyDir implements copydir SRC DST.
func copyDir(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "copydir SRC DST")
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
	// State of a run in the source folder is not part of the example.
	ts.Check(os.RemoveAll(filepath.Join(ts.MkAbs(args[1]), ".holodeck")))
}

// shows implements shows FILE.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "shows FILE")
	lines := func(file string) []string {
		return strings.Split(strings.TrimRight(ts.ReadFile(file), "\n"), "\n")
	}
	if want, got := lines(args[0]), lines("stdout"); !linesMatch(want, got) {
		ts.Fatalf("stdout is not what %s shows:\n%s", args[0], strings.Join(got, "\n"))
	}
}

// replace implements replace FILE OLD NEW.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "replace FILE OLD NEW")
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if !bytes.Contains(data, []byte(args[1])) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, bytes.ReplaceAll(data, []byte(args[1]), []byte(args[2])), 0o644))
}

// makeFile implements makefile FILE MIB.
func makeFile(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "makefile FILE MIB")
	mib, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	line := strings.Repeat("all work and no play ", 50) + "\n"
	block := []byte(strings.Repeat(line, (1<<20)/len(line)+1))[:1<<20]
	for range mib {
		_, err := f.Write(block)
		ts.Check(err)
	}
	ts.Check(f.Close())
}

// jsonPath implements jsonpath FILE PATH WANT.
func jsonPath(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsonpath FILE PATH WANT")
	}
	var value any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &value); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	for _, key := range strings.Split(args[1], ".") {
		var ok bool
		if value, ok = child(value, key); !ok {
			ts.Fatalf("%s has no %s", args[0], args[1])
		}
	}
	got, err := json.Marshal(value)
	ts.Check(err)
	if (string(got) == args[2]) == neg {
		ts.Fatalf("%s: %s is %s, want %s", args[0], args[1], got, args[2])
	}
}

// child returns the member of an object or the element of a list.
func child(value any, key string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		member, ok := v[key]
		return member, ok
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
		if key == "length" {
			return json.Number(fmt.Sprint(len(v))), true
		}
	}
	return nil, false
}

// modelServer implements modelserver NAME SCRIPT.
func modelServer(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "modelserver NAME SCRIPT")
	ts.Setenv(args[0], startModels(ts, args[1], llmtest.Options{}))
}

// startModels starts a fake model server that plays a file of rules, and returns
// its address.
func startModels(ts *testscript.TestScript, file string, o llmtest.Options) string {
	rules, problems := script.ParseYAML([]byte(ts.ReadFile(file)))
	if len(problems) > 0 {
		ts.Fatalf("%s: %v", file, problems)
	}
	handler, err := llmtest.NewHandler(rules, o)
	ts.Check(err)
	server := httptest.NewServer(handler)
	ts.Defer(func() {
		handler.Close()
		server.Close()
	})
	return server.URL
}

func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
}
