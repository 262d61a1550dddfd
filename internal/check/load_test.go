package check_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

// folder writes files into a new folder and returns it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// codes returns the codes of the problems with their paths.
func codes(problems []config.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, string(p.Severity)+" "+p.Code+" "+p.Path)
	}
	return out
}

// accounts is an agent that needs accounts, servers and variables everywhere.
const accounts = `name: a
model: {provider: azure_openai, name: gpt, endpoint: '${AZURE_ENDPOINT}', api_key: '${AZURE_KEY}'}
instructions: {inline: Help.}
tools:
  - {type: vectorstore, name: kb, description: d, source: docs, database: main, embedding_model: '${EMBEDDER}'}
  - {type: mcp, name: memory, description: d, command: npx, args: [x], env: {TOKEN: '${MEMORY_TOKEN}'}, env_file: server.env}
  - {type: function, name: sum, description: d, file: tools.py, function: f}
  - {type: vectorstore, name: web, description: d, source: 'https://example.com/a.md'}
  - {type: hierarchical_document, name: law, description: d, source: docs, database: {provider: in-memory}, context_model: {provider: openai, name: small}}
  - {type: prompt, name: ask, description: d, template: x, parameters: {q: {type: string}}}
  - {type: skill, name: helper, description: d, instructions: x}
evaluations:
  model: {provider: openai, name: judge, api_key: '${JUDGE_KEY}'}
  metrics: [{metric: fluency, model: {provider: anthropic, name: own}}]
hooks: [{event: PreToolUse, action: reject}, {event: Stop, action: notify, url: 'https://example.com/${HOOK}'}]
observability: {enabled: true, exporters: {otlp: {endpoint: '${COLLECTOR}'}}}
deployment:
  registry: {url: '${REGISTRY}', repository: a}
  target: {provider: aws, aws: {region: r}}
`

func accountsFolder(t *testing.T) string {
	return folder(t, map[string]string{
		"agent.yaml":  accounts,
		"config.yaml": "vectorstores: {main: {provider: qdrant, connection_string: '${QDRANT}'}}\n",
		"docs/a.md":   "text",
		"tools.py":    "def f(): pass",
	})
}

func TestOfflineNeedsNoVariables(t *testing.T) {
	dir := accountsFolder(t)
	opts := check.Options{Options: config.Options{WorkDir: dir}}
	if _, problems := check.Load(dir, opts); !config.HasErrors(problems) {
		t.Fatal("without --offline nothing is missing")
	}
	opts.Offline = true
	a, problems := check.Load(dir, opts)
	if config.HasErrors(problems) {
		t.Fatalf("problems: %v", problems)
	}
	if !a.Offline || a.Model.Provider != config.ProviderOffline || a.Evaluations.Model.Provider != config.ProviderOffline {
		t.Errorf("offline %v, model %s, judge %s", a.Offline, a.Model.Provider, a.Evaluations.Model.Provider)
	}
	var tools []string
	for _, tool := range a.Tools {
		tools = append(tools, tool.Base().Name)
	}
	if !reflect.DeepEqual(tools, []string{"kb", "sum", "law"}) {
		t.Errorf("tools = %v", tools)
	}
	if kb := a.Tools[0].(*config.VectorstoreTool); kb.Database != nil || kb.EmbeddingModel != nil {
		t.Errorf("kb keeps its store %v or embedding model %v", kb.Database, kb.EmbeddingModel)
	}
	if len(a.Hooks) != 1 || a.Hooks[0].Action != config.HookReject {
		t.Errorf("hooks are %+v, want the one that rejects", a.Hooks)
	}
	if a.Observability != nil {
		t.Error("telemetry is left")
	}
	want := []config.LeftOut{
		{Path: "embedding_provider", What: "embedder of provider azure_openai", Need: "an account with azure_openai", Now: "the offline hashing embedder"},
		{Path: "model", What: "model gpt (azure_openai)", Need: "an account with azure_openai", Now: "the offline model"},
		{Path: "tools[0].database", What: "store main (qdrant)", Need: "that store and its credentials", Now: "a local index"},
		{Path: "tools[1]", What: "MCP server memory", Need: "npx to start it, with TOKEN", Now: "left out"},
		{Path: "tools[3]", What: "tool web over https://example.com/a.md", Need: "access to that address", Now: "left out"},
		{Path: "tools[4].context_model", What: "context model small (openai)", Need: "an account with openai", Now: "left out"},
		{Path: "tools[5]", What: "prompt ask", Need: "a model that follows instructions", Now: "left out"},
		{Path: "tools[6]", What: "skill helper", Need: "a model that follows instructions", Now: "left out"},
		{Path: "evaluations.model", What: "judge judge (openai)", Need: "an account with openai", Now: "metrics that need a judge are skipped"},
		{Path: "evaluations.metrics[0].model", What: "judge own (anthropic)", Need: "an account with anthropic", Now: "metrics that need a judge are skipped"},
		{Path: "hooks[1]", What: "hook Stop (notify)", Need: "access to that address", Now: "left out"},
		{Path: "observability", What: "telemetry", Need: "a collector", Now: "left out"},
	}
	if !reflect.DeepEqual(a.LeftOut, want) {
		t.Errorf("left out:\n%v\nwant:\n%v", a.LeftOut, want)
	}
}

func TestOfflineStillNeedsWhatItUses(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": strings.Replace(accounts, "inline: Help.", "inline: '${PROMPT}'", 1), "docs/a.md": "text"})
	_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: true})
	var errs []string
	for _, line := range codes(problems) {
		if strings.HasPrefix(line, "error") {
			errs = append(errs, line)
		}
	}
	want := []string{
		"error variable instructions.inline",
		"error reference tools[0].database", // config.yaml is not there
		"error reference tools[2].file",     // nor is the function's file
	}
	if !reflect.DeepEqual(errs, want) {
		t.Errorf("errors %v\nwant   %v", errs, want)
	}
}

func TestOfflineChangesNothingThatIsOffline(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml": "name: a\nmodel: {provider: offline, name: own}\ninstructions: {inline: Help.}\ntools:\n  - {type: vectorstore, name: kb, description: d, source: docs}\n",
		"docs/a.md":  "text",
	})
	a, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: true})
	if len(problems) > 0 || len(a.LeftOut) > 0 || a.Model.Name != "own" || len(a.Tools) != 1 {
		t.Errorf("problems %v, left out %v, model %q, %d tools", problems, a.LeftOut, a.Model.Name, len(a.Tools))
	}
}

func TestABrokenEnvFileMattersOnlyToItsServer(t *testing.T) {
	dir := folder(t, map[string]string{"server.env": "A='b\n", "agent.yaml": `name: a
model: {provider: offline, name: m}
instructions: {inline: Help.}
tools: [{type: mcp, name: s, description: d, command: npx, args: [x], env_file: server.env}]
`})
	for _, tt := range []struct {
		opts check.Options
		bad  bool
	}{{check.Options{}, true}, {check.Options{Offline: true}, false}, {check.Options{Replay: true}, false}} {
		if _, problems := check.Load(dir, tt.opts); config.HasErrors(problems) != tt.bad {
			t.Errorf("%+v: %v", tt.opts, problems)
		}
	}
}

func TestOfflineSaysWhichRuntimeTheLoopStandsInFor(t *testing.T) {
	for name, tt := range map[string]struct{ file, need string }{
		"claude, by its provider": {"model: {provider: anthropic, name: m}", "Claude Code"},
		"claude, with its model":  {"model: {provider: offline, name: m}\nbackend: claude", "Claude Code"},
		"google_adk":              {"backend: google_adk\nmodel: {provider: openai, name: m}", ""},
		"semantic_kernel":         {"backend: semantic_kernel\nmodel: {provider: openai, name: m}", ""},
		"agent_framework":         {"model: {provider: openai, name: m}", ""},
	} {
		dir := folder(t, map[string]string{"agent.yaml": "name: a\ninstructions: {inline: Help.}\n" + tt.file + "\n"})
		a, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: true})
		if config.HasErrors(problems) {
			t.Fatalf("%s: %v", name, problems)
		}
		var got []config.LeftOut
		for _, l := range a.LeftOut {
			if l.Path == "backend" {
				got = append(got, l)
			}
		}
		var want []config.LeftOut
		if tt.need != "" {
			want = []config.LeftOut{{Path: "backend", What: "runtime " + string(a.Runtime), Need: tt.need, Now: "our own loop"}}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: left out %v, want %v", name, got, want)
		}
	}
}

func TestCodeExecutionIsLeftOut(t *testing.T) {
	for file, want := range map[string]int{
		"model: {provider: google, name: m}\ngoogle_adk: {code_execution: true}\n":                       1,
		"model: {provider: google, name: m}\ngoogle_adk: {code_execution: false}\n":                      0,
		"model: {provider: openai, name: m}\ngoogle_adk: {code_execution: true}\n":                       0,
		"model: {provider: openai, name: m}\nbackend: google_adk\ngoogle_adk: {code_execution: true}\n":  1,
		"model: {provider: offline, name: m}\nbackend: google_adk\ngoogle_adk: {code_execution: true}\n": 1,
		"model: {provider: google, name: m}\nbackend: google_adk\ngoogle_adk: {streaming_mode: sse}\n":   0,
	} {
		dir := folder(t, map[string]string{"agent.yaml": "name: a\ninstructions: {inline: Help.}\n" + file})
		a, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: true})
		if len(problems) > 0 {
			t.Errorf("%s: %v", file, problems)
		}
		got := 0
		for _, l := range a.LeftOut {
			if l.Path == "google_adk.code_execution" {
				got++
			}
		}
		if got != want || want == 1 && a.GoogleADK.CodeExecution {
			t.Errorf("%s: it was left out %d times, want %d", file, got, want)
		}
	}
}

func TestSummariesAreLeftOut(t *testing.T) {
	const summaries = "agent_framework: {compaction_strategy: summarization}\n"
	for file, want := range map[string]int{
		"model: {provider: openai, name: m}\n" + summaries:                                             1,
		"model: {provider: offline, name: m}\n" + summaries:                                            1,
		"model: {provider: offline, name: m, script: [{do: [{text: Yes.}]}]}\n" + summaries:            0,
		"model: {provider: openai, name: m}\nbackend: semantic_kernel\n" + summaries:                   0,
		"model: {provider: openai, name: m}\nagent_framework: {compaction_strategy: sliding_window}\n": 0,
	} {
		dir := folder(t, map[string]string{"agent.yaml": "name: a\ninstructions: {inline: Help.}\n" + file})
		a, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: true})
		if len(problems) > 0 {
			t.Fatalf("%s%v", file, problems)
		}
		found := 0
		for _, l := range a.LeftOut {
			if l.Path == "agent_framework.compaction_strategy" && l.Now == "the whole conversation is sent" {
				found++
			}
		}
		if found != want {
			t.Errorf("%sleft out: %v", file, a.LeftOut)
		}
	}
}

func TestRoomsAreAsked(t *testing.T) {
	dir := accountsFolder(t)
	_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir, Environ: []string{
		"AZURE_ENDPOINT=https://x", "AZURE_KEY=k", "EMBEDDER=e", "MEMORY_TOKEN=t", "JUDGE_KEY=k", "COLLECTOR=http://c", "REGISTRY=r", "QDRANT=http://q",
	}}})
	got := strings.Join(codes(problems), "\n")
	for _, line := range []string{"warning unsupported tools[0].database", "warning unsupported evaluations.metrics[0]"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	for i := 1; i < len(problems); i++ {
		a, b := problems[i-1].Pos, problems[i].Pos
		if a.File > b.File || a.File == b.File && (a.Line > b.Line || a.Line == b.Line && a.Column > b.Column) {
			t.Errorf("%v stands before %v", a, b)
		}
	}
}

// TestRoomsTakeAnAgentWithGaps: rooms are asked about agents that are wrong in
// any way, so that all problems are printed at once.
func TestRoomsTakeAnAgentWithGaps(t *testing.T) {
	for _, text := range []string{
		"", "name: 5\n", "tools: [{type: mcp}, {type: vectorstore}, {type: skill}, 5]\n", "model: 5\n", "model: {}\n",
		"evaluations: {}\n", "evaluations: {metrics: [{metric: x}, {grader: 5}, {criteria: 5}, {metric_type: 5}]}\n",
		"test_cases: [5, {turns: [5, {}]}, {expected_tools: [5, {args: {a: {regex: '('}}}], files: [{}], evaluations: [{}]}]\n",
		"claude: 5\nopenai: {permissions: 5}\nexecution: 5\nhooks: [{}]\npermissions: 5\nobservability: 5\ndeployment: {}\nresponse_format: 5\n",
	} {
		dir := folder(t, map[string]string{"agent.yaml": text})
		for _, offline := range []bool{false, true} {
			if _, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}, Offline: offline}); !config.HasErrors(problems) {
				t.Errorf("%q has no errors", text)
			}
		}
	}
}

func TestAMistakeIsReportedByOneRoom(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": "name: a\nmodel: {provider: offline, name: m, script_file: none.yaml}\ninstructions: {inline: Help.}\n" +
		"test_cases: [{input: a, expected_tools: [{name: t, args: {a: {regex: '('}}}]}]\n"})
	_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}})
	if got := codes(problems); !reflect.DeepEqual(got, []string{"error reference model.script_file", "error value test_cases[0].expected_tools[0].args"}) {
		t.Error(got)
	}
}

func TestRoomsDoNotSpeakOfWhatHasAnErrorAlready(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "text", "agent.yaml": `name: a
model: {provider: offline, name: m}
instructions: {inline: Help.}
tools:
  - {type: vectorstore, name: a, description: d, source: a.md, database: {provider: nosuch}}
  - {type: vectorstore, name: b, description: d, source: a.md, database: {}}
  - {type: vectorstore, name: c, description: d, source: ''}
`})
	_, problems := check.Load(dir, check.Options{Options: config.Options{WorkDir: dir}})
	want := []string{"error value tools[0].database.provider", "error missing tools[1].database.provider", "error value tools[2].source"}
	if got := codes(problems); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
