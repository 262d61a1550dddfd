package check_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

func TestResponseFormats(t *testing.T) {
	const at = "agent.yaml:4:18: "
	const hint = " (the model is told of it; patterns that are checked are those of RE2, and references stay within the schema)"
	for _, tt := range []struct{ name, format, want string }{
		{"good", "{type: object, properties: {a: {type: string, pattern: '^[a-z]+$'}}}", ""},
		{"a type that is none", "{properties: {a: {type: objct}}}",
			at + `response_format: is not a JSON Schema that can be used: /properties/a/type: "objct" is not a type; types are null, boolean, integer, number, string, array and object (see json-schema.org)`},
		{"a keyword with a wrong value", "{type: object, required: yes please}",
			at + `response_format: is not a JSON Schema that can be used: /required is the string "yes please", want a list of names (see json-schema.org)`},
		{"a dangling reference", "{$ref: '#/$defs/none'}",
			at + `response_format: is not a JSON Schema that can be used: the schema: $ref "#/$defs/none" leads nowhere (see json-schema.org)`},
		{"a pattern that looks ahead", "{properties: {a: {pattern: '^(?!x)'}}}", at + "warning: response_format: /properties/a: pattern ^(?!x) is not checked here" + hint},
		{"a reference to elsewhere", "{items: {$ref: 'https://example.com/a.json'}}", at + "warning: response_format: /items: $ref https://example.com/a.json is not checked here" + hint},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"agent.yaml": "name: a\nmodel: {provider: offline, name: m}\ninstructions: {inline: Help.}\nresponse_format: " + tt.format + "\n"})
			for _, offline := range []bool{false, true} {
				_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: offline})
				var got []string
				for _, p := range problems {
					p.Pos.File = filepath.Base(p.Pos.File)
					got = append(got, p.String())
				}
				if s := strings.Join(got, "\n"); s != tt.want {
					t.Errorf("offline %v:\ngot  %s\nwant %s", offline, s, tt.want)
				}
			}
		})
	}
}

func TestTheSchemaOfAMetric(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": "name: a\nmodel: {provider: offline, name: m}\ninstructions: {inline: Help.}\n" +
		"evaluations: {metrics: [{metric: json_schema, schema: {type: objekt}}]}\n"})
	_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}})
	if len(problems) != 1 || problems[0].Severity != config.SeverityError || !strings.Contains(problems[0].Text, `/type: "objekt" is not a type`) {
		t.Error(problems)
	}
}
