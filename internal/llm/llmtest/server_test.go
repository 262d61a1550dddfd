package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

func start(t *testing.T, o llmtest.Options, rules ...script.Rule) *llmtest.Server {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
	return llmtest.Start(t, script.Script{Rules: rules}, o)
}

// post makes a request and returns its status and its body.
func post(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// does makes a rule that always applies.
func does(steps ...script.Step) script.Rule { return script.Rule{Steps: steps} }

// asking is how each API asks something, without a stream.
var asking = map[string]struct{ path, body string }{
	"chat":      {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":%q}]}`},
	"azure":     {"/openai/deployments/m/chat/completions?api-version=2024-10-21", `{"messages":[{"role":"user","content":%q}]}`},
	"responses": {"/v1/responses", `{"model":"m","input":[{"role":"user","content":%q}]}`},
	"messages":  {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":%q}]}`},
	"vertex":    {"/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", `{"anthropic_version":"x","max_tokens":9,"messages":[{"role":"user","content":%q}]}`},
	"gemini":    {"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":%q}]}]}`},
	"ollama":    {"/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":%q}]}`},
}

func TestWholeResponses(t *testing.T) {
	s := start(t, llmtest.Options{}, does(
		script.Step{Thinking: "Hm."}, script.Step{Text: "One "}, script.Step{Text: "two."},
		script.Step{Call: &script.Call{ID: "c1", Name: "look", Args: `{"n":1}`}},
		script.Step{Usage: &agent.Usage{Prompt: 70, Completion: 9, Total: 79}},
	))
	for name, api := range asking {
		status, body := post(t, s.URL+api.path, fmt.Sprintf(api.body, "hi"))
		if status != http.StatusOK || !json.Valid([]byte(body)) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		for _, want := range []string{"Hm.", "One two.", `"look"`, "70"} {
			if name == "gemini" && want == "One two." {
				want = `"One "` // a part a step
			}
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", name, want, body)
			}
		}
	}
}

func TestRefusalsHaveTheFormOfTheirAPI(t *testing.T) {
	s := start(t, llmtest.Options{Key: "canary-key-1", Models: []string{"m"}}, script.Rule{When: script.When{User: "hi"}, Steps: []script.Step{
		{Error: &script.Error{Status: 429, Message: "slow down", RetryAfterMS: 1500}},
	}})
	for name, api := range asking {
		ask := func(user string, headers ...string) (int, string) {
			return post(t, s.URL+api.path, fmt.Sprintf(api.body, user), headers...)
		}
		if status, body := ask("hi", "Authorization", "Bearer canary-key-1"); status != 429 || !strings.Contains(body, "slow down") {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if status, _ := ask("hi", "X-Api-Key", "wrong"); status != 401 {
			t.Errorf("%s: a wrong key gives %d", name, status)
		}
		if status, body := ask("hello", "Api-Key", "canary-key-1"); status != 400 || !strings.Contains(body, "no rule") {
			t.Errorf("%s: without a rule: %d %s", name, status, body)
		}
	}
	if status, _ := post(t, s.URL+"/v1/chat/completions", `{"model":"other"}`, "Api-Key", "canary-key-1"); status != 404 {
		t.Errorf("a model there is not gives %d", status)
	}
	if status, _ := post(t, s.URL+"/v1/nothing", `{}`); status != 404 {
		t.Errorf("an API there is not gives %d", status)
	}
	if n := len(s.Requests()); n != 3*len(asking)+2 {
		t.Errorf("%d requests were kept", n)
	}
}

// TestRequestsThatTheRealServersRefuse are refused here, too: an adapter that
// makes one would be found out by a user.
func TestRequestsThatTheRealServersRefuse(t *testing.T) {
	s := start(t, llmtest.Options{}, does(script.Step{Text: "ok"}))
	for name, tt := range map[string]struct{ path, body, want string }{
		"chat: a call without a result":     {"/v1/chat/completions", `{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"user","content":"x"}]}`, "have no results"},
		"chat: a result without a call":     {"/v1/chat/completions", `{"messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, "of no call"},
		"chat: an empty answer":             {"/v1/chat/completions", `{"messages":[{"role":"assistant","content":null}]}`, "text or tool calls"},
		"chat: an unknown part":             {"/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"hologram"}]}]}`, "hologram"},
		"chat: an unknown role":             {"/v1/chat/completions", `{"messages":[{"role":"model","content":"x"}]}`, "role"},
		"responses: a call without output":  {"/v1/responses", `{"input":[{"type":"function_call","call_id":"a"}]}`, "no output"},
		"responses: an output without call": {"/v1/responses", `{"input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, "of no call"},
		"responses: thoughts that changed":  {"/v1/responses", `{"input":[{"type":"reasoning","encrypted_content":"y"}]}`, "encrypted_content"},
		"messages: no bound":                {"/v1/messages", `{"messages":[]}`, "max_tokens"},
		"messages: blank text":              {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":" "}]}`, "non-whitespace"},
		"messages: nothing":                 {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":[]}]}`, "not empty"},
		"messages: a changed signature":     {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]}]}`, "signature"},
		"messages: input that is no object": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","input":"x"}]}]}`, "dictionary"},
		"messages: a result missing":        {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","input":{}}]},{"role":"user","content":"x"}]}`, "immediately after"},
		"messages: a result of nothing":     {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "unexpected tool_use_id"},
		"messages on Vertex, with a model":  {"/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", `{"model":"m","max_tokens":1}`, "no model"},
		"gemini: nothing":                   {"/v1beta/models/m:generateContent", `{"contents":[{"role":"user"}]}`, "must not be empty"},
		"gemini: a response missing":        {"/v1beta/models/m:generateContent", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"x"}}]},{"role":"user","parts":[{"text":"x"}]}]}`, "function response parts"},
		"gemini: a changed signature":       {"/v1beta/models/m:generateContent", `{"contents":[{"role":"model","parts":[{"text":"x","thoughtSignature":"eA=="}]}]}`, "signature"},
		"gemini: another stream":            {"/v1beta/models/m:streamGenerateContent", `{"contents":[]}`, "alt=sse"},
		"ollama: an unknown role":           {"/api/chat", `{"messages":[{"role":"model"}]}`, "role"},
		"ollama: a result of no tool":       {"/api/chat", `{"messages":[{"role":"tool","content":"x"}]}`, "tool_name"},
		"embeddings: none":                  {"/v1/embeddings", `{"input":[]}`, "0 texts"},
		"embeddings: another's model":       {"/v1beta/models/m:batchEmbedContents", `{"requests":[{"model":"models/n"}]}`, "not the one"},
		"embeddings: two at once":           {"/v1/projects/p/locations/l/publishers/google/models/m:predict", `{"instances":[{},{}]}`, "want 1"},
		"not JSON":                          {"/v1/chat/completions", `{`, "not JSON"},
	} {
		if status, body := post(t, s.URL+tt.path, tt.body); status != http.StatusBadRequest || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s, want %q", name, status, body, tt.want)
		}
	}
}

func TestRulesAreCountedInEachSession(t *testing.T) {
	s := start(t, llmtest.Options{}, script.Rule{Times: 1, Steps: []script.Step{{Text: "once"}}}, does(script.Step{Text: "then"}))
	ask := func(user string, headers ...string) string {
		_, body := post(t, s.URL+"/v1/chat/completions", fmt.Sprintf(asking["chat"].body, user), headers...)
		var r struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(body), &r); err != nil || len(r.Choices) != 1 {
			t.Fatalf("%s: %v", body, err)
		}
		return r.Choices[0].Message.Content
	}
	for i, tt := range []struct{ user, session, want string }{
		{"a", "", "once"}, {"a", "", "then"}, {"b", "", "once"},
		{"a", "s1", "once"}, {"b", "s1", "then"}, {"a", "s2", "once"},
	} {
		var headers []string
		if tt.session != "" {
			headers = []string{llmtest.SessionHeader, tt.session}
		}
		if got := ask(tt.user, headers...); got != tt.want {
			t.Errorf("request %d: %q, want %q", i+1, got, tt.want)
		}
	}
}

func TestClosingEndsWhatIsHeldUp(t *testing.T) {
	h, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{does(script.Step{DelayMS: 1e8})}}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/chat/completions", bytes.NewReader([]byte(fmt.Sprintf(asking["chat"].body, "hi"))))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		h.ServeHTTP(discard{}, req)
	}()
	h.Close()
	h.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the response is still held up")
	}
}

// discard is a ResponseWriter for nobody.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
