package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestCheckOfTheUsersCode(t *testing.T) {
	const head = "name: a\ninstructions: {inline: x}\nmodel: {provider: offline, name: x}\ntools:\n"
	const pay = "  - {type: function, name: pay, description: d, command: [there], parameters: {amount: {type: integer}, to: {type: object}}}\n"
	for _, tt := range []struct{ name, yaml, want string }{
		{"nothing to say", pay + "permissions: {ask: ['pay(amount=9, to.name=x)']}\nhooks: [{event: PreToolUse, arguments: {to: x}, action: reject}]\n", ""},
		{"no schema", "  - type: function\n    name: f\n    description: d\n    command: [there]\n    parameters:\n      n: {type: integer}\n      m:\n        type: strin\n",
			`agent.yaml:12:9: tools[0].parameters.m: is no JSON Schema: `},
		{"a default of another type", "  - {type: function, name: f, description: d, command: [there], parameters: {n: {type: integer, required: false, default: many}}}\n",
			`agent.yaml:5:123: tools[0].parameters.n.default: does not follow the schema of its parameter: n is the string "many", want integer`},
		{"a default of a prompt", "  - {type: prompt, name: p, description: d, template: '{{n}}', parameters: {n: {type: float, default: x}}}\n",
			`tools[0].parameters.n.default: does not follow the schema of its parameter: n is the string "x", want number`},
		{"no such program", "  - {type: function, name: f, description: d, command: [not-there]}\n  - {type: function, name: g, description: d, command: [bin/not-there]}\n",
			`agent.yaml:5:56: warning: tools[0].command: there is no program not-there that could be run: "not-there" is in no folder of PATH`},
		{"no such argument", pay + "permissions: {disallowed_tools: ['pay(amuont=9)']}\n",
			`agent.yaml:6:33: warning: permissions.disallowed_tools[0]: amuont is no argument of pay, so that no call is meant (did you mean "amount"?)`},
		{"no such argument of a hook", pay + "hooks: [{event: PreToolUse, arguments: {currency: x}, action: reject}]\n",
			`warning: hooks[0].arguments: currency is no argument of any tool, so that no call is meant (they are amount, to)`},
		{"arguments that only the code knows", "  - {type: function, name: f, description: d, script: f.star}\npermissions: {ask: ['f(x=1)']}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"agent.yaml": head + tt.yaml, "f.star": "def f(x): return x\n", "there": "#!/bin/sh\n", "there.exe": "x"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			a, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir, Environ: []string{"PATH=" + dir}})
			if config.HasErrors(problems) {
				t.Fatal(&config.Error{Problems: problems})
			}
			var got []string
			for _, p := range Check(a) {
				p.Pos.File = filepath.Base(p.Pos.File)
				got = append(got, p.String())
			}
			if said := strings.Join(got, "\n"); tt.want == "" && said != "" || !strings.Contains(said, tt.want) {
				t.Errorf("got  %s\nwant %s", said, tt.want)
			}
		})
	}
}
