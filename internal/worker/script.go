package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

const (
	// MaxSteps is how many steps a script may take in a call; it is a fraction of a
	// second.
	MaxSteps = 20_000_000
	// maxScript is the longest script, in bytes.
	maxScript = 1 << 20
)

// Script is a function of a Starlark file. It runs in this process and reaches
// nothing outside of it: there is no load, no file, no clock and no chance; the
// modules json and math are there.
type Script struct {
	pool     *Pool
	file     string
	function string
	load     func() (*starlark.Function, error) // once
}

// Script returns a function of a Starlark file. The file is read and run when the
// function is first described or called.
func (p *Pool) Script(file, function string) *Script {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	s := &Script{pool: p, file: file, function: function}
	s.load = sync.OnceValues(s.run)
	return s
}

// dialect is the Starlark that scripts are written in. Every loop has an end, and
// no function calls itself: that is the language as it is specified.
func dialect() *syntax.FileOptions { return &syntax.FileOptions{Set: true, TopLevelControl: true} }

func predeclared() starlark.StringDict {
	return starlark.StringDict{"json": starlarkjson.Module, "math": math.Module}
}

// CheckScript reads a script without running it. The error says where it is no
// Starlark, or that it has no such function.
func CheckScript(file, function string) error {
	_, err := compile(file, filepath.Base(file), function)
	return err
}

// compile reads a script, which messages call by name.
func compile(file, name, function string) (*starlark.Program, error) {
	info, err := os.Stat(file)
	if err == nil && info.Size() > maxScript {
		err = fmt.Errorf("it is larger than %d bytes", maxScript)
	}
	var source []byte
	if err == nil {
		source, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	parsed, program, err := starlark.SourceProgramOptions(dialect(), name, source, predeclared().Has)
	if err != nil {
		return nil, scriptError(err)
	}
	module, _ := parsed.Module.(*resolve.Module)
	for _, global := range module.Globals {
		if global.First.Name == function {
			return program, nil
		}
	}
	return nil, fmt.Errorf("%s has no function %s", name, function)
}

// run runs the file and returns the function.
func (s *Script) run() (*starlark.Function, error) {
	name := within(s.pool.opts.Dir, s.file)
	program, err := compile(s.file, name, s.function)
	if err != nil {
		return nil, err
	}
	globals, err := program.Init(s.thread(), predeclared())
	if err != nil {
		return nil, scriptError(err)
	}
	globals.Freeze() // calls run side by side
	function, ok := globals[s.function].(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("%s in %s is not a function but a value of type %s", s.function, name, globals[s.function].Type())
	}
	return function, nil
}

// thread returns what a run of the script happens in.
func (s *Script) thread() *starlark.Thread {
	t := &starlark.Thread{
		Name:  s.function,
		Print: func(_ *starlark.Thread, line string) { s.pool.opts.Log.Debug("script", "line", line) },
	}
	t.SetMaxExecutionSteps(MaxSteps)
	return t
}

// Call calls the function with the members of args, a JSON object, and returns
// its result as JSON. The error of one that fails says where.
func (s *Script) Call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	function, err := s.load()
	if err != nil {
		return nil, err
	}
	t := s.thread()
	defer context.AfterFunc(ctx, func() { t.Cancel("the call was cancelled") })()
	decoded, err := starlark.Call(t, starlarkjson.Module.Members["decode"], starlark.Tuple{starlark.String(args)}, nil)
	if err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	named, ok := decoded.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("the arguments are a %s, and not an object", decoded.Type())
	}
	result, err := starlark.Call(t, function, nil, named.Items())
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, scriptError(err)
	}
	return s.encode(t, result)
}

// encode returns a value of a script as JSON.
func (s *Script) encode(t *starlark.Thread, v starlark.Value) (json.RawMessage, error) {
	text, err := starlark.Call(t, starlarkjson.Module.Members["encode"], starlark.Tuple{v}, nil)
	if err != nil {
		return nil, fmt.Errorf("what %s returned cannot be used: %w", s.function, errors.Unwrap(err))
	}
	encoded, _ := starlark.AsString(text)
	if len(encoded) > MaxResult {
		return nil, fmt.Errorf("what %s returned has %d bytes as JSON, and at most %d are taken", s.function, len(encoded), MaxResult)
	}
	return json.RawMessage(encoded), nil
}

// Describe returns the JSON Schema of the function's parameters, from their names
// and defaults.
func (s *Script) Describe(context.Context) (json.RawMessage, error) {
	function, err := s.load()
	if err != nil {
		return nil, err
	}
	type property struct {
		Type    string          `json:"type,omitempty"`
		Default json.RawMessage `json:"default,omitempty"`
	}
	schema := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
		Open       bool                `json:"additionalProperties"`
	}{"object", map[string]property{}, []string{}, function.HasKwargs()}
	last := function.NumParams()
	if function.HasVarargs() {
		last--
	}
	if function.HasKwargs() {
		last--
	}
	for i := range last {
		name, _ := function.Param(i)
		var p property
		switch fallback := function.ParamDefault(i); fallback {
		case nil:
			schema.Required = append(schema.Required, name)
		case starlark.None:
		default:
			p.Type = jsonType(fallback)
			if p.Default, err = s.encode(s.thread(), fallback); err != nil {
				p.Default = nil // the function still has it
			}
		}
		schema.Properties[name] = p
	}
	encoded, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", s.function, err)
	}
	return encoded, nil
}

// jsonType returns the type that JSON Schema has for a value; "" is any.
func jsonType(v starlark.Value) string {
	switch v.(type) {
	case starlark.Bool:
		return "boolean"
	case starlark.Int:
		return "integer"
	case starlark.Float:
		return "number"
	case starlark.String:
		return "string"
	case *starlark.List, starlark.Tuple:
		return "array"
	case *starlark.Dict:
		return "object"
	}
	return ""
}

// scriptError says where a script went wrong.
func scriptError(err error) error {
	var (
		list resolve.ErrorList
		eval *starlark.EvalError
	)
	switch {
	case errors.As(err, &list):
		return list[0] // it has the position
	case errors.As(err, &eval):
		text := eval.Msg
		if strings.Contains(text, "too many steps") {
			text = fmt.Sprintf("it took more than %d steps: it loops for too long", MaxSteps)
		}
		for i := range eval.CallStack {
			if pos := eval.CallStack.At(i).Pos; pos.Line > 0 {
				return fmt.Errorf("%s:%d:%d: %s", pos.Filename(), pos.Line, pos.Col, text)
			}
		}
		return errors.New(text)
	}
	return err // of the syntax, which has the position, too
}
