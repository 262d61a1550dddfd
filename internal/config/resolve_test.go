package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestDefaultBackends(t *testing.T) {
	for provider, backend := range map[config.Provider]config.Backend{
		"openai": "agent_framework", "azure_openai": "agent_framework", "anthropic": "claude",
		"ollama": "claude", "google": "google_adk", "offline": "agent_framework",
	} {
		if got, err := config.Resolve(provider, ""); err != nil || got != backend {
			t.Errorf("%s runs on %q, %v; want %s", provider, got, err, backend)
		}
	}
}

func TestEveryPairOfBackendAndProvider(t *testing.T) {
	works := map[config.Backend]string{
		"semantic_kernel": "openai azure_openai ollama offline",
		"claude":          "anthropic ollama offline",
		"google_adk":      "google openai azure_openai anthropic ollama offline",
		"agent_framework": "openai azure_openai anthropic ollama offline",
		"openai_agents":   "openai azure_openai anthropic ollama offline",
	}
	for _, b := range config.Backend("").Values() {
		for _, p := range config.Provider("").Values() {
			backend, provider := config.Backend(b), config.Provider(p)
			got, err := config.Resolve(provider, backend)
			if !slices.Contains(strings.Fields(works[backend]), p) {
				if err == nil {
					t.Errorf("%s runs %s", b, p)
					continue
				}
				msg := fmt.Sprintf("backend %s does not work with provider %s, only with %s", b, p, strings.ReplaceAll(works[backend], " ", ", "))
				if p == "google" {
					msg += "; for google use backend google_adk"
				}
				if err.Error() != msg {
					t.Errorf("%s with %s: %q\nwant %q", b, p, err, msg)
				}
				continue
			}
			want := backend
			if backend == config.BackendOpenAIAgents {
				want = config.BackendAgentFramework
			}
			if err != nil || got != want {
				t.Errorf("%s with %s resolves to %q, %v", b, p, got, err)
			}
		}
	}
}

// modelOf returns the lines of an agent file with a model of the provider.
func modelOf(provider string) string {
	return fmt.Sprintf("name: a\ninstructions: {inline: Help.}\nmodel: {provider: %s, name: m, endpoint: 'https://example.com'}\n", provider)
}

func TestModelsAreNamedAsTheirRuntimeNamesThem(t *testing.T) {
	for _, tt := range []struct {
		backend  config.Backend
		provider config.Provider
		want     string
	}{
		{config.BackendGoogleADK, config.ProviderGoogle, "m"},
		{config.BackendGoogleADK, config.ProviderOpenAI, "openai/m"},
		{config.BackendGoogleADK, config.ProviderAzureOpenAI, "azure/m"},
		{config.BackendGoogleADK, config.ProviderAnthropic, "anthropic/m"},
		{config.BackendGoogleADK, config.ProviderOllama, "ollama/m"},
		{config.BackendGoogleADK, config.ProviderOffline, "m"},
		{config.BackendGoogleADK, "", "m"},
		{config.BackendAgentFramework, config.ProviderAzureOpenAI, "m"},
		{config.BackendClaude, config.ProviderAnthropic, "m"},
		{config.BackendSemanticKernel, config.ProviderOpenAI, "m"},
	} {
		if got := tt.backend.ModelName(tt.provider, "m"); got != tt.want {
			t.Errorf("%s calls a model of %q %s, want %s", tt.backend, tt.provider, got, tt.want)
		}
	}
}

func TestBackendInTheFile(t *testing.T) {
	for _, tt := range []struct {
		provider, backend string
		runtime           config.Backend
		want              []string
	}{
		{"openai", "google_adk", "google_adk", nil},
		{"google", "google_adk", "google_adk", nil},
		{"openai", "semantic_kernel", "semantic_kernel", nil},
		{"ollama", "claude", "claude", nil},
		{"offline", "openai_agents", "agent_framework", nil},
		{"openai", "claude", "", []string{"agent.yaml:4:10: backend: backend claude does not work with provider openai, only with anthropic, ollama, offline"}},
		{"google", "agent_framework", "", []string{"agent.yaml:4:10: backend: backend agent_framework does not work with provider google, only with openai, azure_openai, anthropic, ollama, offline; for google use backend google_adk"}},
		{"openai", "autogen", "agent_framework", []string{`agent.yaml:4:10: backend: "autogen" is not one of semantic_kernel, claude, google_adk, agent_framework, openai_agents`}},
	} {
		dir := folder(t, map[string]string{"agent.yaml": modelOf(tt.provider) + "backend: " + tt.backend + "\n"})
		agent, problems := load(t, dir, config.Options{})
		want(t, problems, tt.want...)
		if agent.Runtime != tt.runtime {
			t.Errorf("%s on %s runs on %q", tt.provider, tt.backend, agent.Runtime)
		}
	}
}

func TestEmbeddingProviderIsRequired(t *testing.T) {
	const tool = "tools: [{type: %s, name: kb, description: d, source: docs}]\n"
	const sentence = "embedding_provider: embedding_provider is required when using vectorstore or hierarchical_document tools with the %s backend (such as embedding_provider: {provider: openai, name: text-embedding-3-small})"
	for _, tt := range []struct {
		provider, rest string
		strict         bool
		backend        string // of the message; empty: there is none
	}{
		{provider: "google", rest: "vectorstore", backend: "google_adk"},
		{provider: "google", rest: "hierarchical_document", backend: "google_adk"},
		{provider: "anthropic", rest: "vectorstore", backend: "claude"},
		{provider: "anthropic", rest: "vectorstore backend: google_adk", backend: "google_adk"},
		{provider: "google", rest: "vectorstore embedding_provider: {provider: openai, name: e}"},
		{provider: "google", rest: ""},
		{provider: "openai", rest: "vectorstore"},
		{provider: "ollama", rest: "vectorstore"},
		{provider: "offline", rest: "vectorstore"},
		{provider: "openai", rest: "vectorstore backend: google_adk"},
		{provider: "openai", rest: "vectorstore backend: google_adk", strict: true, backend: "google_adk"},
		{provider: "ollama", rest: "vectorstore", strict: true, backend: "claude"},
		{provider: "ollama", rest: "vectorstore backend: agent_framework", strict: true},
		{provider: "openai", rest: "vectorstore", strict: true},
	} {
		kind, extra, _ := strings.Cut(tt.rest, " ")
		doc := modelOf(tt.provider)
		if kind != "" {
			doc += fmt.Sprintf(tool, kind)
		}
		dir := folder(t, map[string]string{"agent.yaml": doc + extra + "\n", "docs/a.md": "text"})
		_, problems := load(t, dir, config.Options{Strict: tt.strict})
		if tt.backend == "" {
			want(t, problems)
		} else {
			want(t, problems, "agent.yaml:1:1: "+fmt.Sprintf(sentence, tt.backend))
		}
	}
	dir := folder(t, map[string]string{"agent.yaml": head + "embedding_provider: {provider: anthropic, name: e}\n"})
	_, problems := load(t, dir, config.Options{})
	want(t, problems, "agent.yaml:4:32: embedding_provider.provider: anthropic has no embedding models (use openai, azure_openai, ollama, google or offline)")
}

func TestRuntimeSectionsAreAlwaysChecked(t *testing.T) {
	t.Run("all of them on any runtime", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml": head + `
claude: {max_turns: 5}
openai: {max_turns: 5}
google_adk: {streaming_mode: sse, code_execution: true, max_iterations: null}
agent_framework: {compaction_strategy: sliding_window, max_tool_rounds: 3}
`})
		agent := mustLoad(t, dir, config.Options{})
		if agent.GoogleADK.StreamingMode != "sse" || !agent.GoogleADK.CodeExecution || agent.GoogleADK.MaxIterations != nil {
			t.Errorf("google_adk = %+v", agent.GoogleADK)
		}
	})
	t.Run("defaults", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml": head + "google_adk: {}\nagent_framework: {}\n"})
		agent := mustLoad(t, dir, config.Options{})
		g := agent.GoogleADK
		if g.StreamingMode != "none" || g.CodeExecution || g.MaxIterations != nil || g.OutputKey != "output" {
			t.Errorf("google_adk = %+v", g)
		}
		if f := agent.AgentFramework; f.CompactionStrategy != "none" || f.MaxToolRounds != nil {
			t.Errorf("agent_framework = %+v", f)
		}
	})
	t.Run("bad values", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml": head + `
google_adk: {max_iterations: 0, streaming: sse}
agent_framework: {compaction_strategy: sliding}
openai: {efort: low}
claude: {max_turns: 0}
`})
		_, problems := load(t, dir, config.Options{})
		want(t, problems,
			"agent.yaml:5:30: google_adk.max_iterations: 0 is less than the minimum of 1",
			`agent.yaml:5:33: google_adk.streaming: unknown key (did you mean "streaming_mode"?)`,
			`agent.yaml:6:40: agent_framework.compaction_strategy: "sliding" is not one of none, sliding_window, summarization (did you mean "sliding_window"?)`,
			`agent.yaml:7:10: openai.efort: unknown key (did you mean "effort"?)`,
			"agent.yaml:8:21: claude.max_turns: 0 is less than the minimum of 1",
		)
	})
}
