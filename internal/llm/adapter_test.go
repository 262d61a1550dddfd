package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/secret"
)

const testKey = "canary-key-123"

// adapter is a provider under test, and what its API has no word for.
type adapter struct {
	name    string
	section config.Model // without its endpoint
	tail    string       // of the endpoint
	getenv  map[string]string

	noRefusal    bool // a refusal is not told from an answer
	noFilter     bool // nor is an answer that was blocked
	noBadArgs    bool // arguments are JSON, because the server reads them
	noReasoning  bool // thoughts are not counted
	noCache      bool // nor is what was read from a cache, or written to it
	noCacheWrite bool // nor what was written to it
	noDocuments  bool // no PDF is read
	noSignature  bool // thoughts carry no signature
}

func model(p config.Provider, name string, change func(*config.Model)) config.Model {
	m := config.Model{Provider: p, Name: name, APIKey: secret.New(testKey)}
	if change != nil {
		change(&m)
	}
	return m
}

func ptr[T any](v T) *T { return &v }

func adapters() []adapter {
	return []adapter{
		{name: "openai", section: model("openai", "small", nil), tail: "/v1", noSignature: true},
		{name: "openai responses", section: model("openai", "gpt-5", func(m *config.Model) { m.API = ptr(config.APIResponses) }), tail: "/v1"},
		{name: "azure", section: model("azure_openai", "small", nil), noSignature: true},
		{name: "azure deployment", section: model("azure_openai", "small", func(m *config.Model) { m.APIVersion = ptr("2024-10-21") }), noSignature: true},
		{name: "anthropic", section: model("anthropic", "claude-sonnet-4-5", nil), noFilter: true},
		{name: "anthropic at Ollama", section: model("anthropic", "qwen3", nil), noFilter: true},
		{name: "google", section: model("google", "gemini-2.5-flash", nil), noRefusal: true, noBadArgs: true, noCacheWrite: true},
		{name: "ollama", section: model("ollama", "llama3.1", nil), noRefusal: true, noFilter: true, noBadArgs: true, noReasoning: true, noCache: true, noDocuments: true, noSignature: true},
		{name: "azure responses", section: model("azure_openai", "o3-mini", nil)},
	}
}

// eachAdapter runs a test with every provider.
func eachAdapter(t *testing.T, test func(t *testing.T, a adapter)) {
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			test(t, a)
		})
	}
}

// start returns the provider's model of a server that plays rules.
func (a adapter) start(t testing.TB, o llmtest.Options, rules ...script.Rule) (Model, *llmtest.Server) {
	t.Helper()
	o.Key = testKey
	server := llmtest.Start(t, script.Script{Rules: rules}, o)
	return a.at(t, server.URL), server
}

// at returns the provider's model at an address.
func (a adapter) at(t testing.TB, url string) Model {
	t.Helper()
	c := a.section
	c.Endpoint = ptr(url + a.tail)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	m, err := Open(testEnv(), Options{
		Getenv: func(name string) string { return a.getenv[name] }, HTTP: &http.Client{Transport: transport},
	}).open(&c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// does makes a rule that always applies.
func does(steps ...script.Step) script.Rule { return script.Rule{Steps: steps} }

func text(s string) script.Step { return script.Step{Text: s} }

func asks(id, name, args string) script.Step {
	return script.Step{Call: &script.Call{ID: id, Name: name, Args: args}}
}

// called makes a call that must not fail.
func called(t *testing.T, m Model, req Request) ([]Chunk, Done) {
	t.Helper()
	chunks, done, err := collect(m.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	return chunks, *done
}

func TestTextComesAsItIsSaid(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, _ := a.start(t, llmtest.Options{}, does(text("One "), text("two"), text("\n\nthree – ✓."), script.Step{Usage: &agent.Usage{Prompt: 7, Completion: 3}}))
		chunks, done := called(t, m, asked("hi"))
		if want := []Chunk{Text("One "), Text("two"), Text("\n\nthree – ✓.")}; !reflect.DeepEqual(chunks, want) {
			t.Errorf("the chunks are %q, want %q", chunks, want)
		}
		if text := agent.JoinText(done.Message.Parts); text != "One two\n\nthree – ✓." || done.Message.Role != RoleAssistant {
			t.Errorf("the message is %+v", done.Message)
		}
		if want := (agent.Usage{Prompt: 7, Completion: 3, Total: 10}); done.Usage != want {
			t.Errorf("the usage is %+v, want %+v", done.Usage, want)
		}
		if done.Stop != agent.StopEnd || done.CostUSD != nil || done.FinishReason == "" {
			t.Errorf("it stopped for %s (%s) and cost %v", done.Stop, done.FinishReason, done.CostUSD)
		}
	})
}

func TestUsageCountsWhatWasCachedAndThought(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		want := agent.Usage{Prompt: 100, Completion: 30, Total: 130, Cached: 60, CacheWrite: 10, Reasoning: 20}
		m, _ := a.start(t, llmtest.Options{}, does(text("ok"), script.Step{Usage: ptr(want)}))
		if a.noReasoning {
			want.Reasoning = 0
		}
		if a.noCache {
			want.Cached = 0
		}
		if a.noCache || a.noCacheWrite {
			want.CacheWrite = 0
		}
		if _, done := called(t, m, asked("hi")); done.Usage != want {
			t.Errorf("the usage is %+v, want %+v", done.Usage, want)
		}
	})
}

func TestCallsAreCompleteAndAnswered(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, _ := a.start(t, llmtest.Options{},
			script.Rule{When: script.When{Result: "sunny\n\nrainy"}, Steps: []script.Step{text("done")}},
			does(text("Looking. "), asks("c1", "weather", `{"city": "Oslo", "days": 12345678901234567890}`), asks("c2", "weather", `{"city":"Rome"}`)))
		req := asked("weather?")
		req.Tools = []agent.Definition{{Name: "weather", Description: "Tells the weather.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}
		chunks, done := called(t, m, req)
		if want := []Chunk{Text("Looking. ")}; !reflect.DeepEqual(chunks, want) {
			t.Errorf("the chunks are %q", chunks)
		}
		calls := done.Message.Calls
		if len(calls) != 2 || calls[0].Name != "weather" || !sameJSON(calls[0].Arguments, `{"city": "Oslo", "days": 12345678901234567890}`) || !sameJSON(calls[1].Arguments, `{"city":"Rome"}`) {
			t.Fatalf("the calls are %+v", calls)
		}
		if calls[0].ID != "c1" || calls[1].ID != "c2" {
			t.Errorf("the calls have the ids %q and %q", calls[0].ID, calls[1].ID)
		}
		if done.Stop != agent.StopEnd {
			t.Errorf("it stopped for %s", done.Stop)
		}
		req.Messages = append(req.Messages, done.Message, Message{Role: RoleTool, Results: []Result{
			{CallID: calls[0].ID, Name: "weather", Result: agent.TextResult("sunny")},
			{CallID: calls[1].ID, Name: "weather", Result: agent.TextResult("rainy")},
		}})
		if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != "done" {
			t.Errorf("after the results it says %+v", done.Message)
		}
	})
}

// sameJSON compares without white space, and without rounding numbers.
func sameJSON(got json.RawMessage, want string) bool {
	compact := func(s string) string {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return s
		}
		data, err := json.Marshal(v)
		if err != nil {
			return s
		}
		return string(data)
	}
	return compact(string(got)) == compact(want)
}

func TestBrokenArgumentsAreKeptAsTheyAre(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, _ := a.start(t, llmtest.Options{},
			script.Rule{When: script.When{Result: "no JSON"}, Steps: []script.Step{text("sorry")}},
			does(asks("c1", "weather", `{"city": `), asks("c2", "weather", "")))
		req := asked("weather?")
		_, done := called(t, m, req)
		want := `"{\"city\": "`
		if a.noBadArgs {
			want = `{}`
		}
		if got := done.Message.Calls; len(got) != 2 || string(got[0].Arguments) != want || string(got[1].Arguments) != "{}" {
			t.Fatalf("the calls are %+v", got)
		}
		failed := agent.TextResult("Error: no JSON")
		failed.IsError = true
		req.Messages = append(req.Messages, done.Message, Message{Role: RoleTool, Results: []Result{{CallID: "c1", Name: "weather", Result: failed}, {CallID: "c2", Name: "weather", Result: failed}}})
		if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != "sorry" {
			t.Errorf("after the errors it says %+v", done.Message)
		}
	})
}

func TestThoughtsAreToldFromTheAnswerAndGoBackAsTheyCame(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, server := a.start(t, llmtest.Options{},
			script.Rule{When: script.When{Round: 2}, Steps: []script.Step{text("done")}},
			does(script.Step{Thinking: "Let me "}, script.Step{Thinking: "think."}, text("Looking."), asks("c1", "look", `{}`)))
		req := asked("hi")
		chunks, done := called(t, m, req)
		if want := []Chunk{Thinking("Let me "), Thinking("think."), Text("Looking.")}; !reflect.DeepEqual(chunks, want) {
			t.Errorf("the chunks are %q, want %q", chunks, want)
		}
		parts := done.Message.Parts
		sealed := slices.ContainsFunc(parts, func(p agent.Part) bool { return p.Provider == string(a.section.Provider) && len(p.Opaque) > 0 })
		if len(parts) != 2 || parts[0].Kind != agent.PartThinking || parts[0].Text != "Let me think." || !sealed {
			t.Fatalf("the parts are %+v", parts)
		}
		// What is put away and taken out again is the same.
		data, err := json.Marshal(done.Message)
		if err != nil {
			t.Fatal(err)
		}
		var restored Message
		if err := json.Unmarshal(data, &restored); err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, restored, Message{Role: RoleTool, Results: []Result{{CallID: "c1", Name: "look", Result: agent.TextResult("found")}}})
		if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != "done" {
			t.Errorf("the server did not take its thoughts back: %+v", done.Message)
		}
		last := server.Requests()[1].Body
		if !a.noSignature && !strings.Contains(string(last), "sealed") && !strings.Contains(string(last), "c2VhbGVk") {
			t.Errorf("the thoughts did not go back sealed: %s", last)
		}
		// Another provider's thoughts do not go anywhere.
		for i := range restored.Parts {
			restored.Parts[i].Provider = "another"
		}
		req.Messages[1] = restored
		if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != "done" {
			t.Errorf("with another's thoughts it says %+v", done.Message)
		}
		if last := server.Requests()[2].Body; strings.Contains(string(last), "think.") {
			t.Errorf("another provider's thoughts were sent: %s", last)
		}
	})
}

func TestWhyAResponseStopped(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		for finish, want := range map[string]agent.StopReason{
			script.FinishStop:          agent.StopEnd,
			script.FinishLength:        agent.StopMaxTokens,
			script.FinishRefusal:       agent.StopRefusal,
			script.FinishContentFilter: agent.StopBlocked,
		} {
			if a.noRefusal && want == agent.StopRefusal || a.noFilter && want == agent.StopBlocked {
				continue
			}
			m, _ := a.start(t, llmtest.Options{}, does(text("as far as"), script.Step{Finish: finish}))
			if _, done := called(t, m, asked("hi")); done.Stop != want || agent.JoinText(done.Message.Parts) != "as far as" {
				t.Errorf("%s: stopped for %s (%s) with %+v, want %s", finish, done.Stop, done.FinishReason, done.Message, want)
			}
		}
	})
}

func TestRefusalsNameTheProviderAndWhatToDo(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		for name, tt := range map[string]struct {
			options llmtest.Options
			key     string
			step    script.Step
			status  int
			after   time.Duration
			want    string
		}{
			"a wrong key":   {llmtest.Options{}, "wrong", text("never"), 401, 0, "the key is not valid (check the key; it comes from api_key)"},
			"no such model": {llmtest.Options{Models: []string{"other"}}, testKey, text("never"), 404, 0, a.section.Name},
			"bad request":   {llmtest.Options{}, testKey, script.Step{Error: &script.Error{Status: 400, Message: "too rude"}}, 400, 0, "too rude"},
			"too many":      {llmtest.Options{}, testKey, script.Step{Error: &script.Error{Status: 429, Message: "slow down", RetryAfterMS: 1500}}, 429, 1500 * time.Millisecond, "slow down; try again after 1.5s"},
			"its own fault": {llmtest.Options{}, testKey, script.Step{Error: &script.Error{Status: 500, Message: "on fire"}}, 500, 0, "on fire"},
		} {
			t.Run(name, func(t *testing.T) {
				section := a
				section.section.APIKey = secret.New(tt.key)
				m, server := section.start(t, tt.options, does(tt.step))
				chunks, _, err := collect(m.Stream(t.Context(), asked("hi")))
				refused, ok := errors.AsType[*ProviderError](err)
				if !ok || len(chunks) > 0 || refused.Status != tt.status || refused.RetryAfter != tt.after {
					t.Fatalf("after %q came %v", chunks, err)
				}
				prefix := string(a.section.Provider) + " model " + a.section.Name + ": "
				if !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("the error is %q, want one with %q", err, tt.want)
				}
				if n := len(server.Requests()); n != 1 {
					t.Errorf("%d requests were made, want 1: trying again is not the client's", n)
				}
				if strings.Contains(err.Error(), testKey) {
					t.Errorf("the error shows the key: %v", err)
				}
			})
		}
	})
}

func TestAPromptThatIsTooLongIsAResult(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, _ := a.start(t, llmtest.Options{},
			script.Rule{When: script.When{User: "short"}, Steps: []script.Step{text("ok")}},
			does(script.Step{Error: &script.Error{Status: 400, Message: "the prompt is too long: 9 tokens, and the context length is 8"}}))
		req := asked("long")
		_, done := called(t, m, req)
		if done.Stop != agent.StopContextOverflow || len(done.Message.Parts) > 0 {
			t.Errorf("it stopped for %s with %+v", done.Stop, done.Message)
		}
		// An answer that never came is no hindrance to the next.
		req.Messages = append(req.Messages, done.Message, asked("short").Messages[0])
		if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != "ok" {
			t.Errorf("the next answer is %+v", done.Message)
		}
	})
}

func TestAResponseThatBreaksKeepsWhatCame(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		for name, tt := range map[string]struct {
			steps []script.Step
			retry bool
			want  string
		}{
			"cut":                    {[]script.Step{text("partial"), {Cut: true}}, true, "before it was complete"},
			"cut at once":            {[]script.Step{{Cut: true}}, true, "before it was complete"},
			"reset":                  {[]script.Step{text("partial"), {Error: &script.Error{Message: "x"}}}, true, "connection broken"},
			"reset at once":          {[]script.Step{{Error: &script.Error{Message: "x"}}}, true, "connection broken"},
			"an error in the stream": {[]script.Step{text("partial"), {Error: &script.Error{Status: 503, Message: "overloaded"}}}, true, "overloaded"},
			"not JSON":               {[]script.Step{text("partial"), {Garbage: `{"choices": [`}}, false, "unusable response"},
			"not JSON at once":       {[]script.Step{{Garbage: "<xml>"}}, false, "unusable response"},
		} {
			t.Run(name, func(t *testing.T) {
				m, _ := a.start(t, llmtest.Options{}, does(tt.steps...))
				chunks, _, err := collect(m.Stream(t.Context(), asked("hi")))
				broken, ok := errors.AsType[*ProviderError](err)
				if !ok || broken.Retryable() != tt.retry || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v (retry %t), want %q", err, ok && broken.Retryable(), tt.want)
				}
				var want []Chunk
				if tt.steps[0].Text != "" {
					want = []Chunk{Text("partial")}
				}
				if !reflect.DeepEqual(chunks, want) {
					t.Errorf("the chunks are %q, want %q", chunks, want)
				}
			})
		}
	})
}

func TestAnEndpointThatIsNoAPIIsTold(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		website := page(t, "text/html; charset=utf-8", "<html>Hello</html>")
		_, _, err := collect(a.at(t, website).Stream(t.Context(), asked("hi")))
		if _, ok := errors.AsType[*ProviderError](err); !ok || !strings.Contains(err.Error(), "web page") || !strings.Contains(err.Error(), "endpoint") {
			t.Errorf("a web page gave %v", err)
		}
		nothing := page(t, "application/json", "{}")
		_, _, err = collect(a.at(t, nothing).Stream(t.Context(), asked("hi")))
		if _, ok := errors.AsType[*ProviderError](err); !ok {
			t.Errorf("an empty object gave %v", err)
		}
	})
}

// TestAnErrorInPlaceOfAStreamIsShown is of gateways that report an error with
// status 200, and of servers that know no streams.
func TestAnErrorInPlaceOfAStreamIsShown(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		if a.section.Provider == config.ProviderOllama {
			return // whose streams are JSON
		}
		for body, want := range map[string]string{
			`{"error": {"message": "the account has no credit", "code": 402}}`: "the account has no credit",
			`[{"error": {"message": "no such place", "code": 400}}]`:           "no such place",
			`{"ok": true, "error": null}`:                                      "check endpoint",
		} {
			_, _, err := collect(a.at(t, page(t, "application/json", body)).Stream(t.Context(), asked("hi")))
			refused, ok := errors.AsType[*ProviderError](err)
			if !ok || !strings.Contains(err.Error(), want) || refused.Retryable() {
				t.Errorf("%s gave %v", body, err)
			}
		}
	})
}

// serve returns the address of a server.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// page serves one answer to everything.
func page(t *testing.T, contentType, body string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	})
}

func TestACallThatStallsEndsWithItsContext(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		for name, steps := range map[string][]script.Step{
			"at once":        {{Block: true}},
			"after a while":  {text("partial"), {Block: true}},
			"with a thought": {{Thinking: "hm"}, {Block: true}},
		} {
			m, _ := a.start(t, llmtest.Options{}, does(steps...))
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			_, _, err := collect(m.Stream(ctx, asked("hi")))
			cancel()
			if err != context.DeadlineExceeded { // itself, and nothing round it
				t.Errorf("%s: a deadline gave %v", name, err)
			}
		}
		for name, steps := range map[string][]script.Step{
			"that stalls":           {text("partial"), {Block: true}},
			"that has come already": {text("partial")},
		} {
			m, _ := a.start(t, llmtest.Options{}, does(steps...))
			ctx, cancel := context.WithCancel(t.Context())
			var last error
			for _, err := range m.Stream(ctx, asked("hi")) {
				last = err
				cancel()
			}
			cancel()
			if last != context.Canceled { // itself
				t.Errorf("a cancelled call %s gave %v", name, last)
			}
		}
	})
}

func TestAReaderMayLeave(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, _ := a.start(t, llmtest.Options{}, does(script.Step{Thinking: "hm"}, text("one"), text("two"), asks("c", "x", "{}"), script.Step{Block: true}))
		for leaveAfter := range 3 {
			n := 0
			for range m.Stream(t.Context(), asked("hi")) {
				if n++; n > leaveAfter {
					break
				}
			}
		}
	})
}

const citySchema = `{"type":"object","properties":{"city":{"type":"string"},"size":{"oneOf":[{"type":"integer"},{"type":"null"}]}},"required":["city","size"],"additionalProperties":false}`

func TestASchemaReachesTheModel(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, server := a.start(t, llmtest.Options{}, does(text(`{"city": "Oslo"}`)))
		for name, schema := range map[string]string{"an object": citySchema, "a list": `{"type":"array","items":{"type":"string"}}`} {
			req := asked("which city?")
			req.System, req.Schema = "Be brief.", json.RawMessage(schema)
			if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != `{"city": "Oslo"}` {
				t.Errorf("%s: the answer is %+v", name, done.Message)
			}
			requests := server.Requests()
			if body := string(requests[len(requests)-1].Body); !strings.Contains(body, `"type":"string"`) && !strings.Contains(body, `\"type\":\"string\"`) {
				t.Errorf("%s: the model is not told of the schema: %s", name, body)
			}
		}
	})
}

func TestImagesAndDocumentsReachTheModel(t *testing.T) {
	image := agent.Part{Kind: agent.PartImage, Name: "a.png", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n1")}
	note := agent.Part{Kind: agent.PartDocument, Name: "note.txt", MIME: "text/plain; charset=utf-8", Data: []byte("remember the milk")}
	report := agent.Part{Kind: agent.PartDocument, Name: "r.pdf", MIME: "application/pdf", Data: []byte("%PDF-1.7")}
	letter := agent.Part{Kind: agent.PartDocument, Name: "l.docx", MIME: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", Data: []byte("PK")}
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, server := a.start(t, llmtest.Options{}, does(text("I see.")))
		can := m.Info().Capabilities
		if !can.Images || can.Documents == a.noDocuments {
			t.Fatalf("it says that it can %+v", can)
		}
		ask := func(parts ...agent.Part) (string, error) {
			req := asked("what is this?")
			req.Messages[0].Parts = append(req.Messages[0].Parts, parts...)
			_, _, err := collect(m.Stream(t.Context(), req))
			requests := server.Requests()
			if len(requests) == 0 {
				return "", err
			}
			return string(requests[len(requests)-1].Body), err
		}
		body, err := ask(image, note)
		if err != nil || !strings.Contains(body, "iVBORw0KGgox") || !strings.Contains(body, "remember the milk") || !strings.Contains(body, "note.txt") {
			t.Errorf("an image and a note gave %v; sent was %s", err, body)
		}
		if !a.noDocuments {
			if body, err := ask(report); err != nil || !strings.Contains(body, "JVBERi0xLjc") {
				t.Errorf("a PDF gave %v; sent was %s", err, body)
			}
		}
		if _, err := ask(letter); err == nil || !strings.Contains(err.Error(), "l.docx") || !strings.Contains(err.Error(), "PDF or text") {
			t.Errorf("a document nobody reads gave %v", err)
		}
	})
}

func TestWhatAToolShowsReachesTheModel(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, server := a.start(t, llmtest.Options{Auto: func(text string) bool { return strings.HasPrefix(text, shownByTools) }},
			script.Rule{When: script.When{Round: 2}, Steps: []script.Step{text("I see.")}}, does(asks("c1", "shoot", "{}")))
		req := asked("take a picture")
		_, done := called(t, m, req)
		shot := agent.TextResult("taken")
		shot.Parts = append(shot.Parts, agent.Part{Kind: agent.PartImage, MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n1")},
			agent.Part{Kind: agent.PartDocument, Name: "roll.zip", MIME: "application/zip", Data: []byte("PK")},
			agent.Part{Kind: agent.PartDocument, Name: "film.pdf", MIME: "application/pdf", Data: []byte("%PDF-1.7")},
			agent.Part{Kind: agent.PartData, MIME: "audio/wav", Data: []byte("click, said the shutter")})
		req.Messages = append(req.Messages, done.Message, Message{Role: RoleTool, Results: []Result{{CallID: "c1", Name: "shoot", Result: shot}}})
		if _, done := called(t, m, req); agent.JoinText(done.Message.Parts) != "I see." {
			t.Errorf("it says %+v", done.Message)
		}
		if body := string(server.Requests()[1].Body); !strings.Contains(body, "iVBORw0KGgox") || !strings.Contains(body, "taken") ||
			!strings.Contains(body, "[roll.zip, application/zip, 2 bytes: you cannot read it]") ||
			strings.Contains(body, "[film.pdf,") != a.noDocuments || strings.Contains(body, "JVBERi0xLjc") == a.noDocuments {
			t.Errorf("sent was %s", body)
		}
	})
}

func TestAHistoryOfAnyShapeIsTaken(t *testing.T) {
	said := func(text string) Message { return Message{Role: RoleAssistant, Parts: agent.Text(text).Parts} }
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, _ := a.start(t, llmtest.Options{}, script.Rule{When: script.When{Turn: 3}, Steps: []script.Step{text("third")}})
		for name, history := range map[string][]Message{
			"a turn that failed":       {asked("one").Messages[0], asked("two").Messages[0], asked("three").Messages[0]},
			"a turn without an answer": {asked("one").Messages[0], {Role: RoleAssistant}, asked("two").Messages[0], said("ok"), asked("three").Messages[0]},
			"calls alone": {asked("one").Messages[0], said("ok"), asked("two").Messages[0],
				{Role: RoleAssistant, Calls: []Call{{ID: "c", Name: "x", Arguments: json.RawMessage(`{}`)}}},
				{Role: RoleTool, Results: []Result{{CallID: "c", Name: "x", Result: agent.ToolResult{}}}}, asked("three").Messages[0]},
		} {
			_, done, err := collect(m.Stream(t.Context(), Request{Messages: history}))
			if err != nil || agent.JoinText(done.Message.Parts) != "third" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter) {
		m, server := a.start(t, llmtest.Options{}, does(text("ok")))
		var peers []string
		for range 3 {
			called(t, m, asked("hi"))
		}
		for _, r := range server.Requests() {
			if !slices.Contains(peers, r.Peer) {
				peers = append(peers, r.Peer)
			}
		}
		if len(peers) != 1 {
			t.Errorf("three calls came over %d connections", len(peers))
		}
	})
}

var refuses = script.Step{Finish: script.FinishRefusal}

// roundTripper answers requests without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// fuzzStream holds an adapter to its promises whatever the other end says: the
// deltas add up to the message, and there is one end.
func fuzzStream(f *testing.F, name string) {
	a := adapterNamed(f, name)
	contentType := "text/event-stream"
	if a.section.Provider == config.ProviderOllama {
		contentType = "application/x-ndjson"
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := a.section
		c.Endpoint = ptr("http://fake.invalid" + a.tail)
		answer := roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}},
				Body: io.NopCloser(bytes.NewReader(stream)), Request: r,
			}, nil
		})
		m, err := Open(testEnv(), Options{HTTP: &http.Client{Transport: answer}}).open(&c)
		if err != nil {
			t.Fatal(err)
		}
		for leaveAfter := range 4 { // a reader may leave at any time
			n := 0
			for range m.Stream(t.Context(), asked("hi")) {
				if n++; n > leaveAfter {
					break
				}
			}
		}
		var said strings.Builder
		ends := 0
		for chunk, err := range m.Stream(t.Context(), asked("hi")) {
			if ends > 0 {
				t.Fatalf("after the end came %v, %v", chunk, err)
			}
			if err != nil {
				ends++
				continue
			}
			switch chunk := chunk.(type) {
			case Text:
				said.WriteString(string(chunk))
			case Done:
				ends++
				got := ""
				for _, p := range chunk.Message.Parts {
					if p.Kind == agent.PartText {
						got += p.Text
					}
				}
				if got != said.String() {
					t.Errorf("the deltas add up to %q, and the message is %q", said.String(), got)
				}
				if _, err := json.Marshal(chunk.Message); err != nil {
					t.Errorf("the message cannot be written: %v", err)
				}
			}
		}
		if ends != 1 {
			t.Errorf("the call ended %d times", ends)
		}
	})
}

// BenchmarkCall measures a call of twenty words and what is written and read for
// it, without a network.
func BenchmarkCall(b *testing.B) {
	words := make([]script.Step, 20)
	for i := range words {
		words[i] = text("word ")
	}
	for _, a := range adapters() {
		b.Run(a.name, func(b *testing.B) {
			h, err := llmtest.NewHandler(script.Script{Rules: []script.Rule{does(words...)}}, llmtest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			c := a.section
			c.Endpoint = ptr("http://fake.invalid" + a.tail)
			var recorded *httptest.ResponseRecorder
			client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				if recorded == nil {
					recorded = httptest.NewRecorder()
					h.ServeHTTP(recorded, r)
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
				return &http.Response{StatusCode: recorded.Code, Header: recorded.Header(), Body: io.NopCloser(bytes.NewReader(recorded.Body.Bytes())), Request: r}, nil
			})}
			m, err := Open(testEnv(), Options{HTTP: client}).open(&c)
			if err != nil {
				b.Fatal(err)
			}
			req := conversation(c)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := collect(m.Stream(b.Context(), req)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
