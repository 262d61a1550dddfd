package backend

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/adk"
	"github.com/holodeck-go/holodeck/internal/backend/agentframework"
	"github.com/holodeck-go/holodeck/internal/backend/backendtest"
	"github.com/holodeck-go/holodeck/internal/backend/claude"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/semantickernel"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// runtime is one of the rooms that put an agent on the loop.
type runtime struct {
	name string
	open func(*config.Agent, loop.Options) (agent.Backend, error)
}

func runtimes() []runtime {
	return []runtime{
		{"agent_framework", agentframework.Open},
		{"semantic_kernel", semantickernel.Open},
		{"claude", claude.Open},
		{"google_adk", adk.Open},
	}
}

// eachRuntime runs a test with every runtime.
func eachRuntime(t *testing.T, test func(t *testing.T, r runtime)) {
	for _, r := range runtimes() {
		t.Run(r.name, func(t *testing.T) { test(t, r) })
	}
}

// modelSource is a provider whose models play scripts.
type modelSource struct {
	name    string
	section *config.Model // nil is the offline model
	tail    string        // of the endpoint
	lacks   backendtest.Wire
}

// sources are the providers the runtimes are held to the contract with.
func sources() []modelSource {
	return []modelSource{
		{name: "offline"},
		{name: "openai", section: &config.Model{Provider: config.ProviderOpenAI, Name: "small"}, tail: "/v1"},
		{name: "openai responses", section: &config.Model{Provider: config.ProviderOpenAI, Name: "gpt-5"}, tail: "/v1"},
		{name: "azure_openai", section: &config.Model{Provider: config.ProviderAzureOpenAI, Name: "small"}},
		{name: "anthropic", section: &config.Model{Provider: config.ProviderAnthropic, Name: "claude-sonnet-4-5"}, lacks: backendtest.Wire{NoFilter: true}},
		{name: "google", section: &config.Model{Provider: config.ProviderGoogle, Name: "gemini-2.5-flash"}, lacks: backendtest.Wire{NoRefusal: true}},
		{name: "ollama", section: &config.Model{Provider: config.ProviderOllama, Name: "llama3.1"}, lacks: backendtest.Wire{NoRefusal: true, NoFilter: true}},
	}
}

// pairs reports whether a runtime works with a source.
func (m modelSource) pairs(r runtime) bool {
	return m.section == nil || slices.Contains(config.Backend(r.name).Providers(), m.section.Provider)
}

// open returns a model that plays a script.
func (m modelSource) open(t testing.TB, s script.Script) llm.Model {
	t.Helper()
	if m.section != nil {
		model, _ := m.serve(t, s)
		return model
	}
	model, err := llm.Scripted(testEnv(), "scripted", s)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// serve returns a model that plays a script, and the server it is at.
func (m modelSource) serve(t testing.TB, s script.Script) (llm.Model, *llmtest.Server) {
	t.Helper()
	const key = "key-of-a-test"
	server := llmtest.Start(t, s, llmtest.Options{
		Key: key, Auto: func(text string) bool { return strings.HasPrefix(text, "That does not match the JSON Schema") },
	})
	section := *m.section
	section.Endpoint, section.APIKey = new(server.URL+m.tail), secret.New(key)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	model, err := llm.Open(testEnv(), llm.Options{HTTP: &http.Client{Transport: transport}}).Model(&section)
	if err != nil {
		t.Fatal(err)
	}
	return model, server
}

// base returns what is the same on every runtime, with a model and tools.
func base(t *testing.T, r runtime, model llm.Model, tools ...agent.Tool) loop.Options {
	t.Helper()
	set, err := tool.New(testEnv(), tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return loop.Options{
		Env: testEnv(), Backend: r.name, Model: model, Tools: set,
		ForSession: func(ctx context.Context, id string, more []agent.Tool) (loop.SessionTools, error) {
			own, err := set.ForSession(ctx, id, more)
			if err != nil {
				return nil, err // a nil set would be no nil interface
			}
			return own, nil
		},
	}
}

// file returns an agent file of a runtime.
func (r runtime) file(t *testing.T, more string) *config.Agent {
	t.Helper()
	return load(t, "model: {provider: offline, name: x}\nbackend: "+r.name+"\n"+more)
}

func TestEveryRuntimeKeepsTheContractWithEveryProvider(t *testing.T) {
	eachRuntime(t, func(t *testing.T, r runtime) {
		for _, source := range sources() {
			if !source.pairs(r) {
				continue
			}
			t.Run(source.name, func(t *testing.T) {
				backendtest.RunOver(t, source.lacks, func(t *testing.T, s script.Script, o backendtest.Options) agent.Backend {
					lo := base(t, r, source.open(t, s), o.Tools...)
					lo.Schema = o.Schema
					lo.Limits = loop.Limits{
						MaxTurns: o.MaxTurns,
						Model:    turn.Deadline{After: o.ModelTimeout, Key: "execution.llm_timeout"},
						Turn:     turn.Deadline{After: o.TurnTimeout, Key: "execution.turn_timeout"},
					}
					b, err := r.open(r.file(t, "claude: {runtime: api}\ngoogle_adk: {streaming_mode: sse}\n"), lo)
					if err != nil {
						t.Fatal(err)
					}
					return b
				})
			})
		}
	})
}

// obedient is a model that answers as a function says, and keeps what it was
// asked.
type obedient struct {
	respond  func(llm.Request) llm.Done
	requests []llm.Request
}

func (m *obedient) Info() llm.Info {
	return llm.Info{Provider: "fake", Name: "m1", Capabilities: agent.Capabilities{Cost: true, StructuredOutput: true}}
}

func (m *obedient) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.requests = append(m.requests, req)
		done := m.respond(req)
		for _, p := range done.Message.Parts {
			if !yield(llm.Text(p.Text), nil) {
				return
			}
		}
		yield(done, nil)
	}
}

func says(text string) llm.Done {
	return llm.Done{Message: llm.Message{Parts: agent.Text(text).Parts}, Stop: agent.StopEnd, CostUSD: new(0.25)}
}

// searches is a response that asks for a tool, under the name by which it is
// offered.
func searches(req llm.Request, args string) llm.Done {
	d := says("Looking.")
	d.Message.Calls = []llm.Call{{ID: "c", Name: req.Tools[0].Name, Arguments: json.RawMessage(args)}}
	return d
}

// shelf is a search tool named kb in its file.
type shelf struct{}

func (shelf) Definition() agent.Definition {
	return agent.Definition{
		Name: "kb_search", Description: "Search kb: lamps.", Source: "vectorstore", Retrieval: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`),
	}
}

func (shelf) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult("Lamps are on shelf four."), nil
}

// ask opens an agent and asks it one question.
func ask(t *testing.T, r runtime, a *config.Agent, o loop.Options) (agent.Result, error) {
	t.Helper()
	b, err := r.open(a, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return agent.RunOnce(t.Context(), b, agent.Text("Where are the lamps?"))
}

// printed returns what run --json prints of a result.
func printed(t *testing.T, r agent.Result) map[string]any {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatGoesWrongIsAnOutcomeOfItsOwnOnEveryRuntime(t *testing.T) {
	tests := map[string]struct {
		respond   func(llm.Request) llm.Done
		limits    loop.Limits
		schema    string
		stop      agent.StopReason
		reason    string // of the error result; empty is none
		toolError string // of the call's result; empty is none
	}{
		"arguments that are not JSON": {
			respond: func(req llm.Request) llm.Done {
				if req.Ordinal == 1 {
					return searches(req, `"{\"query\": "`)
				}
				return says("Sorry.")
			},
			stop: agent.StopEnd, toolError: "JSON",
		},
		"an unknown tool": {
			respond: func(req llm.Request) llm.Done {
				if req.Ordinal == 1 {
					d := searches(req, `{"query":"x"}`)
					d.Message.Calls[0].Name = "attic"
					return d
				}
				return says("Sorry.")
			},
			stop: agent.StopEnd, toolError: `there is no tool called "attic"; there are: kb_search`,
		},
		"an answer that violates the schema": {
			respond: func(llm.Request) llm.Done { return says(`{"shelf": "four"}`) },
			schema:  `{"type":"object","properties":{"shelf":{"type":"integer"}},"required":["shelf"]}`,
			stop:    agent.StopSchema, reason: "shelf",
		},
		"context overflow": {
			respond: func(llm.Request) llm.Done { return llm.Done{Stop: agent.StopContextOverflow} },
			stop:    agent.StopContextOverflow, reason: "longer than the model can read",
		},
		"a budget reached in the turn": {
			respond: func(req llm.Request) llm.Done { return searches(req, `{"query":"x"}`) },
			limits:  loop.Limits{MaxTurnCostUSD: 0.5},
			stop:    agent.StopBudget, reason: "0.50", toolError: "not run",
		},
		"too many responses": {
			respond: func(req llm.Request) llm.Done { return searches(req, `{"query":"x"}`) },
			limits:  loop.Limits{MaxTurns: 1},
			stop:    agent.StopMaxTurns, reason: "1 model response", toolError: "not run",
		},
	}
	eachRuntime(t, func(t *testing.T, r runtime) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				o := base(t, r, &obedient{respond: tt.respond}, shelf{})
				o.Limits = tt.limits
				if tt.schema != "" {
					o.Schema = json.RawMessage(tt.schema)
				}
				result, err := ask(t, r, r.file(t, ""), o)
				if err != nil {
					t.Fatal(err)
				}
				got := printed(t, result)
				if got["stop_reason"] != string(tt.stop) || got["is_error"] != (tt.reason != "") {
					t.Errorf("it is printed as %v", got)
				}
				if reason, _ := got["error_reason"].(string); !strings.Contains(reason, tt.reason) {
					t.Errorf("the reason is %q, want %q in it", reason, tt.reason)
				}
				results := got["tool_results"].([]any)
				if tt.toolError == "" {
					if len(results) != 0 {
						t.Errorf("the results of calls are %v", results)
					}
					return
				}
				last := results[len(results)-1].(map[string]any)
				if last["is_error"] != true || !strings.Contains(last["result"].(string), tt.toolError) {
					t.Errorf("the call came to %v, want %q", last, tt.toolError)
				}
			})
		}
	})
}

// forever is a model that asks for a tool at every call.
func forever() *obedient {
	return &obedient{respond: func(req llm.Request) llm.Done { return searches(req, `{"query":"x"}`) }}
}

func TestSectionsBoundTheTurnsOfTheirRuntime(t *testing.T) {
	tests := map[string]struct {
		runtime, yaml string
		turns         int // responses until the turn was cut
		stop          agent.StopReason
	}{
		"openai": {"agent_framework", "model: {provider: openai, name: x}\nopenai: {max_turns: 3}\n", 3, agent.StopMaxTurns},
		"openai without an OpenAI model": {
			"agent_framework", "model: {provider: offline, name: x}\nopenai: {max_turns: 3, max_budget_usd: 0.5}\n", loop.DefaultMaxTurns, agent.StopMaxTurns,
		},
		"openai's budget":   {"agent_framework", "model: {provider: azure_openai, name: x, endpoint: 'https://example.com'}\nopenai: {max_budget_usd: 1}\n", 4, agent.StopBudget},
		"rounds":            {"agent_framework", "model: {provider: offline, name: x}\nagent_framework: {max_tool_rounds: 3}\n", 4, agent.StopMaxTurns},
		"openai and rounds": {"agent_framework", "model: {provider: openai, name: x}\nopenai: {}\nagent_framework: {max_tool_rounds: 3}\n", 4, agent.StopMaxTurns},
		"fewer turns than rounds": {
			"agent_framework", "model: {provider: openai, name: x}\nopenai: {max_turns: 2}\nagent_framework: {max_tool_rounds: 3}\n", 2, agent.StopMaxTurns,
		},
		"claude": {"claude", "model: {provider: anthropic, name: x}\nclaude: {max_turns: 3}\nagent_framework: {max_tool_rounds: 1}\n", 3, agent.StopMaxTurns},
		"claude's budget": {
			"claude", "model: {provider: ollama, name: x}\nclaude: {max_budget_usd: 0.75}\nopenai: {max_turns: 1}\n", 3, agent.StopBudget,
		},
		"google_adk": {"google_adk", "model: {provider: google, name: x}\ngoogle_adk: {max_iterations: 3}\nclaude: {max_turns: 1}\n", 3, agent.StopMaxTurns},
		"google_adk without a word": {
			"google_adk", "model: {provider: ollama, name: x}\nbackend: google_adk\ngoogle_adk: {streaming_mode: sse}\n", loop.DefaultMaxTurns, agent.StopMaxTurns,
		},
		"semantic_kernel has no section": {
			"semantic_kernel", "model: {provider: openai, name: x}\nbackend: semantic_kernel\nopenai: {max_turns: 3}\n", loop.DefaultMaxTurns, agent.StopMaxTurns,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := runtimes()[slices.IndexFunc(runtimes(), func(r runtime) bool { return r.name == tt.runtime })]
			result, err := ask(t, r, load(t, tt.yaml), base(t, r, forever(), shelf{}))
			if err != nil || result.NumTurns != tt.turns || result.StopReason != tt.stop {
				t.Errorf("after %d responses: %s, %v; want %s after %d", result.NumTurns, result.StopReason, err, tt.stop, tt.turns)
			}
		})
	}
	t.Run("openai under --offline", func(t *testing.T) {
		r := runtimes()[0]
		a := load(t, "model: {provider: offline, name: x}\nopenai: {max_turns: 7}\n")
		a.Offline = true
		if result, err := ask(t, r, a, base(t, r, forever(), shelf{})); err != nil || result.NumTurns != 7 {
			t.Errorf("a stand-in for an OpenAI model responded %d times (%v), want the 7 of its section", result.NumTurns, err)
		}
	})
}

func TestABudgetOfASessionHoldsOverItsTurns(t *testing.T) {
	model := &obedient{respond: func(llm.Request) llm.Done { return says("Hello.") }}
	r := runtimes()[0]
	b, err := r.open(load(t, "model: {provider: openai, name: x}\nopenai: {max_budget_usd: 0.5}\n"), base(t, r, model))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.NewSession(t.Context(), agent.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for turn, want := range []agent.StopReason{agent.StopEnd, agent.StopEnd, agent.StopBudget} {
		if result, err := agent.Collect(s.Send(t.Context(), agent.Text("hi"))); err != nil || result.StopReason != want {
			t.Errorf("turn %d: %s, %v; want %s", turn+1, result.StopReason, err, want)
		}
	}
}

func TestEffortReachesTheModel(t *testing.T) {
	for name, tt := range map[string]struct {
		runtime  int
		yaml     string
		effort   string
		thinking *int
	}{
		"openai":                  {0, "model: {provider: openai, name: x}\nopenai: {effort: high}\n", "high", nil},
		"openai without a word":   {0, "model: {provider: openai, name: x}\nopenai: {}\n", "", nil},
		"openai of another model": {0, "model: {provider: anthropic, name: x}\nbackend: agent_framework\nopenai: {effort: high}\n", "", nil},
		"claude":                  {2, "model: {provider: anthropic, name: x}\nclaude: {effort: max}\n", "max", nil},
		"claude thinks":           {2, "model: {provider: anthropic, name: x}\nclaude: {extended_thinking: {enabled: true, budget_tokens: 2000}}\n", "", new(2000)},
		"claude does not":         {2, "model: {provider: anthropic, name: x}\nclaude: {extended_thinking: {budget_tokens: 2000}}\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			model := &obedient{respond: func(llm.Request) llm.Done { return says("Hello.") }}
			r := runtimes()[tt.runtime]
			o := base(t, r, model)
			o.Sampling.TopP = new(0.5)
			if _, err := ask(t, r, load(t, tt.yaml), o); err != nil {
				t.Fatal(err)
			}
			want := llm.Sampling{TopP: o.Sampling.TopP, Effort: tt.effort, ThinkingTokens: tt.thinking}
			if got := model.requests[0].Sampling; !reflect.DeepEqual(got, want) {
				t.Errorf("the model is asked with %+v, want %+v", got, want)
			}
		})
	}
}

func TestClaudeSaysOnceThatTheLoopRunsIt(t *testing.T) {
	model := &obedient{respond: func(llm.Request) llm.Done { return says("Hello.") }}
	r := runtimes()[2]
	for section, want := range map[string]int{"": 1, "claude: {}\n": 1, "claude: {runtime: auto}\n": 1, "claude: {runtime: api}\n": 0} {
		b, err := r.open(load(t, "model: {provider: anthropic, name: some-model}\n"+section), base(t, r, model))
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.NewSession(t.Context(), agent.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for turn := range 2 {
			result, err := agent.Collect(s.Send(t.Context(), agent.Text("hi")))
			if err != nil || len(result.Notices) != want*(1-turn) {
				t.Errorf("%q, turn %d: the notices are %+v, %v", section, turn+1, result.Notices, err)
			}
			for _, n := range result.Notices {
				if n.Code != agent.NoticeSubstitute || !strings.Contains(n.Text, "claude.runtime: api") || !strings.Contains(n.Text, "anthropic") {
					t.Errorf("%q: the notice is %+v", section, n)
				}
			}
		}
		b.Close()
	}
}

// threeTurns holds a conversation of three turns on agent_framework, and returns
// what the model was asked.
func threeTurns(t *testing.T, section string) []llm.Request {
	t.Helper()
	model := &obedient{respond: func(req llm.Request) llm.Done {
		if strings.HasSuffix(req.Session, "/compaction") {
			return says("They looked for lamps.")
		}
		return says("Shelf four.")
	}}
	r := runtimes()[0]
	b, err := r.open(load(t, "model: {provider: openai, name: x}\nagent_framework: {"+section+"}\n"), base(t, r, model))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.NewSession(t.Context(), agent.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"first", "second", "third"} {
		if _, err := agent.Collect(s.Send(t.Context(), agent.Text(q))); err != nil {
			t.Fatal(err)
		}
	}
	return model.requests
}

func TestCompactionIsAsTheSectionSays(t *testing.T) {
	const window, summary = "compaction_strategy: sliding_window", "compaction_strategy: summarization"
	for section, want := range map[string]struct {
		messages int    // that the model reads at last
		first    string // of them
	}{
		"":                                {5, "first"},
		"compaction_strategy: none":       {5, "first"},
		"keep_last_groups: 1":             {5, "first"},
		window:                            {5, "first"}, // of 20
		window + ", keep_last_groups: 3":  {3, "second"},
		window + ", keep_last_groups: 1":  {1, "third"},
		summary:                           {5, "first"}, // of 4 + 2
		summary + ", target_count: 2":     {3, "Summary"},
		summary + ", target_count: 3":     {5, "first"},
		summary + ", threshold: 0":        {5, "Summary"},
		summary + ", threshold: 1":        {5, "first"},
		window + ", target_count: 1":      {5, "first"},
		summary + ", keep_last_groups: 1": {5, "first"},
		"target_count: 1, threshold: 0":   {5, "first"},
	} {
		requests := threeTurns(t, section)
		read := requests[len(requests)-1].Messages
		first := agent.JoinText(read[0].Parts)
		if len(read) != want.messages || !strings.HasPrefix(first, want.first) {
			t.Errorf("%s: the model reads %d messages from %q, want %d from %s", section, len(read), first, want.messages, want.first)
		}
		if want.first == "Summary" && !strings.HasSuffix(first, "They looked for lamps.") {
			t.Errorf("%s: the summary is %q", section, first)
		}
	}
}

func TestTheOfflineModelSumsUpOnlyWhatItsScriptSays(t *testing.T) {
	const long = "agent_framework: {compaction_strategy: summarization, target_count: 1, threshold: 0}\n"
	for model, want := range map[string]string{
		"model: {provider: offline, name: x}\n": agent.NoticeSubstitute,
		"model: {provider: offline, name: x, script: [{when: {user: Sum up this conversation}, do: [{text: Lamps.}]}, {do: [{text: Yes.}]}]}\n": agent.NoticeCompaction,
	} {
		b, err := open(t, load(t, model+long))
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.NewSession(t.Context(), agent.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, q := range []string{"first", "second"} {
			r, err := agent.Collect(s.Send(t.Context(), agent.Text(q)))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Notices {
				codes = append(codes, n.Code)
			}
		}
		if !slices.Equal(codes, []string{want}) {
			t.Errorf("%s the notices are %v, want %s", model, codes, want)
		}
	}
}

func TestSemanticKernelShowsTheModelItsOwnNames(t *testing.T) {
	model := &obedient{respond: func(req llm.Request) llm.Done {
		if req.Ordinal == 1 {
			return searches(req, `{"query":"lamps"}`)
		}
		return says(`{"shelf": 4}`)
	}}
	r := runtimes()[1]
	o := base(t, r, model, shelf{})
	o.Schema = json.RawMessage(`{"type":"object","properties":{"shelf":{"type":"integer"}}}`)
	a := r.file(t, "")
	a.Name = "Help desk"
	result, err := ask(t, r, a, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := model.requests[0]; got.Tools[0].Name != "vectorstore-kb" || got.SchemaName != "Help-desk" {
		t.Errorf("the model sees tool %s and schema %s", got.Tools[0].Name, got.SchemaName)
	}
	if len(result.ToolCalls) != 1 || result.ToolCalls[0].Name != "kb_search" || result.ToolResults[0].IsError || result.NumTurns != 2 {
		t.Errorf("the result is %+v", result)
	}
}

func TestSemanticKernelsNamesGoOverTheWire(t *testing.T) {
	r := runtimes()[1]
	for _, source := range sources() {
		if source.section == nil || !source.pairs(r) || source.section.Provider == config.ProviderOllama {
			continue // Ollama names no schema
		}
		model, server := source.serve(t, script.Script{Rules: []script.Rule{{Steps: []script.Step{{Text: `{"shelf": 4}`}}}}})
		o := base(t, r, model, shelf{})
		o.Schema = json.RawMessage(`{"type":"object","properties":{"shelf":{"type":"integer"}}}`)
		a := r.file(t, "")
		a.Name = "Help desk"
		if _, err := ask(t, r, a, o); err != nil {
			t.Fatal(err)
		}
		body := string(server.Requests()[0].Body)
		for _, want := range []string{`"name":"Help-desk"`, `"name":"vectorstore-kb"`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", source.name, want, body)
			}
		}
	}
}

// place is a search tool of one place.
type place struct{ name, about string }

func (p place) Definition() agent.Definition {
	return agent.Definition{
		Name: p.name + "_search", Description: "Search " + p.name + ": " + p.about, Source: "vectorstore", Retrieval: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
	}
}

func (p place) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult(agent.NothingFound), nil
}

func TestEveryRuntimeOffersTheToolsOfATurn(t *testing.T) {
	tools := []agent.Tool{place{"harbour", "gates and tides"}, place{"library", "books and the reading room"}}
	for _, name := range []string{"agent_framework", "semantic_kernel", "claude", "google_adk"} {
		for section, want := range map[string][]string{
			"": {"harbour_search", "library_search"},
			"tool_filtering: {enabled: false, search_method: bm25}\n":                            {"harbour_search", "library_search"},
			"tool_filtering: {enabled: true}\n":                                                  {"library_search"},
			"tool_filtering: {enabled: true, search_method: bm25}\n":                             {"library_search"},
			"tool_filtering: {enabled: true, search_method: hybrid, always_include: ['har*']}\n": {"harbour_search", "library_search"},
		} {
			b, err := open(t, load(t, "model: {provider: offline, name: x}\nbackend: "+name+"\n"+section))
			if err != nil {
				t.Fatal(err)
			}
			s, err := b.NewSession(t.Context(), agent.SessionOptions{Tools: tools})
			if err != nil {
				t.Fatal(err)
			}
			r, err := agent.Collect(s.Send(t.Context(), agent.Text("When does the reading room open?")))
			if err != nil {
				t.Fatal(err)
			}
			var called []string // the offline model searches wherever it may
			for _, c := range r.ToolCalls {
				called = append(called, c.Name)
			}
			if !slices.Equal(called, want) {
				t.Errorf("%s, %q: it searches %v, want %v", name, section, called, want)
			}
		}
	}
}
