package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/llm/schema"
)

func TestCheckSaysWhatIsWrong(t *testing.T) {
	const order = `{
		"type": "object",
		"properties": {
			"query": {"type": "string", "description": "what to search for", "minLength": 2},
			"limit": {"type": "integer", "minimum": 1, "maximum": 50},
			"kind":  {"enum": ["book", "film"]},
			"tags":  {"type": "array", "items": {"type": "string"}, "maxItems": 2},
			"owner": {"$ref": "#/$defs/person"},
			"size":  {"type": ["number", "boolean"]},
			"step":  {"type": "number", "multipleOf": 0.5, "exclusiveMinimum": 0, "exclusiveMaximum": 9},
			"pair":  {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2},
			"extra": {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": {"type": "integer"}},
			"fixed": {"const": "a"},
			"when":  {"anyOf": [{"type": "string", "pattern": "^\\d{4}$"}, {"type": "null"}]}
		},
		"required": ["query"],
		"additionalProperties": false,
		"$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
	}`
	s, err := schema.Compile([]byte(order))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, value, want string }{
		{"right", `{"query": "go", "limit": 5, "kind": "film", "tags": ["a"], "owner": {"name": "x"}, "when": "2024"}`, ""},
		{"null alternative", `{"query": "go", "when": null}`, ""},
		{"missing", `{}`, "query is missing (string: what to search for)"},
		{"wrong type", `{"query": 5}`, "query is the number 5, want string"},
		{"not an object", `"go"`, `is the string "go", want object`},
		{"not JSON", `{"query"`, "not JSON"},
		{"too short", `{"query": "g"}`, "query has 1 characters, want at least 2"},
		{"out of bounds", `{"query": "go", "limit": 500}`, "limit is 500, want at most 50"},
		{"a fraction", `{"query": "go", "limit": 1.5}`, "limit is the number 1.5, want integer"},
		{"not in the list", `{"query": "go", "kind": "song"}`, `kind is "song", want one of "book", "film"`},
		{"in a list", `{"query": "go", "tags": ["a", 1]}`, "tags[1] is the number 1, want string"},
		{"too many", `{"query": "go", "tags": ["a", "b", "c"]}`, "tags has 3 items, want at most 2"},
		{"behind a reference", `{"query": "go", "owner": {}}`, "owner.name is missing (string)"},
		{"nearest alternative", `{"query": "go", "when": "yesterday"}`, `when is "yesterday", which does not match the pattern ^\d{4}$`},
		{"unknown", `{"query": "go", "quary": 1}`, "quary is not known; known are extra, fixed, kind, limit, owner, pair, query, size, step, tags, when"},
		{"one of two types", `{"query": "go", "size": null}`, "size is null, want number or boolean"},
		{"an object for a number", `{"query": "go", "limit": {}}`, "limit is an object, want integer"},
		{"a list for a number", `{"query": "go", "limit": []}`, "limit is an array, want integer"},
		{"a flag for a number", `{"query": "go", "limit": true}`, "limit is true, want integer"},
		{"not a step", `{"query": "go", "step": 0.7}`, "step is 0.7, want a multiple of 0.5"},
		{"too small", `{"query": "go", "step": 0}`, "step is 0, want more than 0"},
		{"too large", `{"query": "go", "step": 9}`, "step is 9, want less than 9"},
		{"in a pair", `{"query": "go", "pair": ["a", "b"]}`, `pair[1] is the string "b", want integer`},
		{"too few", `{"query": "go", "pair": ["a"]}`, `pair has 1 items, want at least 2`},
		{"other fields", `{"query": "go", "extra": {"x1": "a", "y": "b"}}`, `extra.y is the string "b", want integer`},
		{"not the constant", `{"query": "go", "fixed": "b"}`, `fixed is "b", want "a"`},
		{"a long value", `{"query": "go", "kind": "` + strings.Repeat("x", 99) + `"}`, `kind is "` + strings.Repeat("x", 59) + `…, want one of`},
		{"many at once", `{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}`, `query is missing`},
		{"several, in order", `{"tags": 1, "limit": 0}`,
			"query is missing (string: what to search for); limit is 0, want at least 1; tags is the number 1, want array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 20 { // Go maps must not show
				err := s.Check([]byte(tt.value))
				switch {
				case tt.want == "" && err != nil:
					t.Fatalf("Check(%s) = %v, want nil", tt.value, err)
				case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
					t.Fatalf("Check(%s) = %v, want %s", tt.value, err, tt.want)
				}
			}
		})
	}
}

func TestCheckKeywordsItHasNoWordsFor(t *testing.T) {
	s, err := schema.Compile([]byte(`{"type": "array", "uniqueItems": true}`))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Check([]byte(`[1, 1]`))
	if err == nil || err.Error() != "has equal items in places 0 and 1, want no two alike" {
		t.Errorf("Check = %v", err)
	}
}

func TestEveryRefusalIsInOurWords(t *testing.T) {
	for _, tt := range []struct{ raw, value, want string }{
		{`{"not": {"type": "string"}}`, `"x"`, "has a value that the schema rules out (not)"},
		{`{"properties": {"a": {"not": {"required": ["b"]}}}}`, `{"a": {"b": 1}}`, "has a value that the schema rules out (not)"},
		{`{"oneOf": [{"type": "integer"}, {"type": "number"}]}`, `1`, "has a value that fits several of the alternatives, or none, want exactly one (oneOf)"},
		{`{"contains": {"type": "string"}}`, `[1]`, "has a list that lacks items of the kind it must hold (contains)"},
		{`{"contains": {"type": "string"}, "minContains": 2}`, `["a"]`, "has a list that lacks items of the kind it must hold (contains)"},
		{`{"contains": {"type": "string"}, "maxContains": 1}`, `["a", "b"]`, "has a list with too many items of one kind (maxContains)"},
		{`{"minProperties": 1}`, `{}`, "has 0 properties, want at least 1"},
		{`{"maxProperties": 1}`, `{"a": 1, "b": 1}`, "has 2 properties, want at most 1"},
		{`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, "b is missing, and is needed beside a"},
		{`{"propertyNames": {"maxLength": 1}}`, `{"ab": 1}`, "ab has a name that has 2 characters, want at most 1"},
		{`{"properties": {"a": {}}, "unevaluatedProperties": false}`, `{"b": 1}`, "has a value that the schema rules out (not)"},
		{`{"if": {"type": "string"}, "then": {"minLength": 2}}`, `"a"`, "does not follow the schema"},
		{`false`, `1`, "has a value that the schema rules out (not)"},
	} {
		s, err := schema.Compile([]byte(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check([]byte(tt.value)); err == nil || err.Error() != tt.want {
			t.Errorf("%s, %s: %v, want %s", tt.raw, tt.value, err, tt.want)
		}
	}
}

func TestWhatCannotBeCheckedIsNamedAndRefusesNothing(t *testing.T) {
	const ahead, far = `^(?=.*[0-9]).+$`, `https://example.com/x.json`
	for _, tt := range []struct{ name, raw, unchecked, good, bad string }{
		{"a pattern", `{"properties": {"a": {"type": "string", "pattern": "` + ahead + `"}}}`, "/properties/a: pattern " + ahead, `{"a": "x"}`, `{"a": 1}`},
		{"a reference", `{"items": {"$ref": "` + far + `"}, "maxItems": 1}`, "/items: $ref " + far, `[1]`, `[1, 2]`},
		{"names of properties", `{"type": "object", "patternProperties": {"` + ahead + `": {}}, "additionalProperties": false}`, "the schema: patternProperties " + ahead, `{"a": 1}`, `1`},
		{"within not", `{"type": "string", "not": {"pattern": "` + ahead + `"}}`, "/not: pattern " + ahead, `"a"`, `1`},
		{"behind a reference within not", `{"type": "string", "not": {"$ref": "#/$defs/p"}, "$defs": {"p": {"pattern": "` + ahead + `"}}}`, "/$defs/p: pattern " + ahead, `"a"`, `1`},
		{"within if", `{"type": "string", "if": {"pattern": "` + ahead + `"}, "then": false}`, "/if: pattern " + ahead, `"a"`, `1`},
		{"within oneOf", `{"oneOf": [{"pattern": "` + ahead + `"}, {"type": "string"}, {"type": "null"}], "type": "string"}`, "/oneOf/0: pattern " + ahead, `"a"`, `1`},
		{"beside unevaluatedProperties", `{"type": "object", "$ref": "` + far + `", "unevaluatedProperties": false}`, "the schema: $ref " + far, `{"a": 1}`, `1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Unchecked(), "; "); got != tt.unchecked {
				t.Errorf("unchecked %q, want %q", got, tt.unchecked)
			}
			if err := s.Check([]byte(tt.good)); err != nil {
				t.Errorf("Check(%s) = %v", tt.good, err)
			}
			if err := s.Check([]byte(tt.bad)); err == nil {
				t.Errorf("Check(%s) = nil", tt.bad)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"not JSON", `{`, "unexpected end"},
		{"wrong value", `{"type": 5}`, "JSON Schema: /type: 5 is not a type; types are null, boolean"},
		{"unknown type", `{"properties": {"a": {"type": "objct"}}}`, `JSON Schema: /properties/a/type: "objct" is not a type`},
		{"text for a count", `{"minLength": "x"}`, `JSON Schema: /minLength is the string "x", want a whole number that is not negative`},
		{"a negative count", `{"items": [{"maxItems": -1}]}`, `JSON Schema: /items/0/maxItems is the number -1, want a whole number`},
		{"text for names", `{"required": "yes please"}`, `JSON Schema: /required is the string "yes please", want a list of names`},
		{"a list for an object", `{"properties": []}`, `JSON Schema: /properties is an array, want an object`},
		{"a number for a schema", `{"anyOf": [5]}`, `JSON Schema: /anyOf/0 is the number 5, want a schema: an object, true or false`},
		{"an object for schemas", `{"anyOf": {}}`, `JSON Schema: /anyOf is an object, want a list of schemas`},
		{"a number for a schema or names", `{"dependencies": {"a": 5}}`, `JSON Schema: /dependencies/a is the number 5, want a schema`},
		{"text for a flag", `{"uniqueItems": "yes"}`, `JSON Schema: /uniqueItems is the string "yes", want true or false`},
		{"a number for text", `{"pattern": 5}`, `JSON Schema: /pattern is the number 5, want a string`},
		{"another draft", `{"$schema": "http://json-schema.org/draft-04/schema#"}`, "2020-12 and 07 are known"},
		{"nowhere", `{"$ref": "#/$defs/x"}`, "x"},
		{"a circle", `{"$ref": "#"}`, "refers to itself"},
		{"a longer circle", `{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}`, "refers to itself"},
		{"an id inside", `{"properties": {"a": {"$id": "https://example.com/a"}}}`, "$id of its own"},
		{"a null", `{"properties": {"a": null}}`, "null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(tt.raw))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Compile(%s) = %v, want an error with %q", tt.raw, err, tt.want)
			}
		})
	}
}

func TestCompileRefusesAnExplosion(t *testing.T) {
	defs := []string{`"d0": {"type": "string"}`}
	for i := range 40 {
		ref := fmt.Sprintf(`{"$ref": "#/$defs/d%d"}`, i)
		defs = append(defs, fmt.Sprintf(`"d%d": {"allOf": [%s, %s]}`, i+1, ref, ref))
	}
	_, err := schema.Compile([]byte(`{"$ref": "#/$defs/d40", "$defs": {` + strings.Join(defs, ", ") + `}}`))
	if err == nil || !strings.Contains(err.Error(), "more than 10000 schemas apply to one value") {
		t.Errorf("Compile = %v", err)
	}
}

func TestCompileTakes(t *testing.T) {
	for _, tt := range []struct{ name, raw, value string }{
		{"a tree", `{"type": "object", "properties": {"child": {"$ref": "#"}}}`, `{"child": {"child": {}}}`},
		{"a relative id", `{"$id": "order.json", "$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}`, `1`},
		{"an absolute id", `{"$id": "https://example.com/o", "items": {"$ref": "https://example.com/o#/$defs/a"}, "$defs": {"a": true}}`, `[1]`},
		{"an anchor", `{"items": {"$ref": "#a"}, "$defs": {"x": {"$anchor": "a", "type": "integer"}}}`, `[1]`},
		{"an escaped name", `{"items": {"$ref": "#/$defs/My%20~1Type"}, "$defs": {"My /Type": {"type": "integer"}}}`, `[1]`},
		{"draft 07", `{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": {"type": "integer"}}}`, `1`},
		{"true", `true`, `{"anything": 1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check([]byte(tt.value)); err != nil {
				t.Errorf("Check(%s) = %v", tt.value, err)
			}
		})
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}`, `{"a": {"a": {}}}`)
	f.Add(`{"anyOf": [{"type": "string"}, {"minimum": 3}]}`, `2`)
	f.Add(`{"allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"multipleOf": 0}}}`, `1e308`)
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := schema.Compile([]byte(raw))
		if err != nil {
			return
		}
		first := s.Check([]byte(value))
		if first != nil && first.Error() == "" && json.Valid([]byte(value)) {
			t.Error("a refusal without words")
		}
	})
}
