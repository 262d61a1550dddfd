package config

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// FunctionTool calls a function the user wrote: of a Python file, as a program,
// or of a Starlark script.
type FunctionTool struct {
	ToolBase
	File       string                    `key:"file" rule:"nonblank" doc:"A Python file, relative to the agent file; or command, or script."`
	Function   string                    `key:"function" rule:"nonblank" doc:"The function in file or script; in a script, absent, it has the tool's name."`
	Parameters map[string]map[string]any `key:"parameters" doc:"JSON Schema of each parameter, which is optional with a default or required: false; absent, the function itself decides."`
	Command    []string                  `key:"command" ours:"true" rule:"minitems=1" doc:"A program of any language and its arguments, instead of file: it reads the call's arguments as JSON and writes the result."`
	Script     string                    `key:"script" ours:"true" rule:"nonblank" doc:"A Starlark file, relative to the agent file, instead of file."`
	Env        map[string]secret.String  `key:"env" ours:"true" doc:"Variables that file or command sees beside PATH, HOME and the like."`
}

// Entry returns the function of file or script: what the key function says, else
// the tool's name as an identifier.
func (t *FunctionTool) Entry() string {
	if t.Function != "" {
		return t.Function
	}
	return strings.ReplaceAll(t.Name, "-", "_")
}

// CodeMetric is a grader the user wrote: a Python callable, a program, a function
// of a Starlark script, or an expression.
type CodeMetric struct {
	MetricBase
	Grader    string                   `key:"grader" doc:"module:callable, looked for in the agent folder. Never imported at load."`
	Threshold *float64                 `key:"threshold" doc:"Lowest score that passes when the grader does not say."`
	Title     *string                  `key:"name" doc:"Its name in reports; absent, the callable's."`
	Command   []string                 `key:"command" ours:"true" rule:"minitems=1" doc:"A program of any language and its arguments, instead of grader: it reads the case as JSON and writes a verdict."`
	Script    string                   `key:"script" ours:"true" rule:"nonblank" doc:"A Starlark file, relative to the agent file, instead of grader."`
	Function  string                   `key:"function" ours:"true" default:"grade" rule:"nonblank" doc:"The function in script."`
	Expr      string                   `key:"expr" ours:"true" rule:"nonblank" doc:"An expression over the case instead of grader, such as len(tool_calls) == 0."`
	Env       map[string]secret.String `key:"env" ours:"true" doc:"Variables that grader or command sees beside PATH, HOME and the like."`
	TimeoutMS int                      `key:"timeout_ms" ours:"true" default:"30000" rule:"gt=0" doc:"Milliseconds a grader may take."`
}

// Name implements Metric: the title, or the name of the callable, program, script
// or expression.
func (m *CodeMetric) Name() string {
	switch {
	case m.Title != nil:
		return *m.Title
	case m.Grader != "":
		_, callable, _ := strings.Cut(m.Grader, ":")
		return cmp.Or(callable, m.Grader)
	case m.Script != "":
		return baseName(m.Script)
	case m.Expr != "":
		return m.Expr
	}
	// The program, or what an interpreter is given to run.
	for _, arg := range slices.Backward(m.Command) {
		if !strings.HasPrefix(arg, "-") {
			return baseName(arg)
		}
	}
	return ""
}

// baseName returns the name of a file without its folder and ending.
func baseName(file string) string {
	name := path.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(name, path.Ext(name))
}
