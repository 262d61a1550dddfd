package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// merged returns the arguments of a call with a patch applied, as RFC 7396 says:
// objects are merged, null takes a member away, and everything else is replaced.
// Numbers keep their digits.
func merged(args json.RawMessage, patch map[string]any) (json.RawMessage, error) {
	if len(patch) == 0 {
		return args, nil
	}
	object := map[string]any{}
	if trimmed := bytes.TrimSpace(args); len(trimmed) > 0 && string(trimmed) != "null" {
		d := json.NewDecoder(bytes.NewReader(trimmed))
		d.UseNumber()
		if err := d.Decode(&object); err != nil {
			return nil, errors.New("they are not a JSON object")
		}
	}
	out, err := json.Marshal(merge(object, patch))
	if err != nil {
		return nil, fmt.Errorf("encode them: %w", err)
	}
	return out, nil
}

// transformed applies what a script set to the arguments of a call. A script is
// shown no secret, and what it returns as it was shown keeps its real value; a mask
// elsewhere would be taken for one, and is an error.
func (h *Hooks) transformed(args json.RawMessage, patch map[string]any) (json.RawMessage, error) {
	if shown := h.options.Redactor.JSON(args); !bytes.Equal(shown, args) || containsMask(patch) {
		var err error
		if patch, err = unmasked(patch, object(shown), object(args)); err != nil {
			return nil, err
		}
	}
	return merged(args, patch)
}

// object returns a JSON object, or nil for anything else.
func object(text json.RawMessage) map[string]any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) != nil {
		return nil
	}
	return object
}

// unmasked returns a patch with the given values in the place of those that are as
// they were shown.
func unmasked(patch, shown, given map[string]any) (map[string]any, error) {
	out := maps.Clone(patch)
	for name, value := range patch {
		shownInner, _ := shown[name].(map[string]any)
		givenInner, _ := given[name].(map[string]any)
		inner, isObject := value.(map[string]any)
		real, was := given[name]
		var err error
		switch {
		case was && reflect.DeepEqual(value, shown[name]):
			out[name] = real
		case isObject:
			if out[name], err = unmasked(inner, shownInner, givenInner); err != nil {
				return nil, err
			}
		case containsMask(value):
			return nil, fmt.Errorf("it set %s to a value with a masked secret in it, which it is not shown; leave %s out, or return it as it is", name, name)
		}
		if strings.Contains(name, secret.Mask) {
			return nil, errors.New("it set an argument whose name is masked")
		}
	}
	return out, nil
}

// containsMask reports whether there is a masked secret in a value.
func containsMask(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, secret.Mask)
	case []any:
		return slices.ContainsFunc(value, containsMask)
	case map[string]any:
		for name, inner := range value {
			if strings.Contains(name, secret.Mask) || containsMask(inner) {
				return true
			}
		}
	}
	return false
}

func merge(object, patch map[string]any) map[string]any {
	out := maps.Clone(object)
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case isObject:
			under, _ := out[key].(map[string]any)
			if under == nil {
				under = map[string]any{}
			}
			out[key] = merge(under, inner)
		default:
			out[key] = value
		}
	}
	return out
}
