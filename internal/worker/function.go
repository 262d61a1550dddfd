package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Function is a function of a Python file.
type Function struct {
	pool   *Pool
	env    Env
	file   string
	module string
	name   string
}

// Function returns a function of a Python file, which is run as a module of the
// given name: one of another name has state of its own. Nothing is read before
// the function is described or called.
func (p *Pool) Function(file, function, module string, env Env) *Function {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return &Function{pool: p, env: env, file: file, module: module, name: function}
}

// Describe returns the JSON Schema of the function's parameters, from its type
// hints, defaults and docstring. It runs the file, as Call does.
func (f *Function) Describe(ctx context.Context) (json.RawMessage, error) {
	return f.do(ctx, request{Op: "describe"})
}

// Call calls the function with the members of args, a JSON object, and returns
// its result as JSON. The error of a function that raises is the last line of
// its traceback. When ctx ends Call returns at once.
func (f *Function) Call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	return f.do(ctx, request{Op: "call", Args: args})
}

func (f *Function) do(ctx context.Context, r request) (json.RawMessage, error) {
	r.File, r.Module, r.Function = f.file, f.module, f.name
	return f.pool.ask(ctx, f.env, r)
}

// Grader is a function of a Python module that scores an answer.
type Grader struct {
	pool         *Pool
	env          Env
	module, name string
}

// Grader returns the grader that a module of the agent's folder, or one that is
// installed, has under a name.
func (p *Pool) Grader(module, function string, env Env) *Grader {
	return &Grader{pool: p, env: env, module: module, name: function}
}

// Call grades. What it is given is the members of a GraderContext; it returns an
// object with score and, if the grader said so, passed, reason and details. Where
// the code of another call ended the interpreter, it grades once more, in an
// interpreter of its own: graders are not expected to change anything.
func (g *Grader) Call(ctx context.Context, context json.RawMessage) (json.RawMessage, error) {
	r := request{Op: "grade", Module: g.module, Function: g.name, Context: context}
	result, err := g.pool.ask(ctx, g.env, r)
	var death *deathError
	if errors.As(err, &death) && !death.alone() {
		return g.pool.askAlone(ctx, g.env, r)
	}
	return result, err
}

// askAlone makes a call in an interpreter that is started for it. One such call is
// made at a time: many may have been in the interpreter that ended.
func (p *Pool) askAlone(ctx context.Context, env Env, r request) (json.RawMessage, error) {
	select {
	case p.alone <- struct{}{}:
		defer func() { <-p.alone }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	s := &startup{done: make(chan struct{})}
	p.wg.Go(func() { p.start(s, env) })
	p.mu.Unlock()
	<-s.done // in startTime
	if s.err != nil {
		return nil, s.err
	}
	defer s.process.end()
	result, err := s.process.do(ctx, r)
	return result, p.told(ctx, err, r)
}

// ask makes a call in the interpreter of an environment.
func (p *Pool) ask(ctx context.Context, env Env, r request) (json.RawMessage, error) {
	for {
		w, err := p.interpreter(ctx, env)
		if err != nil {
			return nil, err
		}
		result, err := w.do(ctx, r)
		if !errors.Is(err, errRetired) {
			return result, p.told(ctx, err, r)
		}
	}
}

// told returns the error of a call as a caller is told of it.
func (p *Pool) told(ctx context.Context, err error, r request) error {
	var f *failure
	switch {
	case errors.As(err, &f):
		return errors.New(f.text(p.opts.Dir, r))
	case err != nil && ctx.Err() == nil && p.open.Err() != nil:
		return ErrClosed
	}
	return err
}

// failure is what the interpreter says of a call that failed.
type failure struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	Import  bool     `json:"import"`  // it happened while a file was imported
	Package string   `json:"package"` // the module that is missing
	Module  string   `json:"module"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Names   []string `json:"names"`

	python string // path of the interpreter
}

// Error implements error.
func (f *failure) Error() string { return f.Kind + ": " + f.Message }

// text says what happened in a call, and what to do.
func (f *failure) text(dir string, r request) string {
	source := within(dir, r.File)
	if source == "" {
		source = r.Module
	}
	switch f.Kind {
	case "file":
		return fmt.Sprintf("there is no file %s", within(dir, f.File))
	case "syntax":
		return fmt.Sprintf("%s:%d:%d: syntax error: %s", within(dir, f.File), f.Line, f.Column, f.Message)
	case "no_module":
		if strings.Contains(f.Module, ".") { // the package that it would be in is there
			return fmt.Sprintf("there is no module %s in %s", f.Module, dir)
		}
		return fmt.Sprintf("there is no module %s in %s, nor among the installed packages; if it is a package, %s", f.Module, dir, f.install(f.Module))
	case "no_function":
		if len(f.Names) == 0 {
			return fmt.Sprintf("%s has no function %s", source, r.Function)
		}
		return fmt.Sprintf("%s has no function %s; it has %s", source, r.Function, strings.Join(f.Names, ", "))
	case "not_callable":
		return fmt.Sprintf("%s in %s is not a function but a value of type %s", r.Function, source, f.Message)
	case "exit":
		if f.Import {
			return fmt.Sprintf("%s calls exit(%s) when it is imported; put that below if __name__ == \"__main__\":", source, f.Message)
		}
		return fmt.Sprintf("%s called exit(%s); a function returns its result instead", r.Function, f.Message)
	case kindEnds:
		return fmt.Sprintf("%s called os._exit(%s), which ends the interpreter and all that runs in it; a function returns its result instead", r.Function, f.Message)
	case "result":
		return fmt.Sprintf("what %s returned cannot be used: %s", r.Function, f.Message)
	case "arguments":
		return fmt.Sprintf("the arguments of %s do not fit: %s", r.Function, f.Message)
	}
	text := f.Message
	if f.Import {
		where := source
		if f.File != "" {
			where = fmt.Sprintf("%s:%d", within(dir, f.File), f.Line)
		}
		text = fmt.Sprintf("%s cannot be imported: %s: %s", source, where, text)
	}
	if f.Package != "" {
		text += "; " + f.install(f.Package)
	}
	return text
}

// install returns the command that installs the package of a module.
func (f *failure) install(module string) string {
	top, _, _ := strings.Cut(module, ".")
	pkg := top
	switch top { // whose packages have other names
	case "yaml":
		pkg = "PyYAML"
	case "PIL":
		pkg = "Pillow"
	case "cv2":
		pkg = "opencv-python"
	case "sklearn":
		pkg = "scikit-learn"
	case "bs4":
		pkg = "beautifulsoup4"
	case "dotenv":
		pkg = "python-dotenv"
	case "dateutil":
		pkg = "python-dateutil"
	case "holodeck":
		pkg = "holodeck-ai"
	}
	return fmt.Sprintf("install it with: %s -m pip install %s", f.python, pkg)
}

// within returns a file relative to dir when it is in there.
func within(dir, file string) string {
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}
