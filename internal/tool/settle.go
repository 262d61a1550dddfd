package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// settler makes the arguments of a call those that the tool is to run with, so
// that permissions and hooks decide about nothing else.
type settler struct {
	redactor *secret.Redactor
	defaults map[string]json.RawMessage // of the agent's own parameters
}

// newSettler returns the settler of a tool. The defaults of functions and prompts
// are put in by us; those of others are theirs, and what they say of them a word
// to the model.
func newSettler(def agent.Definition, r *secret.Redactor) settler {
	s := settler{redactor: r}
	if def.Source != string(config.ToolFunction) && def.Source != string(config.ToolPrompt) {
		return s
	}
	var root map[string]json.RawMessage
	var properties map[string]json.RawMessage
	if json.Unmarshal(def.Schema, &root) != nil || json.Unmarshal(root["properties"], &properties) != nil {
		return s
	}
	delete(root, "required")
	s.defaults = map[string]json.RawMessage{}
	for name, property := range properties {
		var p struct{ Default json.RawMessage }
		if json.Unmarshal(property, &p) == nil && p.Default != nil && fits(root, name, p.Default) {
			s.defaults[name] = p.Default
		}
	}
	return s
}

// fits reports whether the value of one property follows the schema of an object.
// A function may have a default that its hints do not allow, such as None; that
// stays with the function.
func fits(root map[string]json.RawMessage, name string, value json.RawMessage) bool {
	raw, err := json.Marshal(root)
	if err != nil {
		return false
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		return false
	}
	object, err := json.Marshal(map[string]json.RawMessage{name: value})
	return err == nil && compiled.Check(object) == nil
}

// settle returns the arguments to run with: nothing at all is an empty object, as
// models leave arguments out when a tool needs none, and what has a default and is
// left out has it. What is no object is returned as it is. The error says that a
// name stands twice, which one program reads so and another otherwise.
func (s settler) settle(tool string, args json.RawMessage) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = json.RawMessage("{}")
	}
	if name, ok := twice(args); ok {
		return nil, fmt.Errorf("the arguments of %s have %s twice; give it once", tool, excerpt(s.redactor.String(name)))
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return args, nil
	}
	all := maps.Clone(given)
	for name, value := range s.defaults {
		if _, ok := given[name]; !ok {
			all[name] = value
		}
	}
	if len(all) == len(given) {
		return args, nil
	}
	return json.Marshal(all)
}

// settled settles what the model gave.
func settled(s settler) Link {
	return func(next Handler) Handler {
		return func(ctx context.Context, c Call) (agent.ToolResult, error) {
			var err error
			if c.Arguments, err = s.settle(c.Name, c.Arguments); err != nil {
				return agent.ToolResult{}, err
			}
			return next(ctx, c)
		}
	}
}

// twice returns a name that one object of a JSON text has twice.
func twice(text json.RawMessage) (string, bool) {
	type frame struct {
		seen  map[string]bool // nil of a list
		value bool            // the next token is a value, and no name
	}
	var open []frame
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return "", false // the end, or no JSON, which is told of elsewhere
		}
		inner := len(open) - 1
		if name, ok := token.(string); ok && inner >= 0 && open[inner].seen != nil && !open[inner].value {
			if open[inner].seen[name] {
				return name, true
			}
			open[inner].seen[name], open[inner].value = true, true
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, frame{seen: map[string]bool{}})
			continue
		case json.Delim('['):
			open = append(open, frame{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:inner]
			inner--
		}
		if inner >= 0 {
			open[inner].value = false
		}
	}
}
