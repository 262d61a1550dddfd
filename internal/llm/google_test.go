package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
)

func TestGoogleRequest(t *testing.T) {
	a := adapterNamed(t, "google")
	a.section = loaded(t, "  provider: google\n  name: gemini-3-pro\n  api_key: "+testKey+"\n  top_p: 0.5\n")
	req := conversation(a.section)
	req.Messages[1].Calls[0].Opaque = json.RawMessage(`{"id":"g1","signature":"c2VhbGVk"}`)
	req.Messages[2].Results[1].Result = agent.TextResult("Error: no")
	req.Messages[2].Results[1].Result.IsError = true
	got := a.sent(t, req)
	if got.Path != "/v1beta/models/gemini-3-pro:streamGenerateContent" || got.Query.Get("alt") != "sse" || got.Header.Get("X-Goog-Api-Key") != testKey {
		t.Errorf("the request is %s?%s %v", got.Path, got.Query.Encode(), got.Header)
	}
	wantBody(t, got.Body, `{
		"systemInstruction": {"parts": [{"text": "Be brief."}]},
		"contents": [
			{"role": "user", "parts": [{"text": "one"}]},
			{"role": "model", "parts": [
				{"text": "Looking."},
				{"functionCall": {"id": "g1", "name": "look", "args": {"n": 1}}, "thoughtSignature": "c2VhbGVk"},
				{"functionCall": {"name": "look", "args": {"unparsed": "{\"n\": "}}}]},
			{"role": "user", "parts": [
				{"functionResponse": {"id": "g1", "name": "look", "response": {"output": "found"}}},
				{"functionResponse": {"name": "look", "response": {"error": "Error: no"}}}]}],
		"tools": [{"functionDeclarations": [
			{"name": "look", "description": "Looks.", "parametersJsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
			{"name": "bare", "parametersJsonSchema": {"type": "object", "properties": {}}}]}],
		"generationConfig": {
			"temperature": 0.3, "topP": 0.5, "responseMimeType": "application/json",
			"responseJsonSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
			"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"}}
	}`)
}

func TestWhatGeminiIsSentDependsOnItsVersion(t *testing.T) {
	for name, tt := range map[string]struct {
		section string
		change  func(*Request)
		want    []string
		absent  []string
	}{
		"one that does not think":    {"name: gemini-2.0-flash", nil, []string{`"maxOutputTokens":1000`, `JSON Schema:`}, []string{"thinkingConfig", "responseJsonSchema"}},
		"one that thinks":            {"name: gemini-2.5-pro", nil, []string{`"thinkingBudget":24576`, `"includeThoughts":true`}, []string{"maxOutputTokens", "thinkingLevel"}},
		"a bound that was asked for": {"name: gemini-2.5-pro\n  max_tokens: 5000", nil, []string{`"maxOutputTokens":5000`}, nil},
		"a schema without tools":     {"name: gemini-2.5-pro", func(r *Request) { r.Tools = nil }, []string{`"responseJsonSchema"`}, []string{`JSON Schema:`}},
		"thinking tokens":            {"name: gemini-2.5-pro", func(r *Request) { r.Sampling.ThinkingTokens = ptr(77) }, []string{`"thinkingBudget":77`}, nil},
		"code is run":                {"name: gemini-2.5-pro", func(r *Request) { r.CodeExecution = true }, []string{`{"codeExecution":{}}`, `functionDeclarations`}, nil},
		"code is run, and no tools":  {"name: gemini-2.5-pro", func(r *Request) { r.CodeExecution, r.Tools = true, nil }, []string{`"tools":[{"codeExecution":{}}]`}, nil},
		"no code is run":             {"name: gemini-2.5-pro", nil, nil, []string{"codeExecution"}},
		"another's name":             {"name: models/gemma-3", nil, []string{`"maxOutputTokens":1000`}, []string{"thinkingConfig"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := adapterNamed(t, "google")
			a.section = loaded(t, "  provider: google\n  api_key: "+testKey+"\n  "+tt.section+"\n")
			req := conversation(a.section)
			if tt.change != nil {
				tt.change(&req)
			}
			body := string(a.sent(t, req).Body)
			for _, key := range tt.want {
				if !strings.Contains(body, key) {
					t.Errorf("%s is missing: %s", key, body)
				}
			}
			for _, key := range tt.absent {
				if strings.Contains(body, key) {
					t.Errorf("%s is sent: %s", key, body)
				}
			}
		})
	}
}

func TestGeminiOnVertex(t *testing.T) {
	a := adapterNamed(t, "google")
	m, server := a.start(t, llmtest.Options{}, does(text("ok")))
	g := m.(*geminiModel)
	g.access.Route, g.access.Project, g.access.Region = "google_vertex", "p1", "global"
	if _, done := called(t, m, asked("hi")); agent.JoinText(done.Message.Parts) != "ok" {
		t.Errorf("it says %+v", done.Message)
	}
	if got, want := server.Requests()[0].Path, "/v1beta1/projects/p1/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent"; got != want {
		t.Errorf("the request is to %s", got)
	}
}

// TestGoogleStreams holds the reader against what the fake server does not send.
func TestGoogleStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		stop   agent.StopReason
		fails  string
		check  func(Done) bool
	}{
		"a blocked prompt": {`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}}`, agent.StopBlocked, "",
			func(d Done) bool {
				return d.Usage.Prompt == 4 && d.FinishReason == "PROHIBITED_CONTENT" && d.PromptBlocked
			}},
		"a blocked answer": {`{"candidates":[{"finishReason":"RECITATION"}]}`, agent.StopBlocked, "",
			func(d Done) bool { return d.FinishReason == "RECITATION" && !d.PromptBlocked }},
		"no candidate":                {`{"candidates":[]}`, "", `gave no candidate for an answer: "{\"candidates\":[]}"`, nil},
		"no candidate, counted":       {`{"usageMetadata":{"promptTokenCount":4}}`, "", "unusable response", nil},
		"a candidate that breaks off": {`{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}`, "", "ended before it was complete", nil},
		"a call it could not read":    {`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "", "MALFORMED_FUNCTION_CALL", nil},
		"an id and a signature": {`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"g1","name":"x","args":{"n":9007199254740993}},"thoughtSignature":"c2VhbGVk"}]},"finishReason":"STOP"}]}`, agent.StopEnd, "",
			func(d Done) bool {
				c := d.Message.Calls[0]
				return c.ID == "g1" && string(c.Arguments) == `{"n":9007199254740993}` && string(c.Opaque) == `{"id":"g1","signature":"c2VhbGVk"}`
			}},
		"a signature without text": {`{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}` + "\n\ndata: " + `{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2VhbGVk"}]},"finishReason":"STOP"}]}`, agent.StopEnd, "",
			func(d Done) bool {
				return len(d.Message.Parts) == 1 && d.Message.Parts[0].Text == "hi" && string(d.Message.Parts[0].Opaque) == `"c2VhbGVk"`
			}},
		"a part of tomorrow": {`{"candidates":[{"content":{"parts":[{"hologram":{}},{"text":"hi"}]},"finishReason":"STOP"}]}`, agent.StopEnd, "",
			func(d Done) bool { return agent.JoinText(d.Message.Parts) == "hi" }},
	} {
		t.Run(name, func(t *testing.T) {
			a := adapterNamed(t, "google")
			_, done, err := collect(a.at(t, page(t, "text/event-stream", "data: "+tt.stream+"\n\n")).Stream(t.Context(), asked("hi")))
			if tt.fails != "" {
				if _, ok := errors.AsType[*ProviderError](err); !ok || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if done.Stop != tt.stop || !tt.check(*done) {
				t.Errorf("it ended with %+v", done)
			}
		})
	}
}

func TestCodeThatGeminiRanGoesBackAsItCame(t *testing.T) {
	const parts = `[{"executableCode":{"language":"PYTHON","code":"print(6*7)"},"thoughtSignature":"c2VhbGVk"},` +
		`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"42\n"}},{"text":"It is 42."}]`
	a := adapterNamed(t, "google")
	chunks, done, err := collect(a.at(t, page(t, "text/event-stream", `data: {"candidates":[{"content":{"parts":`+parts+`},"finishReason":"STOP"}]}`+"\n\n")).Stream(t.Context(), asked("What is 6 times 7?")))
	if err != nil {
		t.Fatal(err)
	}
	var shown, said string
	for _, c := range chunks {
		switch c := c.(type) {
		case Thinking:
			shown += string(c)
		case Text:
			said += string(c)
		}
	}
	if want := "```python\nprint(6*7)\n```\n42\n"; shown != want || said != "It is 42." {
		t.Errorf("it shows %q and says %q", shown, said)
	}
	req := asked("What is 6 times 7?")
	req.Messages = append(req.Messages, done.Message, asked("And 7 times 6?").Messages[0])
	var body struct {
		Contents []struct{ Parts json.RawMessage }
	}
	if err := json.Unmarshal(a.sent(t, req).Body, &body); err != nil {
		t.Fatal(err)
	}
	if got := string(body.Contents[1].Parts); got != strings.ReplaceAll(parts, `{"executableCode":{"language":"PYTHON","code":"print(6*7)"},"thoughtSignature":"c2VhbGVk"}`, `{"thoughtSignature":"c2VhbGVk","executableCode":{"language":"PYTHON","code":"print(6*7)"}}`) {
		t.Errorf("Google is sent back %s, want %s", got, parts)
	}
}

func FuzzGeminiStream(f *testing.F) {
	f.Add([]byte("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\",\"thoughtSignature\":\"eA==\"}]},\"finishReason\":\"STOP\"}]}\n\n"))
	f.Add([]byte("data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"x\"}}]},\"finishReason\":\"STOP\"}]}\n\n"))
	f.Add([]byte("data: {\"candidates\":[{\"content\":{\"parts\":[{\"executableCode\":{\"code\":5}},{\"codeExecutionResult\":[]}]},\"finishReason\":\"STOP\"}]}\n\n"))
	fuzzStream(f, "google")
}
