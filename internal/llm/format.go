package llm

import (
	"encoding/json"
	"slices"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// answerFormat is the JSON Schema of an answer, as a provider is told of it. The
// answer is held against the schema of the agent file, whatever is told here.
type answerFormat struct {
	schema map[string]any
	object bool // the answer is an object, which is all that some providers allow
	strict bool // the schema allows what OpenAI calls strict
	closed bool // the schema is of the kind Anthropic takes
}

// newAnswerFormat reads a schema. No provider takes oneOf; anyOf says as much as
// a model can heed.
func newAnswerFormat(schema json.RawMessage) (answerFormat, bool) {
	var f answerFormat
	if len(schema) == 0 || json.Unmarshal(schema, &f.schema) != nil || f.schema == nil {
		return answerFormat{}, false
	}
	eachSchema(f.schema, func(s map[string]any) {
		if _, both := s["anyOf"]; s["oneOf"] != nil && !both {
			s["anyOf"] = s["oneOf"]
			delete(s, "oneOf")
		}
	})
	f.object = f.schema["type"] == "object"
	f.strict, f.closed = f.object, f.object
	eachSchema(f.schema, func(s map[string]any) {
		f.strict = f.strict && allowsStrict(s)
		f.closed = f.closed && allowsClosed(s)
	})
	return f, true
}

// notStrict are the keywords that OpenAI's strict mode does not take.
var notStrict = []string{
	"oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "dependentRequired",
	"dependentSchemas", "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems", "contains",
	"minContains", "maxContains", "uniqueItems", "prefixItems", "default",
}

// allowsStrict reports whether one schema, apart from those within it, allows
// strict mode: an object forbids what it does not name, and requires the rest.
func allowsStrict(s map[string]any) bool {
	for _, key := range notStrict {
		if _, there := s[key]; there {
			return false
		}
	}
	properties, has := s["properties"].(map[string]any)
	if !has && s["type"] != "object" {
		return true
	}
	if s["additionalProperties"] != false {
		return false
	}
	required, _ := s["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return true
}

// notClosed are the keywords that Anthropic does not take.
var notClosed = []string{
	"not", "if", "then", "else", "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas",
	"minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "minContains",
	"maxContains", "uniqueItems", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "minLength", "maxLength",
}

// allowsClosed reports whether one schema, apart from those within it, is of the
// kind Anthropic takes: an object forbids what it does not name.
func allowsClosed(s map[string]any) bool {
	for _, key := range notClosed {
		if _, there := s[key]; there {
			return false
		}
	}
	return s["type"] != "object" || s["additionalProperties"] == false
}

// eachSchema calls f with a schema and every schema within it.
func eachSchema(v any, f func(map[string]any)) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	f(s)
	for key, v := range s {
		switch key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			named, _ := v.(map[string]any)
			for _, inner := range named {
				eachSchema(inner, f)
			}
		case "anyOf", "allOf", "oneOf", "prefixItems":
			list, _ := v.([]any)
			for _, inner := range list {
				eachSchema(inner, f)
			}
		case "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			eachSchema(v, f)
		}
	}
}

// askFor returns the system prompt with a request to answer by a schema, for
// where the provider cannot be told of it otherwise.
func askFor(system string, schema json.RawMessage) string {
	request := "Answer with nothing but JSON that matches this JSON Schema:\n" + string(schema)
	if system == "" {
		return request
	}
	return system + "\n\n" + request
}

// parameters returns the schema of a tool's arguments, as all providers take it:
// an object that says which properties it has, be it none.
func parameters(d agent.Definition) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(d.Schema, &s) != nil || s == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if _, has := s["properties"]; has && s["type"] != nil {
		return d.Schema
	}
	if s["type"] == nil {
		s["type"] = json.RawMessage(`"object"`)
	}
	if s["properties"] == nil {
		s["properties"] = json.RawMessage(`{}`)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return d.Schema // what was read can be written
	}
	return data
}
