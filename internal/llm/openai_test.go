package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
)

// adapterNamed returns the adapter of that name.
func adapterNamed(t testing.TB, name string) adapter {
	t.Helper()
	for _, a := range adapters() {
		if a.name == name {
			return a
		}
	}
	t.Fatalf("no adapter %q", name)
	return adapter{}
}

// loaded returns the model section of an agent file, so that what nobody wrote
// is told from what somebody did.
func loaded(t testing.TB, section string) config.Model {
	t.Helper()
	a, problems := agentWith(t, section, map[string]string{})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	return *a.Model
}

// conversation is a request that has everything in it.
func conversation(c config.Model) Request {
	return Request{
		Session: "never sent", System: "Be brief.",
		Messages: []Message{
			asked("one").Messages[0],
			{Role: RoleAssistant, Parts: agent.Text("Looking.").Parts, Calls: []Call{
				{ID: "c1", Name: "look", Arguments: json.RawMessage(`{"n": 1}`)},
				{ID: "c2", Name: "look", Arguments: json.RawMessage(`"{\"n\": "`)},
			}},
			{Role: RoleTool, Results: []Result{
				{CallID: "c1", Name: "look", Result: agent.TextResult("found")},
				{CallID: "c2", Name: "look", Result: agent.ToolResult{Structured: json.RawMessage(`{"found":2}`)}},
			}},
		},
		Tools:    []agent.Definition{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}, {Name: "bare"}},
		Schema:   json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`),
		Sampling: Sampling{Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens, Effort: "max"},
	}
}

// sent makes a call and returns the request that reached the server.
func (a adapter) sent(t *testing.T, req Request) llmtest.Request {
	t.Helper()
	m, server := a.start(t, llmtest.Options{}, does(text("ok")))
	called(t, m, req)
	return server.Requests()[0]
}

// wantBody compares the body of a request.
func wantBody(t *testing.T, got []byte, want string) {
	t.Helper()
	if !sameJSON(got, want) {
		t.Errorf("sent was\n%s\nwant\n%s", got, strings.Join(strings.Fields(want), " "))
	}
}

func TestOpenAIChatRequest(t *testing.T) {
	a := adapterNamed(t, "openai")
	a.section = loaded(t, "  provider: openai\n  name: small\n  api_key: "+testKey+"\n  top_p: 0.5\n")
	got := a.sent(t, conversation(a.section))
	if got.Path != "/v1/chat/completions" || got.Header.Get("Authorization") != "Bearer "+testKey || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the request is %s %v", got.Path, got.Header)
	}
	wantBody(t, got.Body, `{
		"model": "small", "stream": true, "stream_options": {"include_usage": true},
		"temperature": 0.3, "top_p": 0.5, "max_tokens": 1000,
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": "one"},
			{"role": "assistant", "content": "Looking.", "tool_calls": [
				{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"n\": 1}"}},
				{"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{\"n\": "}}]},
			{"role": "tool", "tool_call_id": "c1", "content": "found"},
			{"role": "tool", "tool_call_id": "c2", "content": "{\"found\":2}"}],
		"tools": [
			{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}},
			{"type": "function", "function": {"name": "bare", "parameters": {"type": "object", "properties": {}}}}],
		"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema":
			{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}}}
	}`)
}

func TestReasoningModelsOfOpenAI(t *testing.T) {
	for name, tt := range map[string]struct {
		section string
		want    map[string]any // keys of the request
		absent  []string
	}{
		"over chat":    {"name: o3\n  api: chat", map[string]any{"reasoning_effort": "high"}, []string{"temperature", "top_p", "max_tokens", "max_completion_tokens"}},
		"with a bound": {"name: openai/GPT-5-mini\n  api: chat\n  max_tokens: 5000", map[string]any{"max_completion_tokens": 5000.0}, []string{"max_tokens"}},
		"no reasoning": {"name: gpt-4o", map[string]any{"temperature": 0.3, "max_tokens": 1000.0}, []string{"reasoning_effort"}},
		"over responses": {"name: gpt-5.2\n  api: responses\n  temperature: 0.1", map[string]any{
			"reasoning": map[string]any{"effort": "xhigh", "summary": "auto"}, "include": []any{"reasoning.encrypted_content"}, "store": false,
		}, []string{"temperature", "top_p", "max_output_tokens"}},
		"another model over responses": {"name: gpt-4o\n  api: responses", map[string]any{"temperature": 0.3, "max_output_tokens": 1000.0, "store": false}, []string{"reasoning", "include"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := adapterNamed(t, "openai")
			a.section = loaded(t, "  provider: openai\n  api_key: "+testKey+"\n  "+tt.section+"\n")
			body := map[string]any{}
			if err := json.Unmarshal(a.sent(t, conversation(a.section)).Body, &body); err != nil {
				t.Fatal(err)
			}
			for key, want := range tt.want {
				got, err := json.Marshal(body[key])
				if err != nil {
					t.Fatal(err)
				}
				wanted, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				wantBody(t, got, string(wanted))
			}
			for _, key := range tt.absent {
				if v, there := body[key]; there {
					t.Errorf("%s is sent: %v", key, v)
				}
			}
		})
	}
}

func TestOpenAIResponsesRequest(t *testing.T) {
	a := adapterNamed(t, "openai responses")
	req := conversation(a.section)
	sealed := json.RawMessage(`{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"sealed-reasoning"}`)
	req.Messages[1].Parts = append([]agent.Part{{Kind: agent.PartOpaque, Provider: "openai", Opaque: sealed}}, req.Messages[1].Parts...)
	req.Messages[1].Calls[1].Opaque = json.RawMessage(`[` + string(sealed) + `]`)
	got := a.sent(t, req)
	if got.Path != "/v1/responses" {
		t.Errorf("the request is to %s", got.Path)
	}
	wantBody(t, got.Body, `{
		"model": "gpt-5", "instructions": "Be brief.", "stream": true, "store": false,
		"reasoning": {"effort": "high", "summary": "auto"}, "include": ["reasoning.encrypted_content"],
		"input": [
			{"role": "user", "content": "one"},
			{"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "sealed-reasoning"},
			{"role": "assistant", "content": "Looking."},
			{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"n\": 1}"},
			{"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "sealed-reasoning"},
			{"type": "function_call", "call_id": "c2", "name": "look", "arguments": "{\"n\": "},
			{"type": "function_call_output", "call_id": "c1", "output": "found"},
			{"type": "function_call_output", "call_id": "c2", "output": "{\"found\":2}"}],
		"tools": [
			{"type": "function", "name": "look", "description": "Looks.", "strict": false, "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
			{"type": "function", "name": "bare", "strict": false, "parameters": {"type": "object", "properties": {}}}],
		"text": {"format": {"type": "json_schema", "name": "answer", "strict": true, "schema":
			{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}}}
	}`)
}

func TestWhichAPIOfOpenAIIsSpoken(t *testing.T) {
	for section, want := range map[string]bool{
		"provider: openai\n  name: gpt-5\n  api_key: k1":                                                                  true,
		"provider: openai\n  name: gpt-4o\n  api_key: k1":                                                                 false,
		"provider: openai\n  name: gpt-5\n  endpoint: http://localhost:1/v1":                                              false,
		"provider: openai\n  name: gpt-5\n  endpoint: http://localhost:1/v1\n  api: responses":                            true,
		"provider: openai\n  name: gpt-5\n  api_key: k1\n  api: chat":                                                     false,
		"provider: azure_openai\n  name: o3\n  endpoint: https://r.example\n  api_key: k1":                                true,
		"provider: azure_openai\n  name: o3\n  endpoint: https://r.example\n  api_key: k1\n  api_version: \"2024-10-21\"": false,
	} {
		c := loaded(t, "  "+section+"\n")
		m, err := Open(testEnv(), Options{}).open(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := m.(*responsesModel); got != want {
			t.Errorf("%s: responses %t, want %t", section, got, want)
		}
	}
}

// TestServersDiffer holds the reader of chat completions against what servers
// send that are not OpenAI's.
func TestServersDiffer(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		text   string
		calls  string // name and arguments of each
		finish string
	}{
		"no role, no usage, no end": {
			"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", "hi", "", "stop",
		},
		"no reason to stop": {"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\ndata: [DONE]\n\n", "hi", "", ""},
		"calls without an index": {
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}},{\"id\":\"b\",\"function\":{\"name\":\"y\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
			"", "x{} y{}", "tool_calls",
		},
		"pieces without an index": {
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\":1}\"}}]},\"finish_reason\":\"stop\"}]}\n\n",
			"", `x{"a":1}`, "stop",
		},
		"an index out of range": {
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":7,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\n", "", "x{}", "stop",
		},
		"comments and empty choices": {
			": OPENROUTER PROCESSING\n\ndata: {\"choices\":[]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n", "hi", "", "stop",
		},
		"cut after the end": {"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"usa", "hi", "", "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			a := adapterNamed(t, "openai")
			_, done := called(t, a.at(t, page(t, "text/event-stream", tt.stream)), asked("hi"))
			var calls []string
			for _, c := range done.Message.Calls {
				calls = append(calls, c.Name+string(c.Arguments))
			}
			if got := agent.JoinText(done.Message.Parts); got != tt.text || strings.Join(calls, " ") != tt.calls || done.FinishReason != tt.finish {
				t.Errorf("it said %q, called %q and stopped for %q", got, calls, done.FinishReason)
			}
		})
	}
}

func TestARefusalInWordsIsShownWhereThereAreNoOthers(t *testing.T) {
	for _, name := range []string{"openai", "openai responses"} {
		a := adapterNamed(t, name)
		m, _ := a.start(t, llmtest.Options{}, does(refuses))
		if _, done := called(t, m, asked("hi")); done.Stop != agent.StopRefusal || agent.JoinText(done.Message.Parts) != "I would rather not." {
			t.Errorf("%s: stopped for %s with %+v", name, done.Stop, done.Message)
		}
	}
}

func TestAzureFiltersPrompts(t *testing.T) {
	a := adapterNamed(t, "azure")
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`{"error":{"code":"content_filter","message":"The prompt was filtered."}}`))
	})
	if _, done := called(t, a.at(t, address), asked("hi")); done.Stop != agent.StopBlocked {
		t.Errorf("stopped for %s", done.Stop)
	}
}

func TestSchemasThatAllowStrictMode(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{},"additionalProperties":false}`:                                                                                  true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                            true,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                             false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                         false,
		`{"type":"object","properties":{"a":{"type":"object","properties":{}}},"required":["a"],"additionalProperties":false}`:                            false,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`:                true,
		`{"type":"object","properties":{"oneOf":{"type":"string"}},"required":["oneOf"],"additionalProperties":false}`:                                    true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`:                   false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"not":{"type":"string"}}}}`: false,
		`{"type":"array"}`: false,
	} {
		f, ok := newAnswerFormat(json.RawMessage(schema))
		if !ok || f.strict != want {
			t.Errorf("%s: strict %t, want %t", schema, f.strict, want)
		}
		if data, err := json.Marshal(f.schema); err != nil || strings.Contains(string(data), `"oneOf":[`) {
			t.Errorf("%s: oneOf is left: %s", schema, data)
		}
	}
	for _, schema := range []string{"", "true", "null", "[]"} {
		if _, ok := newAnswerFormat(json.RawMessage(schema)); ok {
			t.Errorf("%q is taken for a schema", schema)
		}
	}
}

func FuzzChatStream(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"x\"}}]}}]}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"late\"}}]}\n\n"))
	fuzzStream(f, "openai")
}

func FuzzResponsesStream(f *testing.F) {
	f.Add([]byte("data: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n"))
	f.Add([]byte("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":\"{\"}}\n\n"))
	fuzzStream(f, "openai responses")
}
