package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Error says where a value does not follow its schema.
type Error struct{ Violations []Violation }

// Violation is one place where a value does not follow its schema.
type Violation struct {
	// Path is where it is in the value, such as "filters[0].field"; empty is
	// the value itself.
	Path string
	// Text is what is wrong there.
	Text string
}

// Error implements error. It lists the first five violations.
func (e *Error) Error() string {
	const most = 5
	var lines []string
	for i, v := range e.Violations {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Violations)-most))
			break
		}
		if v.Path == "" {
			lines = append(lines, v.Text)
			continue
		}
		lines = append(lines, v.Path+" "+v.Text)
	}
	return strings.Join(lines, "; ")
}

// explain returns where v does not follow node. It knows the keywords that
// models trip over and returns nothing for the rest: the library decides, this
// only finds words for it. The library walks Go maps and names whatever it
// meets first, which would make two runs differ.
func (s *Schema) explain(node *jsonschema.Schema, v any, path string) []Violation {
	bad := func(format string, args ...any) []Violation {
		return []Violation{{Path: path, Text: fmt.Sprintf(format, args...)}}
	}
	types := node.Types
	if node.Type != "" {
		types = []string{node.Type}
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(v, t) }) {
		return bad("is %s, want %s", describe(s.mask(v)), strings.Join(types, " or "))
	}
	if node.Const != nil && !reflect.DeepEqual(*node.Const, v) {
		return bad("is %s, want %s", compact(s.mask(v)), compact(s.mask(*node.Const)))
	}
	if node.Enum != nil && !slices.ContainsFunc(node.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		var allowed []string
		for _, e := range node.Enum {
			allowed = append(allowed, compact(s.mask(e)))
		}
		return bad("is %s, want one of %s", compact(s.mask(v)), strings.Join(allowed, ", "))
	}
	var out []Violation
	if node.Ref != "" {
		if target, err := s.Ref(node.Ref); err == nil {
			out = append(out, s.explain(target, v, path)...)
		}
	}
	for _, sub := range node.AllOf {
		out = append(out, s.explain(sub, v, path)...)
	}
	out = append(out, s.explainNearest(node.AnyOf, v, path)...)
	out = append(out, s.explainNearest(node.OneOf, v, path)...)
	switch v := v.(type) {
	case string:
		out = append(out, s.explainString(node, v, path)...)
	case float64:
		out = append(out, explainNumber(node, v, path)...)
	case []any:
		out = append(out, s.explainList(node, v, path)...)
	case map[string]any:
		out = append(out, s.explainObject(node, v, path)...)
	}
	return out
}

// explainNearest explains by the alternative that has the fewest violations,
// the first of equals.
func (s *Schema) explainNearest(alternatives []*jsonschema.Schema, v any, path string) []Violation {
	var nearest []Violation
	for i, sub := range alternatives {
		violations := s.explain(sub, v, path)
		if i == 0 || len(violations) < len(nearest) {
			nearest = violations
		}
	}
	return nearest
}

func (s *Schema) explainString(node *jsonschema.Schema, v, path string) []Violation {
	var out []Violation
	length := utf8.RuneCountInString(v)
	if node.MinLength != nil && length < *node.MinLength {
		out = append(out, Violation{path, fmt.Sprintf("has %d characters, want at least %d", length, *node.MinLength)})
	}
	if node.MaxLength != nil && length > *node.MaxLength {
		out = append(out, Violation{path, fmt.Sprintf("has %d characters, want at most %d", length, *node.MaxLength)})
	}
	if node.Pattern != "" {
		if re, err := regexp.Compile(node.Pattern); err == nil && !re.MatchString(v) {
			out = append(out, Violation{path, fmt.Sprintf("is %s, which does not match the pattern %s", compact(s.mask(v)), node.Pattern)})
		}
	}
	return out
}

func explainNumber(node *jsonschema.Schema, v float64, path string) []Violation {
	var out []Violation
	bound := func(limit *float64, ok func(v, limit float64) bool, words string) {
		if limit != nil && !ok(v, *limit) {
			out = append(out, Violation{path, fmt.Sprintf("is %v, want %s %v", v, words, *limit)})
		}
	}
	bound(node.Minimum, func(v, limit float64) bool { return v >= limit }, "at least")
	bound(node.Maximum, func(v, limit float64) bool { return v <= limit }, "at most")
	bound(node.ExclusiveMinimum, func(v, limit float64) bool { return v > limit }, "more than")
	bound(node.ExclusiveMaximum, func(v, limit float64) bool { return v < limit }, "less than")
	bound(node.MultipleOf, func(v, limit float64) bool { return math.Mod(v, limit) == 0 }, "a multiple of")
	return out
}

func (s *Schema) explainList(node *jsonschema.Schema, v []any, path string) []Violation {
	var out []Violation
	if node.MinItems != nil && len(v) < *node.MinItems {
		out = append(out, Violation{path, fmt.Sprintf("has %d items, want at least %d", len(v), *node.MinItems)})
	}
	if node.MaxItems != nil && len(v) > *node.MaxItems {
		out = append(out, Violation{path, fmt.Sprintf("has %d items, want at most %d", len(v), *node.MaxItems)})
	}
	if node.UniqueItems {
		for i := range v {
			if j := slices.IndexFunc(v[:i], func(e any) bool { return reflect.DeepEqual(e, v[i]) }); j >= 0 {
				out = append(out, Violation{path, fmt.Sprintf("has equal items in places %d and %d, want no two alike", j, i)})
				break
			}
		}
	}
	for i, item := range v {
		sub := node.Items
		if i < len(node.PrefixItems) {
			sub = node.PrefixItems[i]
		}
		if sub != nil {
			out = append(out, s.explain(sub, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return out
}

func (s *Schema) explainObject(node *jsonschema.Schema, v map[string]any, path string) []Violation {
	below := func(key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	var out []Violation
	if node.MinProperties != nil && len(v) < *node.MinProperties {
		out = append(out, Violation{path, fmt.Sprintf("has %d properties, want at least %d", len(v), *node.MinProperties)})
	}
	if node.MaxProperties != nil && len(v) > *node.MaxProperties {
		out = append(out, Violation{path, fmt.Sprintf("has %d properties, want at most %d", len(v), *node.MaxProperties)})
	}
	for _, group := range []map[string][]string{node.DependentRequired, node.DependencyStrings} {
		for _, given := range sortedKeys(group) {
			for _, key := range group[given] {
				_, asks := v[given]
				if _, ok := v[key]; asks && !ok {
					out = append(out, Violation{below(key), fmt.Sprintf("is missing, and is needed beside %s", given)})
				}
			}
		}
	}
	if node.PropertyNames != nil {
		for _, key := range sortedKeys(v) {
			for _, bad := range s.explain(node.PropertyNames, key, "") {
				out = append(out, Violation{below(key), "has a name that " + bad.Text})
			}
		}
	}
	for _, key := range node.Required {
		if _, ok := v[key]; ok {
			continue
		}
		text := "is missing"
		if sub := node.Properties[key]; sub != nil && cmp.Or(sub.Type, sub.Description) != "" {
			text += " (" + strings.Trim(sub.Type+": "+sub.Description, ": ") + ")"
		}
		out = append(out, Violation{below(key), text})
	}
	for _, key := range sortedKeys(v) {
		if sub, ok := node.Properties[key]; ok {
			out = append(out, s.explain(sub, v[key], below(key))...)
			continue
		}
		if node.AdditionalProperties == nil || matchesAny(node.PatternProperties, key) {
			continue
		}
		if refusesAll(node.AdditionalProperties) {
			text := "is not known"
			if len(node.Properties) > 0 {
				text += "; known are " + strings.Join(sortedKeys(node.Properties), ", ")
			}
			out = append(out, Violation{below(key), text})
			continue
		}
		out = append(out, s.explain(node.AdditionalProperties, v[key], below(key))...)
	}
	return out
}

// refusesAll reports whether node is the schema false.
func refusesAll(node *jsonschema.Schema) bool {
	return node.Not != nil && reflect.ValueOf(*node.Not).IsZero()
}

func matchesAny(patterns map[string]*jsonschema.Schema, key string) bool {
	for pattern := range patterns {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(key) {
			return true
		}
	}
	return false
}

// isType reports whether v, which encoding/json decoded, is of a JSON Schema
// type. A number without a fraction is an integer too.
func isType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// describe names a value's type and, where it is short, the value.
func describe(v any) string {
	switch v.(type) {
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	case string:
		return "the string " + compact(v)
	case float64:
		return "the number " + compact(v)
	}
	return compact(v)
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
