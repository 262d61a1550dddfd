package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Key is a key that the Python edition does not know.
type Key struct {
	Path     string // such as "tools[].timeout"
	Type     string // in words
	Default  string // as YAML; empty when there is none
	Runtimes string // the runtimes that use it
	Effect   string // one sentence
}

// OwnKeys returns the keys that are ours alone, in the order of the typed view.
// The keys of a section that occurs in several places are listed at the first.
func OwnKeys() []Key {
	w := &keyWalk{shapes: &shapes{}, walked: map[reflect.Type]bool{}}
	w.block("", reflect.TypeFor[Agent](), false)
	return w.keys
}

// keyWalk collects the keys that are ours.
type keyWalk struct {
	shapes *shapes
	walked map[reflect.Type]bool
	keys   []Key
}

// block walks a section; ours says that it is ours as a whole.
func (w *keyWalk) block(base string, t reflect.Type, ours bool) {
	if w.walked[t] {
		return
	}
	w.walked[t] = true
	for _, f := range w.shapes.of(t).fields {
		path := f.key
		if base != "" {
			path = base + "." + f.key
		}
		if ours || f.ours {
			w.add(Key{Path: path, Type: typeName(f.typ), Default: f.fallback, Runtimes: runtimesOf(path), Effect: f.doc})
		}
		elem := f.typ
		for {
			switch elem.Kind() {
			case reflect.Pointer:
				elem = elem.Elem()
				continue
			case reflect.Slice:
				path, elem = path+"[]", elem.Elem()
				continue
			case reflect.Map:
				path, elem = path+".*", elem.Elem()
				continue
			}
			break
		}
		for _, v := range variants(elem) {
			w.block(path, v.typ, ours || f.ours)
		}
		if isBlock(elem) {
			w.block(path, elem, ours || f.ours)
		}
	}
}

// add adds a key, once: the types of a union share keys.
func (w *keyWalk) add(k Key) {
	if !slices.Contains(w.keys, k) {
		w.keys = append(w.keys, k)
	}
}

// runtimesOf returns the runtimes that use a key, by the section it is in.
func runtimesOf(path string) string {
	section, _, _ := strings.Cut(path, ".")
	switch Backend(section) {
	case BackendClaude, BackendGoogleADK, BackendAgentFramework:
		return section
	}
	return "all"
}

// typeName returns a type in words.
func typeName(t reflect.Type) string {
	if allowed := values(t); allowed != nil {
		return strings.Join(allowed, ", ")
	}
	switch {
	case t == secretType:
		return "secret text"
	case variants(t) != nil || isBlock(t):
		return "section"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list of " + plural(typeName(t.Elem()))
	case reflect.Map:
		return fmt.Sprintf("mapping to %s", typeName(t.Elem()))
	}
	return "any value"
}

// plural returns the plural of a type's name.
func plural(name string) string {
	switch name {
	case "section":
		return "sections"
	case "text":
		return "texts"
	case "any value":
		return "any values"
	}
	return name
}
