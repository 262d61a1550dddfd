// Package function owns function tools: functions of the user's own code, called
// with what the model says. It refuses to know how code runs, which is worker's,
// and what goes round a call, which is tool's.
package function

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// code is a function of one of the forms.
type code interface {
	Call(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// describer is code that says itself what it takes.
type describer interface {
	Describe(ctx context.Context) (json.RawMessage, error)
}

// function is a function tool. It implements agent.Tool.
type function struct {
	definition agent.Definition
	code       code
}

// Open opens a function tool. Nothing of the user's code runs when the agent file
// declares the parameters; otherwise it is asked for them. Code that cannot say
// is no error: notice is told of it, and calls of the tool fail, for code may be
// mended while others of the agent's tools work. The error is ctx's.
func Open(ctx context.Context, pool *worker.Pool, t *config.FunctionTool, notice func(string)) (agent.Tool, error) {
	f := &function{
		definition: agent.Definition{Name: t.Name, Description: t.Description, Source: string(config.ToolFunction)},
		code:       codeOf(pool, t),
	}
	if d, ok := f.code.(describer); ok && t.Parameters == nil {
		asking, cancel := context.WithTimeout(ctx, time.Duration(t.Timeout*float64(time.Second)))
		defer cancel()
		schema, err := d.Describe(asking)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if asking.Err() != nil {
				err = fmt.Errorf("its parameters were not known within %v seconds (timeout)", t.Timeout)
			}
			if notice != nil {
				notice(fmt.Sprintf("%s: tool %s: %v; calls of it will fail", t.Pos(), t.Name, err))
			}
			schema = json.RawMessage(`{"type":"object"}`)
		}
		f.definition.Schema = schema
		return f, nil
	}
	var err error
	if f.definition.Schema, err = declared(t.Parameters); err != nil {
		return nil, fmt.Errorf("%s: parameters of tool %s: %w", t.PosOf("parameters"), t.Name, err)
	}
	return f, nil
}

// codeOf returns the code of a tool, which config has seen to be of one form.
func codeOf(pool *worker.Pool, t *config.FunctionTool) code {
	env := worker.Env{}
	for name, value := range t.Env {
		env[name] = value.Reveal()
	}
	switch {
	case len(t.Command) > 0:
		line := append([]string(nil), t.Command...)
		if strings.ContainsAny(line[0], `/\`) {
			line[0] = t.Block.File("command", line[0])
		}
		return pool.Command(line, env)
	case t.Script != "":
		return pool.Script(t.Block.File("script", t.Script), t.Entry())
	}
	// The Python edition calls the module so, too.
	return pool.Function(t.Block.File("file", t.File), t.Function, "holodeck_function_tool_"+t.Name, env)
}

// declared returns the schema of parameters that the agent file declares. One is
// required unless it has a default, which is put in before the tool is called, or
// says required: false.
func declared(parameters map[string]map[string]any) (json.RawMessage, error) {
	properties, required := map[string]any{}, []string{}
	for name, p := range parameters {
		_, optional := p["default"]
		if says, ok := p["required"].(bool); ok {
			p = maps.Clone(p)
			delete(p, "required") // it is none of JSON Schema's
			optional = optional || !says
		}
		properties[name] = p
		if !optional {
			required = append(required, name)
		}
	}
	return json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": slices.Sorted(slices.Values(required)), "additionalProperties": false,
	})
}

// Definition implements agent.Tool.
func (f *function) Definition() agent.Definition { return f.definition }

// Call implements agent.Tool.
func (f *function) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	result, err := f.code.Call(ctx, args)
	if err != nil {
		return agent.ToolResult{}, err
	}
	return resultOf(result), nil
}

// resultOf returns a result of the code as a model reads it: a text as it is,
// everything else as JSON.
func resultOf(value json.RawMessage) agent.ToolResult {
	value = bytes.TrimSpace(value)
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return agent.TextResult(text)
	}
	result := agent.TextResult(string(value))
	result.Structured = value
	return result
}
