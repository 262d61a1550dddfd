package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Unchecked names what the schema says and Check passes over, because it cannot
// be decided here: patterns that are no regular expressions of RE2
// (github.com/google/re2/wiki/Syntax), references that lead outside, keywords that
// the draft does not know, and numbers with too many digits.
func (s *Schema) Unchecked() []string { return s.unchecked }

// loosen takes out of the schema what cannot be checked, and with it whatever
// would refuse a value only because that is gone: a value that follows the
// schema as it was written always passes.
func (s *Schema) loosen() {
	loose := map[*jsonschema.Schema]bool{} // something was taken out of it, or of what it applies
	for _, pointer := range sortedKeys(s.byPointer) {
		node := s.byPointer[pointer]
		note := func(format string, args ...any) {
			s.unchecked = append(s.unchecked, fmt.Sprintf("%s: "+format, append([]any{at(pointer)}, args...)...))
			loose[node] = true
		}
		for _, what := range s.passedOver(node) {
			s.unchecked = append(s.unchecked, at(pointer)+": "+what)
		}
		for _, pattern := range append(sortedKeys(node.PatternProperties), node.Pattern) {
			if !isPattern(pattern) {
				s.broken = append(s.broken, fmt.Sprintf("%s: %q is not a regular expression", at(pointer), pattern))
			}
		}
		if node.Pattern != "" && !isRE2(node.Pattern) {
			note("pattern %s", node.Pattern)
			node.Pattern = ""
		}
		for _, pattern := range sortedKeys(node.PatternProperties) {
			if !isRE2(pattern) {
				note("patternProperties %s", pattern)
				delete(node.PatternProperties, pattern)
				node.AdditionalProperties = nil // it may speak of fewer properties than are left over
			}
		}
		if node.Ref != "" && s.outside(node.Ref) {
			note("$ref %s", node.Ref)
			node.Ref = ""
		}
	}
	if len(loose) == 0 {
		return
	}
	for changed := true; changed; {
		changed = false
		for _, node := range s.byPointer {
			if !loose[node] && s.appliesLoose(node, loose) {
				loose[node], changed = true, true
			}
		}
	}
	for _, node := range s.byPointer {
		if loose[node] {
			relax(node, loose)
		}
	}
}

// isRE2 reports whether a pattern can be compiled.
func isRE2(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

// outside reports whether a reference leads out of the schema.
func (s *Schema) outside(ref string) bool {
	return ref != s.root.ID && !strings.HasPrefix(strings.TrimPrefix(ref, s.root.ID), "#")
}

// appliesLoose reports whether a schema applies one that was loosened.
func (s *Schema) appliesLoose(node *jsonschema.Schema, loose map[*jsonschema.Schema]bool) bool {
	for _, c := range children(node) {
		if loose[c.schema] {
			return true
		}
	}
	if node.Ref == "" {
		return false
	}
	target, err := s.Ref(node.Ref)
	return err == nil && loose[target]
}

// relax removes the keywords of a schema that refuse more when a schema they
// apply takes more.
func relax(node *jsonschema.Schema, loose map[*jsonschema.Schema]bool) {
	if loose[node.Not] {
		node.Not = nil
	}
	if loose[node.If] {
		node.If, node.Then, node.Else = nil, nil, nil
	}
	if loose[node.Contains] {
		node.MaxContains = nil
	}
	for _, sub := range node.OneOf {
		if loose[sub] { // more than one may fit now
			node.AllOf = append(node.AllOf, &jsonschema.Schema{AnyOf: node.OneOf})
			node.OneOf = nil
			break
		}
	}
	// What a schema that is gone would have looked at counts as looked at.
	node.UnevaluatedProperties, node.UnevaluatedItems = nil, nil
}
