package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// Setting is one key of the effective configuration.
type Setting struct {
	Path string `json:"path"`
	// Value is what is in force; secrets are masked.
	Value any `json:"value"`
	// Layer is where the value comes from.
	Layer Layer `json:"from"`
	// Pos is where it stands; zero for a default.
	Pos Pos `json:"pos,omitzero"`
}

// Effective returns every key of the agent that has a value, in the order of
// the typed view, with what is in force and where it comes from. Behind them stand
// what loading made of the keys: the runtime, and the version of the prompt and
// the SHA-256 of its text, at the place of the instructions.
func (a *Agent) Effective() []Setting {
	w := &settingWalk{shapes: &shapes{}, redactor: a.Redactor}
	w.block(reflect.ValueOf(a).Elem())
	if a.Backend == nil && a.Runtime != "" {
		w.settings = append(w.settings, Setting{Path: "backend", Value: a.Runtime, Layer: LayerDefault})
	}
	if p := &a.Prompt; p.BodyHash != "" && a.Instructions != nil {
		key := "inline"
		if p.Source == "file" {
			key = "file"
		}
		layer, pos := a.Instructions.LayerOf(key), a.Instructions.PosOf(key)
		w.settings = append(w.settings,
			Setting{Path: "prompt.version", Value: w.redactor.String(p.Version), Layer: layer, Pos: pos},
			Setting{Path: "prompt.body_hash", Value: p.BodyHash, Layer: layer, Pos: pos})
	}
	return w.settings
}

// settingWalk collects settings.
type settingWalk struct {
	shapes   *shapes
	redactor *secret.Redactor
	settings []Setting
}

// block walks a section.
func (w *settingWalk) block(v reflect.Value) {
	shape := w.shapes.of(v.Type())
	b := v.FieldByIndex(shape.block).Interface().(Block)
	base := b.Path()
	for _, f := range shape.fields {
		at := keyPath{base: base, key: f.key, index: -1}
		w.value(b, f.key, at, v.FieldByIndex(f.index))
	}
	if shape.rest == nil {
		return
	}
	rest, _ := v.FieldByIndex(shape.rest.index).Interface().(map[string]any)
	for _, key := range sortedKeys(rest) {
		w.add(b, key, keyPath{base: base, key: key, index: -1}, rest[key])
	}
}

// value walks the value of a key of a section.
func (w *settingWalk) value(b Block, key string, at keyPath, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.value(b, key, at, v.Elem())
		}
		return
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			return
		}
	}
	switch t := v.Type(); {
	case t == formatType:
		if format := v.Interface().(ResponseFormat); format.File != "" {
			w.add(b, key, at, format.File)
		} else {
			w.add(b, key, at, format.Schema)
		}
	case t == casesType:
		for _, tc := range v.Interface().(Cases).All() {
			w.block(reflect.ValueOf(tc).Elem())
		}
	case isBlock(t):
		w.block(v)
	case t.Kind() == reflect.Slice && (isBlock(t.Elem()) || variants(t.Elem()) != nil):
		if v.Len() == 0 {
			w.add(b, key, at, []any{})
		}
		for i := range v.Len() {
			w.value(b, key, keyPath{base: at.String(), index: i}, v.Index(i))
		}
	case t.Kind() == reflect.Map && isBlock(t.Elem()):
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, name := range names {
			// A map's value cannot be addressed, and a section is walked in place.
			section := reflect.New(t.Elem()).Elem()
			section.Set(v.MapIndex(name))
			w.block(section)
		}
	case t == secretType && v.Interface().(secret.String).IsZero():
	default:
		w.add(b, key, at, v.Interface())
	}
}

// add adds a setting, masked.
func (w *settingWalk) add(b Block, key string, at keyPath, value any) {
	s := Setting{Path: w.redactor.String(at.String()), Value: w.mask(key, value), Layer: b.LayerOf(key)} // no Pos: a default stands nowhere
	if k := b.key(key); k != nil {
		s.Pos = k.at.pos()
		if k.secret {
			s.Value = secret.Mask
		}
	}
	w.settings = append(w.settings, s)
}

// mask returns a value as it may be shown. Values below a key that says secret
// are masked whatever their length.
func (w *settingWalk) mask(key string, value any) any {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid() || v.Type() == secretType:
		return value // a secret masks itself
	case v.Kind() == reflect.String && secretKey(key):
		return secret.Mask
	case v.Kind() == reflect.String:
		return w.redactor.String(hide(v.String()))
	case v.Kind() == reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = w.mask(key, v.Index(i).Interface())
		}
		if args, ok := value.([]string); ok && isArguments(key) {
			hideArguments(args, out)
		}
		return out
	case v.Kind() == reflect.Map:
		out := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			out[w.redactor.String(it.Key().String())] = w.mask(it.Key().String(), it.Value().Interface())
		}
		return out
	}
	return value
}

// hideArguments masks the secrets of a command line in shown, which is args as
// it may be shown otherwise.
func hideArguments(args []string, shown []any) {
	next := false
	for i, arg := range args {
		if next {
			shown[i] = secret.Mask
		}
		var value string
		if value, next = argument(arg); value != "" {
			shown[i] = strings.TrimSuffix(arg, value) + secret.Mask
		}
	}
}
