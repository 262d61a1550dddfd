package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
	"github.com/holodeck-go/holodeck/internal/proc"
)

// checkParameters finds what is no JSON Schema among the parameters that the file
// declares of functions and prompts, and defaults that do not follow theirs.
func checkParameters(a *config.Agent) []config.Problem {
	var problems []config.Problem
	for _, t := range a.Tools {
		parameters := declaredParameters(t)
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			path, err := checkParameter(name, parameters[name])
			if err == nil {
				continue
			}
			p := t.Base().Problem(config.SeverityError, "parameters", config.CodeValue, err.Error(), "")
			p.Path, p.Pos = p.Path+"."+path, t.Base().PosWithin("parameters", path)
			problems = append(problems, p)
		}
	}
	return problems
}

// declaredParameters returns the parameters of a tool that the agent file
// declares.
func declaredParameters(t config.Tool) map[string]map[string]any {
	switch t := t.(type) {
	case *config.FunctionTool:
		return t.Parameters
	case *config.PromptTool:
		return t.Parameters
	}
	return nil
}

// checkParameter checks one parameter, and returns the path of what is wrong.
func checkParameter(name string, parameter map[string]any) (string, error) {
	own := maps.Clone(parameter)
	if _, ok := own["required"].(bool); ok {
		delete(own, "required") // which is no schema's
	}
	if own["type"] == "float" { // the prompts' word for it
		own["type"] = "number"
	}
	fallback, ok := own["default"]
	delete(own, "default")
	object, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{name: own}})
	if err != nil {
		return name, fmt.Errorf("is no JSON: %w", err)
	}
	compiled, err := schema.Compile(object)
	if err != nil {
		return name, fmt.Errorf("is no JSON Schema: %w", err)
	}
	if !ok {
		return "", nil
	}
	value, err := json.Marshal(map[string]any{name: fallback})
	if err != nil {
		return name + ".default", fmt.Errorf("is no JSON: %w", err)
	}
	if err := compiled.Check(value); err != nil {
		return name + ".default", fmt.Errorf("does not follow the schema of its parameter: %w", err)
	}
	return "", nil
}

// checkPrograms warns of the programs of tools and hooks that are not there: they
// may be by the time of the first call.
func checkPrograms(a *config.Agent) []config.Problem {
	if a.Replay {
		return nil
	}
	var problems []config.Problem
	check := func(b config.Block, command []string) {
		if len(command) == 0 || strings.TrimSpace(command[0]) == "" {
			return
		}
		if err := lookProgram(a, b, command[0]); err != nil {
			problems = append(problems, b.Problem(config.SeverityWarning, "command", config.CodeValue,
				fmt.Sprintf("there is no program %s that could be run: %v", command[0], err), "install it, or write its path"))
		}
	}
	for _, t := range a.Tools {
		if f, ok := t.(*config.FunctionTool); ok {
			check(f.Block, f.Command)
		}
	}
	for i := range a.Hooks {
		check(a.Hooks[i].Block, a.Hooks[i].Command)
	}
	return problems
}

// lookProgram looks for the program of a command where a call will.
func lookProgram(a *config.Agent, b config.Block, name string) error {
	if strings.ContainsAny(name, `/\`) {
		_, err := exec.LookPath(b.File("command", name))
		if e := new(exec.Error); errors.As(err, &e) {
			return e.Err // without the name, which is told
		}
		return err
	}
	path := a.Variable("PATH")
	if path == "" {
		return nil // nothing is known of where programs are
	}
	_, err := proc.Look(name, func(string) (string, bool) { return path, true })
	return err
}

// checkArguments warns of a pattern whose argument none of the tools has that it
// means, as far as the file says what they have: it would keep nothing out.
func checkArguments(a *config.Agent, b config.Block, path, key string, p config.ToolPattern) []config.Problem {
	var problems []config.Problem
	for _, argument := range p.Arguments() {
		first, _, _ := strings.Cut(argument, ".")
		var has []string
		means, unknown := false, false
		for _, t := range a.Tools {
			canonical, ok := canonicalName(t)
			if !ok {
				unknown = true
				continue
			}
			if !p.MatchesTool(canonical, t.Base().Name) {
				continue
			}
			means = true
			names, known := argumentsOf(a, t)
			unknown = unknown || !known
			has = append(has, names...)
		}
		if !means || unknown || slices.Contains(has, first) || slices.Contains(has, argument) {
			continue
		}
		hint := "it takes no arguments"
		if best := config.Nearest(first, has); best != "" {
			hint = fmt.Sprintf("did you mean %q?", best)
		} else if len(has) > 0 {
			hint = "they are " + strings.Join(slices.Compact(slices.Sorted(slices.Values(has))), ", ")
		}
		tools := p.Tool
		if tools == "*" {
			tools = "any tool"
		}
		problems = append(problems, config.Problem{
			Path: path, Pos: b.PosOf(key), Severity: config.SeverityWarning, Code: config.CodeNoEffect,
			Text: fmt.Sprintf("%s is no argument of %s, so that no call is meant", argument, tools), Hint: hint,
		})
	}
	return problems
}

// argumentsOf returns the names of a tool's arguments, and whether the file says
// them.
func argumentsOf(a *config.Agent, t config.Tool) ([]string, bool) {
	if f, ok := t.(*config.FunctionTool); ok {
		return slices.Collect(maps.Keys(f.Parameters)), f.Parameters != nil || len(f.Command) > 0
	}
	known, err := closed(a, t)
	if err != nil || known == nil {
		return nil, false
	}
	var s struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal(known.Definition().Schema, &s) != nil {
		return nil, false
	}
	return slices.Collect(maps.Keys(s.Properties)), true
}
