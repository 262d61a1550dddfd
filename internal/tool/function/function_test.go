package function_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/function"
	"github.com/holodeck-go/holodeck/internal/worker"
)

// child makes this program, started anew, a command: it says what it was given.
const child = "HOLODECK_TEST_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(child); how != "" {
		os.Exit(command(how))
	}
	os.Exit(m.Run())
}

func command(how string) int {
	var args json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&args); err != nil {
		return 9
	}
	said, _ := json.Marshal(map[string]any{"args": args, "how": how})
	os.Stdout.Write(said)
	return 0
}

// opened opens a function tool with a script beside it; tool.star may be named.
func opened(t *testing.T, script string, change func(*config.FunctionTool)) (agent.Tool, []string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "tool.star")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	pool := worker.New(worker.Options{Dir: dir})
	t.Cleanup(func() { pool.Close() })
	c := &config.FunctionTool{ToolBase: config.ToolBase{Name: "my-tool", Description: "Does it.", Timeout: 60}, Script: file}
	if change != nil {
		change(c)
	}
	var notices []string
	tool, err := function.Open(t.Context(), pool, c, func(s string) { notices = append(notices, s) })
	if err != nil {
		t.Fatal(err)
	}
	return tool, notices
}

func TestResultsOfEveryKind(t *testing.T) {
	tool, _ := opened(t, "def my_tool(x):\n  return x\n", nil)
	for value, want := range map[string]string{
		`"two words\nand \"quotes\""`: "two words\nand \"quotes\"",
		`""`:                          "",
		`{"a":[1,null,true]}`:         `{"a":[1,null,true]}`,
		`[]`:                          `[]`,
		`12345678901234567890`:        `12345678901234567890`,
		`1.5`:                         `1.5`,
		`true`:                        `true`,
		`null`:                        `null`,
	} {
		got, err := tool.Call(t.Context(), json.RawMessage(`{"x":`+value+`}`))
		if err != nil || got.Text() != want || got.IsError || (len(got.Structured) == 0) != strings.HasPrefix(value, `"`) {
			t.Errorf("%s: %+v, %v", value, got, err)
		}
	}
}

func TestTheFunctionSaysWhatItTakes(t *testing.T) {
	tool, notices := opened(t, "def my_tool(city, days = 3):\n  return city * days\n", nil)
	def := tool.Definition()
	if def.Name != "my-tool" || def.Description != "Does it." || def.Source != "function" || len(notices) != 0 {
		t.Errorf("definition %+v, notices %v", def, notices)
	}
	fits(t, def.Schema, map[string]bool{`{"city": "Rome"}`: true, `{"city": "Rome", "days": 2}`: true, `{}`: false, `{"city": "a", "days": "b"}`: false, `{"city": "a", "c": 1}`: false})
}

// fits compares what a schema takes.
func fits(t *testing.T, s json.RawMessage, want map[string]bool) {
	t.Helper()
	compiled, err := schema.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	for args, fits := range want {
		if err := compiled.Check(json.RawMessage(args)); (err == nil) != fits {
			t.Errorf("%s takes %s: %v", s, args, err)
		}
	}
}

func TestDeclaredParametersMayBeOptional(t *testing.T) {
	tool, _ := opened(t, "def my_tool(**given):\n  return given\n", func(c *config.FunctionTool) {
		c.Parameters = map[string]map[string]any{
			"city":  {"type": "string"},
			"days":  {"type": "integer", "default": 3},
			"note":  {"type": "string", "required": false},
			"place": {"type": "object", "required": []any{"street"}},
			"sure":  {"type": "boolean", "required": true},
		}
	})
	s := tool.Definition().Schema
	fits(t, s, map[string]bool{
		`{"city": "Rome", "place": {"street": "x"}, "sure": true}`:              true,
		`{"city": "Rome", "place": {"street": "x"}, "sure": true, "note": "n"}`: true,
		`{"city": "Rome", "place": {}, "sure": true}`:                           false,
		`{"place": {"street": "x"}, "sure": true}`:                              false,
		`{"city": "Rome", "place": {"street": "x"}}`:                            false,
		`{"city": "Rome", "place": {"street": "x"}, "sure": true, "other": 1}`:  false,
	})
	if strings.Contains(string(s), `"required":false`) || strings.Contains(string(s), `"required":true`) {
		t.Errorf("the model is told %s", s)
	}
}

func TestCommandTakesWhatTheFileDeclares(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	form := func(parameters map[string]map[string]any) func(*config.FunctionTool) {
		return func(c *config.FunctionTool) {
			c.Script, c.Command = "", []string{self}
			c.Env = map[string]secret.String{child: secret.New("echo")}
			c.Parameters = parameters
		}
	}
	tool, _ := opened(t, "", form(map[string]map[string]any{"n": {"type": "integer"}}))
	if got, err := tool.Call(t.Context(), json.RawMessage(`{"n":9007199254740993}`)); err != nil || got.Text() != `{"args":{"n":9007199254740993},"how":"echo"}` {
		t.Errorf("%s, %v", got.Text(), err)
	}
	tool, _ = opened(t, "", form(nil))
	fits(t, tool.Definition().Schema, map[string]bool{`{}`: true, `{"n": 1}`: false})
}

// TestCodeThatCannotBeDescribed: the agent opens, a person is told, and the model
// is told when it calls.
func TestCodeThatCannotBeDescribed(t *testing.T) {
	for script, want := range map[string]string{
		"fail('no database')\ndef my_tool():\n  pass\n": "fail: no database",
		"def other():\n  pass\n":                        "tool.star has no function my_tool",
		"def my_tool(:\n":                               "tool.star:1:14: got ':'",
	} {
		tool, notices := opened(t, script, nil)
		if len(notices) != 1 || !strings.Contains(notices[0], want) || !strings.Contains(notices[0], "tool my-tool: ") || !strings.HasSuffix(notices[0], "; calls of it will fail") {
			t.Errorf("%q: notices %q, want %q", script, notices, want)
		}
		fits(t, tool.Definition().Schema, map[string]bool{`{}`: true, `{"n": 1}`: true})
		if _, err := tool.Call(t.Context(), json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: a call: %v, want %q", script, err, want)
		}
	}
}

func TestPythonThatIsNotThere(t *testing.T) {
	tool, notices := opened(t, "", func(c *config.FunctionTool) { c.Script, c.File, c.Function = "", "tool.py", "f" })
	if len(notices) != 1 || !strings.Contains(notices[0], "no Python interpreter") || !strings.Contains(notices[0], "install Python 3.9 or later, or set HOLODECK_PYTHON") {
		t.Errorf("notices %q", notices)
	}
	if _, err := tool.Call(t.Context(), json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "no Python interpreter") {
		t.Errorf("a call: %v", err)
	}
}

func TestOpeningEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pool := worker.New(worker.Options{Dir: t.TempDir()})
	defer pool.Close()
	c := &config.FunctionTool{ToolBase: config.ToolBase{Name: "t", Timeout: 60}, File: "tool.py", Function: "f"}
	if _, err := function.Open(ctx, pool, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
