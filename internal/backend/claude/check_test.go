package claude

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/claudecode"
)

// problemsOf returns what Check says of an agent on a CLI, as one text.
func problemsOf(t *testing.T, path, more string, environ ...string) string {
	t.Helper()
	var lines []string
	for _, p := range Check(loaded(t, path, more, environ...)) {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

func TestCheck(t *testing.T) {
	there := fakeCLI(t, "answers")
	model := func(more string) string {
		return "model: {provider: anthropic, name: claude-sonnet-4-5, " + more + "}\n"
	}
	for name, tt := range map[string]struct {
		path, text string
		environ    []string
		want       string // is in what is said; empty is nothing said
	}{
		"all is well":              {there, "", nil, ""},
		"no section, no CLI":       {"off", "", nil, ""},
		"cli without one":          {"off", "claude: {runtime: cli}\n", nil, "claude.runtime: HOLODECK_CLAUDE_CLI is off"},
		"auto with a wrong path":   {"/nowhere/claude", "", nil, "HOLODECK_CLAUDE_CLI names /nowhere/claude"},
		"a key that is missing":    {there, model("auth_provider: api_key"), nil, "set ANTHROPIC_API_KEY"},
		"a key of the environment": {there, model("auth_provider: api_key"), []string{"ANTHROPIC_API_KEY=k"}, ""},
		"a token that is missing":  {there, model("auth_provider: oauth_token"), nil, "claude setup-token"},
		"a token":                  {there, model("auth_provider: oauth_token"), []string{"CLAUDE_CODE_OAUTH_TOKEN=k"}, ""},
		"no custom token":          {there, model("auth_provider: custom"), nil, "set ANTHROPIC_AUTH_TOKEN"},
		"bedrock without a region": {there, model("auth_provider: bedrock"), nil, "set AWS_REGION"},
		"bedrock":                  {there, model("auth_provider: bedrock"), []string{"AWS_DEFAULT_REGION=r"}, ""},
		"vertex without a region":  {there, model("auth_provider: vertex"), []string{"GCLOUD_PROJECT=p"}, "set CLOUD_ML_REGION"},
		"vertex without a project": {there, model("auth_provider: vertex"), []string{"CLOUD_ML_REGION=r"}, "set ANTHROPIC_VERTEX_PROJECT_ID"},
		"foundry":                  {there, model("auth_provider: foundry"), nil, "ANTHROPIC_FOUNDRY_RESOURCE"},
		"ollama needs no key":      {there, "backend: claude\nmodel: {provider: ollama, name: qwen3}\n", nil, ""},
		"temperature":              {there, model("api_key: key-of-a-test, temperature: 0.5"), nil, "model.temperature: has no effect"},
		"max_tokens on the API":    {there, model("api_key: key-of-a-test, max_tokens: 50") + "claude: {runtime: api}\n", nil, ""},
		"a tool of the CLI":        {there, "claude: {allowed_tools: [Read, 'WebFetch(domain:example.org)']}\n", nil, ""},
		"a tool of nobody":         {there, "claude: {allowed_tools: [Raed]}\n", nil, "there is no tool Raed"},
		"a sub-agent's":            {there, "claude: {agents: {scout: {description: d, prompt: p, tools: [Raed]}}}\n", nil, "there is no tool Raed"},
		"web search on the API":    {"off", "claude: {web_search: true}\n", nil, "there is no web search without the Claude Code CLI"},
		"tool_filtering":           {there, "tool_filtering: {enabled: true}\n", nil, "tool_filtering.enabled: has no effect"},
	} {
		got := problemsOf(t, tt.path, tt.text, tt.environ...)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestBashNeedsBubblewrapOnLinux(t *testing.T) {
	there := fakeCLI(t, "answers")
	got := problemsOf(t, there, "claude: {bash: {enabled: true}}\n", "PATH=/nowhere")
	if asked := strings.Contains(got, "install bubblewrap"); asked != (runtime.GOOS == "linux") {
		t.Errorf("got %q", got)
	}
	if got := problemsOf(t, there, "claude: {bash: {enabled: true}, disable_subprocess_env_scrub: true}\n", "PATH=/nowhere"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestWhatTheCLIIsStartedWith(t *testing.T) {
	a := loaded(t, "off", `
claude:
  bash: {enabled: true, excluded_commands: [rm]}
  file_system: {read: true}
  allowed_tools: ["Bash(git *)", Agent]
  disallowed_tools: [Read, mcp__holodeck_tools__x]
  setting_sources: [all]
  effort: low
  fallback_model: claude-haiku-4-5
`)
	o, err := launch(a, "/claude", claudecode.Tested, "/state")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{toolRead, toolGlob, toolGrep, toolBash, toolAgent}; !slices.Equal(o.Tools, want) {
		t.Errorf("the model sees %q, want %q", o.Tools, want)
	}
	if want := []string{"Bash(git *)", "Agent"}; !slices.Equal(o.AllowedTools, want) {
		t.Errorf("allowed are %q, want %q", o.AllowedTools, want)
	}
	if want := []string{toolWrite, toolEdit, toolWebFetch, "Bash(rm)", "Bash(rm *)", toolRead}; !slices.Equal(o.DisallowedTools, want) {
		t.Errorf("disallowed are %q, want %q", o.DisallowedTools, want)
	}
	if o.Effort != "low" || o.FallbackModel != "claude-haiku-4-5" || o.ThinkingTokens != nil || len(o.SettingSources) != 3 || o.Dir != a.Dir {
		t.Errorf("%+v", o)
	}
	if slices.Contains(o.Env, "CLAUDE_CONFIG_DIR=/state") {
		t.Error("the settings of the machine are asked for, and not read")
	}

	plain := loaded(t, "off", "")
	if o, err = launch(plain, "/claude", claudecode.Tested, "/state"); err != nil {
		t.Fatal(err)
	}
	if len(o.Tools) != 0 || len(o.SettingSources) != 0 || !slices.Contains(o.Env, "CLAUDE_CONFIG_DIR=/state") || *o.ThinkingTokens != 0 {
		t.Errorf("an agent that asks for nothing gets %+v", o)
	}
}

func TestOllamaIsReachedWithoutAKeyOfTheCloud(t *testing.T) {
	a := loaded(t, "off", "backend: claude\nmodel: {provider: ollama, name: qwen3, endpoint: 'http://127.0.0.1:9999/v1/'}\n", "ANTHROPIC_API_KEY=canary")
	env := credentialsOf(a).env
	for _, want := range []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:9999", "ANTHROPIC_AUTH_TOKEN=ollama", "ANTHROPIC_SMALL_FAST_MODEL=qwen3"} {
		if !slices.Contains(env, want) {
			t.Errorf("there is no %s in %q", want, env)
		}
	}
	if strings.Contains(strings.Join(env, " "), "canary") {
		t.Errorf("the key of the cloud is in %q", env)
	}
}

func TestWhoIsAskedDependsOnTheSession(t *testing.T) {
	for _, tt := range []struct {
		section string
		mode    agent.Mode
		want    string
	}{
		{"", agent.ModeTest, modeAsk}, {"", agent.ModeChat, modeEdits}, {"", agent.ModeServe, modeEdits},
		{"claude: {permission_mode: acceptEdits}\n", agent.ModeTest, modeEdits},
		{"claude: {permission_mode: acceptAll, i_understand_this_is_unsafe: true}\n", agent.ModeChat, modeAll},
	} {
		if got := permissionMode(loaded(t, "off", tt.section).Claude, tt.mode); got != tt.want {
			t.Errorf("%q in %s: %s, want %s", tt.section, tt.mode, got, tt.want)
		}
	}
}

func TestWhichWayWasTakenIsSaid(t *testing.T) {
	there := fakeCLI(t, "answers")
	for _, tt := range []struct{ path, section, want string }{
		{there, "", "the Claude Code CLI runs"}, {"off", "", "own loop runs"},
		{there, "claude: {runtime: cli}\n", ""}, {there, "claude: {runtime: api}\n", ""},
	} {
		got := Substitute(loaded(t, tt.path, tt.section))
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%q: %q", tt.section, got)
		}
	}
	offline := loaded(t, there, "")
	if offline.Offline = true; UsesCLI(offline) {
		t.Error("--offline starts the CLI")
	}
}
