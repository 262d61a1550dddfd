package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of an agent file, indented.
// It is made from the same struct tags that loading uses. What one key cannot
// say of another is not in it: validate says that.
func JSONSchema() []byte {
	g := &schemaWriter{shapes: &shapes{}, defs: map[string]object{}}
	root := g.block(reflect.TypeFor[Agent](), "")
	doc := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "HoloDeck agent"},
	}
	doc = append(doc, root...)
	defs := object{{"variable", object{
		{"description", "A value that comes from the environment."},
		{"type", "string"},
		{"pattern", `\$\{[A-Za-z_]`},
	}}}
	for _, name := range sortedKeys(g.defs) {
		defs = append(defs, member{name, g.defs[name]})
	}
	doc = append(doc, member{"$defs", defs})
	data, err := json.Marshal(doc)
	if err != nil {
		panic("config: encode JSON Schema: " + err.Error()) // it holds nothing but strings, numbers and lists
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		panic("config: indent JSON Schema: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// object is a JSON object that keeps its order.
type object []member

// member is a member of an object.
type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// schemaWriter writes the schema of the typed view.
type schemaWriter struct {
	shapes *shapes
	defs   map[string]object // by Go type name
}

// block returns the schema of a section, optional being a key that need not be
// there although its rule says required.
func (g *schemaWriter) block(t reflect.Type, optional string) object {
	shape := g.shapes.of(t)
	properties, required := object{}, []string{}
	for _, f := range shape.fields {
		if f.rules.required && f.key != optional {
			required = append(required, f.key)
		}
		properties = append(properties, member{f.key, g.field(f)})
	}
	out := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	if shape.rest != nil {
		return append(out, member{"additionalProperties", true})
	}
	return append(out, member{"patternProperties", object{{"^x-", true}}}, member{"additionalProperties", false})
}

// variantOf returns the schema of a section that is one of a union: its type
// key says so.
func (g *schemaWriter) variantOf(v variant) object {
	out := g.block(v.typ, v.optional)
	for i, m := range out {
		if m.key != "properties" {
			continue
		}
		properties := append(object{}, m.value.(object)...)
		for j, p := range properties {
			if p.key == "type" {
				properties[j].value = object{{"description", "The kind of this entry."}, {"const", v.name}}
			}
		}
		out[i].value = properties
	}
	if len(v.forms) > 0 {
		forms := make([]object, len(v.forms))
		for i, keys := range v.forms {
			forms[i] = object{{"required", keys}}
		}
		out = append(out, member{"anyOf", forms})
	}
	return out
}

// field returns the schema of a key.
func (g *schemaWriter) field(f *fieldShape) object {
	out := object{{"description", f.doc}}
	if f.hasDefault {
		d := &decoder{shapes: g.shapes, rep: &report{}}
		out = append(out, member{"default", d.free(defaultNode(f.fallback), rootPath())})
	}
	schema := g.value(f.typ, f.rules)
	if nullable(f.typ, f.rules) {
		schema = orElse(schema, object{{"type", "null"}})
	}
	return append(out, schema...)
}

// nullable reports whether null is a value of a key: where the key has no
// default of its own, null is as good as absence.
func nullable(t reflect.Type, r rules) bool {
	if r.required {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	}
	return r.nullable || t == secretType
}

// orElse returns a schema that takes what either takes.
func orElse(a object, more ...object) object {
	if len(a) == 1 && a[0].key == "anyOf" {
		return object{{"anyOf", append(append([]object{}, a[0].value.([]object)...), more...)}}
	}
	if len(a) == 0 {
		return a // it takes everything
	}
	return object{{"anyOf", append([]object{a}, more...)}}
}

// ref returns a reference to the definition of a section.
func (g *schemaWriter) ref(t reflect.Type, make func() object) object {
	if _, ok := g.defs[t.Name()]; !ok {
		g.defs[t.Name()] = nil // sections may nest in themselves
		g.defs[t.Name()] = make()
	}
	return object{{"$ref", "#/$defs/" + t.Name()}}
}

// value returns the schema of a value.
func (g *schemaWriter) value(t reflect.Type, r rules) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text := object{{"type", "string"}}
	if r.nonblank {
		text = append(text, member{"pattern", `\S`})
	}
	if r.name {
		text = append(text, member{"pattern", "^[0-9A-Za-z_-]+$"})
	}
	variable := object{{"$ref", "#/$defs/variable"}}
	switch t {
	case secretType:
		return text
	case anyType:
		return object{}
	case formatType:
		return object{{"anyOf", []object{{{"type", "object"}}, text}}}
	case databaseType:
		return object{{"anyOf", []object{g.ref(t, func() object { return g.block(t, "") }), text}}}
	case expectedType:
		return object{{"anyOf", []object{text, g.ref(t, func() object { return g.block(t, "") })}}}
	case pagesType:
		page := object{{"anyOf", []object{
			{{"type", "integer"}, {"minimum", 1}},
			{{"type", "string"}, {"pattern", pagePattern}},
			{{"$ref", "#/$defs/variable"}},
		}}}
		return object{{"type", "array"}, {"items", page}}
	case oneOrMany:
		return object{{"anyOf", []object{text, {{"type", "array"}, {"items", text}}}}}
	}
	if vs := variants(t); vs != nil {
		refs := make([]object, len(vs))
		for i, v := range vs {
			refs[i] = g.ref(v.typ, func() object { return g.variantOf(v) })
		}
		return object{{"anyOf", refs}}
	}
	if allowed := values(t); allowed != nil {
		return orElse(object{{"enum", allowed}}, variable)
	}
	switch t.Kind() {
	case reflect.String:
		return text
	case reflect.Bool:
		return orElse(object{{"type", "boolean"}}, variable)
	case reflect.Int:
		return orElse(bounds(object{{"type", "integer"}}, r), variable)
	case reflect.Float64:
		return orElse(bounds(object{{"type", "number"}}, r), variable)
	case reflect.Slice:
		out := object{{"type", "array"}}
		if r.minItems > 0 {
			out = append(out, member{"minItems", r.minItems})
		}
		if r.maxItems > 0 {
			out = append(out, member{"maxItems", r.maxItems})
		}
		r.minItems, r.maxItems = 0, 0
		return append(out, member{"items", g.value(t.Elem(), r)})
	case reflect.Map:
		out := object{{"type", "object"}}
		if r.minItems > 0 {
			out = append(out, member{"minProperties", r.minItems})
		}
		r.minItems, r.maxItems = 0, 0
		return append(out, member{"additionalProperties", g.value(t.Elem(), r)})
	case reflect.Struct:
		if r.partial {
			return slices.DeleteFunc(g.block(t, ""), func(m member) bool { return m.key == "required" })
		}
		if r.optional != "" {
			return g.block(t, r.optional)
		}
		return g.ref(t, func() object { return g.block(t, "") })
	}
	panic("config: no schema for " + t.String())
}

// bounds adds the bounds of a number to its schema.
func bounds(o object, r rules) object {
	for _, b := range []struct {
		key   string
		value *float64
	}{{"minimum", r.min}, {"maximum", r.max}, {"exclusiveMinimum", r.gt}} {
		if b.value != nil {
			o = append(o, member{b.key, *b.value})
		}
	}
	return o
}
