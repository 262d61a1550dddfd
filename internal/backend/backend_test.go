package backend

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// load loads an agent file with more than a name and instructions.
func load(t *testing.T, more string) *config.Agent {
	t.Helper()
	dir := t.TempDir()
	text := "name: test\ninstructions: {inline: Be brief.}\n" + more
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(dir, config.Options{WorkDir: dir, Environ: []string{"HOLODECK_CLAUDE_CLI=off"}})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	return a
}

// open opens an agent without tools. It is closed with the test.
func open(t *testing.T, a *config.Agent) (agent.Backend, error) {
	t.Helper()
	set, err := tool.New(testEnv())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	b, err := Open(t.Context(), testEnv(), a, set, llm.Open(testEnv(), llm.Options{}), Options{})
	if err == nil {
		t.Cleanup(func() { b.Close() })
	}
	return b, err
}

func TestTheOfflineModelRunsOnEveryRuntime(t *testing.T) {
	for _, tt := range []struct {
		backend, runtime string
		notices          int
	}{
		{"", "agent_framework", 0},
		{"agent_framework", "agent_framework", 0},
		{"openai_agents", "agent_framework", 0},
		{"claude", "claude", 1},
		{"google_adk", "google_adk", 0},
		{"semantic_kernel", "semantic_kernel", 0},
	} {
		t.Run(tt.backend, func(t *testing.T) {
			more := "model: {provider: offline, name: built-in, script: [{do: [{text: Hello.}]}]}\n"
			if tt.backend != "" {
				more += "backend: " + tt.backend + "\n"
			}
			b, err := open(t, load(t, more))
			if err != nil {
				t.Fatal(err)
			}
			r, err := agent.RunOnce(t.Context(), b, agent.Text("hi"))
			if err != nil || r.Response != "Hello." {
				t.Errorf("it answers %q, %v", r.Response, err)
			}
			if len(r.Notices) != tt.notices {
				t.Errorf("the notices are %+v, want %d", r.Notices, tt.notices)
			}
			for _, n := range r.Notices {
				if n.Code != agent.NoticeSubstitute || !strings.Contains(n.Text, tt.runtime) {
					t.Errorf("the notice is %+v", n)
				}
			}
		})
	}
}

func TestABadScriptIsAProblemOfTheConfiguration(t *testing.T) {
	_, err := open(t, load(t, "model: {provider: offline, name: x, script: [{dow: 1}]}\n"))
	if _, ok := errors.AsType[*config.Error](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	tests := map[string]struct {
		yaml        string
		model, turn time.Duration
		turnKey     string
	}{
		"nothing":                      {"", time.Minute, 10 * time.Minute, "execution.turn_timeout"},
		"llm_timeout bounds the turn":  {"execution: {llm_timeout: 5}\n", 5 * time.Second, 5 * time.Second, "execution.llm_timeout"},
		"the shorter turn_timeout":     {"execution: {llm_timeout: 50, turn_timeout: 7}\n", 50 * time.Second, 7 * time.Second, "execution.turn_timeout"},
		"turn_timeout without another": {"execution: {turn_timeout: 700}\n", time.Minute, 700 * time.Second, "execution.turn_timeout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := loop.Limits{
				Model: turn.Deadline{After: tt.model, Key: "execution.llm_timeout"},
				Turn:  turn.Deadline{After: tt.turn, Key: tt.turnKey},
			}
			if got := limits(load(t, "model: {provider: offline, name: x}\n"+tt.yaml)); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	const offline = "model: {provider: offline, name: x}\n"
	const openai = "model: {provider: openai, name: x}\n"
	const anthropic = "model: {provider: anthropic, name: x}\n"
	const shelf = "tools: [{type: vectorstore, name: kb, description: d, source: .}]\nembedding_provider: {provider: offline, name: hashing}\n"
	tests := map[string]struct {
		yaml string
		want []string // severity, path and code
	}{
		"nothing":      {offline, nil},
		"another's":    {offline + "claude: {web_search: true}\ngoogle_adk: {code_execution: true}\n", nil},
		"a window":     {openai + "agent_framework: {compaction_strategy: sliding_window, keep_last_groups: 5}\n", nil},
		"a summary":    {openai + "agent_framework: {compaction_strategy: summarization, target_count: 5, threshold: 1}\n", nil},
		"no summaries": {offline + "agent_framework: {compaction_strategy: summarization}\n", []string{"warning agent_framework.compaction_strategy no_effect"}},
		"a scripted summary": {
			"model: {provider: offline, name: x, script: [{do: [{text: Hello.}]}]}\nagent_framework: {compaction_strategy: summarization}\n", nil,
		},
		"knobs of another strategy": {
			openai + "agent_framework: {compaction_strategy: sliding_window, target_count: 5, threshold: 1}\n",
			[]string{"warning agent_framework.target_count no_effect", "warning agent_framework.threshold no_effect"},
		},
		"knobs of no strategy": {
			openai + "agent_framework: {keep_last_groups: 5}\n", []string{"warning agent_framework.keep_last_groups no_effect"},
		},
		"openai": {
			"model: {provider: openai, name: o3-mini}\nopenai: {max_turns: 3, effort: low, i_understand_this_is_unsafe: true, disable_default_hooks: true, disable_subprocess_env_scrub: true}\n",
			[]string{"warning openai.i_understand_this_is_unsafe no_effect", "warning openai.disable_default_hooks no_effect", "warning openai.disable_subprocess_env_scrub no_effect"},
		},
		"effort of a model that does not think": {openai + "openai: {effort: low}\n", []string{"warning openai.effort no_effect"}},
		"skills on semantic_kernel": {
			openai + "backend: semantic_kernel\ntools: [{type: vectorstore, name: kb, description: d, source: .}, {type: skill, name: s, description: d, instructions: i}]\n",
			[]string{"error tools[1].type unsupported"},
		},
		"openai that is not used": {offline + "openai: {disable_default_hooks: true}\n", nil},
		"claude on an API": {
			anthropic + "claude: {runtime: api, max_turns: 3, max_budget_usd: 1, effort: low, fallback_model: y, disallowed_tools: [Bash], extended_thinking: {enabled: true}}\n", nil,
		},
		"claude without the CLI": {anthropic + "claude: {runtime: cli}\n", []string{"error claude.runtime unsupported"}},
		"what only the CLI has": {
			anthropic + "claude: {working_directory: ., permission_mode: acceptEdits, web_search: true, bash: {enabled: true}, file_system: {read: true, write: true, edit: true}, agents: {b: {description: d, prompt: p}}, setting_sources: [user], allowed_tools: [WebFetch, kb, kb_search, 'mcp__holodeck_tools__kb*', mcp__other__x]}\n" +
				"tools: [{type: vectorstore, name: kb, description: d, source: .}]\nembedding_provider: {provider: offline, name: hashing}\n",
			[]string{
				"warning claude.working_directory unsupported", "warning claude.permission_mode unsupported", "warning claude.web_search unsupported",
				"warning claude.bash.enabled unsupported", "warning claude.file_system.read unsupported", "warning claude.file_system.write unsupported",
				"warning claude.file_system.edit unsupported", "warning claude.agents unsupported", "warning claude.setting_sources unsupported", "warning claude.allowed_tools unsupported",
			},
		},
		"what only the CLI has, switched off": {
			anthropic + "claude: {permission_mode: manual, web_search: false, bash: {enabled: false}, file_system: {read: false}, agents: {}, setting_sources: []}\n", nil,
		},
		"claude's protections": {
			anthropic + "claude: {disable_default_hooks: true, disable_subprocess_env_scrub: true}\n",
			[]string{"warning claude.disable_default_hooks no_effect", "warning claude.disable_subprocess_env_scrub no_effect"},
		},
		"claude, offline": {
			offline + "backend: claude\nclaude: {max_turns: 3, max_budget_usd: 1, effort: low, fallback_model: x}\n",
			[]string{"warning claude.effort no_effect", "warning claude.fallback_model no_effect"},
		},
		"effort of a Claude that takes none": {
			"model: {provider: anthropic, name: claude-sonnet-4-5}\nclaude: {effort: low}\n", []string{"warning claude.effort no_effect"},
		},
		"a temperature beside thinking": {
			"model: {provider: anthropic, name: claude-sonnet-4-5, temperature: 0.2, top_p: 0.9}\nclaude: {extended_thinking: {enabled: true}}\n",
			[]string{"warning model.temperature no_effect", "warning model.top_p no_effect"},
		},
		"thinking with Ollama": {
			"model: {provider: ollama, name: x}\nclaude: {extended_thinking: {enabled: true}}\n", []string{"warning claude.extended_thinking no_effect"},
		},
		"google_adk": {
			offline + "backend: google_adk\ngoogle_adk: {max_iterations: 3, output_key: answer, streaming_mode: sse}\n", nil,
		},
		"google":                {"model: {provider: google, name: x}\ngoogle_adk: {code_execution: true}\n", nil},
		"google_adk for OpenAI": {openai + "backend: google_adk\ngoogle_adk: {code_execution: false}\n", nil},
		"code is executed by Gemini alone": {
			openai + "backend: google_adk\ngoogle_adk: {code_execution: true}\n", []string{"error google_adk.code_execution unsupported"},
		},
		"code beside tools, before the third version": {
			"model: {provider: google, name: gemini-2.5-pro}\ngoogle_adk: {code_execution: true}\n" + shelf,
			[]string{"error google_adk.code_execution unsupported"},
		},
		"code beside tools, since":             {"model: {provider: google, name: models/gemini-3-pro-preview}\ngoogle_adk: {code_execution: true}\n" + shelf, nil},
		"code beside tools, version unknown":   {"model: {provider: google, name: gemini-flash-latest}\ngoogle_adk: {code_execution: true}\n" + shelf, nil},
		"code without tools, before the third": {"model: {provider: google, name: gemini-2.5-pro}\ngoogle_adk: {code_execution: true}\n", nil},
		"tools without code, before the third": {"model: {provider: google, name: gemini-2.5-pro}\n" + shelf, nil},
		"the offline model executes no code": {
			offline + "backend: google_adk\ngoogle_adk: {code_execution: true}\n", []string{"error google_adk.code_execution unsupported"},
		},
		"filtering": {offline + "tool_filtering: {enabled: true}\n", nil},
		"filtering without an embedder": {
			anthropic + "tool_filtering: {enabled: true, search_method: hybrid}\n", []string{"error tool_filtering.search_method missing"},
		},
		"filtering by words needs none": {anthropic + "tool_filtering: {enabled: true, search_method: bm25}\n", nil},
		"filtering that is off":         {anthropic + "tool_filtering: {enabled: false, always_include: [x]}\n", nil},
		"a tool that there is not": {
			offline + "tool_filtering: {enabled: true, always_include: [kb, 'k*_search', kd]}\ntools: [{type: vectorstore, name: kb, description: d, source: .}]\n",
			[]string{"warning tool_filtering.always_include[2] no_effect"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := load(t, tt.yaml)
			var got []string
			for _, p := range Check(a) {
				if p.Pos.Line == 0 {
					t.Errorf("the problem has no position: %+v", p)
				}
				got = append(got, fmt.Sprintf("%s %s %s", p.Severity, p.Path, p.Code))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			a.Offline = true
			if got := Check(a); got != nil {
				t.Errorf("offline it says %v", got)
			}
		})
	}
}
