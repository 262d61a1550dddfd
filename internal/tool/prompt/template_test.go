package prompt_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/tool/prompt"
)

// values decodes a JSON object as the arguments of a call are.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, template, values, want string }{
		{"text", "Nothing to fill.", `{}`, "Nothing to fill."},
		{"a value", "Sum up {{ text }}!", `{"text": "a & <b>"}`, "Sum up a & <b>!"},
		{"braces in a value", "{{a}}{{b}}", `{"a": "{{b}}", "b": "x"}`, "{{b}}x"},
		{"a large number", "{{n}}", `{"n": 12345678901234567890}`, "12345678901234567890"},
		{"a list", "{{l}}", `{"l": [1, "a"]}`, `[1,"a"]`},
		{"nothing there", "<{{a}}>", `{}`, "<>"},
		{"null", "<{{a}}>", `{"a": null}`, "<>"},
		{"a field", "{{a.b.c}}{{a.x.y}}", `{"a": {"b": {"c": 1}}}`, "1"},
		{"a condition", "{{#if a}}yes{{/if}}", `{"a": "x"}`, "yes"},
		{"a condition that does not hold", "{{#if a}}yes{{else}}no{{/if}}", `{"a": ""}`, "no"},
		{"zero", "{{#if a}}yes{{else}}no{{/if}}", `{"a": 0}`, "no"},
		{"false", "{{#if a}}yes{{else}}no{{/if}}", `{"a": false}`, "no"},
		{"an empty list", "{{#if a}}yes{{else}}no{{/if}}", `{"a": []}`, "no"},
		{"each", "{{#each l}}- {{this}}\n{{/each}}", `{"l": ["a", 2]}`, "- a\n- 2\n"},
		{"fields of each", "{{#each l}}{{this.n}} {{b}};{{/each}}", `{"l": [{"n": "x"}, {"n": "y"}], "b": 1}`, "x 1;y 1;"},
		{"each of nothing", "{{#each l}}a{{else}}none{{/each}}", `{}`, "none"},
		{"one in the other", "{{#each l}}{{#if this.ok}}{{this.n}}{{else}}-{{/if}}{{/each}}", `{"l": [{"ok": true, "n": 1}, {"n": 2}]}`, "1-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := prompt.Parse(tt.template)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Render(values(t, tt.values)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for template, want := range map[string]string{
		"a\n{{b":                         "line 2: {{ has no }}",
		"{{}}":                           "line 1: {{}} is not the name of a value",
		"{{a b}}":                        "{{a b}} is not the name of a value: letters, digits, _ and -, with dots between fields",
		"{{a..b}}":                       "{{a..b}} is not the name",
		"{{#if a}}\nx":                   "line 2: {{#if}} has no {{/if}}",
		"{{#if a}}x{{/each}}":            "{{#if}} ends with {{/each}}; write {{/if}}",
		"{{#if a}}x{{else}}{{else}}":     "{{#if}} ends with {{else}}; write {{/if}}",
		"x{{/if}}":                       "{{/if}} closes nothing",
		"{{else}}":                       "{{else}} closes nothing",
		"{{#with a}}x{{/with}}":          "there is no {{#with}}; there are {{#if name}} and {{#each name}}",
		"{{#if}}x{{/if}}":                "is not the name of a value",
		"{{this}}":                       "{{this}} stands outside of {{#each}}",
		"{{#each a}}{{/each}}{{this.b}}": "{{this.b}} stands outside of {{#each}}",
	} {
		_, err := prompt.Parse(template)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", template, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	p, err := prompt.Parse("{{b.c}} {{#each a}}{{this}}{{/each}} {{#if c}}{{b}}{{/if}}")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Names(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("names are %q", got)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{{a}}", "{{#if a}}{{else}}{{/if}}", "{{#each a}}{{this.b}}{{/each}}", "{{", "}}", "{{{{a}}}}", "{{#if a}}{{#each b}}{{/if}}"} {
		f.Add(seed, "text")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		p, err := prompt.Parse(template)
		if err != nil {
			return
		}
		all := map[string]any{}
		for _, name := range p.Names() {
			all[name] = []any{value, map[string]any{"b": value}}
		}
		got := p.Render(all)
		if !strings.Contains(template, "{{") && got != template {
			t.Errorf("%q became %q", template, got)
		}
	})
}
