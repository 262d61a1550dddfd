package config_test

import (
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestVariables(t *testing.T) {
	environ := []string{"NAME=value", "EMPTY=", "COLON=a: b # c", "QUOTE=\"x", "NUMBER=7", "YES=yes", "KIND=offline", "NESTED=${NAME}"}
	for _, tt := range []struct{ text, want string }{
		{"${NAME}", "value"},
		{"a ${NAME} b ${NAME}", "a value b value"},
		{"${COLON}", "a: b # c"}, // a value never changes the structure
		{"${QUOTE}", `"x`},
		{"${NUMBER}", "7"}, // and text stays text
		{"${EMPTY}x", "x"},
		{"${UNSET:-default}", "default"},
		{"${UNSET:-}x", "x"},
		{"${EMPTY:-default}", "default"},
		{"${NAME:-default}", "value"},
		{"${UNSET:-http://localhost:8000}", "http://localhost:8000"},
		{"$${NAME}", "${NAME}"},
		{"$$${NAME}", "$${NAME}"},
		{"$NAME", "$NAME"},
		{"${UNSET:-${NAME}}", "value"}, // a default may hold others
		{"${UNSET:-a ${NONE:-b} c} d", "a b c d"},
		{"${NAME:-${UNSET}}", "value"}, // one that is not needed is not looked at
		{"${UNSET:-$${NAME}}}", "${NAME}}"},
		{"${NAME:?must be set}", "value"},
		{"${NESTED}", "${NAME}"}, // substituted once
	} {
		for _, form := range []string{"'%'", "|-\n  %"} {
			dir := folder(t, map[string]string{"agent.yaml": head + "description: " + strings.Replace(form, "%", tt.text, 1) + "\n"})
			agent := mustLoad(t, dir, config.Options{Environ: environ})
			if *agent.Description != tt.want {
				t.Errorf("%s reads as %q, want %q", tt.text, *agent.Description, tt.want)
			}
		}
	}

	t.Run("typed keys", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml": "name: a\ninstructions: {inline: Help.}\n" +
			"model: {provider: '${KIND}', name: m, max_tokens: '${NUMBER}'}\nclaude:\n  web_search: '${YES}'\n  disable_default_hooks: ${ON:-false}\n"})
		agent := mustLoad(t, dir, config.Options{Environ: environ})
		if agent.Model.Provider != "offline" || *agent.Model.MaxTokens != 7 || !agent.Claude.WebSearch {
			t.Errorf("provider %q, max_tokens %d, web_search %v", agent.Model.Provider, *agent.Model.MaxTokens, agent.Claude.WebSearch)
		}
	})
	t.Run("not in comments and keys", func(t *testing.T) {
		dir := folder(t, map[string]string{"agent.yaml": head + "# ${UNSET}\nclaude: {agents: {'${UNSET}': {description: d, prompt: p}}}\n"})
		agent := mustLoad(t, dir, config.Options{Environ: environ})
		if _, ok := agent.Claude.Agents["${UNSET}"]; !ok {
			t.Errorf("agents = %v", agent.Claude.Agents)
		}
	})
}

func TestVariablesThatMustBeSet(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "description: ${ONE:?ask the desk for it} ${EMPTY:?} ${TWO}\nauthor: ${EMPTY:?needs a name}\n"})
	_, problems := load(t, dir, config.Options{Environ: []string{"EMPTY="}})
	want(t, problems,
		"agent.yaml:4:14: description: variable TWO is not set; variable ONE is not set: ask the desk for it; variable EMPTY is empty "+
			"(set it in the environment or in a .env file beside the agent file, or write ${TWO:-default})",
		"agent.yaml:5:9: author: variable EMPTY is empty: needs a name (set it in the environment or in a .env file beside the agent file)",
	)
}

func TestWhatOnlyLooksLikeAVariableIsTold(t *testing.T) {
	for text, shown := range map[string]string{
		"${A:+x}": "${A:+x}", "${A?err}": "${A?err}", "${ A }": "${ A }", "${A": "${A", "${1A}": "${1A}", "${}": "${}",
		"${env:X} and ${A-x}": "${env:X}, ${A-x}", "${A:-${B}": "${A:-${B}",
		"${a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r}": "${a.b.c.d.e.f.g.h.i.j.k.l.m.n.…",
	} {
		dir := folder(t, map[string]string{"agent.yaml": head + "description: '" + text + "'\n"})
		agent, problems := load(t, dir, config.Options{Environ: []string{"B=b"}})
		want(t, problems, "agent.yaml:4:14: warning: description: "+shown+" is left as it is: that is not how a variable is written "+
			"(write ${NAME}, ${NAME:-default} or ${NAME:?message}; $${ stands for ${)")
		if text != "${A:-${B}" && *agent.Description != text {
			t.Errorf("%s reads as %q", text, *agent.Description)
		}
	}
}

func TestAllMissingVariablesAreNamedAtOnce(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml":  head + "description: ${ONE} ${TWO} ${ONE}\nclaude: {max_turns: '${THREE}'}\nx-unused: ${FOUR}\n# ${FIVE}\n",
		"config.yaml": "providers: {other: {provider: openai, api_key: '${SIX}'}}\n",
	})
	_, problems := load(t, dir, config.Options{})
	want(t, problems,
		"agent.yaml:4:14: description: variables ONE, TWO are not set (set it in the environment or in a .env file beside the agent file, or write ${ONE:-default})",
		"agent.yaml:5:21: claude.max_turns: variable THREE is not set (set it in the environment or in a .env file beside the agent file, or write ${THREE:-default})",
		"config.yaml:1:48: warning: providers.other.api_key: variable SIX is not set (set it in the environment or in a .env file beside the agent file, or write ${SIX:-default})",
	)
}

func TestAMissingVariableInAProfileInUseIsAnError(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml":  "name: a\ninstructions: {inline: Help.}\nmodel: {provider: fast}\n",
		"config.yaml": "providers: {fast: {provider: openai, name: m, api_key: '${SIX}'}}\n",
	})
	_, problems := config.Load(dir, config.Options{WorkDir: dir})
	if !config.HasErrors(problems) || len(problems) != 1 {
		t.Error(problems)
	}
}

func TestDotenvOrder(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent/agent.yaml":    head + "description: ${A} ${B} ${C} ${D}\n",
		"agent/.env":          "A=agent\nexport B=\"agent\"\n",
		"work/.env":           "A=work\nB=work\nC='work'\n",
		"home/.holodeck/.env": "A=home\nB=home\nC=home\nD=home # a comment\n",
	})
	agent, problems := config.Load(dir+"/agent", config.Options{Environ: []string{"A=process"}, WorkDir: dir + "/work", Home: dir + "/home"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if *agent.Description != "process agent work home" {
		t.Errorf("description = %q", *agent.Description)
	}
}

func TestABrokenDotenvIsAProblemThatShowsNoSecret(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head, ".env": "API_KEY=\"canary-canary\nX Y=1\n"})
	_, problems := load(t, dir, config.Options{})
	want(t, problems, ".env:1: is not a line of a .env file (write one NAME=value a line, and close every quote)")
}

func TestTheBadLineOfADotenvIsNamedAndItsVariablesAreNotMissed(t *testing.T) {
	for line, text := range map[string]string{
		"1": "X%=1\nA=1\n",
		"5": "# a comment\n\nA=\"first\nsecond\"\nX%=1\n",
		"2": "A=1\nB='open\nC=2\n",
	} {
		dir := folder(t, map[string]string{"agent.yaml": head + "description: ${NEEDED}\n", ".env": text})
		_, problems := load(t, dir, config.Options{})
		want(t, problems, ".env:"+line+": is not a line of a .env file (write one NAME=value a line, and close every quote)")
	}
}

func TestAFolderCalledDotenvIsTold(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head, ".env/pyvenv.cfg": ""})
	_, problems := load(t, dir, config.Options{})
	want(t, problems, ".env: warning: is a folder, so no variables are read from it (rename it, if a file of variables is meant to stand there)")
}

const canary = "canary-value-123"

func TestSecretsAreKnownAndNeverShown(t *testing.T) {
	for name, text := range map[string]string{
		"a field that is secret":        "model: {provider: openai, name: m, api_key: canary-value-123}\n",
		"a variable by its name":        "description: uses ${MY_TOKEN}\n",
		"a key by its name":             "tools: [{type: vectorstore, name: kb, description: d, source: docs, database: {provider: qdrant, apiKey: canary-value-123}}]\n",
		"the environment of a server":   "tools: [{type: mcp, name: s, description: d, command: uvx, env: {PLAIN: canary-value-123}}]\n",
		"headers":                       "tools: [{type: mcp, name: s, description: d, transport: http, url: 'https://example.com', headers: {X-Plain: canary-value-123}}]\n",
		"the password of a URL":         "tools: [{type: vectorstore, name: kb, description: d, source: 'https://bob:canary-value-123@example.com/a.md'}]\n",
		"the query of a URL":            "tools: [{type: vectorstore, name: kb, description: d, source: 'https://example.com/a.md?v=1&api_key=canary-value-123#x'}]\n",
		"the escaped query of a URL":    "tools: [{type: mcp, name: s, description: d, transport: http, url: 'https://example.com/?password=canary%2Dvalue-123'}]\n",
		"the fragment of a URL":         "model: {provider: openai, name: m, endpoint: 'https://example.com/#access_token=canary-value-123'}\n",
		"a flag with a value":           "tools: [{type: mcp, name: s, description: d, command: npx, args: [a, --token=canary-value-123]}]\n",
		"a flag before a value":         "tools: [{type: mcp, name: s, description: d, command: npx, args: [--api-key, canary-value-123]}]\n",
		"a variable for a container":    "tools: [{type: mcp, name: s, description: d, command: docker, args: [-e, DB_PASSWORD=canary-value-123]}]\n",
		"a header in an argument":       "tools: [{type: mcp, name: s, description: d, command: npx, args: [--header, 'Authorization: canary-value-123']}]\n",
		"the command of a hook":         "hooks: [{event: PreToolUse, action: script, command: [./a, --secret=canary-value-123]}]\n",
		"a profile in config.yaml":      "",
		"an enumeration":                "backend: ${MY_TOKEN}\n",
		"a number":                      "claude: {max_turns: '${MY_TOKEN}'}\n",
		"a secret in a longer text":     "backend: x-${MY_TOKEN}\n",
		"a secret where a list belongs": "tools: ${MY_TOKEN}\n",
		"an address":                    "tools: [{type: mcp, name: s, description: d, transport: http, url: '${MY_TOKEN}'}]\n",
		"a file":                        "test_cases_file: ${MY_TOKEN}\n",
		"a pattern":                     "test_cases: [{input: a, expected_tools: [{name: b, args: {c: {regex: '${MY_TOKEN}('}}}]}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			doc := head + text
			if strings.HasPrefix(text, "model:") {
				doc = "name: a\ninstructions: {inline: Help.}\n" + text
			}
			dir := folder(t, map[string]string{
				"agent.yaml":  doc,
				"docs/a.md":   "text",
				"config.yaml": "providers: {spare: {provider: openai, name: m, api_key: canary-value-123}}\n",
			})
			agent, problems := load(t, dir, config.Options{Environ: []string{"MY_TOKEN=" + canary}})
			if strings.Contains(strings.Join(problems, "\n"), canary) {
				t.Errorf("a message shows the secret:\n%s", strings.Join(problems, "\n"))
			}
			if got := agent.Redactor.String("it is " + canary + "."); strings.Contains(got, canary) {
				t.Errorf("the redactor does not know the secret: %s", got)
			}
			for _, s := range agent.Effective() {
				if strings.Contains(string(mustJSON(t, s)), canary) {
					t.Errorf("%s shows the secret: %v", s.Path, s.Value)
				}
			}
		})
	}
}

func TestACredentialForAKeyIsMasked(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "sk-proj-abcdefghij0123456789ABCD: x\n"})
	_, problems := load(t, dir, config.Options{})
	want(t, problems, "agent.yaml:4:1: [redacted]: unknown key")
}

func TestShortSecretsAreMaskedInMessages(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "backend: ${TOKEN}\nclaude: {max_turns: '${TOKEN}'}\n"})
	_, problems := load(t, dir, config.Options{Environ: []string{"TOKEN=hunter2"}})
	if all := strings.Join(problems, "\n"); strings.Contains(all, "hunter2") || !strings.Contains(all, "[redacted]") {
		t.Error(all)
	}
}

func TestShortCredentialsAreMaskedWhereTheyStand(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "tools:\n" +
		"  - {type: mcp, name: s, description: d, command: npx, args: [x, --token=abc, --password, def, --verbose, plain, -k]}\n" +
		"  - {type: mcp, name: u, description: d, transport: http, url: 'https://example.com/?token=ghi&page=2'}\n"})
	shown := map[string]string{}
	for _, s := range mustLoad(t, dir, config.Options{}).Effective() {
		shown[s.Path] = string(mustJSON(t, s.Value))
	}
	for path, want := range map[string]string{
		"tools[0].args": `["x","--token=[redacted]","--password","[redacted]","--verbose","plain","-k"]`,
		"tools[1].url":  `"https://example.com/?token=[redacted]\u0026page=2"`,
	} {
		if shown[path] != want {
			t.Errorf("%s is shown as %s, want %s", path, shown[path], want)
		}
	}
}

func TestOrdinaryValuesAreNotTakenForSecrets(t *testing.T) {
	dir := folder(t, map[string]string{"docs/a.md": "text", "agent.yaml": head + `
google_adk: {output_key: final_answer}
claude: {extended_thinking: {budget_tokens: 00012345}}
deployment:
  registry: {url: registry.example.com, repository: a}
  target: {provider: aws, aws: {region: eu-central-1}}
  environment: {NODE_ENV: production}
tools: [{type: vectorstore, name: kb, description: d, source: docs, keywords_note: x}]
`})
	agent, _ := load(t, dir, config.Options{Environ: []string{"KEYBOARD=international"}})
	const text = "The 00012345 final_answer for production with an international keyboard at postgres://localhost."
	if got := agent.Redactor.String(text); got != text {
		t.Errorf("redacted to %q", got)
	}
}
