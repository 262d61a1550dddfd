package script

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

const everything = `
# a rule with every key
- when: {user: refund, regex: 'order \d+', turn: 2, round: 1, result: shipped}
  times: 1
  do:
    - thinking: Let me look.
    - text: Looking.
    - call: {id: c1, name: docs_search, args: {query: refund, top: 3, deep: {a: [1, true, null]}}}
    - call: {name: broken, args: '{"query": '}
    - delay_ms: 20
    - usage: {prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4, cache_write_tokens: 1, reasoning_tokens: 2}
    - finish: length
- do:
    - error: {status: 503, message: overloaded, retry_after_ms: 1500}
- do: [{block: true}]
- do: [{cut: true}]
- do: [{garbage: '<html>'}]
`

func TestParseYAMLReadsEveryKey(t *testing.T) {
	got, problems := ParseYAML([]byte(everything))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := Script{Rules: []Rule{
		{
			When:  When{User: "refund", Regex: `order \d+`, Turn: 2, Round: 1, Result: "shipped"},
			Times: 1,
			Steps: []Step{
				{Thinking: "Let me look."},
				{Text: "Looking."},
				{Call: &Call{ID: "c1", Name: "docs_search", Args: `{"deep":{"a":[1,true,null]},"query":"refund","top":3}`}},
				{Call: &Call{Name: "broken", Args: `{"query": `}},
				{DelayMS: 20},
				{Usage: &agent.Usage{Prompt: 10, Completion: 5, Total: 15, Cached: 4, CacheWrite: 1, Reasoning: 2}},
				{Finish: FinishLength},
			},
		},
		{Steps: []Step{{Error: &Error{Status: 503, Message: "overloaded", RetryAfterMS: 1500}}}},
		{Steps: []Step{{Block: true}}},
		{Steps: []Step{{Cut: true}}},
		{Steps: []Step{{Garbage: "<html>"}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseYAMLNamesEveryProblemAndItsPlace(t *testing.T) {
	tests := map[string]struct {
		yaml string
		want []string // "line:column: path: text (hint)"
	}{
		"unknown keys": {
			"- whn: {}\n  when: {usr: x}\n  do: [{txt: hi}]\n",
			[]string{
				`1:3: [0].whn: unknown key (did you mean "when"?)`,
				`2:10: [0].when.usr: unknown key (did you mean "user"?)`,
				`3:9: [0].do[0].txt: unknown key (did you mean "text"?)`,
			},
		},
		"unknown key like none": {
			"- do: [{text: a}]\n  zzzzzz: 1\n",
			[]string{`2:3: [0].zzzzzz: unknown key (the keys here are when, times, do)`},
		},
		"no steps": {
			"- when: {user: a}\n- do: []\n- do: later\n",
			[]string{
				`1:7: [0]: a rule needs do: what the model does (add do with a list of steps)`,
				`2:3: [1].do: is an empty list, want a list of at least one step (such as do: [{text: Hello}])`,
				`3:3: [2].do: is the string "later", want a list of at least one step (such as do: [{text: Hello}])`,
			},
		},
		"two things in a step": {
			"- do: [{text: a, finish: stop}, {}]\n",
			[]string{
				`1:8: [0].do[0]: a step is exactly one of text, thinking, call, delay_ms, block, error, cut, garbage, usage, finish; this has 2 (write each on a list entry of its own)`,
				`1:33: [0].do[1]: a step is exactly one of text, thinking, call, delay_ms, block, error, cut, garbage, usage, finish; this has 0 (write each on a list entry of its own)`,
			},
		},
		"wrong values": {
			"- when: {turn: 0, round: x, regex: '('}\n  times: -1\n  do: [{text: 5}, {delay_ms: 1.5}, {block: false}, {finish: lenght}, {text: ''}]\n",
			[]string{
				`1:10: [0].when.turn: is 0, want 1 or more`,
				"1:19: [0].when.round: is the string \"x\", want a whole number",
				"1:29: [0].when.regex: is not a regular expression: error parsing regexp: missing closing ): `(` (the syntax is RE2: no lookaround, no backreferences)",
				`2:3: [0].times: is -1, want 1 or more`,
				`3:9: [0].do[0].text: is 5, want a string (put it in quotes)`,
				`3:20: [0].do[1].delay_ms: is 1.5, want a whole number`,
				`3:37: [0].do[2].block: is false, want true (write block: true, or remove the step)`,
				`3:53: [0].do[3].finish: "lenght" is not one of stop, length, refusal, content_filter (did you mean "length"?)`,
				`3:71: [0].do[4].text: is empty (remove it, or say something)`,
			},
		},
		"calls": {
			"- do:\n  - call: {args: {}}\n  - call: {name: a, args: [1]}\n  - call: a\n  - call: {name: a, args: {x: .nan}}\n",
			[]string{
				`2:5: [0].do[0].call: a call needs a name (add name: the tool to call)`,
				"3:21: [0].do[1].call.args: is a list, want a mapping (such as args: {query: refund}; a string is taken as JSON text)",
				`4:5: [0].do[2].call: is the string "a", want a mapping (its keys are id, name, args)`,
				`5:21: [0].do[3].call.args: cannot be written as JSON: json: unsupported value: NaN`,
			},
		},
		"errors": {
			"- do: [{error: {status: 200}}, {text: never}]\n",
			[]string{
				`1:9: [0].do[0].error: an error needs a message (add message)`,
				`1:17: [0].do[0].error.status: 200 is not an HTTP error status, 400 to 599 (0, or absent, is a broken connection)`,
				`1:32: [0].do[1]: is never played: the step before it ends the call (remove it, or move it before the step that ends the call)`,
			},
		},
		"steps that end a response": {
			"- do: [{cut: true}, {garbage: '<html>'}]\n- do: [{garbage: ''}]\n- do: [{cut: 1}]\n",
			[]string{
				`1:21: [0].do[1]: is never played: the step before it ends the call (remove it, or move it before the step that ends the call)`,
				`2:9: [1].do[0].garbage: is empty (remove it, or say something)`,
				`3:9: [2].do[0].cut: is 1, want true (write cut: true, or remove the step)`,
			},
		},
		"usage": {
			"- do: [{usage: {prompt_tokens: 1, cached_tokens: 2, reasoning_tokens: 1}}]\n",
			[]string{
				`1:9: [0].do[0].usage: cached_tokens and cache_write_tokens are shares of prompt_tokens, and exceed it (raise prompt_tokens)`,
				`1:9: [0].do[0].usage: reasoning_tokens is a share of completion_tokens, and exceeds it (raise completion_tokens)`,
			},
		},
		"not a list":      {"when: {}\n", []string{`1:1: is a mapping, want a list of rules (such as - do: [{text: Hello}])`}},
		"nothing":         {"# later\n", []string{`holds no rules (add one, such as - do: [{text: Hello}])`}},
		"not a rule":      {"- hello\n", []string{`1:3: [0]: is the string "hello", want a mapping (its keys are when, times, do)`}},
		"a key twice":     {"- do: [{text: a}]\n  do: [{text: b}]\n", []string{`2:3: not YAML: mapping key "do" already defined at [1:3]`}},
		"two documents":   {"- do: [{text: a}]\n---\n- do: [{text: b}]\n", []string{`3:1: a second document begins here (a script file is one list)`}},
		"aliases":         {"- &a {do: [{text: a}]}\n- *a\n", []string{`1:3: [0]: anchors and aliases are not read in a script file (write the value out)`, `2:3: [1]: anchors and aliases are not read in a script file (write the value out)`}},
		"tags":            {"- do: [{text: !!str 5}]\n", []string{`1:15: [0].do[0].text: tags are not read in a script file (remove the tag)`}},
		"not YAML at all": {"- do: [\n", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := ParseYAML([]byte(tt.yaml))
			if len(problems) == 0 {
				t.Fatal("no problem was found")
			}
			if tt.want == nil {
				return
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestParseTakesTheValuesOfAnyDecoder(t *testing.T) {
	for _, two := range []any{int(2), int64(2), uint64(2), float64(2)} {
		s, problems := Parse([]any{map[string]any{"times": two, "when": nil, "do": []any{map[string]any{"text": "a"}}}})
		if len(problems) > 0 || s.Rules[0].Times != 2 {
			t.Errorf("%T: times is %d, problems %v", two, s.Rules[0].Times, problems)
		}
	}
}

func TestPlayerChoosesTheFirstRuleThatHoldsAndIsNotUsedUp(t *testing.T) {
	program, err := Compile(Script{Rules: []Rule{
		{When: When{User: "REFUND"}, Times: 1, Steps: []Step{{Text: "once"}}},
		{When: When{User: "refund", Round: 2}, Steps: []Step{{Text: "second round"}}},
		{When: When{Regex: `^order (\d+)$`}, Steps: []Step{{Text: "order"}}},
		{When: When{Turn: 3}, Steps: []Step{{Text: "third turn"}}},
		{When: When{Result: "shipped"}, Steps: []Step{{Text: "result"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !program.Limited() {
		t.Error("a script with times is limited")
	}
	a, b := program.NewPlayer(), program.NewPlayer()
	tests := []struct {
		player *Player
		in     Situation
		want   string
	}{
		{a, Situation{User: "a Refund please", Turn: 1, Round: 1}, "once"},
		{a, Situation{User: "a refund please", Turn: 1, Round: 1}, ""},
		{a, Situation{User: "a refund please", Turn: 1, Round: 2}, "second round"},
		{b, Situation{User: "refund", Turn: 1, Round: 2}, "once"},
		{a, Situation{User: "order 12", Turn: 1, Round: 1}, "order"},
		{a, Situation{User: "my order 12", Turn: 1, Round: 1}, ""},
		{a, Situation{User: "hello", Turn: 3, Round: 1}, "third turn"},
		{a, Situation{User: "hello", Turn: 2, Round: 2, Result: "it is shipped"}, "result"},
		{a, Situation{User: "hello", Turn: 2, Round: 2, Result: "Shipped"}, ""},
	}
	for i, tt := range tests {
		steps, ok := tt.player.Next(tt.in)
		got := ""
		if ok {
			got = steps[0].Text
		}
		if got != tt.want {
			t.Errorf("%d: %+v plays %q, want %q", i, tt.in, got, tt.want)
		}
	}
}

func TestCompileNamesTheRuleWithABadExpression(t *testing.T) {
	_, err := Compile(Script{Rules: []Rule{{}, {When: When{Regex: "("}}}})
	if err == nil || !strings.Contains(err.Error(), "script rule 2") {
		t.Errorf("got %v", err)
	}
}

func FuzzParseYAML(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("- do: [{call: {name: a, args: '{'}}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("- {? [a]: b, <<: *c, !!x y: z}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := ParseYAML(data)
		for _, p := range problems {
			if p.Text == "" {
				t.Errorf("a problem without words at %q", p.Path)
			}
		}
		if len(problems) > 0 {
			return
		}
		// What was read without a problem can be played.
		program, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		program.NewPlayer().Next(Situation{User: "hello", Turn: 1, Round: 1})
		for _, r := range s.Rules {
			if len(r.Steps) == 0 {
				t.Error("a rule without steps")
			}
			for _, step := range r.Steps {
				if step == (Step{}) {
					t.Error("a step that does nothing")
				}
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"when":{"user":"a"},"times":1,"do":[{"text":"b"}]}]`))
	f.Add([]byte(`[{"do":[{"usage":{"prompt_tokens":1e99}}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var rules []any
		if json.Unmarshal(data, &rules) != nil {
			return
		}
		if s, problems := Parse(rules); len(problems) == 0 {
			if _, err := Compile(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}
