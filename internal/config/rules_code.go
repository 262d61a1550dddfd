package config

import (
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// function checks a function tool: exactly one of its forms, and what goes with
// it.
func (c *checker) function(t *FunctionTool) {
	c.oneForm(t.Block, "file", "command", "script")
	c.file(t.Block, "file", t.File)
	c.file(t.Block, "script", t.Script)
	if t.Wrote("file") && !t.Wrote("function") {
		c.fail(t.Block, "function", CodeMissing, "is required with file", "name the function in it")
	}
	c.variables(t.Block, t.Env)
	switch {
	case t.Wrote("command"):
		c.idle(t.Block, "it is for file and script", "function")
		c.command(t.Block, t.Command)
	case t.Wrote("script"):
		c.idle(t.Block, "a script sees no variables", "env")
	}
}

// grader checks a code metric, in the same way.
func (c *checker) grader(m *CodeMetric) {
	c.oneForm(m.Block, "grader", "command", "script", "expr")
	if m.Grader != "" && m.known("grader") && !isGrader(m.Grader) {
		c.fail(m.Block, "grader", CodeValue, fmt.Sprintf("%q is not module:callable", m.Grader), "such as graders.money:same_amount")
	}
	c.file(m.Block, "script", m.Script)
	c.command(m.Block, m.Command)
	c.variables(m.Block, m.Env)
	if !m.Wrote("script") {
		c.idle(m.Block, "it is for script", "function")
	}
	if m.Wrote("script") || m.Wrote("expr") {
		c.idle(m.Block, "scripts and expressions see no variables", "env")
	}
}

// oneForm reports a section that has none or several of the keys of which it must
// have one.
func (c *checker) oneForm(b Block, keys ...string) {
	var wrote []string
	for _, key := range keys {
		if b.Wrote(key) {
			wrote = append(wrote, key)
		}
	}
	switch {
	case len(wrote) == 0:
		c.fail(b, keys[0], CodeMissing, "is required, or one of "+strings.Join(keys[1:], ", ")+" instead of it", "")
	case len(wrote) > 1:
		c.fail(b, wrote[1], CodeConflict, wrote[0]+" is given, too", "keep one of the two")
	}
}

// command checks that a command names a program.
func (c *checker) command(b Block, command []string) {
	if len(command) > 0 && b.known("command") && strings.TrimSpace(command[0]) == "" {
		c.fail(b, "command", CodeValue, "names no program", "such as [python3, tool.py]")
	}
}

// variables checks the names of an environment.
func (c *checker) variables(b Block, env map[string]secret.String) {
	for _, name := range sortedKeys(env) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			c.fail(b, "env", CodeValue, fmt.Sprintf("%q is not the name of a variable", name), "")
		}
	}
}

// isGrader reports whether s matches ^[\w.]+:[\w_]+$.
func isGrader(s string) bool {
	module, callable, ok := strings.Cut(s, ":")
	word := func(s string) bool { return s != "" && isToolName(s) && !strings.Contains(s, "-") }
	return ok && strings.Trim(module, ".") != "" && word(strings.ReplaceAll(module, ".", "_")) && word(callable)
}
