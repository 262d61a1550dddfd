package config_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// setting returns a line of the effective configuration: value, layer, file
// and line.
func setting(t *testing.T, a *config.Agent, dir, path string) string {
	t.Helper()
	for _, s := range a.Effective() {
		if s.Path == path {
			at := ""
			if s.Pos.File != "" {
				at = " " + relative(s.Pos.String(), dir, filepath.Join(dir, "home"))
			}
			return string(mustJSON(t, s.Value)) + " " + string(s.Layer) + at
		}
	}
	return "none"
}

func TestConfigFilesFillGapsByPresence(t *testing.T) {
	dir := folder(t, map[string]string{
		"home/.holodeck/config.yaml": `
providers:
  openai: {provider: openai, name: gpt-user, temperature: 0.1, api_key: user-key}
  fast: {provider: ollama, name: small, endpoint: http://localhost:1}
vectorstores:
  main: {provider: qdrant, connection_string: http://user:6333}
deployment:
  registry: {url: user.example.com, repository: user/agent}
  target: {provider: aws, aws: {region: us-east-1, cpu: 2}}
execution: {file_timeout: 11, llm_timeout: 12}
mcp_servers:
  - {name: memory, description: user's, command: uvx}
  - {name: files, description: user's, command: uvx}
`,
		"config.yml": `
providers:
  openai: {temperature: 0.2}
vectorstores:
  docs: {provider: postgresql, connection_string: postgres://db, options: {db_schema: kb}}
deployment:
  target: {aws: {cpu: 4}}
execution: {llm_timeout: 22, download_timeout: 23}
mcp_servers:
  - {name: memory, description: project's, command: uvx}
`,
		"docs/a.md": "text",
		"agent.yaml": `
name: a
instructions: {inline: Help.}
model: {provider: openai, max_tokens: 5}
embedding_provider: {provider: openai, name: text-embedding-3-small}
evaluations:
  model: {provider: fast}
  metrics: [{metric: fluency, model: {provider: fast, name: large}}]
execution: {download_timeout: 33}
tools:
  - {type: vectorstore, name: kb, description: d, source: docs, database: docs}
  - {type: hierarchical_document, name: law, description: d, source: docs, database: main, context_model: {provider: fast}}
  - {type: mcp, name: files, description: own, command: uvx}
deployment:
  registry: {repository: own/agent}
`,
	})
	agent := mustLoad(t, dir, config.Options{Home: filepath.Join(dir, "home"), Environ: []string{"HOLODECK_FILE_TIMEOUT=41", "HOLODECK_PARALLEL_TEST_CASES=42"},
		Flags: []config.Flag{{Name: "--timeout", Key: "llm_timeout", Value: "51"}}})
	for path, line := range map[string]string{
		"model.name":                             `"gpt-user" user config home/.holodeck/config.yaml:3:36`,
		"model.temperature":                      `0.2 project config config.yml:3:25`,
		"model.max_tokens":                       `5 agent file agent.yaml:4:39`,
		"model.api_key":                          `"[redacted]" user config home/.holodeck/config.yaml:3:73`,
		"embedding_provider.api_key":             `"[redacted]" user config home/.holodeck/config.yaml:3:73`,
		"embedding_provider.name":                `"text-embedding-3-small" agent file agent.yaml:5:46`,
		"evaluations.model.provider":             `"ollama" user config home/.holodeck/config.yaml:4:20`,
		"evaluations.model.name":                 `"small" user config home/.holodeck/config.yaml:4:34`,
		"evaluations.metrics[0].model.name":      `"large" agent file agent.yaml:8:61`,
		"tools[0].database.provider":             `"postgres" project config config.yml:5:20`,
		"tools[0].database.db_schema":            `"kb" project config config.yml:5:87`,
		"tools[1].database.provider":             `"qdrant" user config home/.holodeck/config.yaml:6:20`,
		"tools[1].context_model.name":            `"small" user config home/.holodeck/config.yaml:4:34`,
		"tools[2].description":                   `"own" agent file agent.yaml:13:43`,
		"tools[3].name":                          `"memory" project config config.yml:10:12`,
		"tools[3].description":                   `"project's" project config config.yml:10:33`,
		"deployment.registry.repository":         `"own/agent" agent file agent.yaml:15:26`,
		"deployment.registry.url":                `"user.example.com" user config home/.holodeck/config.yaml:8:19`,
		"deployment.target.aws.cpu":              `4 project config config.yml:7:23`,
		"deployment.target.aws.region":           `"us-east-1" user config home/.holodeck/config.yaml:9:41`,
		"execution.llm_timeout":                  `51 flag --timeout`,
		"execution.download_timeout":             `33 agent file agent.yaml:9:31`,
		"execution.file_timeout":                 `11 user config home/.holodeck/config.yaml:10:27`,
		"execution.parallel_test_cases":          `42 environment HOLODECK_PARALLEL_TEST_CASES`,
		"execution.turn_timeout":                 `600 default`,
		"observability":                          `none`,
		"backend":                                `"agent_framework" default`,
		"tools[4].name":                          `none`,
		"deployment.target.aws.auto_scaling_max": `5 default`,
	} {
		if got := setting(t, agent, dir, path); got != line {
			t.Errorf("%s: %s\nwant %s", path, got, line)
		}
	}
	if got := agent.Tools[0].(*config.VectorstoreTool).Database.Ref; got != "docs" {
		t.Errorf("Ref = %q", got)
	}
}

func TestAnEmptyOrAbsentConfigFileIsFine(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}\n"} {
		dir := folder(t, map[string]string{"agent.yaml": head, "config.yaml": text})
		mustLoad(t, dir, config.Options{Home: filepath.Join(dir, "nowhere")})
	}
}

func TestConfigFileProblems(t *testing.T) {
	for _, tt := range []struct {
		name, agent, settings string
		want                  []string
	}{
		{"a list", head, "- a\n", []string{"config.yaml:1:1: is a list; it must be a mapping (its keys are providers, vectorstores, execution, deployment, mcp_servers)"}},
		{"an unknown store", head + "tools: [{type: vectorstore, name: kb, description: d, source: docs, database: chrom}]\n",
			"vectorstores: {chroma: {provider: chromadb, connection_string: 'http://localhost:8000'}}\n",
			[]string{`agent.yaml:4:79: tools[0].database: "chrom" is not a store of config.yaml (did you mean "chroma"?)`}},
		{"a store that does not exist", head + "tools: [{type: vectorstore, name: kb, description: d, source: docs, database: redis}]\n",
			"vectorstores: {redis: {provider: redis, connection_string: 'redis://x'}}\n",
			[]string{`config.yaml:1:34: tools[0].database.provider: "redis" is not one of local, in-memory, postgres, azure-ai-search, qdrant, weaviate, chromadb, faiss, azure-cosmos-mongo, azure-cosmos-nosql, sql-server, pinecone`}},
		{"an unknown profile", "name: a\ninstructions: {inline: Help.}\nmodel: {provider: fst, name: m}\n", "providers: {fast: {provider: openai}}\n",
			[]string{`agent.yaml:3:19: model.provider: "fst" is not one of openai, azure_openai, anthropic, ollama, google, offline, or a profile of config.yaml: fast (did you mean "fast"?)`}},
		{"a profile without a provider", "name: a\ninstructions: {inline: Help.}\nmodel: {provider: fast, name: m}\n", "providers: {fast: {name: x}}\n",
			[]string{`config.yaml:1:19: providers.fast.provider: is required (one of openai, azure_openai, anthropic, ollama, google, offline)`}},
		{"a profile with another's name", "name: a\ninstructions: {inline: Help.}\nmodel: {provider: openai, name: m}\n", "providers: {openai: {provider: ollama}}\n",
			[]string{`config.yaml:1:32: providers.openai.provider: profile openai is for provider "ollama" (give the profile a name that is not a provider's)`}},
		{"an old key", head, "execution: {cache_directory: c}\n", []string{`config.yaml:1:13: warning: execution.cache_directory: is an old name (write cache_dir)`}},
		{"an old and a new key", head, "execution: {cache_directory: c, cache_dir: d}\n", []string{`config.yaml:1:13: execution.cache_directory: is an old name of cache_dir, which is given, too (keep cache_dir)`}},
		{"a server that is wrong", head, "mcp_servers: [{name: s, description: d, comand: npx}]\n",
			[]string{
				`config.yaml:1:15: tools[0].command: is required for stdio transport (one of npx, node, uvx, docker; or set transport and url)`,
				`config.yaml:1:41: mcp_servers[0].comand: unknown key (did you mean "command"?)`,
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"agent.yaml": tt.agent, "config.yaml": tt.settings, "docs/a.md": "text"})
			_, problems := load(t, dir, config.Options{})
			want(t, problems, tt.want...)
		})
	}
}

func TestBadExecutionSettingsNameTheirOrigin(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head})
	_, problems := load(t, dir, config.Options{
		Environ: []string{"HOLODECK_LLM_TIMEOUT=soon", "HOLODECK_QUIET=maybe", "HOLODECK_FILE_TIMEOUT="},
		Flags:   []config.Flag{{Name: "--parallel-test-cases", Key: "parallel_test_cases", Value: "0"}},
	})
	want(t, problems,
		`--parallel-test-cases: execution.parallel_test_cases: 0 is less than the minimum of 1`,
		`HOLODECK_LLM_TIMEOUT: execution.llm_timeout: "soon" is not a whole number`,
		`HOLODECK_QUIET: execution.quiet: "maybe" is text; it must be true or false`,
	)
}

func TestCacheDirIsRelativeToWhatMentionsIt(t *testing.T) {
	dir := folder(t, map[string]string{"a/agent.yaml": head, "b/agent.yaml": head + "execution: {cache_dir: own}\n", "c/agent.yaml": head + "execution: {cache_dir: ~/cache}\n"})
	opts := config.Options{WorkDir: filepath.Join(dir, "work"), Home: filepath.Join(dir, "home")}
	for folder, want := range map[string]string{"a": "a/.holodeck/cache", "b": "b/own", "c": "home/cache"} {
		agent, problems := config.Load(filepath.Join(dir, folder), opts)
		if len(problems) > 0 || agent.Execution.CacheDir != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s: %s %v", folder, agent.Execution.CacheDir, problems)
		}
	}
	opts.Environ = []string{"HOLODECK_CACHE_DIR=env"}
	if agent, _ := config.Load(filepath.Join(dir, "a"), opts); agent.Execution.CacheDir != filepath.Join(dir, "work", "env") {
		t.Errorf("from the environment: %s", agent.Execution.CacheDir)
	}
}

func TestTestCasesFile(t *testing.T) {
	const ref = head + "test_cases_file: cases.yaml\n"
	for _, tt := range []struct {
		name, agent, cases string
		count              int
		want               []string
	}{
		{"a list", ref, "- {input: '${Q:-one}'}\n- {input: two}\n", 2, nil},
		{"a mapping", ref, "test_cases: [{input: one}]\nx-note: any\n", 1, nil},
		{"empty", ref, "", 0, nil},
		{"inline, too", ref + "test_cases: [{input: x}]\n", "- {input: one}\n", 1, []string{"agent.yaml:4:18: test_cases_file: test_cases is given, too (keep one of the two)"}},
		{"a word", ref, "hello\n", 0, []string{"cases.yaml:1:1: a file of test cases is a list, or a mapping with the key test_cases, and this is text"}},
		{"another mapping", ref, "cases: []\n", 0, []string{"cases.yaml:1:1: a file of test cases is a list, or a mapping with the key test_cases, and this is a mapping"}},
		{"a stray key", ref, "test_cases: []\nmore: 1\n", 0, []string{"cases.yaml:2:1: more: unknown key (a file of test cases is a list, or a mapping with the key test_cases)"}},
		{"bad cases", ref, "- {inptu: one}\n", 1, []string{"cases.yaml:1:3: test_cases[0].input: is required unless there are turns", `cases.yaml:1:4: test_cases[0].inptu: unknown key (did you mean "input"?)`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"agent.yaml": tt.agent, "cases.yaml": tt.cases})
			agent, problems := load(t, dir, config.Options{})
			want(t, problems, tt.want...)
			if agent.TestCases.Len() != tt.count {
				t.Errorf("%d cases, want %d", agent.TestCases.Len(), tt.count)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml": ref})
		_, problems := load(t, dir, config.Options{})
		want(t, problems, "agent.yaml:4:18: test_cases_file: there is no file cases.yaml (the path is relative to the file that mentions it)")
	})
	t.Run("files of a case are relative to its file", func(t *testing.T) {
		dir := folder(t, map[string]string{
			"agent.yaml":       head + "test_cases_file: suite/cases.yaml\n",
			"suite/cases.yaml": "- {input: one, files: [{path: a.txt, type: text}]}\n",
			"suite/a.txt":      "text",
		})
		agent := mustLoad(t, dir, config.Options{})
		f := caseAt(agent, 0).Files[0]
		if got := f.File("path", *f.Path); got != filepath.Join(dir, "suite", "a.txt") {
			t.Errorf("File = %s", got)
		}
	})
}

func TestEffectiveShowsEveryKeyOnce(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "claude: {agents: {b: {description: d, prompt: p}, a: {description: d, prompt: p}}}\n"})
	agent := mustLoad(t, dir, config.Options{})
	seen := map[string]bool{}
	var agents []string
	for _, s := range agent.Effective() {
		if seen[s.Path] {
			t.Errorf("%s is shown twice", s.Path)
		}
		seen[s.Path] = true
		if strings.HasPrefix(s.Path, "claude.agents.") && strings.HasSuffix(s.Path, ".prompt") {
			agents = append(agents, s.Path)
		}
	}
	if got := strings.Join(agents, " "); got != "claude.agents.a.prompt claude.agents.b.prompt" {
		t.Errorf("agents: %s", got)
	}
}
