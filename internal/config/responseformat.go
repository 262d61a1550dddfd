package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemas resolves the schemas of the agent's answers and of its metrics.
func (l *loader) schemas(a *Agent) {
	a.Schema = l.schema(a.Block, "response_format", a.ResponseFormat)
	if a.Evaluations != nil {
		eachStandard(a.Evaluations.Metrics, func(m *StandardMetric) { m.JSONSchema = l.schema(m.Block, "schema", m.Schema) })
	}
}

// eachStandard calls fn with every standard metric of the case and its turns.
func (c *TestCase) eachStandard(fn func(*StandardMetric)) {
	eachStandard(c.Evaluations, fn)
	for i := range c.Turns {
		eachStandard(c.Turns[i].Evaluations, fn)
	}
}

func eachStandard(metrics []Metric, fn func(*StandardMetric)) {
	for _, metric := range metrics {
		if m, ok := metric.(*StandardMetric); ok {
			fn(m)
		}
	}
}

// schema resolves a JSON Schema, which is the value of key, to JSON. It returns
// nil when there is none, or none that can be used, which is reported.
func (l *loader) schema(b Block, key string, rf *ResponseFormat) []byte {
	if rf == nil {
		return nil
	}
	schema := rf.Schema
	if rf.File != "" {
		text, ok := l.readReference(b, key, rf.File, MaxPromptSize)
		if !ok {
			return nil
		}
		file := b.File(key, rf.File)
		if err := json.Unmarshal([]byte(text), &schema); err != nil {
			l.rep.add(jsonProblem(file, text, err))
			return nil
		}
		if schema == nil {
			l.refuse(file, CodeType, "is null; it must be a JSON object", "")
			return nil
		}
	}
	if schema == nil {
		return nil
	}
	data, err := compileSchema(schema)
	if err != nil {
		l.rep.add(b.Problem(SeverityError, key, CodeValue, "is not a JSON Schema: "+firstLine(err.Error()), "see json-schema.org"))
		return nil
	}
	return data
}

// compileSchema returns a JSON Schema as JSON with its keys in order, or what
// is wrong with it.
func compileSchema(schema map[string]any) ([]byte, error) {
	data, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var compiled jsonschema.Schema
	if err := json.Unmarshal(data, &compiled); err != nil {
		return nil, err
	}
	if _, err := compiled.Resolve(nil); err != nil {
		return nil, err
	}
	if err := checkTypes(&compiled, ""); err != nil {
		return nil, err
	}
	return data, nil
}

// checkTypes finds type names that do not exist, which resolving lets pass.
func checkTypes(s *jsonschema.Schema, at string) error {
	if s == nil {
		return nil
	}
	for _, name := range append(slices.Clone(s.Types), s.Type) {
		switch name {
		case "", "null", "boolean", "integer", "number", "string", "array", "object":
		default:
			return fmt.Errorf("%s: %q is not a type", at+"/type", name)
		}
	}
	for _, group := range []struct {
		name    string
		schemas map[string]*jsonschema.Schema
	}{{"properties", s.Properties}, {"patternProperties", s.PatternProperties}, {"$defs", s.Defs}, {"definitions", s.Definitions}, {"dependentSchemas", s.DependentSchemas}} {
		for _, key := range sortedKeys(group.schemas) {
			if err := checkTypes(group.schemas[key], at+"/"+group.name+"/"+key); err != nil {
				return err
			}
		}
	}
	for _, group := range []struct {
		name    string
		schemas []*jsonschema.Schema
	}{{"anyOf", s.AnyOf}, {"oneOf", s.OneOf}, {"allOf", s.AllOf}, {"prefixItems", s.PrefixItems}} {
		for i, sub := range group.schemas {
			if err := checkTypes(sub, fmt.Sprintf("%s/%s/%d", at, group.name, i)); err != nil {
				return err
			}
		}
	}
	for _, sub := range []struct {
		name   string
		schema *jsonschema.Schema
	}{
		{"items", s.Items}, {"contains", s.Contains}, {"additionalProperties", s.AdditionalProperties}, {"propertyNames", s.PropertyNames},
		{"not", s.Not}, {"if", s.If}, {"then", s.Then}, {"else", s.Else},
		{"unevaluatedItems", s.UnevaluatedItems}, {"unevaluatedProperties", s.UnevaluatedProperties}, {"additionalItems", s.AdditionalItems},
	} {
		if err := checkTypes(sub.schema, at+"/"+sub.name); err != nil {
			return err
		}
	}
	return nil
}

// jsonProblem says where a JSON file is wrong.
func jsonProblem(file, text string, err error) Problem {
	p := Problem{Pos: Pos{File: file}, Severity: SeverityError, Code: CodeSyntax, Text: "is not a JSON object: " + err.Error()}
	var offset int64
	switch e := err.(type) {
	case *json.SyntaxError:
		offset = e.Offset
	case *json.UnmarshalTypeError:
		offset = e.Offset
		p.Text = "is a JSON " + e.Value + "; it must be an object"
	}
	if offset > 0 && offset <= int64(len(text)) {
		before := text[:offset-1]
		p.Pos.Line = strings.Count(before, "\n") + 1
		p.Pos.Column = int(offset) - 1 - strings.LastIndexByte(before, '\n')
	}
	return p
}
