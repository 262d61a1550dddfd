package config_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/holodeck-go/holodeck/internal/config"
)

var update = flag.Bool("update", false, "write docs/keys.md anew")

// compiledSchema returns the JSON Schema, compiled.
func compiledSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(config.JSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// TestJSONSchemaAndKeyTable holds the JSON Schema against the schema of the
// Python edition, in the same way as loading is.
func TestJSONSchemaAndKeyTable(t *testing.T) {
	schema := compiledSchema(t)
	table := readKeyTable(t)
	for _, r := range table.rows {
		if r.key == "*" {
			continue
		}
		for _, p := range table.probes(r) {
			section := table.minimal(r.section)
			name := fmt.Sprintf("%s.%s %s", r.section, r.key, p.name)
			beside(section, r.section+"."+r.key, name)
			section[r.key] = p.value
			if p.drop {
				delete(section, r.key)
			}
			var doc any
			if err := json.Unmarshal(mustJSON(t, table.document(r.section, section)), &doc); err != nil {
				t.Fatal(err)
			}
			err := schema.Validate(doc)
			if (err == nil) == p.valid || p.name == "null" {
				continue // null is allowed wherever loading allows it
			}
			t.Errorf("%s = %v: valid is %v: %v", name, p.value, err == nil, err)
		}
	}
}

func TestJSONSchema(t *testing.T) {
	schema := compiledSchema(t)
	const rest = `"name": "a", "instructions": {"inline": "x"}`
	for _, tt := range []struct {
		name, doc string
		ok        bool
	}{
		{"a variable for a number", `{` + rest + `, "model": {"provider": "${P}", "name": "m", "max_tokens": "${N:-5}"}}`, true},
		{"text for a number", `{` + rest + `, "model": {"provider": "openai", "name": "m", "max_tokens": "many"}}`, false},
		{"an anchor holder", `{` + rest + `, "x-any": 1, "model": {"provider": "openai", "name": "m", "x-note": []}}`, true},
		{"an unknown key", `{` + rest + `, "model": {"provider": "openai", "name": "m", "nmae": "m"}}`, false},
		{"a skill without description", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "tools": [{"type": "skill", "name": "s", "path": "p"}]}`, true},
		{"a function without description", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "tools": [{"type": "function", "name": "s", "file": "f", "function": "g"}]}`, false},
		{"a store by name", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "tools": [{"type": "vectorstore", "name": "s", "description": "", "source": "d", "database": "main"}]}`, true},
		{"a metric without type", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "evaluations": {"metrics": [{"metric": "contains"}, {"grader": "a:b"}]}}`, true},
		{"an embedder without a name", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "embedding_provider": {"provider": "offline"}}`, true},
		{"an embedder without a provider", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "embedding_provider": {"name": "m"}}`, false},
		{"a model without a name", `{` + rest + `, "model": {"provider": "offline"}}`, false},
		{"an unknown backend", `{` + rest + `, "model": {"provider": "offline", "name": "m"}, "backend": "autogen"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var doc any
			if err := json.Unmarshal([]byte(tt.doc), &doc); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); (err == nil) != tt.ok {
				t.Errorf("Validate: %v", err)
			}
		})
	}
}

// TestKeysPage holds docs/keys.md against the types. Run it with -update to
// write the page anew.
func TestKeysPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Keys beyond the Python edition

Agent files of the Python edition load as they are. These keys are understood
here and not there; the keys of a section that occurs in several places, such as
a model, are listed at the first. The table is made from the types:
` + "`go test ./internal/config -run TestKeysPage -update`" + `.

| key | type | default | runtimes | effect |
|---|---|---|---|---|
`)
	for _, k := range config.OwnKeys() {
		fallback := "–"
		if k.Default != "" {
			fallback = "`" + k.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Path, k.Type, fallback, k.Runtimes, k.Effect)
	}
	page := filepath.Join("..", "..", "docs", "keys.md")
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(have), "\r\n", "\n") != b.String() {
		t.Errorf("%s is out of date: run go test ./internal/config -run TestKeysPage -update", page)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for key, sub := range m {
			if key == "properties" {
				for name, p := range sub.(map[string]any) {
					if text, _ := p.(map[string]any)["description"].(string); !strings.HasSuffix(text, ".") {
						t.Errorf("%s.%s: the description %q is not a sentence", path, name, text)
					}
				}
			}
			walk(path+"."+key, sub)
		}
	}
	var schema any
	if err := json.Unmarshal(config.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	walk("", schema)
}
