package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// parameters are what a caller fills a template with.
type parameters struct {
	schema   json.RawMessage // of an object that has them
	defaults map[string]any
}

// newParameters reads the parameters of the agent file: a JSON Schema each. One
// that has a default, or says required: false, may be left out. The type float is
// another word for number.
func newParameters(declared map[string]map[string]any) (parameters, error) {
	properties, defaults := map[string]any{}, map[string]any{}
	required := []string{}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		own := maps.Clone(declared[name])
		if own == nil {
			own = map[string]any{}
		}
		needed, said := own["required"].(bool)
		if said {
			delete(own, "required")
		}
		if value, ok := own["default"]; ok {
			defaults[name] = value
			needed, said = false, true
		}
		if needed || !said {
			required = append(required, name)
		}
		if own["type"] == "float" {
			own["type"] = "number"
		}
		properties[name] = own
	}
	var p parameters
	var err error
	if p.schema, err = json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}); err != nil {
		return parameters{}, fmt.Errorf("parameters: %w", err)
	}
	data, err := json.Marshal(defaults)
	if err != nil {
		return parameters{}, fmt.Errorf("defaults of the parameters: %w", err)
	}
	p.defaults, err = decode(data) // as values come from a model
	return p, err
}

// values returns the arguments of a call with the defaults of what it leaves out.
func (p parameters) values(args json.RawMessage) (map[string]any, error) {
	given, err := decode(args)
	if err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	values := maps.Clone(p.defaults)
	maps.Copy(values, given)
	return values, nil
}
