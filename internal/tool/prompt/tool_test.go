package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool/prompt"
)

// agentFile is an agent with one prompt tool.
const agentFile = `name: a
instructions: {inline: x}
model:
  provider: offline
  name: large
  script:
    - when: {user: slow}
      do: [{block: true}]
    - when: {user: refuse}
      do: [{finish: refusal}]
    - when: {user: long}
      do: [{text: A long}, {finish: length}]
    - when: {user: filter}
      do: [{finish: content_filter}]
    - when: {user: overloaded}
      do: [{error: {status: 400, message: out of order}}]
    - when: {regex: '^Say hello in 3 words\.$'}
      do: [{text: "Hello "}, {text: you there.}]
    - do: [{text: Something else.}]
tools:
  - type: prompt
    name: say
    description: Says it.
    template: "Say {{what}} in {{words}} words."
    parameters: {what: {type: string}, words: {type: integer, default: 3}, tone: {type: float, required: false}}
`

// env is an Env without a log.
func env() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// load loads an agent file.
func load(t *testing.T, text string) (*config.Agent, *config.PromptTool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(file, config.Options{})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	return a, a.Tools[0].(*config.PromptTool)
}

// open opens the prompt tool of an agent file.
func open(t *testing.T, text string) *prompt.Tool {
	t.Helper()
	a, p := load(t, text)
	tool, err := prompt.Open(env(), a, p, llm.Open(env(), llm.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// told is what a call told its turn.
type told struct {
	parents []string
	events  []agent.Event
}

// behalf returns a call that keeps what it is told.
func (o *told) behalf() agent.Behalf {
	return agent.Behalf{CallID: "call-1", Session: "s/say 1.1", Emit: func(parent string, e agent.Event) error {
		o.parents, o.events = append(o.parents, parent), append(o.events, e)
		return nil
	}}
}

func TestAPromptAsksItsModel(t *testing.T) {
	tool := open(t, agentFile)
	var o told
	got, err := tool.Delegate(t.Context(), json.RawMessage(`{"what": "hello"}`), o.behalf())
	if err != nil || got.Text() != "Hello you there." || got.IsError {
		t.Fatalf("got %q, %v", got.Text(), err)
	}
	if len(o.events) != 1 || o.parents[0] != "call-1" {
		t.Fatalf("told %v under %q", o.events, o.parents)
	}
	if call, ok := o.events[0].(agent.ModelCall); !ok || call.Usage.Total == 0 || call.Model != "large" || call.CostUSD == nil {
		t.Errorf("told %+v", o.events[0])
	}
	if got, err := tool.Call(t.Context(), json.RawMessage(`{"what": "hello", "words": 4}`)); err != nil || got.Text() != "Something else." {
		t.Errorf("with another number: %q, %v", got.Text(), err)
	}
}

func TestAPromptsSchema(t *testing.T) {
	def := open(t, agentFile).Definition()
	want := `{"additionalProperties":false,"properties":{"tone":{"type":"number"},"what":{"type":"string"},"words":{"default":3,"type":"integer"}},"required":["what"],"type":"object"}`
	if string(def.Schema) != want || def.Name != "say" || def.Description != "Says it." || def.Source != "prompt" {
		t.Errorf("definition is %+v\nschema %s", def, def.Schema)
	}
}

func TestHowAPromptFails(t *testing.T) {
	tool := open(t, agentFile)
	for what, want := range map[string]string{
		"refuse":     "its model refused to answer",
		"filter":     "the content filter of its model's provider blocked the answer",
		"overloaded": "ask its model: offline model large: 400 Bad Request: out of order",
	} {
		_, err := tool.Call(t.Context(), json.RawMessage(`{"what": "`+what+`"}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	got, err := tool.Call(t.Context(), json.RawMessage(`{"what": "long"}`))
	if err != nil || got.Text() != "A long\n… cut at max_tokens of the tool's model" {
		t.Errorf("a cut answer: %q, %v", got.Text(), err)
	}
}

func TestAPromptKeepsTheBoundOfAModelCall(t *testing.T) {
	tool := open(t, agentFile)
	synctest.Test(t, func(t *testing.T) {
		var o told
		b := o.behalf()
		b.Limits.ModelTimeout = 5 * time.Second
		_, err := tool.Delegate(t.Context(), json.RawMessage(`{"what": "slow"}`), b)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "its model did not answer within 5s") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAPromptWhoseModelHasNoPriceKeepsToNoBudget(t *testing.T) {
	tool := open(t, strings.Replace(agentFile, "    parameters:", "    model: {provider: openai, name: unheard-of, api_key: not-used}\n    parameters:", 1))
	var o told
	b := o.behalf()
	b.Limits.MaxCostUSD = 1
	_, err := tool.Delegate(t.Context(), json.RawMessage(`{"what": "hello"}`), b)
	if want := "the turn has a cost limit, and the price of openai model unheard-of is not known"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestCheck(t *testing.T) {
	for template, want := range map[string]string{
		"{{what}} {{words}} {{tone}}": "",
		"{{what}} {{words}} {{tones}}": `agent.yaml:24:15: tools[0].template: {{tones}} is not one of the parameters (declare it under parameters)
agent.yaml:25:17: warning: tools[0].parameters: tone is not used by the template`,
		"{{what": "agent.yaml:24:15: tools[0].template: line 1: {{ has no }} (the syntax is described in docs/prompts.md)",
	} {
		a, p := load(t, strings.Replace(agentFile, "Say {{what}} in {{words}} words.", template, 1))
		got := strings.ReplaceAll((&config.Error{Problems: prompt.Check(p)}).Error(), a.Dir+string(filepath.Separator), "")
		if got != want {
			t.Errorf("%q:\n%s\nwant:\n%s", template, got, want)
		}
	}
}
