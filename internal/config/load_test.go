package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// folder writes files into a new folder and returns it. A name that ends in /
// is an empty folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load loads the agent file of a folder. Unless the options say otherwise the
// environment is empty and there is no home.
func load(t *testing.T, dir string, opts config.Options) (*config.Agent, []string) {
	t.Helper()
	if opts.WorkDir == "" {
		opts.WorkDir = dir
	}
	agent, problems := config.Load(dir, opts)
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = relative(p.String(), dir, opts.Home)
	}
	return agent, lines
}

// relative replaces the folders of a test in a message.
func relative(message, dir, home string) string {
	message = strings.ReplaceAll(message, dir+string(filepath.Separator), "")
	message = strings.ReplaceAll(message, dir, "DIR")
	if home != "" {
		message = strings.ReplaceAll(message, home, "HOME")
	}
	return filepath.ToSlash(message)
}

// mustLoad loads an agent file that has no problems.
func mustLoad(t *testing.T, dir string, opts config.Options) *config.Agent {
	t.Helper()
	agent, problems := load(t, dir, opts)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", strings.Join(problems, "\n"))
	}
	return agent
}

// want compares the problems of a load with the expected lines.
func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// head is the beginning of an agent file that needs nothing.
const head = "name: a\nmodel: {provider: offline, name: offline}\ninstructions: {inline: Help.}\n"

func TestLoadFindsTheAgentFile(t *testing.T) {
	for _, tt := range []struct {
		name, file, path string
	}{
		{"a folder", "agent.yaml", ""},
		{"a folder with agent.yml", "agent.yml", ""},
		{"a file", "other.yaml", "other.yaml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{tt.file: head})
			agent, problems := config.Load(filepath.Join(dir, tt.path), config.Options{WorkDir: dir})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if agent.Name != "a" || agent.File != filepath.Join(dir, tt.file) || agent.Dir != dir {
				t.Errorf("name %q, file %q, dir %q", agent.Name, agent.File, agent.Dir)
			}
		})
	}
}

func TestEveryProblemOfEveryFileIsReportedOnce(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml": `name: 4
x-common: &sampling {temperature: 3}
model:
  <<: *sampling
  provider: opena
  nmae: gpt
  max_tokens: 1.5
instructions: {inline: " "}
tools:
  - type: mcp
    name: a b
    description: d
    transport: htp
    source: docs
  - name: untyped
  - type: vectorstor
  - type: vectorstore
    name: kb
    description: d
    source: docs
    top_k: 101
    database: {provider: chroma, collection: c}
evaluations:
  metrics:
    - f1_score
    - {type: geval, criteria: 5}
    - {metric_type: faithfulness, threshold: 2}
claude: {subagents: {}, disable_default_hooks: "yes"}
observability: {traces: ~}
test_cases_file: cases.yaml
`,
		"config.yaml": "provders: {}\nexecution: {llm_timeout: soon}\n",
		"cases.yaml":  "- input: Hello?\n  expected_tools: [kb, {name: kb, cout: 2}]\n  files: {}\n",
		"docs/a.md":   "text",
	})
	_, problems := load(t, dir, config.Options{})
	want(t, problems,
		`agent.yaml:1:7: name: 4 is a number; it must be text (put it in quotes)`,
		`agent.yaml:2:35: model.temperature: 3 is more than the maximum of 2`,
		`agent.yaml:4:3: model.name: is required`,
		`agent.yaml:5:13: model.provider: "opena" is not one of openai, azure_openai, anthropic, ollama, google, offline (did you mean "openai"?)`,
		`agent.yaml:6:3: model.nmae: unknown key (did you mean "name"?)`,
		`agent.yaml:7:15: model.max_tokens: 1.5 is not a whole number`,
		`agent.yaml:8:24: instructions.inline: is blank (give it a value or remove the key)`,
		`agent.yaml:11:11: tools[0].name: "a b" is not a name: letters, digits, _ and - only`,
		`agent.yaml:13:16: tools[0].transport: "htp" is not one of stdio, sse, websocket, http (did you mean "http"?)`,
		`agent.yaml:14:5: tools[0].source: unknown key (it is a key of type vectorstore)`,
		`agent.yaml:15:5: tools[1].type: is required (one of vectorstore, hierarchical_document, function, mcp, prompt, skill)`,
		`agent.yaml:16:11: tools[2].type: "vectorstor" is not one of vectorstore, hierarchical_document, function, mcp, prompt, skill (did you mean "vectorstore"?)`,
		`agent.yaml:21:12: tools[3].top_k: 101 is more than the maximum of 100`,
		`agent.yaml:22:26: tools[3].database.provider: "chroma" is not one of local, in-memory, postgres, azure-ai-search, qdrant, weaviate, chromadb, faiss, azure-cosmos-mongo, azure-cosmos-nosql, sql-server, pinecone (did you mean "chromadb"?)`,
		`agent.yaml:25:7: evaluations.metrics[0]: is text; it must be a mapping (write it as {metric: f1_score})`,
		`agent.yaml:26:7: evaluations.metrics[1].name: is required`,
		`agent.yaml:26:31: evaluations.metrics[1].criteria: 5 is a number; it must be text (put it in quotes)`,
		`agent.yaml:27:46: evaluations.metrics[2].threshold: 2 is more than the maximum of 1`,
		`agent.yaml:28:10: claude.subagents: unknown key (sub-agents stand under agents, by name; how many run at once is execution.parallel_test_cases)`,
		`agent.yaml:28:48: claude.disable_default_hooks: "yes" is text; it must be true or false`,
		`agent.yaml:29:25: observability.traces: has no value (give it one, or remove the key to have the default)`,
		`cases.yaml:2:35: test_cases[0].expected_tools[1].cout: unknown key (did you mean "count"?)`,
		`cases.yaml:3:10: test_cases[0].files: is a mapping; it must be a list`,
		`config.yaml:1:1: provders: unknown key (did you mean "providers"?)`,
		`config.yaml:2:26: execution.llm_timeout: "soon" is not a whole number`,
	)
}

func TestCoercion(t *testing.T) {
	const model = "name: a\ninstructions: {inline: Help.}\nmodel: {provider: offline, name: m, %}\n"
	for _, tt := range []struct {
		value string
		ok    bool
	}{
		{`temperature: "0.5"`, true},
		{`temperature: 1`, true},
		{`temperature: .inf`, false},
		{`temperature: "hot"`, false},
		{`max_tokens: "12"`, true},
		{`max_tokens: 12.0`, true},
		{`max_tokens: 12.5`, false},
		{`max_tokens: 0x10`, true},
		{`max_tokens: 99999999999999999999`, false},
		{`max_tokens: true`, false},
		{`endpoint: 5`, false},
		{`endpoint: true`, false},
		{`endpoint: 2024-01-01`, true},
		{`endpoint: yes`, true},
		{`endpoint: !!str 5`, true},
		{`endpoint: [a]`, false},
	} {
		dir := folder(t, map[string]string{"agent.yaml": strings.Replace(model, "%", tt.value, 1)})
		if _, problems := load(t, dir, config.Options{}); (len(problems) == 0) != tt.ok {
			t.Errorf("%s: %v", tt.value, problems)
		}
	}
	for word, value := range map[string]bool{"true": true, "yes": true, "on": true, "On": true, "1": true, `"true"`: true, "false": false, "no": false, "off": false, "0": false} {
		dir := folder(t, map[string]string{"agent.yaml": head + "claude: {web_search: " + word + "}\n"})
		if agent := mustLoad(t, dir, config.Options{}); agent.Claude.WebSearch != value {
			t.Errorf("%s reads as %v", word, agent.Claude.WebSearch)
		}
	}
}

func TestNullIsAbsent(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + `
description: null
tools:
test_cases: ~
evaluations:
execution: {llm_timeout: null}
observability: {logs: {filter_namespaces: null}}
`})
	agent := mustLoad(t, dir, config.Options{})
	if agent.Description != nil || agent.Tools != nil || agent.Wrote("tools") || agent.Execution.LLMTimeout != 60 {
		t.Errorf("description %v, tools %v, llm_timeout %d", agent.Description, agent.Tools, agent.Execution.LLMTimeout)
	}
	if got := agent.Observability.Logs.FilterNamespaces; len(got) != 1 {
		t.Errorf("filter_namespaces = %v, want the default", got)
	}
}

func TestNullTakesAwayADefault(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": "name: a\ninstructions: {inline: Help.}\nmodel: {provider: offline, name: m, temperature: null}\n"})
	agent := mustLoad(t, dir, config.Options{})
	if agent.Model.Temperature != nil || *agent.Model.MaxTokens != 1000 {
		t.Errorf("temperature %v, max_tokens %v", agent.Model.Temperature, *agent.Model.MaxTokens)
	}
}

func TestMetricWithoutTypeIsToldByItsShape(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + `
evaluations:
  metrics:
    - metric: bleu
    - {name: Tone, criteria: Polite?}
    - metric_type: faithfulness
    - grader: g:f
`})
	agent := mustLoad(t, dir, config.Options{})
	var got []string
	for _, m := range agent.Evaluations.Metrics {
		got = append(got, string(m.Base().Type)+" "+m.Name())
	}
	if s := strings.Join(got, ", "); s != "standard bleu, geval Tone, rag faithfulness, code f" {
		t.Error(s)
	}
}

func TestAnchorHoldersAreAllowed(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": `
x-judge: &judge {provider: offline, name: judge}
name: a
instructions: {inline: Help.}
model:
  x-note: any
  <<: *judge
  name: own
evaluations:
  model: *judge
  metrics: [{metric: bleu, model: *judge}]
claude:
  agents:
    x-shared: &shared {description: d, prompt: p}
    helper: *shared
`, "config.yaml": "providers:\n  x-base: &base {temperature: 0.1}\n  fast: {<<: *base, provider: offline, name: f}\n"})
	agent := mustLoad(t, dir, config.Options{})
	if len(agent.Claude.Agents) != 1 {
		t.Errorf("agents = %v", agent.Claude.Agents)
	}
	if agent.Model.Name != "own" || agent.Evaluations.Model.Name != "judge" {
		t.Errorf("model %q, judge %q", agent.Model.Name, agent.Evaluations.Model.Name)
	}
}

func TestUnknownKeysInOpenMappingsStay(t *testing.T) {
	dir := folder(t, map[string]string{"docs/a.md": "text", "agent.yaml": head + `
tools:
  - type: vectorstore
    name: kb
    description: d
    source: docs
    database: {provider: qdrant, url: http://localhost:6333, replicas: 2, x-any: kept}
`})
	agent := mustLoad(t, dir, config.Options{})
	db := agent.Tools[0].(*config.VectorstoreTool).Database
	if db.Options["url"] != "http://localhost:6333" || db.Options["replicas"] != 2 {
		t.Errorf("options = %v", db.Options)
	}
}

func TestBlocksKnowWhatWasWritten(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "execution:\n  turn_timeout: 30\n"})
	agent := mustLoad(t, dir, config.Options{})
	if !agent.Execution.Wrote("turn_timeout") || agent.Execution.Wrote("llm_timeout") {
		t.Error("Wrote does not tell what was written")
	}
	if p := agent.Execution.PosOf("turn_timeout"); p.Line != 5 || p.Column != 17 {
		t.Errorf("turn_timeout stands at %v", p)
	}
	if agent.Model.Path() != "model" || agent.Model.PosOf("temperature").Line != 2 {
		t.Errorf("model is %q at %v", agent.Model.Path(), agent.Model.PosOf("temperature"))
	}
}

func TestStrictTruthValues(t *testing.T) {
	for value, want := range map[string]string{
		"true": "true", "yes": "true", "On": "true", "no": "false", "off": "false",
		`"yes"`: "", `"true"`: "", "'on'": "", "1": "", "0": "", "maybe": "",
	} {
		agent, problems := load(t, folder(t, map[string]string{"agent.yaml": head + "openai: {disable_default_hooks: " + value + "}\n"}), config.Options{})
		switch {
		case want == "":
			if len(problems) != 1 || !strings.Contains(problems[0], "must be true or false") {
				t.Errorf("%s: %v", value, problems)
			}
		case fmt.Sprint(agent.OpenAI.DisableDefaultHooks) != want:
			t.Errorf("%s reads as %v", value, agent.OpenAI.DisableDefaultHooks)
		}
	}
}

func TestAnUnknownProfileIsOneProblem(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": "name: a\nmodel: {provider: quick}\ninstructions: {inline: Help.}\n"})
	_, problems := load(t, dir, config.Options{})
	want(t, problems, `agent.yaml:2:19: model.provider: "quick" is not one of openai, azure_openai, anthropic, ollama, google, offline`)
}

func TestEmptyEntries(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "test_cases: [{input: a, tags: [x, ]}, ~]\nclaude: {agents: {a: }}\ngoogle_adk: {}\npermissions: {ask: [~]}\n"})
	_, problems := load(t, dir, config.Options{})
	want(t, problems,
		"agent.yaml:4:39: test_cases[1]: is empty (give it a value, or remove it from the list)",
		"agent.yaml:5:21: claude.agents.a: has no value (give it one, or remove the key)",
		"agent.yaml:7:21: permissions.ask[0]: is empty (give it a value, or remove it from the list)",
	)
}
