package toolmatch_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/testrun/toolmatch"
)

// matches reports whether one argument, given as JSON, fits a value of the file.
func matches(t *testing.T, want any, arg string) bool {
	t.Helper()
	x, err := toolmatch.Compile(config.ExpectedTool{Name: "tool", Args: map[string]any{"a": want}, Count: 1}, nil)
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

func TestOtherMatchers(t *testing.T) {
	for _, tt := range []struct {
		want any
		arg  string
		met  bool
	}{
		{object{"approx": 249}, `249`, true},
		{object{"approx": 249}, `249.0000001`, true},
		{object{"approx": 249}, `249.1`, false},
		{object{"approx": 249}, `"249"`, false},
		{object{"approx": 249}, `null`, false},
		{object{"approx": 249, "abs": 0.5}, `248.5`, true},
		{object{"approx": 249, "abs": 0.5}, `248.4`, false},
		{object{"approx": 100, "rel": 0.1}, `110`, true},
		{object{"approx": 100, "rel": 0.1}, `89.9`, false},
		{object{"approx": -100, "rel": 0.1}, `-95`, true},
		{object{"approx": 100, "rel": 0.1, "abs": 20}, `85`, true},
		{object{"approx": 100, "abs": 0}, `100.0000001`, false},
		{object{"approx": 100, "about": 1}, `{"approx": 100, "about": 1}`, true}, // a value

		{object{"one_of": []any{"a", 1}}, `1.0`, true},
		{object{"one_of": []any{"a", 1}}, `"b"`, false},
		{object{"one_of": []any{object{"regex": `A-\d`}, nil}}, `"A-1"`, true},
		{object{"one_of": []any{object{"regex": `A-\d`}, nil}}, `null`, true},

		{object{"contains": "lamp"}, `"a lamp shop"`, true},
		{object{"contains": "lamp"}, `"a Lamp shop"`, false},
		{object{"contains": "lamp"}, `["shade", "lamp"]`, true},
		{object{"contains": "lamp"}, `["lamps"]`, false},
		{object{"contains": object{"regex": "lamp.*"}}, `["shade", "lamps"]`, true},
		{object{"contains": 5}, `5`, false},
		{object{"contains": object{"a": 1}}, `{"a": 1, "b": 2}`, true},
		{object{"contains": object{"a": object{"one_of": []any{1, 2}}}}, `{"a": 2, "b": 2}`, true},
		{object{"contains": object{"a": 1}}, `{"a": 2}`, false},
		{object{"contains": object{"a": 1}}, `{}`, false},
		{object{"contains": object{"a": 1}}, `[{"a": 1}]`, true},

		{object{"not": "a"}, `"b"`, true},
		{object{"not": "a"}, `"a"`, false},
		{object{"not": nil}, `null`, false},
		{object{"not": object{"contains": "x"}}, `"abc"`, true},

		{object{"any": true}, `null`, true},
		{object{"any": true}, `[1]`, true},
		{object{"any": false}, `{"any": false}`, true}, // a value

		{object{"type": "string"}, `"x"`, true},
		{object{"type": "string"}, `1`, false},
		{object{"type": "integer"}, `1.0`, true},
		{object{"type": "integer"}, `1.5`, false},
		{object{"type": "number"}, `1.5`, true},
		{object{"type": "boolean"}, `true`, true},
		{object{"type": "array"}, `[]`, true},
		{object{"type": "object"}, `{}`, true},
		{object{"type": "null"}, `null`, true},
		{object{"type": []any{"string", "null"}}, `null`, true},
		{object{"type": []any{"string", "null"}}, `0`, false},
		{object{"type": "pdf"}, `{"type": "pdf"}`, true}, // a value

		{object{"schema": object{"type": "object", "required": []any{"id"}}}, `{"id": 1}`, true},
		{object{"schema": object{"type": "object", "required": []any{"id"}}}, `{}`, false},
		{object{"schema": object{"minimum": 3}}, `2`, false},

		{object{"literal": object{"regex": "a"}}, `{"regex": "a"}`, true},
		{object{"literal": object{"regex": "a"}}, `"a"`, false},
	} {
		if got := matches(t, tt.want, tt.arg); got != tt.met {
			t.Errorf("%v and %s: %v, want %v", tt.want, tt.arg, got, tt.met)
		}
	}
}

// A reason names every field that differs.
func TestReasonsNameTheField(t *testing.T) {
	for _, tt := range []struct {
		want   any
		arg    string
		reason string
	}{
		{"a", `"b"`, `argument a is "b", want "a"`},
		{
			object{"city": "Paris", "zip": "75001", "tags": []any{"x", 1}}, `{"city": "Rome", "tags": ["x", 2], "more": true}`,
			`argument a.city is "Rome", want "Paris"; argument a.tags[1] is 2, want 1; argument a.zip is missing, want "75001"; argument a.more is true, and is not expected`,
		},
		{[]any{1, 2}, `[1]`, "argument a is [1] with 1 item, want [1,2] with 2"},
		{object{"k": 1}, `[1]`, `argument a is [1], want {"k":1}`},
		{[]any{0, 0, 0, 0, 0, 0, 0}, `[1, 1, 1, 1, 1, 1, 1]`, "argument a[4] is 1, want 0; and 2 more differences in a"},
		{object{"approx": 249, "abs": 0.5}, `251`, "argument a is 251, want about 249 (2 away, at most 0.5)"},
		{object{"approx": 249}, `"249"`, `argument a is "249", want a number about 249`},
		{object{"one_of": []any{"a", "b"}}, `"c"`, `argument a is "c", want one of ["a","b"]`},
		{object{"contains": "x"}, `"c"`, `argument a is "c", which does not contain "x"`},
		{object{"contains": object{"k": 1, "l": 2}}, `{"k": 2}`, "argument a.k is 2, want 1; argument a.l is missing"},
		{object{"not": "c"}, `"c"`, `argument a is "c", want anything but "c"`},
		{object{"type": "string"}, `1`, "argument a is 1, want a value of type string"},
		{object{"schema": object{"properties": object{"n": object{"maximum": 3}}}}, `{"n": 4}`, "argument a.n is 4, want at most 3"},
		{object{"fuzzy": "Ada"}, `"Eve"`, `argument a is "Eve", want about "Ada"`},
		{object{"regex": "A.*"}, `"Eve"`, `argument a is "Eve", which "A.*" does not match`},
	} {
		x, err := toolmatch.Compile(config.ExpectedTool{Name: "tool", Args: map[string]any{"a": tt.want}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		res := x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "tool", Arguments: json.RawMessage(`{"a": ` + tt.arg + `}`)}})
		if !strings.Contains(res.Reason, tt.reason) {
			t.Errorf("got  %s\nwant %s", res.Reason, tt.reason)
		}
	}
}

// A secret that a reason would cut in two is masked, wherever the cut falls.
func TestASecretIsMaskedBeforeItIsCut(t *testing.T) {
	const canary = "canary-0123456789-abcdefghij"
	redactor := secret.NewRedactor([]string{canary})
	for name, want := range map[string]any{
		"a value": "x", "fuzzy": object{"fuzzy": "x"}, "regex": object{"regex": "x"}, "approx": object{"approx": 1},
		"one_of": object{"one_of": []any{"x"}}, "contains": object{"contains": "zz"}, "not": object{"not": object{"any": true}},
		"type": object{"type": "null"}, "schema": object{"schema": object{"const": "x"}}, "pattern": object{"schema": object{"pattern": "^x$"}},
		"a list": []any{"x"}, "an object": object{"k": "x"},
	} {
		for before := range 140 {
			text := strings.Repeat("a", before) + canary
			for _, sides := range [][2]any{{want, text}, {text, "x"}, {object{"one_of": []any{text}}, "x"}} {
				x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: object{"a": sides[0]}}, redactor)
				if err != nil {
					t.Fatal(err)
				}
				args, err := json.Marshal(object{"a": sides[1]})
				if err != nil {
					t.Fatal(err)
				}
				res := x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "t", Arguments: args}})
				if strings.Contains(redactor.String(res.Reason), canary[:4]) {
					t.Fatalf("%s, %d characters before the secret: %s", name, before, res.Reason)
				}
			}
		}
	}
}

// What cannot be checked neither matches nor matches the opposite.
func TestASchemaThatCannotBeCheckedDoesNotMatch(t *testing.T) {
	ahead := object{"schema": object{"type": "string", "pattern": "(?=.*[0-9])."}}
	for _, tt := range []struct {
		want any
		arg  string
		met  bool
	}{
		{ahead, `"a1"`, false},
		{ahead, `1`, false},
		{object{"not": ahead}, `"a1"`, false},
		{object{"not": ahead}, `1`, true}, // it breaks what can be checked
		{object{"one_of": []any{ahead, "a1"}}, `"a1"`, true},
		{object{"not": object{"one_of": []any{ahead, "b"}}}, `"a1"`, false},
		{object{"not": object{"contains": ahead}}, `["a1"]`, false},
		{object{"contains": object{"k": ahead}}, `{"k": "a1"}`, false},
		{object{"schema": object{"items": []any{object{"type": "string"}}}}, `[1]`, false},
		{object{"schema": object{"requird": []any{"a"}}}, `{}`, false},
		{object{"schema": object{"const": 5}}, `5`, true},
		{object{"schema": object{"maximum": 9007199254740992}}, `9007199254740993`, false},
		{object{"schema": object{"type": "integer"}}, `9007199254740993`, true},
	} {
		x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: object{"a": tt.want}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		res := x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "t", Arguments: json.RawMessage(`{"a": ` + tt.arg + `}`)}})
		if res.Met != tt.met {
			t.Errorf("%v and %s: met %v (%s)", tt.want, tt.arg, res.Met, res.Reason)
		}
	}
	x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: object{"a": object{"not": ahead}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(x.Doubts(), ""); !strings.HasPrefix(got, "argument a: the schema: pattern ") {
		t.Errorf("Doubts = %q", got)
	}
}

func TestAValueThatLooksLikeAMatcherIsDoubtful(t *testing.T) {
	for _, tt := range []struct {
		value any
		key   string // empty for no doubt
	}{
		{object{"one_of": []any{"a"}, "x": 1}, "one_of"},
		{object{"approx": 1, "tolerance": 1}, "approx"},
		{object{"any": "yes"}, "any"},
		{object{"type": "strng"}, "type"},
		{object{"type": "string", "any": true}, "any"},
		{object{"not": object{"type": "text"}}, "type"},
		{object{"contains": object{"k": object{"any": 1}}}, "any"},
		{object{"type": "invoice", "id": 5}, ""},
		{object{"k": 1}, ""},
		{object{"literal": object{"any": "yes"}}, ""},
		{object{"contains": object{"k": 1}}, ""},
		{object{"one_of": []any{"a"}}, ""},
	} {
		x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: object{"a": tt.value}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := x.Doubts()
		if len(got) > 1 || len(got) == 1 != (tt.key != "") || len(got) == 1 && !strings.Contains(got[0], "argument a: the mapping with the key "+tt.key+" ") {
			t.Errorf("%v: %q, want a doubt about %q", tt.value, got, tt.key)
		}
	}
}

// Letter case is removed as Python does it: İ becomes two characters.
func TestFuzzyLowersAsPythonDoes(t *testing.T) {
	x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: object{"a": object{"fuzzy": "İZMİR ΟΔΟΣ"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for arg, met := range map[string]bool{"i\u0307zmi\u0307r οδος": true, "izmir οδος": false} {
		given, err := json.Marshal(object{"a": arg})
		if err != nil {
			t.Fatal(err)
		}
		if res := x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "t", Arguments: given}}); res.Met != met {
			t.Errorf("%q: met %v (%s)", arg, res.Met, res.Reason)
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
		{object{"approx": "many"}, `approx is "many"; give a number`},
		{object{"approx": 1, "abs": -1}, "abs is -1; give a number"},
		{object{"approx": 1, "rel": "x"}, `rel is "x"; give a number`},
		{object{"one_of": []any{}}, "one_of is []; give a list"},
		{object{"one_of": "a"}, `one_of is "a"; give a list`},
		{object{"one_of": []any{object{"regex": "("}}}, `one_of: regex "("`},
		{object{"not": object{"fuzzy": 1}}, "fuzzy is 1"},
		{object{"contains": object{"k": object{"regex": "("}}}, `contains: k: regex "("`},
		{object{"schema": object{"type": 5}}, "JSON Schema"},
		{object{"schema": object{"pattern": "(["}}, "is not a regular expression"},
	} {
		_, err := toolmatch.Compile(config.ExpectedTool{Name: "lookup", Args: map[string]any{"id": tt.value}}, nil)
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
		{"at most", config.ExpectedTool{Name: "add", Count: 1, Max: new(2)}, []toolmatch.Call{add("1", "2"), add("3", "4")}, 0, ""},
		{"too often", config.ExpectedTool{Name: "add", Count: 1, Max: new(1)}, []toolmatch.Call{call("sub", `{}`), add("1", "2"), add("3", "4")}, 1, "at most 1 call, got 2"},
		{"too often counts what fits alone", config.ExpectedTool{Name: "add", Max: new(1), Args: object{"a": 1}}, []toolmatch.Call{add("1", "2"), add("3", "4")}, 0, ""},
		{"it must not have failed", config.ExpectedTool{Name: "add", Status: "ok"}, []toolmatch.Call{{Name: "add", Failed: true}}, -1, "call 1, add: it ended in an error, want status ok"},
		{"it failed and then did not", config.ExpectedTool{Name: "add", Status: "ok"}, []toolmatch.Call{{Name: "add", Failed: true}, add("1", "2")}, 1, ""},
		{"it must have failed", config.ExpectedTool{Name: "add", Status: "error"}, []toolmatch.Call{add("1", "2")}, -1, "it did not fail, want status error"},
		{"it failed as it must", config.ExpectedTool{Name: "add", Status: "error"}, []toolmatch.Call{{Name: "add", Failed: true}}, 0, ""},
		{"a mismatch is told before the count", config.ExpectedTool{Name: "add", Count: 2, Args: object{"a": 1}}, []toolmatch.Call{add("1", "2"), add("3", "4")}, -1, "argument a is 3, want 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := toolmatch.Compile(tt.expected, nil)
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

func TestOrder(t *testing.T) {
	entry := func(name string, edit ...func(*config.ExpectedTool)) config.ExpectedTool {
		e := config.ExpectedTool{Name: name, Count: 1}
		for _, f := range edit {
			f(&e)
		}
		return e
	}
	count := func(n int) func(*config.ExpectedTool) { return func(e *config.ExpectedTool) { e.Count = n } }
	most := func(n int) func(*config.ExpectedTool) { return func(e *config.ExpectedTool) { e.Max = &n } }
	for _, tt := range []struct {
		name                string
		expected            []config.ExpectedTool
		calls               string // names, separated by blanks
		subsequence, strict string // part of the reason; empty when it holds
	}{
		{"in order", []config.ExpectedTool{entry("a"), entry("b")}, "a b", "", ""},
		{"out of order", []config.ExpectedTool{entry("a"), entry("b")}, "b a", "b (number 2) was not called after those before it; the calls were b, a", "call 1 is b, want a (number 1); the calls were b, a"},
		{"others between", []config.ExpectedTool{entry("a"), entry("b")}, "a x b", "", "call 2 is x, want b (number 2)"},
		{"others behind", []config.ExpectedTool{entry("a")}, "a x", "", "call 2, x, comes after all that are expected"},
		{"one is missing", []config.ExpectedTool{entry("a"), entry("b")}, "a", "b (number 2) was not called", "the calls end before b (number 2); the calls were a"},
		{"nothing was called", []config.ExpectedTool{entry("a")}, "", "no tool was called", "the calls end before a (number 1); no tool was called"},
		{"twice", []config.ExpectedTool{entry("a", count(2)), entry("b")}, "a a b", "", ""},
		{"twice, apart", []config.ExpectedTool{entry("a", count(2)), entry("b")}, "a b a", "b (number 2) was not called", "call 2 is b, want a (number 1)"},
		{"up to three times", []config.ExpectedTool{entry("a", most(3)), entry("b")}, "a a b", "", ""},
		{"more than once without a max", []config.ExpectedTool{entry("a"), entry("b")}, "a a b", "", "call 2 is a, want b (number 2)"},
		{"the same tool next", []config.ExpectedTool{entry("a", most(2)), entry("a")}, "a a", "", ""},
		{"the same tool next, all its calls", []config.ExpectedTool{entry("a", most(2)), entry("a", count(2))}, "a a a a a", "", "call 5, a, comes after all that are expected"},
		{"a name within another", []config.ExpectedTool{entry("ab"), entry("a")}, "ab abc", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var expected []*toolmatch.Expectation
			for _, e := range tt.expected {
				x, err := toolmatch.Compile(e, nil)
				if err != nil {
					t.Fatal(err)
				}
				expected = append(expected, x)
			}
			var calls []toolmatch.Call
			for name := range strings.FieldsSeq(tt.calls) {
				calls = append(calls, toolmatch.Call{Name: name})
			}
			for order, want := range map[config.ToolOrder]string{config.OrderNone: "", "": "", config.OrderSubsequence: tt.subsequence, config.OrderStrict: tt.strict} {
				got := toolmatch.CheckOrder(order, toolmatch.NewNames(nil), expected, calls)
				if (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("%s: got %q, want %q", order, got, want)
				}
			}
		})
	}
}

func TestStrictOrderSaysWhichArgumentDiffers(t *testing.T) {
	x, err := toolmatch.Compile(config.ExpectedTool{Name: "a", Args: object{"n": 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := toolmatch.CheckOrder(config.OrderStrict, toolmatch.NewNames(nil), []*toolmatch.Expectation{x}, []toolmatch.Call{{Name: "a", Arguments: json.RawMessage(`{"n": 2}`)}})
	if want := "call 1 is a, want a (number 1): argument n is 2, want 1"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestForbidden(t *testing.T) {
	calls := []toolmatch.Call{{Name: "kb_search"}, {Name: "issue_refund"}}
	for name, want := range map[string]int{"refund": 1, "search": 0, "delete": -1, "mcp__holodeck_tools__kb_search": 0} {
		names := toolmatch.NewNames([]config.Tool{&config.VectorstoreTool{ToolBase: config.ToolBase{Type: config.ToolVectorstore, Name: "kb"}}})
		if got := toolmatch.Forbidden(names, name, calls); got != want {
			t.Errorf("%s: call %d, want %d", name, got, want)
		}
	}
}

func FuzzMatchers(f *testing.F) {
	f.Add(`(?P<x>a)[^]b]{,3}\Z`, `{"a": [1, "x"]}`, `1,000%`)
	f.Add(`\U0001F600(?i)`, `{`, `nan`)
	f.Add(`{"contains": {"not": {"type": "null"}}}`, `{"a": {"b": [1]}}`, `{"approx": 1e400}`)
	f.Fuzz(func(t *testing.T, expr, args, fuzzy string) {
		wants := []any{object{"regex": expr}, object{"fuzzy": fuzzy}, fuzzy}
		for _, doc := range []string{expr, fuzzy} {
			var v any
			if json.Unmarshal([]byte(doc), &v) == nil {
				wants = append(wants, v)
			}
		}
		for _, want := range wants {
			x, err := toolmatch.Compile(config.ExpectedTool{Name: "t", Args: map[string]any{"a": want}}, nil)
			if err != nil {
				continue
			}
			x.Check(toolmatch.NewNames(nil), []toolmatch.Call{{Name: "t", Arguments: json.RawMessage(args)}})
		}
	})
}
