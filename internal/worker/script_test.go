package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/worker"
)

// write writes a file into a new folder and returns the folder and the file.
func write(t *testing.T, name, text string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

const scriptText = `
"""Prices."""

RATES = {"EUR": 1, "USD": 1.1}

def convert(amount, currency = "EUR", places = 2, note = None):
    """Converts an amount.

    More.
    """
    if currency not in RATES:
        fail("no rate for " + currency)
    return {"amount": round_to(amount * RATES[currency], places), "note": note}

def round_to(x, places):
    f = math.pow(10, places)
    return math.round(x * f) / f

def endless():
    for _ in range(1000000000000):
        pass

def strange():
    return len

def same(x):
    return x

def open_ended(a, *rest, **more):
    return more

NUMBER = 5
`

func TestScriptCalls(t *testing.T) {
	dir, file := write(t, "money.star", scriptText)
	p := worker.New(worker.Options{Dir: dir})
	defer p.Close()
	for _, tt := range []struct{ function, args, want, wantErr string }{
		{"convert", `{"amount": 10, "currency": "USD"}`, `{"amount":11.0,"note":null}`, ""},
		{"same", `{"x": 9007199254740993}`, `9007199254740993`, ""},
		{"same", `{"x": "Straße \u0000 <b>"}`, `"Straße \u0000 <b>"`, ""},
		{"open_ended", `{"a": 1, "b": 2}`, `{"b":2}`, ""},
		{"convert", `{"amount": 1, "currency": "XXX"}`, "", `money.star:12:13: fail: no rate for XXX`},
		{"convert", `{"amount": 1, "other": 2}`, "", `unexpected keyword argument "other"`},
		{"endless", `{}`, "", "money.star:20:5: it took more than 20000000 steps"},
		{"strange", `{}`, "", "what strange returned cannot be used: json.encode: cannot encode builtin_function_or_method as JSON"},
		{"none", `{}`, "", "money.star has no function none"},
		{"NUMBER", `{}`, "", "NUMBER in money.star is not a function but a value of type int"},
		{"same", `[]`, "", "the arguments are a list, and not an object"},
	} {
		got, err := p.Script(file, tt.function).Call(t.Context(), json.RawMessage(tt.args))
		if tt.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("%s(%s): error %v, want %q", tt.function, tt.args, err, tt.wantErr)
			}
			continue
		}
		var gotValue, wantValue any
		if err != nil || json.Unmarshal(got, &gotValue) != nil || json.Unmarshal([]byte(tt.want), &wantValue) != nil || !equalJSON(got, tt.want) {
			t.Errorf("%s(%s) = %s, %v, want %s", tt.function, tt.args, got, err, tt.want)
		}
	}
}

// equalJSON compares values without losing digits.
func equalJSON(a json.RawMessage, b string) bool {
	canonical := func(s string) string {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return "not JSON: " + s
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	return canonical(string(a)) == canonical(b)
}

func TestScriptIsDescribedByItsParameters(t *testing.T) {
	dir, file := write(t, "money.star", scriptText)
	p := worker.New(worker.Options{Dir: dir})
	defer p.Close()
	d, err := p.Script(file, "convert").Describe(t.Context())
	want := `{"type":"object","properties":{"amount":{},"currency":{"type":"string","default":"EUR"},"note":{},` +
		`"places":{"type":"integer","default":2}},"required":["amount"],"additionalProperties":false}`
	if err != nil || !equalJSON(d, want) {
		t.Errorf("described as %s, %v", d, err)
	}
	d, err = p.Script(file, "open_ended").Describe(t.Context())
	if err != nil || !equalJSON(d, `{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":true}`) {
		t.Errorf("described as %s, %v", d, err)
	}
}

func TestScriptIsCheckedWithoutRunning(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"def f(:\n", "bad.star:1:8: got ':'"},
		{"def f():\n    return undefined\n", "bad.star:2:12: undefined: undefined"},
		{"load('x.star', 'y')\ndef f():\n  pass\n", ""}, // found when it runs
		{"def g():\n  pass\n", "bad.star has no function f"},
		{"fail('ran')\ndef f():\n  pass\n", ""},
		{"while True:\n  pass\ndef f():\n  pass\n", "does not support while loops"},
		{strings.Repeat("#", 2<<20), "it is larger than"},
	} {
		_, file := write(t, "bad.star", tt.text)
		err := worker.CheckScript(file, "f")
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestScriptReachesNothingOutside(t *testing.T) {
	dir, file := write(t, "a.star", "load('b.star', 'y')\ndef f():\n  return y\n")
	p := worker.New(worker.Options{Dir: dir})
	defer p.Close()
	if _, err := p.Script(file, "f").Call(t.Context(), json.RawMessage("{}")); err == nil || !strings.Contains(err.Error(), "load not implemented") {
		t.Errorf("load: %v", err)
	}
}

func TestScriptEndsWithItsContext(t *testing.T) {
	dir, file := write(t, "a.star", scriptText)
	p := worker.New(worker.Options{Dir: dir})
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Script(file, "endless").Call(ctx, json.RawMessage("{}")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func FuzzScript(f *testing.F) {
	f.Add(scriptText, "convert", `{"amount": 1}`)
	f.Add("def f(x): return x", "f", `{"x": [1.5, null]}`)
	f.Add("f = lambda: 1", "f", `{}`)
	f.Fuzz(func(t *testing.T, text, function, args string) {
		dir, file := write(t, "f.star", text)
		p := worker.New(worker.Options{Dir: dir})
		defer p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		result, err := p.Script(file, function).Call(ctx, json.RawMessage(args))
		if err == nil && !json.Valid(result) {
			t.Errorf("the result is no JSON: %q", result)
		}
	})
}
