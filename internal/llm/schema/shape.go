package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// keywordKind is what the value of a keyword must be.
type keywordKind int

const (
	aSchema keywordKind = iota
	schemaOrSchemas
	schemasByName
	schemasOrNamesByName
	schemas
	typeNames
	names
	namesByName
	list
	number
	count
	text
	flag
)

// keywords returns what the values of the keywords must be that mean something
// in the drafts 2020-12 and 07.
func keywords() map[string]keywordKind {
	out := map[string]keywordKind{}
	for kind, words := range map[keywordKind]string{
		aSchema: "contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties " +
			"additionalItems contentSchema",
		schemaOrSchemas:      "items",
		schemasByName:        "properties patternProperties $defs definitions dependentSchemas",
		schemasOrNamesByName: "dependencies",
		schemas:              "allOf anyOf oneOf prefixItems",
		typeNames:            "type",
		names:                "required",
		namesByName:          "dependentRequired",
		list:                 "enum",
		number:               "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
		count:                "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
		text:                 "pattern format title description $ref $id $schema $anchor $dynamicRef $dynamicAnchor $comment contentEncoding contentMediaType",
		flag:                 "uniqueItems deprecated readOnly writeOnly",
	} {
		for word := range strings.FieldsSeq(words) {
			out[word] = kind
		}
	}
	return out
}

// checkShape reports the first keyword, by its place, whose value is not what it
// must be. v is what encoding/json decoded.
func checkShape(v any, pointer string, known map[string]keywordKind) error {
	node, ok := v.(map[string]any)
	if !ok {
		if _, ok := v.(bool); ok {
			return nil
		}
		return fmt.Errorf("%s is %s, want a schema: an object, true or false", at(pointer), describe(v))
	}
	for _, key := range sortedKeys(node) {
		kind, ok := known[key]
		if !ok {
			continue
		}
		if err := checkKeyword(kind, node[key], pointer+"/"+key, known); err != nil {
			return err
		}
	}
	return nil
}

func checkKeyword(kind keywordKind, v any, pointer string, known map[string]keywordKind) error {
	want := func(ok bool, words string) error {
		if ok {
			return nil
		}
		return fmt.Errorf("%s is %s, want %s", pointer, describe(v), words)
	}
	if v == nil {
		return nil // as if the keyword were absent; several programs write it so
	}
	items, isList := v.([]any)
	table, isTable := v.(map[string]any)
	n, isNumber := v.(float64)
	switch kind {
	case aSchema:
		return checkShape(v, pointer, known)
	case schemaOrSchemas:
		if !isList {
			return checkShape(v, pointer, known)
		}
		fallthrough
	case schemas:
		if !isList {
			return want(false, "a list of schemas")
		}
		for i, item := range items {
			if err := checkShape(item, pointer+"/"+strconv.Itoa(i), known); err != nil {
				return err
			}
		}
	case schemasByName, schemasOrNamesByName, namesByName:
		if !isTable {
			return want(false, "an object")
		}
		for _, name := range sortedKeys(table) {
			_, isNames := table[name].([]any)
			inner := aSchema
			if kind == namesByName || kind == schemasOrNamesByName && isNames {
				inner = names
			}
			if err := checkKeyword(inner, table[name], pointer+"/"+escape(name), known); err != nil {
				return err
			}
		}
	case typeNames:
		if !isList {
			items = []any{v}
		}
		for _, item := range items {
			name, ok := item.(string)
			if !ok || !isTypeName(name) {
				return fmt.Errorf("%s: %s is not a type; types are null, boolean, integer, number, string, array and object", pointer, compact(item))
			}
		}
	case names:
		for _, item := range items {
			if _, ok := item.(string); !ok {
				isList = false
			}
		}
		return want(isList, "a list of names")
	case list:
		return want(isList, "a list")
	case number:
		return want(isNumber, "a number")
	case count:
		return want(isNumber && n >= 0 && n == math.Trunc(n) && n <= math.MaxInt32, "a whole number that is not negative")
	case text:
		_, ok := v.(string)
		return want(ok, "a string")
	case flag:
		_, ok := v.(bool)
		return want(ok, "true or false")
	}
	return nil
}

func isTypeName(name string) bool {
	switch name {
	case "null", "boolean", "integer", "number", "string", "array", "object":
		return true
	}
	return false
}

// escape returns a name as a segment of a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
