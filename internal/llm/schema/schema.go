package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	root      *jsonschema.Schema
	resolved  *jsonschema.Resolved
	byPointer map[string]*jsonschema.Schema // by JSON pointer from the root
	byAnchor  map[string]*jsonschema.Schema
	unchecked []string
	broken    []string
	mask      func(any) any // of what errors quote
	// comparesNumbers says that it matters which number a number is.
	comparesNumbers bool
}

// Compile reads a JSON Schema. The error says why it cannot be used: it is not
// JSON, a keyword has a wrong value, the draft is another, a reference leads
// nowhere or in a circle. What only cannot be checked is named by Unchecked.
func Compile(raw []byte) (s *Schema, err error) {
	// The library asserts; a schema comes from outside and must not end the process.
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("JSON Schema: %v", p)
		}
	}()
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil, fmt.Errorf("JSON Schema: %w", err)
	}
	if err := checkShape(plain, "", keywords()); err != nil {
		return nil, fmt.Errorf("JSON Schema: %w", err)
	}
	root := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, root); err != nil {
		return nil, fmt.Errorf("JSON Schema: %w", err)
	}
	if !knownDraft(root.Schema) {
		return nil, fmt.Errorf("JSON Schema: $schema is %q; the drafts 2020-12 and 07 are known", root.Schema)
	}
	s = &Schema{root: root, byPointer: map[string]*jsonschema.Schema{}, byAnchor: map[string]*jsonschema.Schema{}, mask: func(v any) any { return v }}
	if err := s.index(root, ""); err != nil {
		return nil, fmt.Errorf("JSON Schema: %w", err)
	}
	s.loosen()
	s.noteNumbers(raw)
	if err := s.refuseCircles(); err != nil {
		return nil, fmt.Errorf("JSON Schema: %w", err)
	}
	// The base lets a relative $id of the root stand; nothing is loaded from it.
	s.resolved, err = root.Resolve(&jsonschema.ResolveOptions{BaseURI: "schema:///root"})
	if err != nil {
		return nil, fmt.Errorf("JSON Schema: %s", strings.NewReplacer("jsonschema.Schema: ", "", "jsonschema: ", "", "<anonymous schema>", "the schema").Replace(err.Error()))
	}
	return s, nil
}

func knownDraft(uri string) bool {
	switch strings.TrimSuffix(uri, "#") {
	case "", "https://json-schema.org/draft/2020-12/schema",
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
		return true
	}
	return false
}

// Root returns the schema itself. It must not be changed.
func (s *Schema) Root() *jsonschema.Schema { return s.root }

// Masking returns the schema with values passed through mask before an error of
// Check quotes them. They are cut after that: half a secret cannot be told any
// more.
func (s *Schema) Masking(mask func(any) any) *Schema {
	masking := *s
	masking.mask = mask
	return &masking
}

// Ref returns the schema that the value of a $ref leads to.
func (s *Schema) Ref(ref string) (*jsonschema.Schema, error) {
	fragment, ok := strings.CutPrefix(strings.TrimPrefix(ref, s.root.ID), "#")
	if !ok && ref != s.root.ID {
		return nil, fmt.Errorf("$ref %q leads outside the schema; put the definition under $defs", ref)
	}
	if unescaped, err := url.PathUnescape(fragment); err == nil {
		fragment = unescaped
	}
	target, ok := s.byPointer[fragment]
	if !ok {
		target, ok = s.byAnchor[fragment]
	}
	if !ok {
		return nil, fmt.Errorf("$ref %q leads nowhere", ref)
	}
	return target, nil
}

// index notes where every subschema stands, and refuses what changes the
// meaning of a reference with its place.
func (s *Schema) index(node *jsonschema.Schema, pointer string) error {
	switch {
	case node == nil:
		return fmt.Errorf("%s is null, want a schema", at(pointer))
	case pointer != "" && node.ID != "":
		return fmt.Errorf("%s has an $id of its own, which is not supported; put the definition under $defs", at(pointer))
	case node.DynamicRef != "":
		return fmt.Errorf("%s has a $dynamicRef, which is not supported; use $ref", at(pointer))
	}
	s.byPointer[pointer] = node
	for _, anchor := range []string{node.Anchor, node.DynamicAnchor} {
		if anchor != "" {
			s.byAnchor[anchor] = node
		}
	}
	for _, c := range children(node) {
		if err := s.index(c.schema, pointer+"/"+c.segment); err != nil {
			return err
		}
	}
	return nil
}

func at(pointer string) string {
	if pointer == "" {
		return "the schema"
	}
	return pointer
}

// mostApplied bounds how many schemas may apply to one value. References to
// references double with every step, and a few dozen steps would never end.
const mostApplied = 10_000

// refuseCircles finds schemas that apply themselves to the very same value, or
// too many others: checking a value against one would never end.
func (s *Schema) refuseCircles() error {
	const underWay = -1
	applied := map[*jsonschema.Schema]int{} // how many schemas apply where one does
	var visit func(node *jsonschema.Schema) (int, error)
	visit = func(node *jsonschema.Schema) (int, error) {
		switch n := applied[node]; {
		case n == underWay:
			return 0, errors.New("a schema refers to itself without an object or a list between")
		case n > 0:
			return n, nil
		}
		applied[node] = underWay
		next := inPlace(node)
		if node.Ref != "" {
			target, err := s.Ref(node.Ref)
			if err != nil {
				return 0, err
			}
			next = append(next, target)
		}
		total := 1
		for _, sub := range next {
			n, err := visit(sub)
			if err != nil {
				return 0, err
			}
			total += n
		}
		if total > mostApplied {
			return 0, fmt.Errorf("more than %d schemas apply to one value", mostApplied)
		}
		applied[node] = total
		return total, nil
	}
	for _, pointer := range sortedKeys(s.byPointer) {
		if _, err := visit(s.byPointer[pointer]); err != nil {
			return fmt.Errorf("%s: %w", at(pointer), err)
		}
	}
	return nil
}

// inPlace returns the subschemas that apply to the same value as node.
func inPlace(node *jsonschema.Schema) []*jsonschema.Schema {
	subs := slices.Concat(node.AllOf, node.AnyOf, node.OneOf)
	for _, sub := range []*jsonschema.Schema{node.Not, node.If, node.Then, node.Else} {
		if sub != nil {
			subs = append(subs, sub)
		}
	}
	for _, m := range []map[string]*jsonschema.Schema{node.DependentSchemas, node.DependencySchemas} {
		for _, key := range sortedKeys(m) {
			subs = append(subs, m[key])
		}
	}
	return subs
}

// child is a subschema and its place below its parent, as a JSON pointer.
type child struct {
	segment string
	schema  *jsonschema.Schema
}

// children returns the subschemas directly below node.
func children(node *jsonschema.Schema) []child {
	var out []child
	one := func(key string, s *jsonschema.Schema) {
		if s != nil {
			out = append(out, child{key, s})
		}
	}
	list := func(key string, items []*jsonschema.Schema) {
		for i, s := range items {
			out = append(out, child{key + "/" + strconv.Itoa(i), s})
		}
	}
	table := func(key string, m map[string]*jsonschema.Schema) {
		for _, name := range sortedKeys(m) {
			out = append(out, child{key + "/" + escape(name), m[name]})
		}
	}
	table("$defs", node.Defs)
	table("definitions", node.Definitions)
	table("properties", node.Properties)
	table("patternProperties", node.PatternProperties)
	table("dependentSchemas", node.DependentSchemas)
	table("dependencies", node.DependencySchemas)
	list("allOf", node.AllOf)
	list("anyOf", node.AnyOf)
	list("oneOf", node.OneOf)
	list("prefixItems", node.PrefixItems)
	list("items", node.ItemsArray)
	one("items", node.Items)
	one("additionalItems", node.AdditionalItems)
	one("unevaluatedItems", node.UnevaluatedItems)
	one("contains", node.Contains)
	one("additionalProperties", node.AdditionalProperties)
	one("unevaluatedProperties", node.UnevaluatedProperties)
	one("propertyNames", node.PropertyNames)
	one("contentSchema", node.ContentSchema)
	one("not", node.Not)
	one("if", node.If)
	one("then", node.Then)
	one("else", node.Else)
	return out
}

// Check reports whether value, a JSON text, follows the schema: nil, or an
// error that names every place where it does not, in a fixed order.
func (s *Schema) Check(value []byte) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return s.CheckValue(v)
}

// CheckValue is Check for a value that encoding/json decoded.
func (s *Schema) CheckValue(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("check against the JSON Schema: %v", p)
		}
	}()
	cause := s.resolved.Validate(v)
	if cause == nil {
		return nil
	}
	if violations := s.explain(s.root, v, ""); len(violations) > 0 {
		return &Error{Violations: violations}
	}
	return &Error{Violations: []Violation{{Text: reword(cause.Error())}}}
}

// reword says what a refusal of the library comes down to that explain has no
// place for. The library names the keyword, after the schemas it stands in.
func reword(message string) string {
	for strings.HasPrefix(message, "validating ") {
		_, rest, ok := strings.Cut(message, ": ")
		if !ok {
			break
		}
		message = rest
	}
	switch keyword, _, _ := strings.Cut(message, ":"); keyword {
	case "not":
		return "has a value that the schema rules out (not)"
	case "oneOf":
		return "has a value that fits several of the alternatives, or none, want exactly one (oneOf)"
	case "contains", "minContains":
		return "has a list that lacks items of the kind it must hold (contains)"
	case "maxContains":
		return "has a list with too many items of one kind (maxContains)"
	case "anyOf", "unevaluatedItems", "unevaluatedProperties":
		return "has a value that the schema does not allow (" + keyword + ")"
	}
	return "does not follow the schema"
}

// compact returns v as JSON on one line, cut to what fits in a message.
func compact(v any) string {
	const longest = 60 // runes
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	runes := []rune(strings.TrimSpace(b.String()))
	if len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return string(runes)
}
