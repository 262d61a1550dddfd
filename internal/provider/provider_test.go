package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/provider"
	"github.com/holodeck-go/holodeck/internal/secret"
)

func ptr[T any](v T) *T { return &v }

// section is a model section of a provider.
func section(p config.Provider, change func(*config.Model)) *config.Model {
	m := &config.Model{Provider: p, Name: "m1"}
	if change != nil {
		change(m)
	}
	return m
}

func at(endpoint string) func(*config.Model) {
	return func(m *config.Model) { m.Endpoint = &endpoint; m.APIKey = secret.New("key-in-file") }
}

func paidBy(how config.AuthProvider) func(*config.Model) {
	return func(m *config.Model) { m.AuthProvider = &how }
}

func variables(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

// record answers every request with an empty object, and keeps the last one.
type record struct{ last *http.Request }

func (r *record) RoundTrip(req *http.Request) (*http.Response, error) {
	r.last = req
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
}

func TestWhereAndWithWhoseKeyAModelIsReached(t *testing.T) {
	type env = map[string]string
	for _, tt := range []struct {
		name   string
		model  *config.Model
		env    env
		route  provider.Route
		url    string // of a request for /x
		header string // and value
	}{
		{"openai", section("openai", nil), env{"OPENAI_API_KEY": " sk-1 "}, provider.OpenAI, "https://api.openai.com/v1/x", "Authorization: Bearer sk-1"},
		{"openai, the file's key", section("openai", func(m *config.Model) { m.APIKey = secret.New("sk-file") }), env{"OPENAI_API_KEY": "sk-1"}, provider.OpenAI, "https://api.openai.com/v1/x", "Authorization: Bearer sk-file"},
		{"openai, its variable for the endpoint", section("openai", nil), env{"OPENAI_BASE_URL": "http://gw/v1/"}, provider.OpenAI, "http://gw/v1/x", "Authorization: "},
		{"a server of one's own", section("openai", at("http://localhost:8000/v1/")), nil, provider.OpenAI, "http://localhost:8000/v1/x", "Authorization: Bearer key-in-file"},
		{"openai, an organization", section("openai", nil), env{"OPENAI_API_KEY": "k", "OPENAI_ORG_ID": "org-1"}, provider.OpenAI, "https://api.openai.com/v1/x", "OpenAI-Organization: org-1"},
		{"azure", section("azure_openai", func(m *config.Model) { m.Endpoint = ptr("https://r.openai.azure.com/") }), env{"AZURE_OPENAI_API_KEY": "az"}, provider.AzureV1, "https://r.openai.azure.com/openai/v1/x", "Api-Key: az"},
		{"azure, tails", section("azure_openai", at("https://r.openai.azure.com/openai/v1/")), nil, provider.AzureV1, "https://r.openai.azure.com/openai/v1/x", "Api-Key: key-in-file"},
		{"azure, a preview", section("azure_openai", func(m *config.Model) { at("https://r.openai.azure.com")(m); m.APIVersion = ptr("preview") }), nil, provider.AzureV1, "https://r.openai.azure.com/openai/v1/x?api-version=preview", "Api-Key: key-in-file"},
		{"azure, a date", section("azure_openai", func(m *config.Model) { at("https://r.openai.azure.com/v1")(m); m.APIVersion = ptr("2024-10-21") }), nil, provider.AzureDeployment, "https://r.openai.azure.com/openai/deployments/m1/x?api-version=2024-10-21", "Api-Key: key-in-file"},
		{"anthropic", section("anthropic", nil), env{"ANTHROPIC_API_KEY": "ant"}, provider.Anthropic, "https://api.anthropic.com/x", "X-Api-Key: ant"},
		{"anthropic, a token", section("anthropic", nil), env{"ANTHROPIC_AUTH_TOKEN": "tok"}, provider.Anthropic, "https://api.anthropic.com/x", "Authorization: Bearer tok"},
		{"anthropic, a gateway", section("anthropic", func(m *config.Model) { m.Endpoint = ptr("http://gw/v1") }), nil, provider.Anthropic, "http://gw/x", "X-Api-Key: "},
		{"anthropic, custom", section("anthropic", func(m *config.Model) { paidBy("custom")(m); m.Endpoint = ptr("http://gw") }), env{"ANTHROPIC_API_KEY": "ant", "ANTHROPIC_AUTH_TOKEN": "tok"}, provider.Anthropic, "http://gw/x", "Authorization: Bearer tok"},
		{"bedrock", section("anthropic", paidBy("bedrock")), env{"AWS_DEFAULT_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "b"}, provider.Anthropic, "https://bedrock-mantle.eu-west-1.api.aws/anthropic/x", "Authorization: Bearer b"},
		{"foundry", section("anthropic", paidBy("foundry")), env{"ANTHROPIC_FOUNDRY_RESOURCE": "res", "ANTHROPIC_FOUNDRY_API_KEY": "f"}, provider.Anthropic, "https://res.services.ai.azure.com/anthropic/x", "X-Api-Key: f"},
		{"google", section("google", nil), env{"GEMINI_API_KEY": "g"}, provider.Gemini, "https://generativelanguage.googleapis.com/x", "X-Goog-Api-Key: g"},
		{"google, the first of two", section("google", at("http://gw/v1beta")), env{"GOOGLE_API_KEY": "g1", "GEMINI_API_KEY": "g2"}, provider.Gemini, "http://gw/x", "X-Goog-Api-Key: key-in-file"},
		{"ollama", section("ollama", nil), nil, provider.Ollama, "http://localhost:11434/x", "Authorization: "},
		{"ollama, its variable", section("ollama", nil), env{"OLLAMA_HOST": "0.0.0.0:9999"}, provider.Ollama, "http://localhost:9999/x", "Authorization: "},
		{"ollama elsewhere", section("ollama", at("https://ollama.example/v1")), env{"OLLAMA_HOST": "ignored"}, provider.Ollama, "https://ollama.example/x", "Authorization: Bearer key-in-file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, problems := provider.Resolve(tt.model, variables(tt.env))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if a.Route != tt.route {
				t.Errorf("the route is %s, want %s", a.Route, tt.route)
			}
			var r record
			resp, err := a.Client(&http.Client{Transport: &r}).Get(a.URL + "/x")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			name, value, _ := strings.Cut(tt.header, ": ")
			if got := r.last.URL.String(); got != tt.url || r.last.Header.Get(name) != value {
				t.Errorf("%s with %s: %s; want %s with %s", got, name, r.last.Header.Get(name), tt.url, tt.header)
			}
		})
	}
}

func TestVertexNeedsAPlace(t *testing.T) {
	a, problems := provider.Resolve(section("anthropic", paidBy("vertex")), variables(map[string]string{"CLOUD_ML_REGION": "eu", "GCLOUD_PROJECT": "p"}))
	if len(problems) > 0 || a.Route != provider.AnthropicVertex || a.URL != "https://aiplatform.eu.rep.googleapis.com" || a.Project != "p" {
		t.Errorf("%+v, %v", a, problems)
	}
	a, problems = provider.Resolve(section("google", nil), variables(map[string]string{
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-central1",
	}))
	if len(problems) > 0 || a.Route != provider.GoogleVertex || a.URL != "https://us-central1-aiplatform.googleapis.com" {
		t.Errorf("%+v, %v", a, problems)
	}
}

func TestWhatIsMissingIsSaidBeforeAnyWork(t *testing.T) {
	type env = map[string]string
	for _, tt := range []struct {
		name  string
		model *config.Model
		env   env
		want  []string // what stands in the problems, in order
	}{
		{"openai", section("openai", nil), nil, []string{"credential: needs a key: set OPENAI_API_KEY"}},
		{"a blank key", section("openai", func(m *config.Model) { m.APIKey = secret.New(" ") }), env{"OPENAI_API_KEY": "\n"}, []string{"credential: needs a key: set OPENAI_API_KEY"}},
		{"a key on two lines", section("openai", nil), env{"OPENAI_API_KEY": "sk-\n1"}, []string{"value: from OPENAI_API_KEY: on one line"}},
		{"not an address", section("openai", at("localhost:8000/v1")), nil, []string{"value: is not an http or https address: https://host/path"}},
		{"a query", section("openai", at("http://x/v1?a=b")), nil, []string{"value: has a query or a fragment: https://host/path"}},
		{"a variable's", section("openai", nil), env{"OPENAI_BASE_URL": "nowhere", "OPENAI_API_KEY": "k"}, []string{"value: OPENAI_BASE_URL is not an http or https address: "}},
		{"azure", section("azure_openai", nil), nil, []string{"missing: is required with provider azure_openai: ", "credential: needs a key: set AZURE_OPENAI_API_KEY"}},
		{"anthropic", section("anthropic", nil), nil, []string{"credential: needs a key: set ANTHROPIC_API_KEY"}},
		{"anthropic, custom", section("anthropic", func(m *config.Model) { paidBy("custom")(m); m.Endpoint = ptr("http://gw") }), env{"ANTHROPIC_API_KEY": "k"}, []string{"credential: needs a key: set ANTHROPIC_AUTH_TOKEN"}},
		{"a subscription", section("anthropic", paidBy("oauth_token")), nil, []string{"credential: from the Claude CLI alone: set auth_provider to api_key"}},
		{"bedrock", section("anthropic", paidBy("bedrock")), nil, []string{"credential: needs a region: AWS_REGION", "credential: other AWS credentials are not used: AWS_BEARER_TOKEN_BEDROCK"}},
		{"vertex", section("anthropic", paidBy("vertex")), nil, []string{"credential: needs a region: CLOUD_ML_REGION", "credential: needs a project: ANTHROPIC_VERTEX_PROJECT_ID"}},
		{"foundry", section("anthropic", paidBy("foundry")), nil, []string{"credential: needs to know the resource: ANTHROPIC_FOUNDRY_RESOURCE", "credential: needs a key: ANTHROPIC_FOUNDRY_API_KEY"}},
		{"google", section("google", nil), nil, []string{"credential: needs a key: set GOOGLE_API_KEY"}},
		{"google, vertex", section("google", nil), env{"GOOGLE_GENAI_USE_VERTEXAI": "1"}, []string{"credential: there is no project: GOOGLE_CLOUD_PROJECT", "credential: there is no location: GOOGLE_CLOUD_LOCATION"}},
		{"ollama", section("ollama", nil), env{"OLLAMA_HOST": "ftp://x"}, []string{"value: OLLAMA_HOST is not an http or https address: host:port"}},
		{"ollama, a port", section("ollama", nil), env{"OLLAMA_HOST": "x:99999"}, []string{"value: 99999: host:port"}},
		{"offline", section("offline", nil), nil, []string{"unsupported: over the network: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := provider.Resolve(tt.model, variables(tt.env))
			if len(problems) != len(tt.want) {
				t.Fatalf("the problems are %v, want %q", problems, tt.want)
			}
			for i, p := range problems {
				part := strings.SplitN(tt.want[i], ": ", 3)
				if p.Code != part[0] || p.Severity != config.SeverityError || !strings.Contains(p.Text, part[1]) || !strings.Contains(p.Hint, part[2]) {
					t.Errorf("%s: %v, want %s", p.Code, p, tt.want[i])
				}
			}
		})
	}
}

// answer serves one kind of answer and returns a client of a model there.
func answer(t *testing.T, m *config.Model, handler http.HandlerFunc) (provider.Access, *http.Client) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	m.Endpoint = &server.URL
	a, problems := provider.Resolve(m, variables(nil))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return a, a.Client(server.Client())
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	openai := func() *config.Model {
		return section("openai", func(m *config.Model) { m.APIKey = secret.New("sk-wrong") })
	}
	tests := map[string]struct {
		model  *config.Model
		status int
		header map[string]string
		body   string
		want   []string
		after  time.Duration
		retry  bool
	}{
		"OpenAI's form": {openai(), 401, nil, `{"error":{"message":"Incorrect API key\nprovided","type":"invalid_request_error","code":"invalid_api_key"}}`,
			[]string{"openai model m1: 401 Unauthorized: Incorrect API key provided (check the key; it comes from api_key)"}, 0, false},
		"without a key": {section("openai", nil), 401, nil, `{"error":{"message":"no"}}`, []string{"set api_key or OPENAI_API_KEY"}, 0, false},
		"no such model": {openai(), 404, nil, `{"error":{"message":"no m1"}}`, []string{"404 Not Found: no m1 (check name and endpoint (http://127.0.0.1", "/v1"}, 0, false},
		"no deployment": {section("azure_openai", func(m *config.Model) { m.APIKey = secret.New("k") }), 404, nil, `{"error":{"code":"DeploymentNotFound","message":"gone"}}`, []string{"deployment's name"}, 0, false},
		"not pulled":    {section("ollama", nil), 404, nil, `{"error":"model 'm1' not found"}`, []string{"ollama model m1: 404 Not Found: model 'm1' not found (get the model with: ollama pull m1)"}, 0, false},
		"too many":      {openai(), 429, map[string]string{"Retry-After": "2"}, `{"error":{"message":"slow down"}}`, []string{"slow down; try again after 2s"}, 2 * time.Second, true},
		"milliseconds":  {openai(), 429, map[string]string{"Retry-After": "2", "Retry-After-Ms": "1500"}, `{}`, []string{"try again after 1.5s"}, 1500 * time.Millisecond, true},
		"a date":        {openai(), 503, map[string]string{"Date": "Mon, 02 Jan 2006 15:04:05 GMT", "Retry-After": "Mon, 02 Jan 2006 15:04:35 GMT"}, ``, []string{"503 Service Unavailable: no reason was given"}, 30 * time.Second, true},
		"Google's wait": {section("google", func(m *config.Model) { m.APIKey = secret.New("k") }), 429, nil, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"27.5s"}]}}`,
			[]string{"google model m1: 429 Too Many Requests: quota; try again after 27.5s"}, 27500 * time.Millisecond, true},
		"a status of their own": {openai(), 529, nil, `{"error":{"message":"overloaded"}}`, []string{"openai model m1: 529: overloaded"}, 0, true},
		"used up":               {openai(), 429, nil, `{"error":{"message":"quota","code":"insufficient_quota"}}`, []string{"the account is used up"}, 0, false},
		"by its header":         {openai(), 500, map[string]string{"X-Should-Retry": "false"}, `oops`, []string{"500 Internal Server Error: oops"}, 0, false},
		"a web page":            {openai(), 502, map[string]string{"Content-Type": "text/html; charset=utf-8"}, `<h1>Bad gateway</h1>`, []string{"502 Bad Gateway: http://127.0.0.1", "answered with a web page"}, 0, true},
		"no API at all":         {openai(), 200, map[string]string{"Content-Type": "text/html"}, `<h1>Hello</h1>`, []string{"unusable response", "web page", "check endpoint"}, 0, false},
		"a redirect":            {openai(), 307, map[string]string{"Location": "https://elsewhere.invalid/"}, ``, []string{"redirects to https://elsewhere.invalid/", "set endpoint"}, 0, false},
		"a list":                {openai(), 400, nil, `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, []string{"400 Bad Request: bad"}, 0, false},
		"a detail":              {openai(), 422, nil, `{"detail":[{"msg":"field required"}]}`, []string{"422 Unprocessable Entity: ", "field required"}, 0, false},
		"a long one":            {openai(), 400, nil, strings.Repeat("é", 5000), []string{"é…"}, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, c := answer(t, tt.model, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for k, v := range tt.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			_, err := c.Post(*tt.model.Endpoint, "application/json", strings.NewReader("{}"))
			e, ok := errors.AsType[*provider.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if e.Status != tt.status || e.RetryAfter != tt.after || e.Retryable() != tt.retry {
				t.Errorf("status %d, wait %s, retry %t; want %d, %s, %t", e.Status, e.RetryAfter, e.Retryable(), tt.status, tt.after, tt.retry)
			}
			for _, want := range tt.want {
				if !strings.Contains(e.Error(), want) {
					t.Errorf("%q does not say %q", e, want)
				}
			}
			if got := provider.Of(err); got != error(e) {
				t.Errorf("Of gave %v", got)
			}
			if n := len(e.Error()); n > 3000 {
				t.Errorf("the message is %d bytes long", n)
			}
		})
	}
}

func TestPromptsThatAreTooLongAreTold(t *testing.T) {
	for message, want := range map[string]bool{
		`{"error":{"code":"context_length_exceeded","message":"x"}}`:                                                     true,
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8 maximum"}}`:        true,
		`{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}`: true,
		`{"error":"the input length exceeds the context length"}`:                                                        true,
		`{"error":{"message":"max_tokens is too large"}}`:                                                                false,
	} {
		e := provider.Access{}.Refused(400, []byte(message))
		if e.ContextOverflow() != want {
			t.Errorf("%s: %t", message, !want)
		}
	}
	if (provider.Access{}).Refused(400, []byte(`{"error":{"code":"content_filter","message":"x"}}`)).Filtered() != true {
		t.Error("a filtered prompt is not told")
	}
}

func TestConnectionsThatFailSayWhatToDo(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String()
	free.Close()
	fails := func(err error) http.RoundTripper {
		return roundTripper(func(*http.Request) (*http.Response, error) { return nil, err })
	}
	for name, tt := range map[string]struct {
		provider  config.Provider
		endpoint  string
		transport http.RoundTripper
		want      string
		retry     bool
	}{
		"nobody listens":    {"openai", nobody, nil, "nothing listens there", true},
		"no Ollama":         {"ollama", nobody, nil, "ollama serve", true},
		"no such host":      {"openai", "http://x", fails(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), "spelt right", false},
		"reset by the peer": {"openai", "http://x", fails(errors.New("connection reset by peer")), "connection broken: http://x: connection reset by peer", true},
	} {
		t.Run(name, func(t *testing.T) {
			a, problems := provider.Resolve(section(tt.provider, at(tt.endpoint)), variables(nil))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			_, err := a.Client(&http.Client{Transport: tt.transport}).Get(a.URL)
			e, ok := errors.AsType[*provider.Error](err)
			if !ok || e.Status != 0 || e.Retryable() != tt.retry || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("got %v (retry %t), want %q", err, ok && e.Retryable(), tt.want)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAPasswordInTheEndpointIsNotShown(t *testing.T) {
	a, problems := provider.Resolve(section("openai", at("http://someone:canary-password@127.0.0.1:1/v1")), variables(nil))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, err := a.Client(&http.Client{}).Get(a.URL)
	if err == nil || strings.Contains(provider.Of(err).Error(), "canary") || !strings.Contains(provider.Of(err).Error(), "127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownCertificateIsExplained(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	a, _ := provider.Resolve(section("openai", at(server.URL)), variables(nil))
	_, err := a.Client(&http.Client{Transport: &http.Transport{}}).Get(a.URL)
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Retryable() || !strings.Contains(e.Error(), "HOLODECK_CA_FILE") {
		t.Errorf("got %v", err)
	}
}

func TestACancelledRequestStaysCancelled(t *testing.T) {
	m := section("openai", nil)
	entered := make(chan struct{})
	_, c := answer(t, m, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		close(entered)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *m.Endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-entered
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) || errors.As(err, new(*provider.Error)) {
		t.Errorf("reading gave %v", err)
	}
	if _, err := c.Do(req); !errors.Is(err, context.Canceled) || errors.As(err, new(*provider.Error)) {
		t.Errorf("a request that was cancelled before gave %v", err)
	}
}

func TestAResponseThatBreaksOffIsToldFromItsEnd(t *testing.T) {
	m := section("openai", nil)
	_, c := answer(t, m, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := c.Get(*m.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	e, ok := errors.AsType[*provider.Error](err)
	if string(data) != "half" || !ok || !e.Retryable() || !strings.Contains(e.Error(), "before it was complete") {
		t.Errorf("after %q came %v", data, err)
	}
}

func FuzzRefusal(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"a","code":"b"}}`, `[{"error":{"code":429}}]`, `{"error":"x"}`, `{"detail":[1]}`, "plain", "", "\xff", "[[]]", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := provider.Access{Provider: "openai", Model: "m"}.Refused(400, data)
		if e.Message == "" || e.Status < 400 || e.Status > 599 || len([]rune(e.Message)) > 1001 {
			t.Errorf("%q became %+v", data, e)
		}
		if _, err := json.Marshal(e.Error()); err != nil {
			t.Error(err)
		}
	})
}

func FuzzOllamaHost(f *testing.F) {
	for _, s := range []string{"", "localhost", "0.0.0.0:1", "http://x", "https://x:1/y", "[::1]:5", "::", "a b", "://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		a, problems := provider.Resolve(section("ollama", nil), variables(map[string]string{"OLLAMA_HOST": host}))
		if len(problems) == 0 {
			if _, err := http.NewRequest(http.MethodGet, a.URL+"/api/chat", nil); err != nil {
				t.Errorf("%q became %q: %v", host, a.URL, err)
			}
		}
	})
}
