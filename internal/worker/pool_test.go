package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/worker"
)

// lookup knows the variables of this process and those given.
func lookup(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if value, ok := variables[name]; ok {
			return value, value != ""
		}
		return os.LookupEnv(name)
	}
}

// fakePool returns a Pool whose interpreter is this program.
func fakePool(t *testing.T) *worker.Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := worker.New(worker.Options{Dir: t.TempDir(), Lookup: lookup(map[string]string{"HOLODECK_PYTHON": self})})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// as is the environment in which this program behaves so.
func as(how string) worker.Env { return worker.Env{behaviour: how} }

// do makes a call of a function that does something.
func do(t *testing.T, f *worker.Function, what string) (string, error) {
	t.Helper()
	args, _ := json.Marshal(map[string]any{"do": what, "size": 5 << 20})
	got, err := f.Call(t.Context(), args)
	return string(got), err
}

func TestFunctionsShareAnInterpreter(t *testing.T) {
	p := fakePool(t)
	f := p.Function("tool.py", "add", "module_a", as("plain"))
	g := p.Function("tool.py", "sub", "module_b", as("plain"))
	h := p.Function("tool.py", "mul", "module_c", worker.Env{behaviour: "plain", "TOKEN": "t"})
	if got, err := do(t, f, "x"); got != `["module_a", "add", "x"]` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := f.Describe(t.Context()); string(got) != `{"type": "object", "title": "add"}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	one, _ := do(t, f, "pid")
	two, _ := do(t, g, "pid")
	three, _ := do(t, h, "pid")
	if one != two || one == three || one == "" {
		t.Errorf("interpreters %s, %s and, with another environment, %s", one, two, three)
	}
}

func TestGradersAreToldTheCase(t *testing.T) {
	p := fakePool(t)
	got, err := p.Grader("graders.money", "same", as("plain")).Call(t.Context(), json.RawMessage(`{"turn_input":"x"}`))
	if string(got) != `{"score": 1, "details": {"turn_input":"x"}}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	f := fakePool(t).Function("tool.py", "f", "m", as("plain"))
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			what := strings.Repeat("x", i%7+1)
			if got, err := do(t, f, what); got != `["m", "f", "`+what+`"]` || err != nil {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	wg.Wait()
}

func TestLongResultsComeWhole(t *testing.T) {
	got, err := do(t, fakePool(t).Function("tool.py", "f", "m", as("plain")), "long")
	if len(got) != 5<<20+2 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestEnvironmentIsWhatTheFileDeclares(t *testing.T) {
	t.Setenv("HOLODECK_TEST_SECRET", "s3cret")
	p := fakePool(t)
	for name, call := range map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){
		"python":  p.Function("tool.py", "f", "m", worker.Env{behaviour: "plain", "TOKEN": "t", "HOME": "/own"}).Call,
		"command": p.Command(self(t), worker.Env{behaviour: "command variables", "TOKEN": "t", "HOME": "/own"}).Call,
	} {
		got, err := call(t.Context(), json.RawMessage(`{"do": "variables"}`))
		if err != nil {
			t.Fatal(err)
		}
		var entries []string
		if err := json.Unmarshal(got, &entries); err != nil {
			t.Fatal(err)
		}
		has := func(entry string) bool { return slices.Contains(entries, entry) }
		if !has("TOKEN=t") || !has("HOME=/own") || !has("PATH="+os.Getenv("PATH")) || strings.Contains(string(got), "s3cret") {
			t.Errorf("%s: %v", name, entries)
		}
		if n := len(slices.DeleteFunc(entries, func(e string) bool { return !strings.HasPrefix(e, "HOME=") })); n != 1 {
			t.Errorf("%s: HOME is there %d times", name, n)
		}
	}
}

// self is the command that starts this program.
func self(t *testing.T) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	p := fakePool(t)
	f := p.Function("tool.py", "add", "m", as("plain"))
	python, err := p.Python()
	if err != nil {
		t.Fatal(err)
	}
	for told, want := range map[string]string{
		`{"kind": "exception", "message": "ValueError: bad"}`:                                                       "ValueError: bad",
		`{"kind": "exception", "message": "ModuleNotFoundError: No module named 'yaml'", "package": "yaml.nodes"}`:  "ModuleNotFoundError: No module named 'yaml'; install it with: " + python + " -m pip install PyYAML",
		`{"kind": "exception", "message": "NameError: x", "import": true, "file": "/elsewhere/tool.py", "line": 3}`: "cannot be imported: /elsewhere/tool.py:3: NameError: x",
		`{"kind": "syntax", "message": "invalid syntax", "file": "/elsewhere/tool.py", "line": 3, "column": 5}`:     "/elsewhere/tool.py:3:5: syntax error: invalid syntax",
		`{"kind": "file", "file": "/elsewhere/tool.py"}`:                                                            "there is no file /elsewhere/tool.py",
		`{"kind": "no_function", "names": ["sum", "mul"]}`:                                                          "has no function add; it has sum, mul",
		`{"kind": "no_function"}`:                              "has no function add",
		`{"kind": "not_callable", "message": "int"}`:           "is not a function but a value of type int",
		`{"kind": "no_module", "module": "money"}`:             "there is no module money in ",
		`{"kind": "no_module", "module": "graders.money"}`:     "there is no module graders.money in ",
		`{"kind": "exit", "message": "3"}`:                     "add called exit(3); a function returns its result instead",
		`{"kind": "exit", "message": "0", "import": true}`:     "calls exit(0) when it is imported; put that below if __name__",
		`{"kind": "result", "message": "it holds NaN"}`:        "what add returned cannot be used: it holds NaN",
		`{"kind": "arguments", "message": "n: ValueError: x"}`: "the arguments of add do not fit: n: ValueError: x",
	} {
		if _, err := do(t, f, told); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", told, err, want)
		}
	}
}

func TestAnInterpreterThatEndsIsStartedAnew(t *testing.T) {
	for what, want := range map[string]string{
		"die":     "the Python interpreter was ended during the call (exit status 3; the last that was written to stderr is: Fatal Python error: it broke), which may have taken effect; the next call starts another",
		"garbage": "it does not keep to the protocol",
		"endless": "it does not keep to the protocol: a line of more than",
	} {
		f := fakePool(t).Function("tool.py", "f", "m", as("plain"))
		before, err := do(t, f, "pid")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, f, what); err == nil || what == "die" && err.Error() != want {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if after, err := do(t, f, "pid"); err != nil || after == before {
			t.Errorf("%s: then %s, %v", what, after, err)
		}
	}
}

func TestGradersAreNotJudgedByWhatAnotherDid(t *testing.T) {
	p := fakePool(t)
	if _, err := do(t, p.Function("tool.py", "f", "m", as("plain")), "pid"); err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		result json.RawMessage
		err    error
	}
	grade := func(name string) chan outcome {
		done := make(chan outcome, 1)
		go func() {
			result, err := p.Grader("m", name, as("plain")).Call(t.Context(), json.RawMessage(`{"n":1}`))
			done <- outcome{result, err}
		}()
		return done
	}
	culprit := grade("culprit")
	for _, innocent := range []chan outcome{grade("innocent"), grade("innocent"), grade("innocent")} {
		if got := <-innocent; got.err != nil || string(got.result) != `{"score": 1, "details": {"n":1}}` {
			t.Errorf("an innocent: %s, %v", got.result, got.err)
		}
	}
	if got := <-culprit; got.err == nil || !strings.HasPrefix(got.err.Error(), "the Python interpreter was ended during the call (exit status 3") {
		t.Errorf("the culprit: %s, %v", got.result, got.err)
	}
}

func TestAFunctionIsToldWhatEndedTheInterpreter(t *testing.T) {
	f := fakePool(t).Function("tool.py", "dies", "m", as("plain"))
	const want = "dies called os._exit(4), which ends the interpreter and all that runs in it; a function returns its result instead"
	if _, err := do(t, f, `{"kind": "ends", "message": "4"}`); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestACallThatHangsCostsTheInterpreterAndNobodyElse(t *testing.T) {
	f := fakePool(t).Function("tool.py", "f", "m", as("plain"))
	before, err := do(t, f, "pid")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := f.Call(ctx, json.RawMessage(`{"do": "hang"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call that hangs: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %s", took)
	}
	for now := before; now == before; { // until it was given up
		if now, err = do(t, f, "pid"); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}

func TestACancelledCallThatEndsCostsNothing(t *testing.T) {
	p := fakePool(t)
	f := p.Function("tool.py", "f", "m", as("obedient"))
	before, err := do(t, f, "pid")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error)
	go func() {
		_, err := f.Call(ctx, json.RawMessage(`{"do": "hang"}`))
		called <- err
	}()
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
	if after, err := do(t, f, "pid"); err != nil || after != before {
		t.Errorf("then %s, %v", after, err)
	}
}

func TestWhatIsNoInterpreter(t *testing.T) {
	p := fakePool(t)
	for how, want := range map[string]string{
		"old":     "cannot be used as Python 3.9 or later: exit status 1; the last that was written to stderr is: SyntaxError: invalid syntax",
		"other":   "cannot be used as Python 3.9 or later",
		"chatter": "cannot be used as Python 3.9 or later",
	} {
		if _, err := do(t, p.Function("tool.py", "f", "m", as(how)), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
}

func TestWhichInterpreter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("programs are told by their endings there; Windows runs the same code")
		return
	}
	dir, bin := t.TempDir(), t.TempDir()
	program := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	variables := map[string]string{"PATH": bin, "HOLODECK_PYTHON": ""}
	p := worker.New(worker.Options{Dir: dir, Lookup: lookup(variables)})
	defer p.Close()
	if _, err := p.Python(); err == nil || !strings.Contains(err.Error(), "install Python 3.9 or later, or set HOLODECK_PYTHON") {
		t.Errorf("none: %v", err)
	}
	for _, file := range []string{filepath.Join(bin, "python3"), filepath.Join(dir, ".venv", "bin", "python"), filepath.Join(dir, "own", "python")} {
		want := program(file) // each wins over those before
		if strings.Contains(file, "own") {
			variables["HOLODECK_PYTHON"] = "own/python"
		}
		if got, err := p.Python(); got != want || err != nil {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	variables["HOLODECK_PYTHON"] = "none/python"
	if _, err := p.Python(); err == nil || !strings.Contains(err.Error(), "HOLODECK_PYTHON names no Python interpreter") {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestAClosedPoolStartsNothing(t *testing.T) {
	p := fakePool(t)
	f := p.Function("tool.py", "f", "m", as("plain"))
	if _, err := do(t, f, "x"); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() {
		_, err := f.Call(context.Background(), json.RawMessage(`{"do": "hang"}`))
		waiting <- err
	}()
	// The call is under way once another is answered.
	if _, err := do(t, f, "x"); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, worker.ErrClosed) {
		t.Errorf("a call under way: %v", err)
	}
	if _, err := do(t, f, "x"); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("a call: %v", err)
	}
	if _, err := p.Command(self(t), as("command echo")).Call(context.Background(), nil); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("a command: %v", err)
	}
}
