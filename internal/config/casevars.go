package config

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxCombinations is how many cases the vars of one test case may make.
const MaxCombinations = 100_000

// Combinations returns how many cases the vars make of a case: one for each
// combination of their values, and 1 when there are none.
func (c *TestCase) Combinations() int {
	n := 1
	for _, name := range sortedKeys(c.Vars) {
		n *= max(1, len(varValues(c.Vars[name])))
		if n > MaxCombinations {
			return n // loading refuses it; more factors might overflow
		}
	}
	return n
}

// Expand returns the case with combination n of its vars, counted from 0, put
// into its texts, and a label such as "color=red, size=2" that tells it from
// the other combinations; the label is empty when there is one combination. The
// last var by name changes fastest.
//
// In an argument of an expected tool a text that is nothing but {{name}} becomes
// the value with its type, elsewhere its text. What Expand changes is a copy.
func (c *TestCase) Expand(n int) (TestCase, string) {
	if len(c.Vars) == 0 {
		return *c, ""
	}
	values := map[string]any{}
	var labels []string
	for _, name := range slices.Backward(sortedKeys(c.Vars)) {
		choices := varValues(c.Vars[name])
		if len(choices) == 0 {
			continue
		}
		value := choices[n%len(choices)]
		n /= len(choices)
		values[name] = value
		if len(choices) > 1 {
			labels = append(labels, name+"="+varText(value))
		}
	}
	slices.Reverse(labels)
	t := template{values}
	out := *c
	out.Vars = nil
	out.ID, out.Name = t.textOrNil(c.ID), t.textOrNil(c.Name)
	out.Input, out.GroundTruth = t.textOrNil(c.Input), t.textOrNil(c.GroundTruth)
	out.ExpectedTools = t.tools(c.ExpectedTools)
	out.ForbiddenTools = t.texts(c.ForbiddenTools)
	out.RetrievalContext = t.texts(c.RetrievalContext)
	out.Turns = slices.Clone(c.Turns)
	for i := range out.Turns {
		turn := &out.Turns[i]
		turn.Input = t.text(turn.Input)
		turn.GroundTruth = t.textOrNil(turn.GroundTruth)
		turn.ExpectedTools = t.tools(turn.ExpectedTools)
		turn.ForbiddenTools = t.texts(turn.ForbiddenTools)
		turn.RetrievalContext = t.texts(turn.RetrievalContext)
	}
	return out, strings.Join(labels, ", ")
}

// varValues returns the values of a var, which stand in a list unless there is
// one.
func varValues(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// varText returns a value of a var as text.
func varText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// template puts the values of vars into texts.
type template struct{ values map[string]any }

func (t template) text(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	var b strings.Builder
	end := 0
	for p := range placeholders(s) {
		if value, ok := t.values[p.name]; ok {
			b.WriteString(s[end:p.begin] + varText(value))
			end = p.end
		}
	}
	return b.String() + s[end:]
}

func (t template) textOrNil(s *string) *string {
	if s == nil {
		return nil
	}
	text := t.text(*s)
	return &text
}

func (t template) texts(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = t.text(out[i])
	}
	return out
}

func (t template) tools(list []ExpectedTool) []ExpectedTool {
	out := slices.Clone(list)
	for i := range out {
		out[i].Name = t.text(out[i].Name)
		if out[i].Args != nil {
			out[i].Args, _ = t.value(out[i].Args).(map[string]any)
		}
	}
	return out
}

// value puts values into the texts of a value of any shape.
func (t template) value(v any) any {
	switch v := v.(type) {
	case string:
		for p := range placeholders(v) {
			if value, ok := t.values[p.name]; ok && p.begin == 0 && p.end == len(v) {
				return value
			}
			break
		}
		return t.text(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = t.value(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = t.value(item)
		}
		return out
	}
	return v
}

// placeholder is a {{name}} in a text.
type placeholder struct {
	name       string
	begin, end int // its bytes
}

// placeholders yields every {{name}} of a text. Braces around anything but a
// name are text.
func placeholders(s string) iter.Seq[placeholder] {
	return func(yield func(placeholder) bool) {
		for from := 0; ; {
			open := strings.Index(s[from:], "{{")
			if open < 0 {
				return
			}
			begin := from + open
			inner, _, closed := strings.Cut(s[begin+2:], "}}")
			if !closed {
				return
			}
			name := strings.TrimSpace(inner)
			if !isToolName(name) {
				from = begin + 1
				continue
			}
			from = begin + 2 + len(inner) + 2
			if !yield(placeholder{name, begin, from}) {
				return
			}
		}
	}
}

// vars checks the vars of a case, and that its texts use what there is.
func (c *checker) vars(tc *TestCase) {
	if len(tc.Vars) == 0 {
		c.bracesWithoutVars(tc)
		return
	}
	fail := func(text, hint string) { c.fail(tc.Block, "vars", CodeValue, text, hint) }
	names := sortedKeys(tc.Vars)
	usable := true
	for _, name := range names {
		if !isToolName(name) {
			fail(fmt.Sprintf("%q is not a name: letters, digits, _ and - only", name), "")
		}
		values := varValues(tc.Vars[name])
		if len(values) == 0 {
			fail(fmt.Sprintf("%s has no values", name), "give it at least one, or remove it")
			usable = false
		}
		if slices.ContainsFunc(values, func(v any) bool { return !isScalar(v) }) {
			fail(fmt.Sprintf("%s holds a list, a mapping or nothing", name), "the values are texts, numbers and truth values")
			usable = false
		}
	}
	if !usable {
		return
	}
	if tc.Combinations() > MaxCombinations {
		fail(fmt.Sprintf("make more than %d cases", MaxCombinations), "give fewer values, or several test cases")
		return
	}
	used := map[string]bool{}
	for s := range tc.templates() {
		for p := range placeholders(s) {
			used[p.name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if _, ok := tc.Vars[name]; !ok {
			fail(fmt.Sprintf("{{%s}} stands in the case, and there is no such var", name), didYouMean(name, names))
		}
	}
	for _, name := range names {
		if !used[name] {
			c.warn(tc.Block, "vars", CodeNoEffect, fmt.Sprintf("{{%s}} stands nowhere in the case", name), "put it into a text, or remove it")
		}
	}
}

// bracesWithoutVars warns of a {{name}} in a case that has no vars: it is text,
// and is said as it stands.
func (c *checker) bracesWithoutVars(tc *TestCase) {
	for s := range tc.templates() {
		for p := range placeholders(s) {
			c.warn(tc.Block, "", CodeNoEffect, fmt.Sprintf("{{%s}} stands in the case, which has no vars; it is text there", p.name),
				"give vars, or leave it if the braces are meant")
			return
		}
	}
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, int, float64, bool:
		return true
	}
	return false
}

// templates yields the texts of a case into which vars are put.
func (c *TestCase) templates() iter.Seq[string] {
	return func(yield func(string) bool) {
		ok := true
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case string:
				ok = ok && yield(v)
			case *string:
				if v != nil {
					walk(*v)
				}
			case []string:
				for _, s := range v {
					walk(s)
				}
			case []any:
				for _, item := range v {
					walk(item)
				}
			case map[string]any:
				for _, item := range v {
					walk(item)
				}
			case []ExpectedTool:
				for i := range v {
					walk(v[i].Name)
					walk(v[i].Args)
				}
			}
		}
		for _, v := range []any{c.ID, c.Name, c.Input, c.GroundTruth, c.ExpectedTools, c.ForbiddenTools, c.RetrievalContext} {
			walk(v)
		}
		for i := range c.Turns {
			turn := &c.Turns[i]
			for _, v := range []any{turn.Input, turn.GroundTruth, turn.ExpectedTools, turn.ForbiddenTools, turn.RetrievalContext} {
				walk(v)
			}
		}
	}
}
