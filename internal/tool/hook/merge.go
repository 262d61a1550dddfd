package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
