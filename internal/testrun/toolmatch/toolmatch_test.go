package toolmatch_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
)

// matches reports whether one argument, given as JSON, fits a value of the file.
func matches(t *testing.T, want any, arg string) bool {
	t.Helper()
	x, err := toolmatch.Compile(config.ExpectedTool{Name: "tool", Args: map[string]any{"a": want}, Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	res := x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "tool", Arguments: json.RawMessage(`{"a": ` + arg + `, "other": 1}`)}})
	if res.Met == (res.Reason != "") || res.Met != (res.Call == 0) {
		t.Errorf("inconsistent result %+v", res)
	}
	return res.Met
}

type object = map[string]any

func TestLiteral(t *testing.T) {
	for _, tt := range []struct {
		want any
		arg  string
		met  bool
	}{
		{"a", `"a"`, true},
		{"a", `"A"`, false},
		{"a", `" a"`, false},
		{"1", `1`, false},
		{1, `1`, true},
		{1, `1.0`, true},
		{1.0, `1`, true},
		{uint64(1), `1`, true},
		{1, `1e0`, true},
		{0.1, `0.1`, true},
		{1, `2`, false},
		{1, `"1"`, false},
		{1, `true`, false},
		{int64(math.MaxInt64), `9223372036854775807`, true},
		{int64(math.MaxInt64), `9223372036854775808`, false},
		{math.Inf(1), `1e999`, true},
		{math.NaN(), `1`, false},
		{true, `true`, true},
		{true, `1`, false},
		{false, `null`, false},
		{nil, `null`, true},
		{nil, `false`, false},
		{nil, `""`, false},
		{[]any{1, "a"}, `[1.0, "a"]`, true},
		{[]any{1, "a"}, `["a", 1]`, false},
		{[]any{1}, `[1, 2]`, false},
		{[]any{}, `[]`, true},
		{[]any{}, `{}`, false},
		{object{"x": 1, "y": []any{true}}, `{"y": [true], "x": 1}`, true},
		{object{"x": 1}, `{"x": 1, "y": 2}`, false},
		{object{"x": 1}, `{"y": 1}`, false},
		{object{"x": nil}, `{}`, false},
		{object{}, `{}`, true},
	} {
		if got := matches(t, tt.want, tt.arg); got != tt.met {
			t.Errorf("%v and %s: %v, want %v", tt.want, tt.arg, got, tt.met)
		}
	}
}

func TestFuzzy(t *testing.T) {
	for _, tt := range []struct {
		want, arg string
		met       bool
	}{
		{"New York", `"  new   york "`, true},
		{"New York", `"NewYork"`, false},
		{"1,234.50", `1234.5`, true},
		{"1 234", `1234`, true},
		{"0.1", `0.1000000000001`, true},
		{"0.1", `0.10001`, false},
		{"1,5", `"15"`, true},
		{"1e5", `100000`, true},
		{"a_b", `"ab"`, true},
		{"true", `true`, true},
		{"none", `null`, true},
		{"inf", `"Infinity"`, true},
		{"nan", `"nan"`, false},
		{"5%", `0.05`, true},
		{"5 %", `"0.05"`, true},
		{"5%", `"5"`, false},
		{"a-b", `"ab"`, false},
		{"[1, 2.0, 'x']", `[1, 2.0, "x"]`, true},
		{"{'b': true}", `{"b": true}`, true},
	} {
		if got := matches(t, object{"fuzzy": tt.want}, tt.arg); got != tt.met {
			t.Errorf("%q and %s: %v, want %v", tt.want, tt.arg, got, tt.met)
		}
	}
}

// The wanted verdicts are what re.fullmatch gave in CPython 3.11.7.
func TestRegex(t *testing.T) {
	for _, tt := range []struct {
		want, arg string
		met       bool
	}{
		{`A-\d+`, `"A-17"`, true},
		{`A-\d+`, `"xA-17"`, false},
		{`A-\d+`, `"A-17x"`, false},
		{`A-\d+`, `"A-17\n"`, false},
		{`a|ab`, `"ab"`, true},
		{`\d+`, `17`, true},
		{`1\.0`, `1.0`, true},
		{`True|False`, `true`, true},
		{`None`, `null`, true},
		{`\[1, 2\]`, `[1,2]`, true},
		{`\d+`, `"٤٢"`, true},
		{`\w+`, `"été"`, true},
		{`(?i)paris`, `"PARIS"`, true},
		{`(?s)a.b`, `"a\nb"`, true},
		{`a.b`, `"a\nb"`, false},
		{`(?x) a b # letters`, `"ab"`, true},
		{`(?=.*\d)(?=.*[a-z]).{4,}`, `"abc1"`, true},
		{`(?<!x)a`, `"a"`, true},
		{`(?P<c>.)(?P=c)`, `"aa"`, true},
		{`(?P<c>.)(?P=c)`, `"ab"`, false},
		{`(.)\1`, `"bb"`, true},
		{`a{,2}`, `"aa"`, true},
		{`a{,2}`, `"aaa"`, false},
		{`[]a]+`, `"]a"`, true},
		{`[^]]`, `"]"`, false},
		{`[(?P<]+`, `"(?P<"`, true},
		{`ab\Z`, `"ab"`, true},
		{`\U0001F600`, `"😀"`, true},
		{`[\U0000005d]`, `"]"`, true},
		{``, `""`, true},
	} {
		if got := matches(t, object{"regex": tt.want}, tt.arg); got != tt.met {
			t.Errorf("%q and %s: %v, want %v", tt.want, tt.arg, got, tt.met)
		}
	}
}

func TestBadMatchersAreRefused(t *testing.T) {
	for _, tt := range []struct {
		value any
		says  string
	}{
		{object{"fuzzy": 5}, "write it as a string"},
		{object{"regex": true}, "write it as a string"},
		{object{"fuzzy": "a", "regex": "b"}, "exactly one key"},
		{object{"regex": "a", "x": 1}, "exactly one key"},
		{object{"regex": "("}, `regex "("`},
		{object{"regex": "(?P=c"}, "not closed"},
		{object{"regex": `\`}, "ends in a backslash"},
		{object{"regex": `\U12`}, "eight hexadecimal digits"},
		{object{"regex": `(?a)\w`}, "flag a is not supported"},
	} {
		_, err := toolmatch.Compile(config.ExpectedTool{Name: "lookup", Args: map[string]any{"id": tt.value}})
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "lookup: argument id") {
			t.Errorf("%v: error %v, want one that says %q and names the argument", tt.value, err, tt.says)
		}
	}
}

func TestNames(t *testing.T) {
	names := toolmatch.NewNames([]config.Tool{
		&config.VectorstoreTool{ToolBase: config.ToolBase{Type: config.ToolVectorstore, Name: "kb"}},
		&config.HierarchicalDocumentTool{ToolBase: config.ToolBase{Type: config.ToolHierarchical, Name: "law"}},
		&config.FunctionTool{ToolBase: config.ToolBase{Type: config.ToolFunction, Name: "lookup_order"}},
		&config.MCPTool{ToolBase: config.ToolBase{Type: config.ToolMCP, Name: "files"}},
	})
	for _, tt := range []struct {
		expected, actual string
		want             bool
	}{
		{"kb", "kb_search", true},
		{"kb_search", "kb_search", true},
		{"search", "kb_search", true},
		{"KB", "kb_search", false},
		{"kb_search_more", "kb_search", false},
		{"mcp__holodeck_tools__kb_search", "kb_search", true},
		{"mcp__holodeck_tools__kb", "kb_search", true},
		{"holodeck_tools__kb", "kb_search", true},
		{"mcp__holodeck_tools__", "kb_search", false},
		{"tools", "kb_search", false},
		{"vectorstore-kb", "kb_search", true},
		{"vectorstore", "kb_search", false},
		{"hierarchical_document-law", "law_search", true},
		{"hierarchical_document-kb", "kb_search", false},
		{"lookup", "lookup_order", true},
		{"mcp__holodeck_tools__lookup_order", "lookup_order", true},
		{"function_tools-lookup_order", "lookup_order", true},
		{"read", "files__read", true},
		{"files__read", "files__read", true},
		{"mcp__files__read", "files__read", true},
		{"files-read", "files__read", true},
		{"mcp", "files__read", false},
		{"write", "files__read", false},
		{"mcp__holodeck_tools__expert", "expert", true},
	} {
		if got := names.Match(tt.expected, tt.actual); got != tt.want {
			t.Errorf("%q and a call of %q: %v, want %v", tt.expected, tt.actual, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	call := func(name, args string) toolmatch.Call {
		return toolmatch.Call{Name: name, Arguments: json.RawMessage(args)}
	}
	add := func(a, b string) toolmatch.Call { return call("add", `{"a": `+a+`, "b": `+b+`}`) }
	for _, tt := range []struct {
		name     string
		expected config.ExpectedTool
		calls    []toolmatch.Call
		call     int
		reason   string // part of it; empty when met
	}{
		{"by name", config.ExpectedTool{Name: "add", Bare: true}, []toolmatch.Call{call("sub", `{}`), add("1", "2")}, 1, ""},
		{"nothing was called", config.ExpectedTool{Name: "add"}, nil, -1, "it was not called; no tool was"},
		{"others were called", config.ExpectedTool{Name: "add"}, []toolmatch.Call{call("sub", `{}`), call("mul", `{}`), call("sub", `{}`)}, -1, "it was not called; called: sub, mul"},
		{"the first that satisfies", config.ExpectedTool{Name: "add", Args: object{"a": 3}}, []toolmatch.Call{add("1", "2"), add("3", "4"), add("3", "5")}, 1, ""},
		{"free arguments", config.ExpectedTool{Name: "add", Args: object{"b": 2}}, []toolmatch.Call{add(`"anything"`, "2")}, 0, ""},
		{"the last mismatch is told", config.ExpectedTool{Name: "add", Args: object{"a": 9}}, []toolmatch.Call{add("1", "2"), add("3", "4")}, -1, "call 2, add: argument a is 3, want 9"},
		{"all arguments that do not fit", config.ExpectedTool{Name: "add", Args: object{"a": 9, "c": 1}}, []toolmatch.Call{add("1", "2")}, -1, "argument a is 1, want 9; argument c is missing"},
		{"arguments that are no object", config.ExpectedTool{Name: "add", Args: object{"a": 1}}, []toolmatch.Call{call("add", `"a=1"`)}, -1, "argument a is missing"},
		{"no arguments at all", config.ExpectedTool{Name: "add", Args: object{"a": 1}}, []toolmatch.Call{call("add", ``)}, -1, "argument a is missing"},
		{"often enough", config.ExpectedTool{Name: "add", Count: 2}, []toolmatch.Call{add("1", "2"), add("3", "4"), add("5", "6")}, 0, ""},
		{"not often enough", config.ExpectedTool{Name: "add", Count: 3}, []toolmatch.Call{add("1", "2"), add("3", "4")}, -1, "needed 3 calls, got 2"},
		{"a mismatch is told before the count", config.ExpectedTool{Name: "add", Count: 2, Args: object{"a": 1}}, []toolmatch.Call{add("1", "2"), add("3", "4")}, -1, "argument a is 3, want 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := toolmatch.Compile(tt.expected)
			if err != nil {
				t.Fatal(err)
			}
			res := x.Check(toolmatch.NewNames(nil), tt.calls)
			if res.Met != (tt.reason == "") || res.Call != tt.call || !strings.Contains(res.Reason, tt.reason) {
				t.Errorf("got %+v, want call %d and the reason %q", res, tt.call, tt.reason)
			}
		})
	}
}

func FuzzMatchers(f *testing.F) {
	f.Add(`(?P<x>a)[^]b]{,3}\Z`, `{"a": [1, "x"]}`, `1,000%`)
	f.Add(`\U0001F600(?i)`, `{`, `nan`)
	f.Fuzz(func(t *testing.T, expr, args, fuzzy string) {
		for _, want := range []any{object{"regex": expr}, object{"fuzzy": fuzzy}, fuzzy} {
			x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: map[string]any{"a": want}})
			if err != nil {
				continue
			}
			x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "t", Arguments: json.RawMessage(args)}})
		}
	})
}
