package config_test

import (
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

func TestAPromptToolHasItsTemplateAndModel(t *testing.T) {
	dir := folder(t, map[string]string{
		"sum.md": "---\nversion: 2\n---\nSum up: {{text}}\n",
		"agent.yaml": `name: a
instructions: {inline: x}
model: {provider: openai, name: large, endpoint: "https://models.example/v1", api_key: key-of-the-agent, temperature: 0.9, max_tokens: 77}
tools:
  - {type: prompt, name: plain, description: d, file: sum.md, parameters: {text: {}}}
  - {type: prompt, name: cooler, description: d, template: "{{text}}", parameters: {text: {}}, model: {name: small, temperature: 0.1, max_tokens: null}}
  - {type: prompt, name: elsewhere, description: d, template: "{{text}}", parameters: {text: {}}, model: {provider: ollama, name: llama3.1}}
`,
	})
	a := mustLoad(t, dir, config.Options{})
	prompt := func(i int) *config.PromptTool { return a.Tools[i].(*config.PromptTool) }
	if got := prompt(0); got.Text != "Sum up: {{text}}" || got.Chat != a.Model {
		t.Errorf("plain asks %+v with %q", got.Chat, got.Text)
	}
	m := prompt(1).Chat
	if m.Name != "small" || *m.Temperature != 0.1 || m.MaxTokens != nil || m.APIKey.Reveal() != "key-of-the-agent" || *m.Endpoint != "https://models.example/v1" {
		t.Errorf("cooler asks %+v", m)
	}
	if a.Model.Name != "large" || *a.Model.MaxTokens != 77 {
		t.Errorf("the agent's model became %+v", a.Model)
	}
	m = prompt(2).Chat
	if m.Provider != config.ProviderOllama || m.Endpoint != nil || !m.APIKey.IsZero() || *m.Temperature != 0.9 {
		t.Errorf("a model elsewhere keeps what is of the agent's provider: %+v", m)
	}
}

func TestAPromptToolUsesProfilesOfModels(t *testing.T) {
	dir := folder(t, map[string]string{
		"config.yaml": "providers: {fast: {provider: ollama, name: tiny}}\n",
		"agent.yaml":  head + "tools: [{type: prompt, name: p, description: d, template: x, parameters: {a: {}}, model: {provider: fast}}]\n",
	})
	if m := mustLoad(t, dir, config.Options{}).Tools[0].(*config.PromptTool).Chat; m.Provider != config.ProviderOllama || m.Name != "tiny" {
		t.Errorf("the model is %+v", m)
	}
}

func TestAnEmptyTemplateFileIsRefused(t *testing.T) {
	dir := folder(t, map[string]string{
		"empty.md":   "---\nversion: 2\n---\n\n",
		"agent.yaml": head + "tools: [{type: prompt, name: p, description: d, file: empty.md, parameters: {a: {}}}]\n",
	})
	_, problems := load(t, dir, config.Options{})
	if got := strings.Join(problems, "\n"); !strings.Contains(got, "empty.md: holds no template") {
		t.Errorf("problems: %s", got)
	}
}

func TestASkillFolderGivesInstructions(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml":        head + "tools: [{type: skill, name: refunds, path: skills/r}, {type: skill, name: inline, description: d, instructions: ' Be kind. '}]\n",
		"skills/r/SKILL.md": "---\nname: refunds\ndescription: When money goes back.\nallowed-tools: Bash Read\n---\n\nAsk for the order.\n",
	})
	a, problems := load(t, dir, config.Options{})
	skill := a.Tools[0].(*config.SkillTool)
	if skill.Prompt != "Ask for the order." || skill.Description != "When money goes back." || !strings.HasSuffix(skill.Folder, "r") {
		t.Errorf("the skill is %+v", skill)
	}
	if skill.Timeout != 600 {
		t.Errorf("the skill has %g seconds, and a turn 600", skill.Timeout)
	}
	if got := a.Tools[1].(*config.SkillTool); got.Prompt != "Be kind." || got.Folder != "" {
		t.Errorf("the inline skill is %+v", got)
	}
	if got := strings.Join(problems, "\n"); !strings.Contains(got, "SKILL.md:4:16: warning: allowed-tools: has no effect: which tools a skill may call is said by allowed_tools in the agent file") {
		t.Errorf("problems: %s", got)
	}
	dir = folder(t, map[string]string{
		"agent.yaml":          head + "tools: [{type: skill, name: bad, path: skills/bad}]\n",
		"skills/bad/SKILL.md": "---\nname: bad\ndescription: d\n---\n \n",
	})
	_, problems = load(t, dir, config.Options{})
	if got := strings.Join(problems, "\n"); !strings.Contains(got, "SKILL.md: holds no instructions") {
		t.Errorf("problems: %s", got)
	}
}
