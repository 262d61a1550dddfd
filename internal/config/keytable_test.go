package config_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// row is a key of the Python edition's schema (testdata/keys.tsv).
type row struct {
	section, key, typ string
	values            []string
	fallback, bounds  string
	required          bool
}

// probe is a value of a key and what the Python edition's schema says of it.
type probe struct {
	name  string
	value any
	valid bool
	drop  bool // leave the key out instead of giving it the value
}

// samples are values of keys that a plain text or number would not do for.
var samples = map[string]any{
	"AWSAppRunnerConfig.ecr_role_arn":          "arn:aws:iam::123456789012:role/reader",
	"Agent.test_cases_file":                    "cases.yaml",
	"AzureContainerAppsConfig.subscription_id": "00000000-0000-0000-0000-000000000000",
	"AzureMonitorExporterConfig.enabled":       false,
	"ClaudeConfig.working_directory":           "docs",
	"CloudTargetConfig.provider":               "azure",
	"CodeMetric.grader":                        "graders:exact",
	"EvaluationMetric.response_path":           "items[0].price",
	"EvaluationMetric.retry_on_failure":        1,
	"FileInput.path":                           "file.txt",
	"FileInput.type":                           "text",
	"FileInput.url":                            "https://example.com/a.txt",
	"FunctionTool.file":                        "file.txt",
	"FunctionTool.parameters":                  map[string]any{"a": map[string]any{"type": "string"}},
	"GCPCloudRunConfig.memory":                 "512Mi",
	"GCPCloudRunConfig.project_id":             "my-project-1",
	"GEvalMetric.evaluation_params":            []any{"input"},
	"HierarchicalDocumentToolConfig.database":  map[string]any{"provider": "qdrant"},
	"HierarchicalDocumentToolConfig.source":    "docs",
	"Instructions.file":                        "file.txt",
	"MCPTool.encoding":                         "utf-8",
	"MCPTool.env_file":                         "server.env",
	"MCPTool.url":                              "https://example.com/mcp",
	"NumericAxis.range":                        []any{1, 2},
	"OTLPExporterConfig.compression":           "gzip",
	"OptimizerConfig.loss":                     map[string]any{"bleu": 1},
	"PromptTool.file":                          "file.txt",
	"PromptTool.model":                         map[string]any{"temperature": 0.5},
	"PromptTool.parameters":                    map[string]any{"a": map[string]any{"type": "string"}},
	"RegistryConfig.repository":                "team/agent",
	"SubagentSpec.prompt_file":                 "file.txt",
	"TracingConfig.redaction_patterns":         []any{`\d+`},
	"VectorstoreTool.database":                 map[string]any{"provider": "qdrant"},
	"VectorstoreTool.embedding_dimensions":     384,
	"VectorstoreTool.min_similarity_score":     0.5,
	"VectorstoreTool.source":                   "docs",
	"VectorstoreTool.top_k":                    5,
	"HierarchicalDocumentToolConfig.min_score": 0.5,
}

// siblings are what a section needs beside its required keys.
var siblings = map[string]map[string]any{
	"CloudTargetConfig": {"provider": "azure", "azure": map[string]any{
		"subscription_id": "00000000-0000-0000-0000-000000000000", "resource_group": "g",
	}},
	"CodeMetric":                     {"type": "code"},
	"EvaluationMetric":               {"type": "standard"},
	"FileInput":                      {"path": "file.txt"},
	"FunctionTool":                   {"type": "function"},
	"GEvalMetric":                    {"type": "geval"},
	"HierarchicalDocumentToolConfig": {"type": "hierarchical_document"},
	"Instructions":                   {"inline": "Help."},
	"LLMProvider":                    {"endpoint": "https://example.com"},
	"MCPTool":                        {"type": "mcp", "command": "uvx"},
	"NumericAxis":                    {"type": "int"},
	"PromptTool":                     {"type": "prompt", "template": "Say {a}."},
	"RAGMetric":                      {"type": "rag"},
	"SubagentSpec":                   {"prompt": "Help."},
	"TestCaseModel":                  {"input": "Hello?"},
	"VectorstoreTool":                {"type": "vectorstore"},
}

// besides are what a key, or a key with a certain value, needs beside the
// section's siblings; nil takes a sibling away.
var besides = map[string]map[string]any{
	"AWSAppRunnerConfig.auto_scaling_max":             {"auto_scaling_min": 1},
	"AWSAppRunnerConfig.auto_scaling_min":             {"auto_scaling_max": 25},
	"AzureMonitorExporterConfig.enabled":              {"connection_string": "InstrumentationKey=0"},
	"ClaudeConfig.permission_mode":                    {"i_understand_this_is_unsafe": true},
	"CloudTargetConfig.aws":                           {"provider": "aws", "azure": nil},
	"CloudTargetConfig.gcp":                           {"provider": "gcp", "azure": nil},
	"CloudTargetConfig.provider aws":                  {"aws": map[string]any{"region": "r"}, "azure": nil},
	"CloudTargetConfig.provider gcp":                  {"gcp": map[string]any{"project_id": "my-project"}, "azure": nil},
	"FileInput.path null":                             {"url": "https://example.com/a.txt"},
	"FileInput.url":                                   {"path": nil},
	"FileInput.url null":                              {"path": "file.txt"},
	"HierarchicalDocumentToolConfig.enable_reranking": {"reranker_model": map[string]any{"provider": "openai", "name": "m"}},
	"HierarchicalDocumentToolConfig.exact_weight":     {"search_mode": "semantic"},
	"HierarchicalDocumentToolConfig.keyword_weight":   {"search_mode": "semantic"},
	"HierarchicalDocumentToolConfig.semantic_weight":  {"search_mode": "semantic"},
	"Instructions.file":                               {"inline": nil},
	"Instructions.file null":                          {"inline": "Help."},
	"Instructions.inline null":                        {"file": "file.txt"},
	"KeywordIndexConfig.provider opensearch":          {"endpoint": "https://example.com", "index_name": "i"},
	"MCPTool.command":                                 {"args": []any{"some"}},
	"MCPTool.command null":                            {"transport": "http", "url": "https://example.com/mcp"},
	"MCPTool.transport http":                          {"url": "https://example.com/mcp"},
	"MCPTool.transport sse":                           {"url": "https://example.com/mcp"},
	"MCPTool.transport websocket":                     {"url": "wss://example.com/mcp"},
	"MCPTool.url":                                     {"transport": "http"},
	"MCPTool.url null":                                {"transport": "stdio"},
	"PromptTool.file":                                 {"template": nil},
	"PromptTool.file null":                            {"template": "Say {a}."},
	"PromptTool.template null":                        {"file": "file.txt"},
	"RegistryConfig.tag_strategy":                     {"custom_tag": "v1"},
	"SubagentSpec.prompt null":                        {"prompt_file": "file.txt"},
	"SubagentSpec.prompt_file":                        {"prompt": nil},
	"SubagentSpec.prompt_file null":                   {"prompt": "Help."},
	"TestCaseModel.input null":                        {"turns": []any{map[string]any{"input": "Hello?"}}},
	"TestCaseModel.turns":                             {"input": nil},
	"TestCaseModel.turns null":                        {"input": "Hello?"},
	"TracingConfig.max_export_batch_size":             {"max_queue_size": 100000},
	"TracingConfig.max_queue_size":                    {"max_export_batch_size": 1},
	"VectorstoreTool.vector_field":                    {"id_field": "id"},
}

// beside puts what a key needs into its section.
func beside(section map[string]any, names ...string) {
	for _, name := range names {
		for key, v := range besides[name] {
			if v == nil {
				delete(section, key)
			} else {
				section[key] = v
			}
		}
	}
}

// keyTable is the table with what is needed to make documents from it.
type keyTable struct {
	rows    []row
	parents map[string]row // a row whose type names the section
}

func readKeyTable(t *testing.T) *keyTable {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "keys.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := &keyTable{parents: map[string]row{}}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		c := strings.Split(sc.Text(), "\t")
		table.rows = append(table.rows, row{c[0], c[1], c[2], strings.Fields(c[3]), c[4], c[5], c[6] == "required"})
	}
	// A section is placed below a row that names it, nearest the root and
	// preferably one that is required.
	byNeed := slices.Clone(table.rows)
	slices.SortStableFunc(byNeed, func(a, b row) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	for queue := []string{"Agent"}; len(queue) > 0; queue = queue[1:] {
		for _, r := range byNeed {
			if r.section != queue[0] {
				continue
			}
			for _, name := range strings.FieldsFunc(r.typ, func(c rune) bool { return strings.ContainsRune("[]{}|", c) }) {
				if _, ok := table.parents[name]; !ok && name != "Agent" && table.has(name) {
					table.parents[name] = r
					queue = append(queue, name)
				}
			}
		}
	}
	return table
}

// has reports whether name is a section.
func (k *keyTable) has(name string) bool {
	return slices.ContainsFunc(k.rows, func(r row) bool { return r.section == name })
}

// minimal returns the smallest section that loads.
func (k *keyTable) minimal(section string) map[string]any {
	out := map[string]any{}
	for _, r := range k.rows {
		if r.section == section && r.required {
			out[r.key] = k.sample(r, r.typ)
		}
	}
	for key, value := range siblings[section] {
		out[key] = value
	}
	return out
}

// sample returns a value of a row that is valid.
func (k *keyTable) sample(r row, typ string) any {
	if v, ok := samples[r.section+"."+r.key]; ok {
		return v
	}
	if inner, ok := strings.CutPrefix(typ, "["); ok {
		inner, _, _ = strings.Cut(inner, "]")
		return []any{k.sample(r, inner)}
	}
	if inner, ok := strings.CutPrefix(typ, "{"); ok {
		inner, _, _ = strings.Cut(inner, "}")
		return map[string]any{"a": k.sample(r, inner)}
	}
	typ, _, _ = strings.Cut(typ, "|")
	switch {
	case typ == "string" && len(r.values) > 0:
		return r.values[0]
	case typ == "string":
		return "text"
	case typ == "boolean":
		return true
	case typ == "integer", typ == "number":
		bounds := r.numbers()
		for _, name := range []string{"min", "max"} {
			if v, ok := bounds[name]; ok {
				return v
			}
		}
		return 1
	case typ == "any":
		return "anything"
	}
	return k.minimal(typ)
}

// numbers returns the numeric bounds of a row.
func (r row) numbers() map[string]float64 {
	out := map[string]float64{}
	for _, b := range strings.Fields(r.bounds) {
		name, value, _ := strings.Cut(b, "=")
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = f
		}
	}
	return out
}

// document returns an agent file in which the section is as given.
func (k *keyTable) document(section string, value map[string]any) map[string]any {
	if section == "Agent" {
		return value
	}
	parent := k.parents[section]
	above := k.minimal(parent.section)
	beside(above, parent.section+"."+parent.key)
	switch {
	case strings.HasPrefix(parent.typ, "["):
		above[parent.key] = []any{value}
	case strings.HasPrefix(parent.typ, "{"):
		above[parent.key] = map[string]any{"a": value}
	default:
		above[parent.key] = value
	}
	return k.document(parent.section, above)
}

// probes returns the values a key is tried with.
func (k *keyTable) probes(r row) []probe {
	out := []probe{{name: "alone", value: k.sample(r, r.typ), valid: true}}
	list := strings.HasPrefix(r.typ, "[")
	element := func(v any) any {
		if list {
			return []any{v}
		}
		return v
	}
	for _, v := range r.values {
		out = append(out, probe{name: v, value: element(v), valid: true})
	}
	if len(r.values) > 0 {
		out = append(out, probe{name: "another word", value: element("no-such-word")})
	}
	out = append(out, probe{name: "null", value: nil, valid: strings.Contains(r.typ, "null") || r.typ == "any"})
	bounds := r.numbers()
	for name, bound := range bounds {
		step := 1.0
		if strings.Contains(r.typ, "number") {
			step = 0.001
		}
		switch name {
		case "min":
			out = append(out, probe{name: "at the minimum", value: bound, valid: true}, probe{name: "below the minimum", value: bound - step})
		case "max":
			out = append(out, probe{name: "at the maximum", value: bound, valid: true}, probe{name: "above the maximum", value: bound + step})
		case "gt":
			out = append(out, probe{name: "at the bound", value: bound}, probe{name: "above the bound", value: bound + step, valid: true})
		}
	}
	if r.fallback != "" && r.fallback != "null" {
		var v any
		if json.Unmarshal([]byte(r.fallback), &v) == nil {
			out = append(out, probe{name: "its default", value: v, valid: true})
		}
	}
	var wrong any
	switch typ, _, _ := strings.Cut(r.typ, "|"); {
	case strings.Contains(r.typ, "any") && !strings.HasPrefix(r.typ, "{"):
	case typ == "string":
		wrong = 5
	case typ == "boolean":
		wrong = "perhaps"
	case typ == "integer":
		wrong = 1.5
	case typ == "number":
		wrong = "many"
	default:
		wrong = 5
	}
	if wrong != nil {
		out = append(out, probe{name: "wrong type", value: wrong})
	}
	if r.required {
		out = append(out, probe{name: "missing", drop: true})
	}
	return out
}

// different lists where loading differs from the Python edition's schema on
// purpose, with the reason.
var different = map[string]string{
	// Null is the same as leaving out a list or a mapping.
	"AxesConfig.numeric null":                      "",
	"AxesConfig.textual null":                      "",
	"BashConfig.excluded_commands null":            "",
	"CloudTargetConfig.aws null":                   "its provider is aws, so that it is required",
	"CloudTargetConfig.azure null":                 "its provider is azure, so that it is required",
	"CloudTargetConfig.gcp null":                   "its provider is gcp, so that it is required",
	"DeploymentConfig.environment null":            "",
	"GEvalMetric.evaluation_params null":           "",
	"LogsConfig.filter_namespaces null":            "",
	"OTLPExporterConfig.headers null":              "",
	"ObservabilityConfig.resource_attributes null": "",
	"TracingConfig.redaction_patterns null":        "",
}

// keyTableDir returns a folder with the files that the samples name.
func keyTableDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"file.txt": "Some text.\n", "docs/a.md": "A document.\n", "cases.yaml": "[]\n", "server.env": "A=b\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestKeyTable holds loading against the schema of the Python edition: each
// key alone, each value of a list, each bound and one past it, a wrong type,
// null, and a required key left out.
func TestKeyTable(t *testing.T) {
	table := readKeyTable(t)
	if len(table.rows) < 300 {
		t.Fatalf("the table has %d rows", len(table.rows))
	}
	dir := keyTableDir(t)
	used := map[string]bool{}
	for _, r := range table.rows {
		if r.key == "*" {
			continue
		}
		if r.section != "Agent" && table.parents[r.section].section == "" {
			t.Errorf("section %s stands nowhere", r.section)
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
			_, problems := loadDocument(t, dir, table.document(r.section, section))
			if !config.HasErrors(problems) == p.valid {
				continue
			}
			if _, ok := different[name]; ok {
				used[name] = true
				continue
			}
			if p.valid {
				t.Errorf("%s = %v: refused: %v", name, p.value, problems)
			} else {
				t.Errorf("%s = %v: accepted", name, p.value)
			}
		}
	}
	for name := range different {
		if !used[name] {
			t.Errorf("the exception %q is not needed", name)
		}
	}
}

// TestKeyTableDefaults compares the defaults.
func TestKeyTableDefaults(t *testing.T) {
	table := readKeyTable(t)
	dir := keyTableDir(t)
	for _, r := range table.rows {
		if r.fallback == "" || r.fallback == "null" || r.key == "type" {
			continue
		}
		section := table.minimal(r.section)
		delete(section, r.key)
		agent, problems := loadDocument(t, dir, table.document(r.section, section))
		if config.HasErrors(problems) {
			t.Errorf("%s without %s: %v", r.section, r.key, problems)
			continue
		}
		path := table.path(r.section) + r.key
		settings := agent.Effective()
		i := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Path == path })
		if i < 0 {
			t.Errorf("%s has no value", path)
			continue
		}
		got, err := json.Marshal(settings[i].Value)
		if err != nil {
			t.Fatal(err)
		}
		var have, want any
		if json.Unmarshal(got, &have) != nil || json.Unmarshal([]byte(r.fallback), &want) != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%s is %s, want %s", path, got, r.fallback)
		}
		if settings[i].Layer != config.LayerDefault {
			t.Errorf("%s comes from %s", path, settings[i].Layer)
		}
	}
}

// path returns the dotted path of a section in its document, ending in a dot.
func (k *keyTable) path(section string) string {
	if section == "Agent" {
		return ""
	}
	parent := k.parents[section]
	path := k.path(parent.section) + parent.key
	switch {
	case strings.HasPrefix(parent.typ, "["):
		path += "[0]"
	case strings.HasPrefix(parent.typ, "{"):
		path += ".a"
	}
	return path + "."
}

// loadDocument loads an agent file made from a value.
func loadDocument(t *testing.T, dir string, doc map[string]any) (*config.Agent, []config.Problem) {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return config.Load(file, config.Options{WorkDir: dir})
}
