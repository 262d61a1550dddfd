package config

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// notStored are keys of an agent file that the Python edition reads and then
// forgets: they are not part of the agent it stores.
var notStored = [...]string{"test_cases_file"}

// WriteSnapshot writes the agent as one JSON object: every key that the Python
// edition knows and no other, with what is in force, null where there is no
// value. Secrets are masked, in mappings such as env and headers, too. Lines
// after the first begin with prefix, and nested values are indented by two more
// spaces. Test cases are written one at a time, so that memory does not grow
// with their number.
func (a *Agent) WriteSnapshot(w io.Writer, prefix string) error {
	out := bufio.NewWriter(w)
	s := &snapshot{out: out, values: settingWalk{shapes: &shapes{}, redactor: a.Redactor}}
	s.block(reflect.ValueOf(a).Elem(), prefix)
	if s.err != nil {
		return fmt.Errorf("write the agent's configuration: %w", s.err)
	}
	return out.Flush()
}

// snapshot is a snapshot under way.
type snapshot struct {
	out    *bufio.Writer
	values settingWalk // masks
	err    error       // of a value that is no JSON; out keeps errors of writing
}

// block writes a section.
func (s *snapshot) block(v reflect.Value, prefix string) {
	shape := s.values.shapes.of(v.Type())
	b := v.FieldByIndex(shape.block).Interface().(Block)
	inner := prefix + "  "
	members := 0
	member := func(key string) {
		if members++; members > 1 {
			s.out.WriteString(",")
		}
		s.out.WriteString("\n" + inner)
		s.json(s.values.redactor.String(key), inner)
		s.out.WriteString(": ")
	}
	s.out.WriteString("{")
	for _, f := range shape.fields {
		if f.ours || b.Path() == "" && slices.Contains(notStored[:], f.key) {
			continue
		}
		member(f.key)
		s.value(b, f.key, v.FieldByIndex(f.index), inner)
	}
	if shape.rest != nil {
		rest, _ := v.FieldByIndex(shape.rest.index).Interface().(map[string]any)
		for _, key := range sortedKeys(rest) {
			member(key)
			s.leaf(b, key, rest[key], inner)
		}
	}
	s.end(members, prefix, "}")
}

// end closes an object or a list.
func (s *snapshot) end(members int, prefix, sign string) {
	if members > 0 {
		s.out.WriteString("\n" + prefix)
	}
	s.out.WriteString(sign)
}

// value writes the value of a key of a section.
func (s *snapshot) value(b Block, key string, v reflect.Value, prefix string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			s.out.WriteString("null")
		} else {
			s.value(b, key, v.Elem(), prefix)
		}
		return
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			s.out.WriteString("null")
			return
		}
	}
	switch t := v.Type(); {
	case t == formatType:
		if format := v.Interface().(ResponseFormat); format.File != "" {
			s.leaf(b, key, format.File, prefix)
		} else {
			s.leaf(b, key, format.Schema, prefix)
		}
	case t == secretType && v.Interface().(secret.String).IsZero():
		s.out.WriteString("null")
	case t == expectedType && v.Interface().(ExpectedTool).Bare:
		s.leaf(b, key, v.Interface().(ExpectedTool).Name, prefix)
	case t == pagesType:
		s.leaf(b, key, v.Interface().(Pages).List(), prefix) // ranges are ours
	case t == casesType:
		s.cases(v.Interface().(Cases), prefix)
	case isBlock(t):
		s.block(v, prefix)
	case t.Kind() == reflect.Slice && (isBlock(t.Elem()) || variants(t.Elem()) != nil):
		inner := prefix + "  "
		s.out.WriteString("[")
		for i := range v.Len() {
			if i > 0 {
				s.out.WriteString(",")
			}
			s.out.WriteString("\n" + inner)
			s.value(b, key, v.Index(i), inner)
		}
		s.end(v.Len(), prefix, "]")
	case t.Kind() == reflect.Map && isBlock(t.Elem()):
		s.sections(b, key, v, prefix)
	default:
		s.leaf(b, key, v.Interface(), prefix)
	}
}

// cases writes the test cases, one at a time: there may be many.
func (s *snapshot) cases(cases Cases, prefix string) {
	if cases.Len() == 0 {
		s.out.WriteString("null")
		return
	}
	inner := prefix + "  "
	s.out.WriteString("[")
	n := 0
	for _, tc := range cases.All() {
		if n > 0 {
			s.out.WriteString(",")
		}
		s.out.WriteString("\n" + inner)
		s.block(reflect.ValueOf(tc).Elem(), inner)
		n++
	}
	s.end(n, prefix, "]")
}

// sections writes a mapping from names to sections.
func (s *snapshot) sections(b Block, key string, v reflect.Value, prefix string) {
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	inner := prefix + "  "
	s.out.WriteString("{")
	for i, name := range names {
		if i > 0 {
			s.out.WriteString(",")
		}
		s.out.WriteString("\n" + inner)
		s.json(s.values.redactor.String(name.String()), inner)
		s.out.WriteString(": ")
		s.value(b, key, v.MapIndex(name), inner)
	}
	s.end(len(names), prefix, "}")
}

// leaf writes a value that is no section, masked.
func (s *snapshot) leaf(b Block, key string, value any, prefix string) {
	if k := b.key(key); k != nil && k.secret {
		value = secret.Mask
	}
	s.json(s.values.mask(key, value), prefix)
}

// json writes a value as JSON.
func (s *snapshot) json(value any, prefix string) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(value); err != nil && s.err == nil {
		s.err = err
	}
	s.out.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
}
