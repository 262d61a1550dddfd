//go:build python

// These tests need a real Python interpreter, with pydantic installed:
// make peer-python.

package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/llm/schema"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// realAgent is a copy of testdata/agent, since Python keeps what it compiled beside
// its files, and a Pool with a real interpreter.
type realAgent struct {
	*worker.Pool
	dir string
}

// file returns the path of a file of the agent.
func (a realAgent) file(name string) string { return filepath.Join(a.dir, filepath.FromSlash(name)) }

func pythonPool(t testing.TB) realAgent {
	t.Helper()
	a := realAgent{dir: t.TempDir()}
	if err := os.CopyFS(a.dir, os.DirFS(filepath.Join("testdata", "agent"))); err != nil {
		t.Fatal(err)
	}
	a.Pool = worker.New(worker.Options{Dir: a.dir, Lookup: os.LookupEnv, MemoryLimit: 4 << 30})
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// tools returns a function of tools.py.
func tools(a realAgent, name string) *worker.Function {
	return a.Function(a.file("tools.py"), name, "tools_under_test", nil)
}

// outcome is what a call came to, in a line.
func outcome(result json.RawMessage, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return string(result)
}

func TestPythonCalls(t *testing.T) {
	p := pythonPool(t)
	for _, tt := range []struct{ function, args, want string }{
		{"order", `{"item": {"name": "hat", "parts": [{"name": "brim", "price": 2}]}, "color": "blue", "tags": ["a"], "options": {"color": "red"}, "extra": 1}`,
			`{"item":{"name":"hat","price":1.0,"parts":[{"name":"brim","price":2.0,"parts":[]}]},"color":"blue","count":1,"tags":["a"],"mode":"full","options":{"color":"red"},"more":{"extra":1}}`},
		{"numbers", `{"a": 9007199254740993, "b": 2, "c": "x", "d": {"k": 1}, "e": [3, 4], "f": ["y", "x"]}`,
			`[9007199254740993,2.0,"x",{"k":1.0},[3,4],["x","y"],"float","tuple","set"]`},
		{"when", `{"day": "2026-11-30", "at": "2026-11-30T12:00:00Z", "id": "00000000-0000-0000-0000-00000000000a", "price": 2.5}`,
			`{"weekday":1,"at":"2026-11-30T12:00:00+00:00","id":"00000000-0000-0000-0000-00000000000a","price":"2.5"}`},
		{"plain", `{"text": "a", "loud": true}`, `"AA"`},
		{"unknown", `{"thing": {"a": [1]}}`, `[{"a":[1]},null]`},
		{"state", `{}`, `1`},
		{"state", `{}`, `2`},
		{"nothing", `{}`, `null`},
		{"text", `{}`, `"gr\u00f6\u00dfe \ud83d\ude00 \ud800"`},
		{"big", `{}`, `1208925819614629174706176`},
		{"kinds", `{}`, `error: what kinds returned cannot be used: it holds an object of type dict_keys, which has no form in JSON`},
		{"generator", `{}`, `"Hello"`},
		{"listed", `{}`, `[1,{"a":2}]`},
		{"coroutine", `{}`, `"done"`},
		{"async_generator", `{}`, `"Hello"`},
		{"returns_coroutine", `{}`, `"done"`},
		{"neighbours", `{}`, `"beside"`},
		{"thread", `{}`, `[1]`},
		{"read_input", `{}`, `"1"`},
		{"print_raw", `{}`, `"printed"`},

		{"not_a_number", `{}`, `error: what not_a_number returned cannot be used: it holds NaN or an infinite number, which JSON has not`},
		{"cycle", `{}`, `error: what cycle returned cannot be used: it holds itself (a cycle)`},
		{"deep", `{}`, `error: what deep returned cannot be used: it is nested too deeply`},
		{"raw", `{}`, `error: what raw returned cannot be used: it holds bytes; return text, such as that of base64`},
		{"an_object", `{}`, `error: what an_object returned cannot be used: it holds an object of type object, which has no form in JSON`},
		{"odd_keys", `{}`, `error: what odd_keys returned cannot be used: keys must be str, int, float, bool or None, not tuple`},
		{"too_long", `{}`, `error: what too_long returned cannot be used: it has 17825794 characters as JSON, and at most 16777216 are taken`},
		{"endless", `{}`, `error: what endless returned cannot be used: the generator gave more than 16777216 characters`},
		{"partial", `{}`, `error: ValueError: the rest is missing`},
		{"leave", `{}`, `error: leave called exit(goodbye); a function returns its result instead`},
		{"ask", `{}`, `error: EOFError: EOF when reading a line`},
		{"recursion", `{}`, `error: RecursionError: maximum recursion depth exceeded`},
		{"bad_exception", `{}`, `error: bad_exception.<locals>.Bad: (it cannot be shown)`},
		{"keyboard", `{}`, `error: KeyboardInterrupt`},
		{"plain", `{}`, `error: TypeError: plain() missing 1 required positional argument: 'text'`},
		{"order", `{"item": {"name": "x"}, "color": "green"}`, `error: the arguments of order do not fit: color: ValueError: 'green' is not a valid Color`},
		{"order", `{"item": {"nam": "x"}}`, `error: the arguments of order do not fit: item: TypeError: Item.__init__() got an unexpected keyword argument 'nam'`},
		{"when", `{"day": "tomorrow"}`, `error: the arguments of when do not fit: day: ValueError: Invalid isoformat string: 'tomorrow'`},
		{"VALUE", `{}`, `error: VALUE in tools.py is not a function but a value of type int`},
		{"print_much", `{}`, `"printed"`},
		{"state", `{}`, `3`}, // all of it happened in one interpreter
	} {
		got := outcome(tools(p, tt.function).Call(t.Context(), json.RawMessage(tt.args)))
		// What Python says of itself is longer in later versions, and names classes.
		alike := func(s string) string { return strings.ReplaceAll(s, "Item.__init__", "__init__") }
		if got != tt.want && !(strings.HasPrefix(tt.want, "error: ") && strings.HasPrefix(alike(got), alike(tt.want))) {
			t.Errorf("%s(%s)\n got %s\nwant %s", tt.function, tt.args, got, tt.want)
		}
	}
}

func TestPythonMemoryIsBounded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux bounds the memory of a process")
		return
	}
	p := pythonPool(t)
	if got := outcome(tools(p, "memory").Call(t.Context(), json.RawMessage("{}"))); got != "error: MemoryError" {
		t.Error(got)
	}
}

func TestPythonIsDescribed(t *testing.T) {
	p := pythonPool(t)
	item := `{"type":"object","properties":{"name":{"type":"string"},"price":{"type":"number"},"parts":{"type":"array","items":{"$ref":"#/$defs/Item"}}},"required":["name"],"additionalProperties":false}`
	color := `"type":"string","enum":["red","blue"]`
	for function, want := range map[string]string{
		"order": `{"type":"object","properties":{
			"item":{"allOf":[{"$ref":"#/$defs/Item"}],"description":"what is ordered, and how"},
			"color":{` + color + `,"default":"red"},
			"count":{"type":"integer","description":"how many","default":1},
			"tags":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},
			"mode":{"type":"string","enum":["full","half"],"default":"full"},
			"options":{"anyOf":[{"$ref":"#/$defs/Options"},{"type":"null"}]},
			"note":{"type":"string","description":"for the kitchen","default":""}},
			"required":["item"],
			"$defs":{"Item":` + item + `,"Options":{"type":"object","properties":{"fast":{"type":"boolean"},"color":{` + color + `}},"required":[],"additionalProperties":false}}}`,
		"numbers": `{"type":"object","properties":{
			"a":{"type":"integer","description":"to be added"},"b":{"type":"number","description":"to be added","default":0.5},
			"c":{"type":["integer","string"],"description":"either","default":0},
			"d":{"type":"object","additionalProperties":{"type":"number"},"default":{}},
			"e":{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"minItems":2,"maxItems":2,"default":[1,2]},
			"f":{"type":"array","uniqueItems":true,"items":{"type":"string"}}},
			"required":["a"],"additionalProperties":false}`,
		"when": `{"type":"object","properties":{
			"day":{"type":"string","format":"date","description":"the day"},
			"at":{"anyOf":[{"type":"string","format":"date-time"},{"type":"null"}]},
			"id":{"anyOf":[{"type":"string","format":"uuid"},{"type":"null"}]},
			"price":{"type":["number","string"],"description":"the price"}},
			"required":["day"],"additionalProperties":false}`,
		"plain":   `{"type":"object","properties":{"text":{},"times":{"type":"integer","default":2},"loud":{"type":"boolean","default":false}},"required":["text"],"additionalProperties":false}`,
		"unknown": `{"type":"object","properties":{"thing":{},"other":{},"call":{}},"required":["thing"],"additionalProperties":false}`,
		"nothing": `{"type":"object","properties":{},"required":[],"additionalProperties":false}`,
	} {
		got, err := tools(p, function).Describe(t.Context())
		if err != nil || !equalJSON(got, want) {
			t.Errorf("%s: %v\n got %s\nwant %s", function, err, got, want)
		}
		if _, err := schema.Compile(got); err != nil {
			t.Errorf("%s: the schema is none: %v", function, err)
		}
	}
}

func TestPythonTakesPydanticModels(t *testing.T) {
	dir, file := write(t, "shop.py", `
from typing import Optional
from pydantic import BaseModel, Field

class Line(BaseModel):
    sku: str = Field(description="the number", min_length=2)
    count: int = 1

class Order(BaseModel):
    lines: list[Line]

def place(order: Order, note: Optional[str] = None) -> Order:
    assert isinstance(order, Order)
    return order
`)
	p := worker.New(worker.Options{Dir: dir, Lookup: os.LookupEnv})
	defer p.Close()
	f := p.Function(file, "place", "m", nil)
	described, err := f.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(described)
	if err != nil {
		t.Fatalf("%v: %s", err, described)
	}
	for args, want := range map[string]bool{
		`{"order": {"lines": [{"sku": "ab"}]}}`: true, `{"order": {"lines": [{"sku": "a"}]}}`: false, `{"order": {}}`: false, `{}`: false,
	} {
		if err := s.Check(json.RawMessage(args)); (err == nil) != want {
			t.Errorf("%s: %v\n%s", args, err, described)
		}
	}
	if got := outcome(f.Call(t.Context(), json.RawMessage(`{"order": {"lines": [{"sku": "ab"}]}}`))); got != `{"lines":[{"sku":"ab","count":1}]}` {
		t.Error(got)
	}
	if got := outcome(f.Call(t.Context(), json.RawMessage(`{"order": {"lines": [{"sku": "a"}]}}`))); !strings.HasPrefix(got, "error: the arguments of place do not fit: order: ValidationError: 1 validation error for Order") {
		t.Error(got)
	}
}

func TestPythonFilesThatCannotBeImported(t *testing.T) {
	p := pythonPool(t)
	python, err := p.Python()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"broken/syntax.py":   "broken/syntax.py:1:7: syntax error: invalid syntax",
		"broken/name.py":     "broken/name.py cannot be imported: broken/name.py:3: NameError: name 'undefined_name' is not defined",
		"broken/package.py":  "broken/package.py cannot be imported: broken/package.py:1: ModuleNotFoundError: No module named 'yaml_not_there'; install it with: " + python + " -m pip install yaml_not_there",
		"broken/leaves.py":   `broken/leaves.py calls exit(1) when it is imported; put that below if __name__ == "__main__":`,
		"broken/relative.py": "broken/relative.py cannot be imported: broken/relative.py:1: ImportError: attempted relative import with no known parent package",
		"broken/none.py":     "there is no file broken/none.py",
	} {
		f := p.Function(p.file(file), "f", "m_"+strings.TrimSuffix(filepath.Base(file), ".py"), nil)
		for _, call := range []func() (json.RawMessage, error){
			func() (json.RawMessage, error) { return f.Describe(t.Context()) },
			func() (json.RawMessage, error) { return f.Call(t.Context(), json.RawMessage("{}")) },
		} {
			got := outcome(call())
			if file == "broken/syntax.py" { // the words and the column are the version's
				got, _, _ = strings.Cut(got, ":1:")
				if got != "error: broken/syntax.py" {
					t.Error(got)
				}
				continue
			}
			if got != "error: "+want {
				t.Errorf("%s\n got %s\nwant %s", file, got, want)
			}
		}
	}
	if got := outcome(tools(p, "missing_later").Call(t.Context(), json.RawMessage("{}"))); !strings.HasSuffix(got, " -m pip install no_such_package_at_all") {
		t.Error(got)
	}
	if got := outcome(tools(p, "ordre").Call(t.Context(), json.RawMessage("{}"))); !strings.HasPrefix(got, "error: tools.py has no function ordre; it has order, numbers, when, plain") {
		t.Error(got)
	}
}

func TestPythonThatHangs(t *testing.T) {
	for _, name := range []string{"sleep_forever", "spin_forever"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pythonPool(t)
			if got := outcome(tools(p, "coroutine").Call(t.Context(), json.RawMessage("{}"))); got != `"done"` {
				t.Fatal(got)
			}
			beside := make(chan string)
			go func() { beside <- outcome(tools(p, "sleep").Call(t.Context(), json.RawMessage(`{"seconds": 4}`))) }()
			if got := outcome(tools(p, "state").Call(t.Context(), json.RawMessage("{}"))); got != "1" {
				t.Error(got)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			if _, err := tools(p, name).Call(ctx, json.RawMessage("{}")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the call: %v", err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("it took %s", took)
			}
			// Whoever runs beside it is left to end, and then there is a new one.
			if got := <-beside; got != `"slept"` {
				t.Errorf("the call beside it: %s", got)
			}
			if got := outcome(tools(p, "state").Call(t.Context(), json.RawMessage("{}"))); got != "1" {
				t.Errorf("the interpreter was not changed: %s", got)
			}
		})
	}
}

func TestPythonCoroutinesAreCancelled(t *testing.T) {
	p := pythonPool(t)
	// It has to be under way before it is cancelled.
	if got := outcome(tools(p, "coroutine").Call(t.Context(), json.RawMessage("{}"))); got != `"done"` {
		t.Fatal(got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := tools(p, "loop_forever").Call(ctx, json.RawMessage("{}")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call: %v", err)
	}
	for got := ""; got != `["cancelled"]`; {
		if got = outcome(tools(p, "calls").Call(t.Context(), json.RawMessage("{}"))); got != "[]" && got != `["cancelled"]` {
			t.Fatal(got)
		}
	}
}

func TestPythonThatEnds(t *testing.T) {
	p := pythonPool(t)
	for _, tt := range []struct{ name, want string }{
		{"leave_at_once", "leave_at_once called os._exit(3), which ends the interpreter and all that runs in it; a function returns its result instead"},
		{"crash", "the Python interpreter was ended during the call (signal: segmentation fault"},
	} {
		if got := outcome(tools(p, tt.name).Call(t.Context(), json.RawMessage("{}"))); !strings.HasPrefix(got, "error: "+tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
		if got := outcome(tools(p, "state").Call(t.Context(), json.RawMessage("{}"))); got != "1" {
			t.Errorf("after %s: %s", tt.name, got)
		}
	}
}

func TestPythonThatForks(t *testing.T) {
	p := pythonPool(t)
	for _, name := range []string{"fork", "fork_and_raise"} {
		for range 3 {
			if got := outcome(tools(p, name).Call(t.Context(), json.RawMessage("{}"))); got != `"the parent"` {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	got := outcome(tools(p, "fork_and_stay").Call(t.Context(), json.RawMessage("{}")))
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	// It was killed, and is gone once the system has got round to it; then it may
	// still wait to be noticed by its new parent. The time of the test bounds this.
	for stat := []byte("?"); len(stat) > 0 && !strings.Contains(string(stat), ") Z "); runtime.Gosched() {
		stat, _ = os.ReadFile(filepath.Join("/proc", got, "stat"))
	}
}

func TestPythonManyAtOnce(t *testing.T) {
	p := pythonPool(t)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			name, args, want := "coroutine", `{"seconds": 0.05}`, `"done"`
			if i%2 == 0 {
				name, args, want = "plain", `{"text": "a"}`, `"aa"`
			}
			if got := outcome(tools(p, name).Call(t.Context(), json.RawMessage(args))); got != want {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
	wg.Wait()
}

// TestPythonLoadsAtOnce: calls of files that were not run before come at once, and
// all import much of Python's own library.
func TestPythonLoadsAtOnce(t *testing.T) {
	for range 5 {
		p := pythonPool(t)
		var wg sync.WaitGroup
		for _, module := range []string{"a", "b", "c", "d"} {
			f := p.Function(p.file("tools.py"), "plain", module, nil)
			wg.Go(func() {
				if got := outcome(f.Call(t.Context(), json.RawMessage(`{"text": "a"}`))); got != `"aa"` {
					t.Errorf("%s: %s", module, got)
				}
			})
			wg.Go(func() {
				if got := outcome(f.Describe(t.Context())); !strings.HasPrefix(got, `{"type":"object"`) {
					t.Errorf("%s: %s", module, got)
				}
			})
			wg.Go(func() {
				g := p.Function(p.file("tools.py"), "coroutine", module, nil)
				if got := outcome(g.Call(t.Context(), json.RawMessage(`{}`))); got != `"done"` {
					t.Errorf("%s: %s", module, got)
				}
			})
		}
		wg.Wait()
	}
}

func TestPythonEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "not for it")
	t.Setenv("PYTHONPATH", filepath.Join("testdata", "agent", "broken"))
	p := pythonPool(t)
	f := p.Function(p.file("tools.py"), "environment", "m", worker.Env{"TOKEN": "größe"})
	for name, want := range map[string]string{"OPENAI_API_KEY": "null", "TOKEN": `"größe"`, "PYTHONPATH": "null"} {
		args, _ := json.Marshal(map[string]string{"name": name})
		if got := outcome(f.Call(t.Context(), args)); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	dir, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(tools(p, "folder").Call(t.Context(), json.RawMessage("{}"))); got != `"`+dir+`"` {
		t.Error(got)
	}
}

func TestPythonGraders(t *testing.T) {
	p := pythonPool(t)
	grade := func(grader string) string {
		module, name, _ := strings.Cut(grader, ":")
		return outcome(p.Grader(module, name, nil).Call(t.Context(), json.RawMessage(`{
			"turn_input": "Refund order 12", "agent_response": "Done", "ground_truth": null,
			"tool_invocations": [{"name": "shop__refund", "args": {"amount": 30}, "result": "ok", "bytes": 2, "duration_ms": 5, "error": null}],
			"retrieval_context": ["a"], "turn_index": 1, "test_case_name": "refunds", "turn_config": {"amount": 30},
			"expected_tools": ["refund"], "structured_output": {"a": 1}, "token_usage": {"total_tokens": 5}, "cost_usd": 0.5, "latency_ms": 1.5,
			"attempt": 2, "prior_turns": [{"input": "Hi", "response": "Hello"}], "files": ["a.pdf"]}`)))
	}
	for grader, want := range map[string]string{
		"graders.money:everything": `{"score":1.0,"details":{"turn_input":"Refund order 12","agent_response":"Done","ground_truth":null,` +
			`"tools":[{"name":"shop__refund","args":{"amount":30},"result":"ok","bytes":2,"duration_ms":5,"error":null}],"retrieval_context":["a"],` +
			`"turn_index":1,"test_case_name":"refunds","turn_config":{"amount":30},"expected_tools":["refund"],"structured_output":{"a":1},` +
			`"token_usage":{"total_tokens":5},"cost_usd":0.5,"latency_ms":1.5,"attempt":2,"prior_turns":[{"input":"Hi","response":"Hello"}],"files":["a.pdf"],"frozen":"FrozenInstanceError"}}`,
		"graders.money:refund_matches": `{"score":1.0,"passed":true,"reason":"refunded 30, wanted 30","details":{"wanted":30}}`,
		"graders.money:yes":            `{"score":1,"passed":true}`,
		"graders.money:no":             `{"score":0,"passed":false}`,
		"graders.money:whole":          `{"score":1}`,
		"graders.money:part":           `{"score":0.25}`,
		"graders.money:seven":          `{"score":7}`, // whoever asked judges that
		"graders.money:positional":     `{"score":0.5,"reason":"half"}`,
		"graders.money:later":          `{"score":1}`,
		"graders.money:words":          `error: what words returned cannot be used: it is of type str; a grader returns a bool, a number or a GraderResult`,
		"graders.money:a_dict":         `error: what a_dict returned cannot be used: it is of type dict; a grader returns a bool, a number or a GraderResult`,
		"graders.money:none":           `error: what none returned cannot be used: it is of type NoneType; a grader returns a bool, a number or a GraderResult`,
		"graders.money:nan":            `error: what nan returned cannot be used: it holds NaN or an infinite number, which JSON has not`,
		"graders.money:bad_details":    `error: what bad_details returned cannot be used: it holds an object of type object, which has no form in JSON`,
		"graders.money:bad_score":      `error: what bad_score returned cannot be used: its score is of type str, and not a number`,
		"graders.money:raises":         `error: KeyError: 'amount'`,
		"graders.money:missing":        `error: graders.money has no function missing; it has everything, refund_matches, yes, no, whole, part, seven, positional, words, a_dict, none, nan, bad_details, bad_score, raises, later`,
	} {
		if got := grade(grader); got != want {
			t.Errorf("%s\n got %s\nwant %s", grader, got, want)
		}
	}
	for grader, want := range map[string]string{
		"graders.none:f":     "error: there is no module graders.none in ",
		"no_such_grader:f":   " -m pip install no_such_grader",
		"graders.upstream:f": " -m pip install holodeck-ai",
	} {
		if got := grade(grader); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", grader, got, want)
		}
	}
}

func BenchmarkPythonStart(b *testing.B) {
	a := pythonPool(b)
	for b.Loop() {
		p := worker.New(worker.Options{Dir: a.dir, Lookup: os.LookupEnv})
		if got := outcome(p.Function(a.file("beside.py"), "f", "m", nil).Call(b.Context(), json.RawMessage("{}"))); !strings.Contains(got, "beside.py has no function f") {
			b.Fatal(got)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkCall measures a call in an interpreter that is warm.
func benchmarkCall(b *testing.B, name, args, want string) {
	f := tools(pythonPool(b), name)
	call := func() {
		if got := outcome(f.Call(b.Context(), json.RawMessage(args))); got != want {
			b.Error(got)
		}
	}
	call()
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			call()
		}
	})
	b.Run("1000", func(b *testing.B) {
		for b.Loop() {
			var wg sync.WaitGroup
			for range 1000 {
				wg.Go(call)
			}
			wg.Wait()
		}
	})
}

func BenchmarkPythonFunction(b *testing.B)  { benchmarkCall(b, "plain", `{"text":"a"}`, `"aa"`) }
func BenchmarkPythonCoroutine(b *testing.B) { benchmarkCall(b, "coroutine", `{}`, `"done"`) }

func BenchmarkPythonGrader(b *testing.B) {
	p := pythonPool(b)
	g := p.Grader("graders.money", "refund_matches", nil)
	told := json.RawMessage(`{"turn_input": "x", "agent_response": "y", "tool_invocations": [{"name": "refund", "args": {"amount": 30}}], "turn_config": {"amount": 30}}`)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := g.Call(b.Context(), told); err != nil {
				b.Error(err)
			}
		}
	})
}

func TestAModuleThatHangsWhileItIsImportedKeepsNoOther(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hangs.py": "import time\nopen('begun', 'w').close()\ntime.sleep(3600)\n",
		"works.py": "import os, time\ndef f():\n    while not os.path.exists('begun'):\n        time.sleep(0.01)\n    return 1\ndef g():\n    return 2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := worker.New(worker.Options{Dir: dir, Lookup: os.LookupEnv})
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	hanging := make(chan error, 1)
	go func() {
		_, err := p.Function(filepath.Join(dir, "hangs.py"), "f", "hangs_", nil).Call(ctx, json.RawMessage("{}"))
		hanging <- err
	}()
	works := filepath.Join(dir, "works.py")
	if got := outcome(p.Function(works, "f", "works_", nil).Call(t.Context(), json.RawMessage("{}"))); got != "1" {
		t.Error(got)
	}
	if got := outcome(p.Function(works, "g", "again_", nil).Call(t.Context(), json.RawMessage("{}"))); got != "2" {
		t.Errorf("imported while another hangs: %s", got)
	}
	cancel()
	if err := <-hanging; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
