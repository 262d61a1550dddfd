package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is a text with places for values:
//
//	{{name}}                                 the value of a parameter
//	{{name.field}}                           a field of an object
//	{{#if name}} … {{else}} … {{/if}}        what depends on a value
//	{{#each name}} … {{this}} … {{/each}}    what is said of each element of a list
//
// A value is put in as it is: text as text, lists and objects as JSON, and
// nothing where there is none. Braces around anything else are an error.
type Template struct {
	root  []node
	names map[string]bool
}

// node is a piece of a template: text, a value, or a block.
type node struct {
	text  string
	path  []string // of a value, or of what a block depends on
	block string   // "if", "each", or "" for text and values
	then  []node
	other []node // after {{else}}
}

// this is what the element of a list is called within {{#each}}.
const this = "this"

// Parse reads a template. The error says in which line what is wrong.
func Parse(text string) (*Template, error) {
	p := parser{rest: text, names: map[string]bool{}}
	root, end, err := p.nodes("")
	if err == nil && end != "" {
		err = fmt.Errorf("{{%s}} closes nothing", end)
	}
	if err != nil {
		line := 1 + strings.Count(text[:len(text)-len(p.rest)], "\n")
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	return &Template{root: root, names: p.names}, nil
}

// Names returns the names of the parameters that the template uses, sorted.
func (t *Template) Names() []string { return slices.Sorted(maps.Keys(t.names)) }

// parser reads a template from the front.
type parser struct {
	rest   string
	names  map[string]bool
	inEach int // how many {{#each}} are open
}

// nodes reads up to the tag that ends the block, which it returns, or to the end
// of the text.
func (p *parser) nodes(block string) (list []node, end string, err error) {
	for {
		before, after, found := strings.Cut(p.rest, "{{")
		if before != "" {
			list = append(list, node{text: before})
		}
		if !found {
			p.rest = ""
			if block != "" {
				return nil, "", fmt.Errorf("{{#%s}} has no {{/%s}}", block, block)
			}
			return list, "", nil
		}
		tag, rest, closed := strings.Cut(after, "}}")
		if !closed {
			p.rest = after
			return nil, "", fmt.Errorf("{{ has no }}")
		}
		p.rest = rest
		switch tag = strings.TrimSpace(tag); {
		case strings.HasPrefix(tag, "#"):
			n, err := p.block(tag)
			if err != nil {
				return nil, "", err
			}
			list = append(list, n)
		case strings.HasPrefix(tag, "/"), tag == "else":
			return list, tag, nil
		default:
			path, err := p.path(tag)
			if err != nil {
				return nil, "", err
			}
			list = append(list, node{path: path})
		}
	}
}

// block reads a block whose first tag was read.
func (p *parser) block(tag string) (node, error) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(tag, "#"), " ")
	if kind != "if" && kind != "each" {
		return node{}, fmt.Errorf("there is no {{#%s}}; there are {{#if name}} and {{#each name}}", kind)
	}
	path, err := p.path(strings.TrimSpace(name))
	if err != nil {
		return node{}, err
	}
	n := node{block: kind, path: path}
	if kind == "each" {
		p.inEach++
		defer func() { p.inEach-- }()
	}
	var end string
	if n.then, end, err = p.nodes(kind); err != nil {
		return node{}, err
	}
	if end == "else" {
		if n.other, end, err = p.nodes(kind); err != nil {
			return node{}, err
		}
	}
	if end != "/"+kind {
		return node{}, fmt.Errorf("{{#%s}} ends with {{%s}}; write {{/%s}}", kind, end, kind)
	}
	return n, nil
}

// path reads the name of a value.
func (p *parser) path(name string) ([]string, error) {
	path := strings.Split(name, ".")
	if slices.ContainsFunc(path, func(s string) bool { return !isName(s) }) {
		return nil, fmt.Errorf("{{%s}} is not the name of a value: letters, digits, _ and -, with dots between fields", name)
	}
	switch {
	case path[0] != this:
		p.names[path[0]] = true
	case p.inEach == 0:
		return nil, fmt.Errorf("{{%s}} stands outside of {{#each}}", name)
	}
	return path, nil
}

// isName reports whether s is a name of letters, digits, _ and -.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// Render returns the template with values, which are as JSON decodes with
// json.Number.
func (t *Template) Render(values map[string]any) string {
	var b strings.Builder
	render(&b, t.root, values, nil)
	return b.String()
}

// render writes nodes. element is what {{this}} means.
func render(b *strings.Builder, list []node, values map[string]any, element any) {
	for _, n := range list {
		if n.path == nil {
			b.WriteString(n.text)
			continue
		}
		value := lookUp(n.path, values, element)
		switch n.block {
		case "":
			b.WriteString(textOf(value))
		case "if":
			if holds(value) {
				render(b, n.then, values, element)
			} else {
				render(b, n.other, values, element)
			}
		case "each":
			items, _ := value.([]any)
			for _, item := range items {
				render(b, n.then, values, item)
			}
			if len(items) == 0 {
				render(b, n.other, values, element)
			}
		}
	}
}

// lookUp returns the value at a path, or nil.
func lookUp(path []string, values map[string]any, element any) any {
	value := element
	if path[0] != this {
		value = values[path[0]]
	}
	for _, key := range path[1:] {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// textOf returns a value as text.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // not something that came from JSON
	}
	return string(text)
}

// holds reports whether a condition holds: the value is there, and is not false,
// zero or empty.
func holds(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		f, err := v.Float64()
		return err != nil || f != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}
