package llm

import (
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func TestOllamaRequest(t *testing.T) {
	a := adapterNamed(t, "ollama")
	a.section = loaded(t, "  provider: ollama\n  name: llama3.1\n  api_key: "+testKey+"\nbackend: agent_framework\n")
	got := a.sent(t, conversation(a.section))
	if got.Path != "/api/chat" {
		t.Errorf("the request is to %s", got.Path)
	}
	wantBody(t, got.Body, `{
		"model": "llama3.1", "stream": true, "truncate": false, "shift": false, "think": "high",
		"options": {"temperature": 0.3, "num_predict": 1000},
		"messages": [
			{"role": "system", "content": "Be brief.\n\nAnswer with nothing but JSON that matches this JSON Schema:\n{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"],\"additionalProperties\":false}"},
			{"role": "user", "content": "one"},
			{"role": "assistant", "content": "Looking.", "tool_calls": [
				{"id": "c1", "function": {"name": "look", "arguments": {"n": 1}}},
				{"id": "c2", "function": {"name": "look", "arguments": {"unparsed": "{\"n\": "}}}]},
			{"role": "tool", "content": "found", "tool_name": "look", "tool_call_id": "c1"},
			{"role": "tool", "content": "{\"found\":2}", "tool_name": "look", "tool_call_id": "c2"}],
		"tools": [
			{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}},
			{"type": "function", "function": {"name": "bare", "parameters": {"type": "object", "properties": {}}}}]
	}`)
	req := conversation(a.section)
	req.Tools, req.Sampling = nil, Sampling{}
	body := string(a.sent(t, req).Body)
	if !strings.Contains(body, `"format":{"type":"object"`) || strings.Contains(body, "JSON Schema") || strings.Contains(body, "think") {
		t.Errorf("without tools the format is not native: %s", body)
	}
}

// TestOllamaStreams holds the reader against what the fake server does not send.
func TestOllamaStreams(t *testing.T) {
	a := adapterNamed(t, "ollama")
	stream := `{"message":{"role":"assistant","content":""},"done":false}` + "\n\n" +
		`{"message":{"role":"assistant","thinking":"hm"},"done":false}` + "\r\n" +
		`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"x","arguments":{"n":9007199254740993}}}]},"done":false}` + "\n" +
		`{"message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"length","prompt_eval_count":4,"eval_count":2}`
	_, done := called(t, a.at(t, page(t, "application/x-ndjson", stream)), asked("hi"))
	if got := done.Message; len(got.Parts) != 2 || got.Parts[1].Text != "hi" || len(got.Calls) != 1 || string(got.Calls[0].Arguments) != `{"n":9007199254740993}` {
		t.Errorf("the message is %+v", got)
	}
	if want := (agent.Usage{Prompt: 4, Completion: 2, Total: 6}); done.Stop != agent.StopMaxTokens || done.Usage != want {
		t.Errorf("it stopped for %s and used %+v", done.Stop, done.Usage)
	}
}

func TestErrorsOfServersInOllamasPlaceAreShown(t *testing.T) {
	for body, want := range map[string]string{
		`{"error": "the runner was killed"}`:                    "the runner was killed",
		`{"error": {"message": "no credit here", "code": 402}}`: "402 Payment Required: no credit here",
		`{"error": ["odd"]}`:                                    "odd",
	} {
		a := adapterNamed(t, "ollama")
		_, _, err := collect(a.at(t, page(t, "application/json", body)).Stream(t.Context(), asked("hi")))
		if _, ok := errors.AsType[*ProviderError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v", body, err)
		}
	}
}

func FuzzOllamaStream(f *testing.F) {
	f.Add([]byte(`{"message":{"thinking":"a","content":"b","tool_calls":[{"function":{"name":"x"}}]},"done":true}`))
	f.Add([]byte("{\"message\":{\"content\":\"b\"}}\n{\"error\":\"no\"}\n"))
	fuzzStream(f, "ollama")
}
