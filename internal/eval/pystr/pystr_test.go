package pystr_test

import (
	"testing"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// The wanted texts are what str(json.loads(doc)) printed in CPython 3.11.7.
func TestFromJSON(t *testing.T) {
	for _, tt := range []struct{ doc, want string }{
		{`"plain, unquoted"`, `plain, unquoted`},
		{`true`, `True`},
		{`false`, `False`},
		{`null`, `None`},
		{`1`, `1`},
		{`-0`, `0`},
		{`123456789012345678901234567890`, `123456789012345678901234567890`},
		{`1.0`, `1.0`},
		{`1.50`, `1.5`},
		{`1e20`, `1e+20`},
		{`1e15`, `1000000000000000.0`},
		{`1e16`, `1e+16`},
		{`0.0001`, `0.0001`},
		{`0.00001`, `1e-05`},
		{`-2.5e-7`, `-2.5e-07`},
		{`-0.0`, `-0.0`},
		{`1e999`, `inf`},
		{`[1, 2.0, "a", null]`, `[1, 2.0, 'a', None]`},
		{`[]`, `[]`},
		{`{}`, `{}`},
		{`{"b": {"a": []}, "a": true}`, `{'b': {'a': []}, 'a': True}`},
		{`["it's"]`, `["it's"]`},
		{`["say \"it's\""]`, `['say "it\'s"']`},
		{`["a\nb\t\\\u0000\u007f\u00a0\u200b"]`, `['a\nb\t\\\x00\x7f\xa0\u200b']`},
		{`["é😀"]`, `['é😀']`},
	} {
		got, err := pystr.FromJSON([]byte(tt.doc))
		if err != nil || got != tt.want {
			t.Errorf("FromJSON(%s) = %q, %v; want %q", tt.doc, got, err, tt.want)
		}
	}
}

func TestFromJSONRefusesWhatIsNotOneValue(t *testing.T) {
	for _, doc := range []string{``, ` `, `[1,`, `{"a"`, `{"a":`, `1 2`, `nope`, `{"a":1}}`} {
		if got, err := pystr.FromJSON([]byte(doc)); err == nil {
			t.Errorf("FromJSON(%q) = %q, want an error", doc, got)
		}
	}
}

func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x'\""],"b":null}`, `"s"`, `1e400`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		first, err := pystr.FromJSON(doc)
		again, errAgain := pystr.FromJSON(doc)
		if first != again || (err == nil) != (errAgain == nil) {
			t.Errorf("FromJSON(%q) is not the same twice", doc)
		}
	})
}
