package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
)

func TestAnthropicRequest(t *testing.T) {
	a := adapterNamed(t, "anthropic")
	a.section = loaded(t, "  provider: anthropic\n  name: claude-sonnet-4-5\n  api_key: "+testKey+"\n  temperature: 0.5\nbackend: agent_framework\n")
	req := conversation(a.section)
	req.Messages[2].Results[0].Result.IsError = true
	got := a.sent(t, req)
	if got.Path != "/v1/messages" || got.Header.Get("X-Api-Key") != testKey || got.Header.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("the request is %s %v", got.Path, got.Header)
	}
	wantBody(t, got.Body, `{
		"model": "claude-sonnet-4-5", "stream": true, "max_tokens": 1000, "temperature": 0.5,
		"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
		"messages": [
			{"role": "user", "content": [{"type": "text", "text": "one"}]},
			{"role": "assistant", "content": [
				{"type": "text", "text": "Looking."},
				{"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}},
				{"type": "tool_use", "id": "c2", "name": "look", "input": {"unparsed": "{\"n\": "}}]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "found"}], "is_error": true},
				{"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "{\"found\":2}"}], "cache_control": {"type": "ephemeral"}}]}],
		"tools": [
			{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
			{"name": "bare", "input_schema": {"type": "object", "properties": {}}}],
		"output_config": {"format": {"type": "json_schema", "schema":
			{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}}}
	}`)
}

func TestWhatClaudeIsSentDependsOnItsVersion(t *testing.T) {
	for name, tt := range map[string]struct {
		section string
		change  func(*Request)
		want    string // key: JSON
		absent  []string
	}{
		"a temperature nobody asked for": {"name: claude-sonnet-4-5", nil, `"max_tokens":1000`, []string{`"temperature"`}},
		"top_p alone":                    {"name: claude-sonnet-4-5\n  top_p: 0.9", nil, `"top_p":0.9`, []string{`"temperature"`}},
		"temperature before top_p":       {"name: claude-sonnet-4-5\n  temperature: 0.5\n  top_p: 0.9", nil, `"temperature":0.5`, []string{`"top_p"`}},
		"both for an old one":            {"name: claude-3-5-haiku-20241022\n  temperature: 0.5\n  top_p: 0.9", nil, `"temperature":0.5,"top_p":0.9`, nil},
		"an effort":                      {"name: claude-opus-4-5", func(r *Request) { r.Sampling.Effort = "high" }, `"effort":"high"`, nil},
		"an effort of a newer one":       {"name: claude-sonnet-4-6", func(r *Request) { r.Sampling.Effort = "high" }, `"effort":"high"`, nil},
		"an effort that is not heeded":   {"name: claude-sonnet-4-5", func(r *Request) { r.Sampling.Effort = "high" }, `"model":"claude-sonnet-4-5"`, []string{`"effort"`}},
		"no bound":                       {"name: claude-sonnet-4-5\n  max_tokens: null", nil, `"max_tokens":4096`, nil},
		"thinking":                       {"name: claude-sonnet-4-5\n  temperature: 0.5", func(r *Request) { r.Sampling.ThinkingTokens = ptr(2000) }, `"thinking":{"budget_tokens":2000,"type":"enabled"}`, []string{`"temperature"`, `"max_tokens":1000`}},
		"thinking of a newer one":        {"name: claude-opus-4-6", func(r *Request) { r.Sampling.ThinkingTokens = ptr(2000) }, `"thinking":{"display":"summarized","type":"adaptive"}`, nil},
		"a schema for an old one":        {"name: claude-3-5-haiku-20241022", nil, `Be brief.\n\nAnswer with nothing but JSON that matches this JSON Schema:`, []string{`"format"`}},
		"a schema for another's model":   {"name: qwen3", nil, `JSON Schema:`, []string{`"format"`}},
		"a schema with what it does not take": {"name: claude-sonnet-4-5", func(r *Request) {
			r.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":3}},"required":["n"],"additionalProperties":false}`)
		}, `JSON Schema:`, []string{`"format"`}},
	} {
		t.Run(name, func(t *testing.T) {
			a := adapterNamed(t, "anthropic")
			a.section = loaded(t, "  provider: anthropic\n  api_key: "+testKey+"\n  "+tt.section+"\nbackend: agent_framework\n")
			req := conversation(a.section)
			req.Sampling.Effort = ""
			if tt.change != nil {
				tt.change(&req)
			}
			body := string(a.sent(t, req).Body)
			if !strings.Contains(body, tt.want) {
				t.Errorf("%s is missing: %s", tt.want, body)
			}
			for _, key := range tt.absent {
				if strings.Contains(body, key) {
					t.Errorf("%s is sent: %s", key, body)
				}
			}
		})
	}
}

func TestVersionsOfClaude(t *testing.T) {
	for name, want := range map[string]modelVersion{
		"claude-sonnet-4-5-20250929": {4, 5}, "claude-opus-4-20250514": {4, 0}, "claude-3-5-haiku-20241022": {3, 5},
		"claude-3-opus": {3, 0}, "claude-opus-4-6": {4, 6}, "anthropic.claude-opus-4-1-v1:0": {4, 1}, "claude-sonnet-4-5@20250929": {4, 5},
		"claude-mythos": {99, 0}, "qwen3": {}, "": {}, "Claude-Opus-5": {5, 0},
	} {
		if got := claudeVersion(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestClaudeOnVertex(t *testing.T) {
	a := adapterNamed(t, "anthropic")
	m, server := a.start(t, llmtest.Options{}, does(text("ok")))
	c := m.(*anthropicModel)
	c.access.Route, c.access.Project, c.access.Region = "anthropic_vertex", "p1", "europe-west1"
	if _, done := called(t, m, asked("hi")); agent.JoinText(done.Message.Parts) != "ok" {
		t.Errorf("it says %+v", done.Message)
	}
	r := server.Requests()[0]
	if want := "/v1/projects/p1/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict"; r.Path != want {
		t.Errorf("the request is to %s", r.Path)
	}
	if body := string(r.Body); !strings.Contains(body, `"anthropic_version":"vertex-2023-10-16"`) || strings.Contains(body, `"model"`) {
		t.Errorf("sent was %s", body)
	}
}

// TestAnthropicStreams holds the reader of messages against what the fake server
// does not send.
func TestAnthropicStreams(t *testing.T) {
	event := func(s string) string { return "data: " + s + "\n\n" }
	const start = `{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":1}}}`
	end := event(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`) + event(`{"type":"message_stop"}`)
	read := func(t *testing.T, stream string) (Done, error) {
		t.Helper()
		a := adapterNamed(t, "anthropic")
		_, done, err := collect(a.at(t, page(t, "text/event-stream", stream)).Stream(t.Context(), asked("hi")))
		if err != nil {
			return Done{}, err
		}
		return *done, nil
	}
	done, err := read(t, event(start)+
		event(`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"xyz"}}`)+event(`{"type":"content_block_stop"}`)+
		event(`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Hel"}}`)+
		event(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"lo"}}`)+event(`{"type":"content_block_stop"}`)+
		event(`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"x","input":{"a":1}}}`)+event(`{"type":"content_block_stop"}`)+
		event(`{"type":"an_event_of_tomorrow"}`)+end)
	if err != nil {
		t.Fatal(err)
	}
	parts, calls := done.Message.Parts, done.Message.Calls
	if len(parts) != 2 || parts[0].Kind != agent.PartOpaque || !strings.Contains(string(parts[0].Opaque), `"xyz"`) || parts[1].Text != "Hello" {
		t.Errorf("the parts are %+v", parts)
	}
	if len(calls) != 1 || string(calls[0].Arguments) != `{"a":1}` {
		t.Errorf("the calls are %+v", calls)
	}
	if want := (agent.Usage{Prompt: 8, Completion: 9, Total: 17, Cached: 3}); done.Usage != want {
		t.Errorf("the usage is %+v, want %+v", done.Usage, want)
	}
	done, err = read(t, event(start)+event(`{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`)+event(`{"type":"message_stop"}`))
	if err != nil || done.Stop != agent.StopContextOverflow {
		t.Errorf("a full window gave %s, %v", done.Stop, err)
	}
	for kind, retry := range map[string]bool{"overloaded_error": true, "rate_limit_error": true, "timeout_error": true, "api_error": true, "permission_error": false, "unheard_of": true} {
		_, err := read(t, event(start)+event(`{"type":"error","error":{"type":"`+kind+`","message":"because"}}`))
		if e, ok := errors.AsType[*ProviderError](err); !ok || e.Retryable() != retry || !strings.Contains(err.Error(), "because") {
			t.Errorf("%s gave %v", kind, err)
		}
	}
}

func FuzzMessagesStream(f *testing.F) {
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"x\"}}\n\ndata: {\"type\":\"content_block_stop\"}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte("data: {\"type\":\"content_block_delta\",\"delta\":{\"thinking\":\"a\",\"text\":\"b\",\"signature\":\"c\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	fuzzStream(f, "anthropic")
}
