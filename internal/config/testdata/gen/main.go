// Command gen reads the JSON Schema that the Python edition publishes for
// agent.yaml and writes it as the table that TestKeyTable works from: a line a
// key, with its type, list of values, default and bounds, and no text.
//
//	go run ./internal/config/testdata/gen agent.schema.json > internal/config/testdata/keys.tsv
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// schema is what the table needs of a JSON Schema.
type schema struct {
	Ref                  string            `json:"$ref"`
	Type                 string            `json:"type"`
	Const                string            `json:"const"`
	Enum                 []string          `json:"enum"`
	Default              json.RawMessage   `json:"default"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
	ExclusiveMinimum     *float64          `json:"exclusiveMinimum"`
	Pattern              string            `json:"pattern"`
	AnyOf                []schema          `json:"anyOf"`
	OneOf                []schema          `json:"oneOf"`
	Items                *schema           `json:"items"`
	Required             []string          `json:"required"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"`
	Properties           map[string]schema `json:"properties"`
	Defs                 map[string]schema `json:"$defs"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen agent.schema.json")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes the table of the schema in file.
func run(w io.Writer, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var root schema
	if err := json.Unmarshal(data, &root); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fmt.Fprintln(w, "# section\tkey\ttype\tvalues\tdefault\tbounds\trequired")
	write := func(name string, s schema) {
		for _, key := range sortedKeys(s.Properties) {
			p := s.Properties[key]
			required := ""
			if slices.Contains(s.Required, key) {
				required = "required"
			}
			fmt.Fprintln(w, strings.Join([]string{
				name, key, typeOf(p, root.Defs), strings.Join(enumOf(p, root.Defs), " "), compact(p.Default), boundsOf(p), required,
			}, "\t"))
		}
		if string(s.AdditionalProperties) == "true" {
			fmt.Fprintln(w, strings.Join([]string{name, "*", "any", "", "", "", ""}, "\t"))
		}
	}
	write("Agent", root)
	for _, name := range sortedKeys(root.Defs) {
		if len(root.Defs[name].Properties) > 0 {
			write(name, root.Defs[name])
		}
	}
	return nil
}

// typeOf returns a type expression: alternatives joined by |, [t] a list, {t}
// a mapping, any, a section's name, or a scalar type.
func typeOf(s schema, defs map[string]schema) string {
	alternatives := append(s.AnyOf, s.OneOf...)
	switch {
	case len(alternatives) > 0:
		parts := make([]string, len(alternatives))
		for i, a := range alternatives {
			parts[i] = typeOf(a, defs)
		}
		return strings.Join(parts, "|")
	case s.Ref != "":
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		if len(defs[name].Enum) > 0 {
			return "string"
		}
		return name
	case s.Type == "array" && s.Items != nil:
		return "[" + typeOf(*s.Items, defs) + "]"
	case s.Type == "object":
		var values schema
		if json.Unmarshal(s.AdditionalProperties, &values) == nil {
			return "{" + typeOf(values, defs) + "}"
		}
		return "{any}"
	case s.Type == "":
		return "any"
	}
	return s.Type
}

// enumOf returns the values of a scalar or of the elements of a list.
func enumOf(s schema, defs map[string]schema) []string {
	out := s.Enum
	if s.Const != "" {
		out = []string{s.Const}
	}
	if s.Ref != "" {
		out = defs[s.Ref[strings.LastIndex(s.Ref, "/")+1:]].Enum
	}
	if s.Items != nil {
		out = s.Items.Enum
	}
	for _, a := range s.AnyOf {
		out = append(out, enumOf(a, defs)...)
	}
	return out
}

// boundsOf returns the bounds of a number or the pattern of a text.
func boundsOf(s schema) string {
	var parts []string
	add := func(s schema) {
		for name, v := range map[string]*float64{"min": s.Minimum, "max": s.Maximum, "gt": s.ExclusiveMinimum} {
			if v != nil {
				parts = append(parts, fmt.Sprintf("%s=%v", name, *v))
			}
		}
		if s.Pattern != "" {
			parts = append(parts, "pattern="+s.Pattern)
		}
	}
	add(s)
	for _, a := range s.AnyOf {
		add(a)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// compact returns a default as JSON on one line.
func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if len(value) == 0 || json.Compact(&b, value) != nil {
		return ""
	}
	return b.String()
}

func sortedKeys(m map[string]schema) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
