package toolmatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/eval/pyre"
	"github.com/holodeck-go/holodeck/internal/eval/pystr"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

// matcher compares one argument.
type matcher interface {
	// match returns where the argument does not fit, or nothing.
	match(q quoter, arg json.RawMessage) []difference
}

// newMatcher returns the matcher that a value of the file stands for.
func newMatcher(q quoter, v any) (matcher, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return literal{want: v}, nil
	}
	for _, key := range []string{"fuzzy", "regex"} {
		if _, ok := object[key]; !ok {
			continue
		}
		if len(object) > 1 {
			return nil, errors.New("a matcher has exactly one key, fuzzy or regex")
		}
		text, ok := object[key].(string)
		if !ok {
			return nil, fmt.Errorf("%s is %s; write it as a string", key, q.value(object[key]))
		}
		if key == "fuzzy" {
			return fuzzy{text}, nil
		}
		return newRegex(text)
	}
	if _, ok := object["approx"]; ok && onlyKeys(object, "approx", "abs", "rel") {
		return newApprox(q, object)
	}
	if len(object) != 1 {
		return literal{want: v, like: matcherKey(object)}, nil
	}
	for key, value := range object {
		switch key {
		case "one_of":
			return newOneOf(q, value)
		case "contains":
			return newContains(q, value)
		case "not":
			m, err := newMatcher(q, value)
			return not{m, value}, err
		case "any":
			if value == true {
				return anything{}, nil
			}
		case "type":
			if types, ok := jsonTypes(value); ok {
				return ofType{types}, nil
			}
		case "schema":
			return newFollows(q, value)
		case "literal":
			return literal{want: value}, nil
		}
	}
	return literal{want: v, like: matcherKey(object)}, nil
}

// matcherKey returns the key of a matcher that stands in an object which is a
// value, or "". A type with other keys is left out unless it names JSON's types:
// many an object has one.
func matcherKey(object map[string]any) string {
	for _, key := range []string{"approx", "one_of", "contains", "not", "any", "schema", "literal"} {
		if _, ok := object[key]; ok {
			return key
		}
	}
	if value, ok := object["type"]; ok {
		if _, names := jsonTypes(value); names || len(object) == 1 {
			return "type"
		}
	}
	return ""
}

// onlyKeys reports whether an object has no other keys than these.
func onlyKeys(object map[string]any, keys ...string) bool {
	for key := range object {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

// fuzzy matches a text or number that is almost the same.
type fuzzy struct{ want string }

// fuzzyTolerance is how far apart two numbers may be.
const fuzzyTolerance = 1e-9

func (f fuzzy) match(q quoter, arg json.RawMessage) []difference {
	text, err := pystr.FromJSON(arg)
	if err != nil {
		return differ("cannot be read: %v", err)
	}
	want, got := simplify(f.want), simplify(text)
	w, wantNumber := fuzzyNumber(want)
	g, gotNumber := fuzzyNumber(got)
	if wantNumber && gotNumber {
		if w == g || math.Abs(w-g) <= fuzzyTolerance {
			return nil
		}
	} else if want == got {
		return nil
	}
	return differ("is %s, want about %q", q.json(arg), f.want)
}

// simplify removes what does not count: letter case, grouping of digits,
// white space.
func simplify(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == ',' || r == '_' || r == '\u202f' {
			return -1
		}
		return r
	}, pystr.Lower(s))
	return strings.Join(strings.FieldsFunc(s, pystr.IsSpace), " ")
}

// fuzzyNumber reads a simplified text as a number; 5% is 0.05.
func fuzzyNumber(s string) (float64, bool) {
	s = strings.ReplaceAll(s, " ", "")
	rest, percent := strings.CutSuffix(s, "%")
	f, ok := pystr.ParseFloat(rest)
	if percent {
		f /= 100
	}
	return f, ok
}

// regex matches a text that an expression matches as a whole.
type regex struct{ re *pyre.Regexp }

func newRegex(text string) (matcher, error) {
	re, err := pyre.Compile(text, pyre.Options{Full: true})
	if err != nil {
		return nil, err
	}
	return regex{re}, nil
}

func (r regex) match(q quoter, arg json.RawMessage) []difference {
	text, err := pystr.FromJSON(arg)
	if err != nil {
		return differ("cannot be read: %v", err)
	}
	ok, err := r.re.Match(text)
	switch {
	case err != nil:
		return differ("%v", err)
	case !ok:
		return differ("is %s, which %q does not match", q.json(arg), r.re)
	}
	return nil
}

// approx matches a number a that is close to the expected e: |a−e| ≤ abs or
// |a−e| ≤ rel·|e|, bounds included.
type approx struct{ want, abs, rel float64 }

// defaultAbs is abs where neither abs nor rel is given; otherwise the one that
// is not given is 0.
const defaultAbs = 1e-6

func newApprox(q quoter, object map[string]any) (matcher, error) {
	a := approx{abs: defaultAbs}
	if len(object) > 1 {
		a.abs = 0
	}
	for key, target := range map[string]*float64{"approx": &a.want, "abs": &a.abs, "rel": &a.rel} {
		v, ok := object[key]
		if !ok {
			continue
		}
		n, ok := number(v)
		if !ok || key != "approx" && !(n.float() >= 0) {
			return nil, fmt.Errorf("%s is %s; give a number", key, q.value(v))
		}
		*target = n.float()
	}
	return a, nil
}

func (a approx) match(q quoter, arg json.RawMessage) []difference {
	got, err := decode(arg)
	if err != nil {
		return differ("%v", err)
	}
	n, ok := number(got)
	if !ok {
		return differ("is %s, want a number about %s", q.json(arg), q.value(a.want))
	}
	distance := math.Abs(n.float() - a.want)
	if distance <= a.abs || a.rel > 0 && distance <= a.rel*math.Abs(a.want) {
		return nil
	}
	return differ("is %s, want about %s (%.6g away, at most %.6g)", q.json(arg), q.value(a.want),
		distance, max(a.abs, a.rel*math.Abs(a.want)))
}

// oneOf matches what one of several matchers does.
type oneOf struct {
	matchers []matcher
	wire     any
}

func newOneOf(q quoter, v any) (matcher, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("one_of is %s; give a list of values or matchers", q.value(v))
	}
	o := oneOf{wire: v}
	for _, entry := range list {
		m, err := newMatcher(q, entry)
		if err != nil {
			return nil, fmt.Errorf("one_of: %w", err)
		}
		o.matchers = append(o.matchers, m)
	}
	return o, nil
}

func (o oneOf) match(q quoter, arg json.RawMessage) []difference {
	var doubt []difference
	for _, m := range o.matchers {
		found := m.match(q, arg)
		if len(found) == 0 {
			return nil
		}
		if doubtful(found) {
			doubt = found
		}
	}
	if doubt != nil {
		return doubt
	}
	return differ("is %s, want one of %s", q.json(arg), q.value(o.wire))
}

// contains matches a text that has a text in it, a list with an element that
// fits, or an object with members that fit.
type contains struct {
	matcher matcher            // of an element
	members map[string]matcher // nil unless an object is wanted
	wire    any
}

func newContains(q quoter, v any) (matcher, error) {
	element, err := newMatcher(q, v)
	if err != nil {
		return nil, fmt.Errorf("contains: %w", err)
	}
	c := contains{matcher: element, wire: v}
	object, ok := v.(map[string]any)
	if _, plain := element.(literal); ok && plain {
		c.members = map[string]matcher{}
		for key, member := range object {
			if c.members[key], err = newMatcher(q, member); err != nil {
				return nil, fmt.Errorf("contains: %s: %w", key, err)
			}
		}
	}
	return c, nil
}

func (c contains) match(q quoter, arg json.RawMessage) []difference {
	got, err := decode(arg)
	if err != nil {
		return differ("%v", err)
	}
	switch got := got.(type) {
	case string:
		if text, ok := c.wire.(string); ok && strings.Contains(got, text) {
			return nil
		}
	case []any:
		var elements []json.RawMessage
		if err := json.Unmarshal(arg, &elements); err != nil {
			return differ("cannot be read: %v", err)
		}
		var doubt []difference
		for i, element := range elements {
			found := c.matcher.match(q, element)
			if len(found) == 0 {
				return nil
			}
			if doubtful(found) {
				doubt = below(fmt.Sprintf("[%d]", i), found)
			}
		}
		if doubt != nil {
			return doubt
		}
	case map[string]any:
		if c.members != nil {
			return c.matchMembers(q, arg)
		}
	}
	return differ("is %s, which does not contain %s", q.json(arg), q.value(c.wire))
}

func (c contains) matchMembers(q quoter, arg json.RawMessage) []difference {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(arg, &members); err != nil {
		return differ("cannot be read: %v", err)
	}
	var found []difference
	for _, key := range slices.Sorted(maps.Keys(c.members)) {
		member, ok := members[key]
		if !ok {
			found = append(found, difference{path: "." + key, text: "is missing"})
			continue
		}
		found = append(found, below("."+key, c.members[key].match(q, member))...)
	}
	return found
}

// not matches what another matcher does not.
type not struct {
	matcher matcher
	wire    any
}

func (n not) match(q quoter, arg json.RawMessage) []difference {
	found := n.matcher.match(q, arg)
	switch {
	case len(found) == 0:
		return differ("is %s, want anything but %s", q.json(arg), q.value(n.wire))
	case doubtful(found):
		return found
	}
	return nil
}

// anything matches every argument that is there.
type anything struct{}

func (anything) match(quoter, json.RawMessage) []difference { return nil }

// ofType matches a value of one of several JSON types.
type ofType struct{ types []string }

// jsonTypes returns the JSON types that a value of the file names, as JSON
// Schema does, or false when it names none.
func jsonTypes(v any) ([]string, bool) {
	names, ok := v.([]any)
	if !ok {
		names = []any{v}
	}
	var types []string
	for _, name := range names {
		switch name {
		case "string", "number", "integer", "boolean", "array", "object", "null":
			types = append(types, name.(string))
		default:
			return nil, false
		}
	}
	return types, len(types) > 0
}

func (o ofType) match(q quoter, arg json.RawMessage) []difference {
	got, err := decode(arg)
	if err != nil {
		return differ("%v", err)
	}
	if slices.ContainsFunc(o.types, func(name string) bool { return isOfType(got, name) }) {
		return nil
	}
	return differ("is %s, want a value of type %s", q.json(arg), strings.Join(o.types, " or "))
}

// isOfType reports whether decoded JSON is of a JSON type; 1.0 is an integer.
func isOfType(v any, name string) bool {
	switch v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	n, ok := number(v)
	return ok && (name == "number" || name == "integer" && n.rat != nil && n.rat.IsInt())
}

// follows matches a value that follows a JSON Schema.
type follows struct{ schema *schema.Schema }

func newFollows(q quoter, v any) (matcher, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s, err := schema.Compile(doc)
	if err != nil {
		return nil, err
	}
	if broken := s.Broken(); len(broken) > 0 {
		return nil, fmt.Errorf("schema: %s", strings.Join(broken, "; "))
	}
	return follows{s.Masking(q.redactor.Any)}, nil
}

func (f follows) match(q quoter, arg json.RawMessage) []difference {
	err := f.schema.Check(arg)
	if err == nil {
		if doubts := f.schema.Doubts(arg); len(doubts) > 0 {
			return []difference{{doubt: true, text: "follows what could be checked of its schema, and this could not be checked: " + strings.Join(doubts, "; ")}}
		}
		return nil
	}
	var violations *schema.Error
	if !errors.As(err, &violations) {
		return differ("is %s, which does not follow its schema: %v", q.json(arg), err)
	}
	var found []difference
	for _, v := range violations.Violations {
		path := v.Path
		if path != "" && path[0] != '[' {
			path = "." + path
		}
		found = append(found, difference{path: path, text: v.Text})
	}
	return found
}

// doubts names what is doubtful in a matcher: what a schema says that cannot be
// checked, and a value that looks like a matcher.
func doubts(m matcher) []string {
	var out []string
	switch m := m.(type) {
	case literal:
		if m.like != "" {
			return []string{fmt.Sprintf("the mapping with the key %s is compared as a value, since it is not quite the matcher %s; write it under literal if a value is meant", m.like, m.like)}
		}
	case follows:
		for _, what := range m.schema.Unchecked() {
			out = append(out, what+"; this cannot be checked, and a value that follows the rest does not match")
		}
	case not:
		return doubts(m.matcher)
	case oneOf:
		for _, choice := range m.matchers {
			out = append(out, doubts(choice)...)
		}
	case contains:
		if m.members == nil {
			return doubts(m.matcher)
		}
		for _, key := range slices.Sorted(maps.Keys(m.members)) {
			out = append(out, doubts(m.members[key])...)
		}
	}
	return out
}
