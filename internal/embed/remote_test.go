package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/provider"
	"github.com/holodeck-go/holodeck/internal/provider/providertest"
	"github.com/holodeck-go/holodeck/internal/secret"
)

const testKey = "canary-key-123"

// sections are the model sections of every provider that embeds, without their
// endpoints.
func sections() map[string]config.Model {
	key := secret.New(testKey)
	dated := "2024-10-21"
	return map[string]config.Model{
		"openai":           {Provider: config.ProviderOpenAI, Name: "embedder", APIKey: key},
		"azure_openai":     {Provider: config.ProviderAzureOpenAI, Name: "embedder", APIKey: key},
		"azure deployment": {Provider: config.ProviderAzureOpenAI, Name: "embedder", APIKey: key, APIVersion: &dated},
		"ollama":           {Provider: config.ProviderOllama, Name: "embedder", APIKey: key},
		"google":           {Provider: config.ProviderGoogle, Name: "embedder", APIKey: key},
	}
}

// options returns how a test reaches a server.
func options(t *testing.T) embed.Options {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return embed.Options{HTTP: &http.Client{Transport: transport}, Rand: rand.New(rand.NewPCG(1, 2))}
}

// choice returns the choice of a section at an address.
func choice(m config.Model, url string, dimensions int) embed.Choice {
	if m.Provider == config.ProviderOpenAI {
		url += "/v1"
	}
	m.Endpoint = &url
	return embed.Choice{Model: m, Dimensions: dimensions}
}

// eachProvider runs a test with every provider's embedder, at a server that
// plays rules.
func eachProvider(t *testing.T, rules []script.Rule, dimensions int, test func(*testing.T, embed.Embedder, *llmtest.Server)) {
	for name, m := range sections() {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			server := llmtest.Start(t, script.Script{Rules: rules}, llmtest.Options{Key: testKey})
			e, err := embed.Open(choice(m, server.URL, dimensions), options(t))
			if err != nil {
				t.Fatal(err)
			}
			test(t, e, server)
		})
	}
}

func TestEveryProviderEmbeds(t *testing.T) {
	eachProvider(t, nil, 0, func(t *testing.T, e embed.Embedder, server *llmtest.Server) {
		if len(server.Requests()) != 0 {
			t.Error("the provider was asked before there was a text")
		}
		if e.Dimensions() != 0 || !strings.HasSuffix(e.Model(), "/embedder") || e.Chance() != 0 {
			t.Errorf("it is %s of %d, chance %g", e.Model(), e.Dimensions(), e.Chance())
		}
		texts := make([]string, 300)
		for i := range texts {
			texts[i] = strings.Repeat("word ", i%7) + strconv.Itoa(i)
		}
		vectors := embedAll(t, e, texts...)
		if e.Dimensions() != 8 {
			t.Errorf("after a vector of 8 numbers the width is %d", e.Dimensions())
		}
		one := embedAll(t, embed.Uncached(e), texts[123])[0]
		if len(vectors) != len(texts) || !slices.Equal(vectors[123], one) {
			t.Errorf("%d vectors came for %d texts, and the one in the middle is not its text's", len(vectors), len(texts))
		}
		if slices.Equal(vectors[0], vectors[1]) {
			t.Error("different texts have one vector")
		}
		if n := len(server.Requests()); n < 4 || n > 13 { // one at the end, and the batches
			t.Errorf("%d requests were made", n)
		}
		if v := embedAll(t, e, "", " \n"); len(v) != 2 {
			t.Errorf("blank texts have %d vectors", len(v))
		}
		if v := embedAll(t, e); len(v) != 0 {
			t.Errorf("no texts have %d vectors", len(v))
		}
	})
}

func TestAWidthThatIsAskedForIsSent(t *testing.T) {
	eachProvider(t, nil, 5, func(t *testing.T, e embed.Embedder, server *llmtest.Server) {
		if len(server.Requests()) != 0 {
			t.Error("the width is known, and was asked for")
		}
		if v := embedAll(t, e, "a")[0]; len(v) != 5 || e.Dimensions() != 5 || !strings.HasSuffix(e.Model(), "/embedder/5") {
			t.Errorf("a vector has %d numbers; the embedder is %s of %d", len(v), e.Model(), e.Dimensions())
		}
	})
}

func TestWellKnownModelsAreNotMeasured(t *testing.T) {
	m := sections()["openai"]
	m.Name = "text-embedding-3-small"
	server := llmtest.Start(t, script.Script{}, llmtest.Options{Dimensions: 12})
	e, err := embed.Open(choice(m, server.URL, 0), options(t))
	if err != nil || e.Dimensions() != 1536 || len(server.Requests()) != 0 {
		t.Fatalf("%v after %d requests, %v", e, len(server.Requests()), err)
	}
	// One that is not what its name says is found out.
	_, err = e.Embed(t.Context(), []string{"a"})
	if refused, ok := errors.AsType[*provider.Error](err); !ok || refused.Retryable() || !strings.Contains(err.Error(), "has 12 numbers, want 1536: set embedding_dimensions") {
		t.Errorf("got %v", err)
	}
}

func TestFailuresAreErrorsAndNeverVectors(t *testing.T) {
	for name, tt := range map[string]struct {
		step script.Step
		want string
	}{
		"refused":   {script.Step{Error: &script.Error{Status: 400, Message: "too rude"}}, "too rude"},
		"too long":  {script.Step{Error: &script.Error{Status: 400, Message: "the input length exceeds the context length"}}, "chunk_size"},
		"garbage":   {script.Step{Garbage: "<xml>"}, "unusable response"},
		"an object": {script.Step{Garbage: "{}"}, "0 vectors came for 1 texts"},
	} {
		t.Run(name, func(t *testing.T) {
			eachProvider(t, []script.Rule{{When: script.When{User: "bad"}, Steps: []script.Step{tt.step}}}, 8, func(t *testing.T, e embed.Embedder, _ *llmtest.Server) {
				v, err := e.Embed(t.Context(), []string{"bad"})
				if _, ok := errors.AsType[*provider.Error](err); !ok || v != nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("vectors %v, error %v; want %q", v, err, tt.want)
				}
				if !strings.Contains(err.Error(), "texts 1 to 1 of 1") {
					t.Errorf("the error does not say which texts: %v", err)
				}
			})
		})
	}
}

// answering is a transport that answers with a function's body.
type answering func(texts []string) string

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(f(body.Input))), Request: r}, nil
}

func TestVectorsThatCannotBeComparedAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"zero":           {`{"data":[{"index":0,"embedding":[0,0]}]}`, "the vector of text 1 is zero"},
		"empty":          {`{"data":[{"index":0,"embedding":[]}]}`, "is empty"},
		"another width":  {`{"data":[{"index":0,"embedding":[1,2,3]}]}`, "has 3 numbers, want 2"},
		"one too many":   {`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}`, "2 vectors came for 1 texts"},
		"numbered wrong": {`{"data":[{"index":3,"embedding":[1,2]}]}`, "not numbered"},
		"too large":      {`{"data":[{"index":0,"embedding":[1e300]}]}`, "a vector holds the number 1e300, which is too large"},
		"no number":      {`{"data":[{"index":0,"embedding":[1,NaN]}]}`, "a vector holds NaN, which is no number"},
		"infinite":       {`{"data":[{"index":0,"embedding":[1,-Infinity]}]}`, "a vector holds Infinity, which is no number"},
	} {
		t.Run(name, func(t *testing.T) {
			o := embed.Options{HTTP: &http.Client{Transport: answering(func([]string) string { return tt.body })}}
			e, err := embed.Open(choice(sections()["openai"], "http://fake.invalid", 2), o)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := e.Embed(t.Context(), []string{"a"}); err == nil || v != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("vectors %v, error %v; want %q", v, err, tt.want)
			}
		})
	}
}

// waiting is a transport whose requests take a second, and fail at first.
type waiting struct {
	mu        sync.Mutex
	fail      int // requests that are refused
	status    int
	after     string // Retry-After
	requests  int
	underWay  int
	mostAtOne int
}

func (w *waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.requests++
	n := w.requests
	w.underWay++
	w.mostAtOne = max(w.mostAtOne, w.underWay)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.underWay--
		w.mu.Unlock()
	}()
	select {
	case <-time.After(time.Second):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	rec := httptest.NewRecorder()
	if n <= w.fail {
		rec.Header().Set("Retry-After", w.after)
		rec.WriteHeader(w.status)
		io.WriteString(rec, `{"error":{"message":"not now"}}`)
		return rec.Result(), nil
	}
	type one struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []one
	for i, text := range body.Input {
		data = append(data, one{i, []float32{float32(len(text)), 1}})
	}
	if err := json.NewEncoder(rec).Encode(map[string]any{"data": data}); err != nil {
		return nil, err
	}
	return rec.Result(), nil
}

// longTexts returns n texts, no two of which are the same or fit in one request.
func longTexts(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("x", 150_000+i)
	}
	return texts
}

func TestRequestsRunSideBySideAndAreMadeAgain(t *testing.T) {
	long := longTexts(6)
	for name, tt := range map[string]struct {
		transport *waiting
		texts     []string
		took      time.Duration // at least; less than a second more
		requests  int
		fails     string
	}{
		"four at once":      {&waiting{}, long, 2 * time.Second, 6, ""},
		"one again":         {&waiting{fail: 1, status: 429, after: "3"}, []string{"a"}, 5 * time.Second, 2, ""},
		"twice again":       {&waiting{fail: 2, status: 503}, []string{"a"}, 4500 * time.Millisecond, 3, ""},
		"no more than that": {&waiting{fail: 9, status: 500}, []string{"a"}, 4500 * time.Millisecond, 3, "not now (tried 3 times)"},
		"not at all":        {&waiting{fail: 9, status: 400}, []string{"a"}, time.Second, 1, "not now"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := embed.Options{HTTP: &http.Client{Transport: tt.transport}, Rand: rand.New(rand.NewPCG(1, 2))}
				e, err := embed.Open(choice(sections()["openai"], "http://fake.invalid", 2), o)
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				vectors, err := e.Embed(t.Context(), tt.texts)
				took := time.Since(begin)
				if tt.fails != "" && (err == nil || vectors != nil || !strings.Contains(err.Error(), tt.fails)) || tt.fails == "" && (err != nil || len(vectors) != len(tt.texts)) {
					t.Errorf("%d vectors, %v", len(vectors), err)
				}
				if took < tt.took || took > tt.took+time.Second || tt.transport.requests != tt.requests || tt.transport.mostAtOne > 4 {
					t.Errorf("it took %s and %d requests, %d at once", took, tt.transport.requests, tt.transport.mostAtOne)
				}
			})
		})
	}
}

func TestEmbeddingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w waiting
		e, err := embed.Open(choice(sections()["openai"], "http://fake.invalid", 2), embed.Options{HTTP: &http.Client{Transport: &w}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if v, err := e.Embed(ctx, longTexts(20)); !errors.Is(err, context.DeadlineExceeded) || v != nil {
			t.Errorf("vectors %v, error %v", v, err)
		}
		if w.requests > 4 {
			t.Errorf("%d requests were made after the end", w.requests-4)
		}
	})
}

func TestVertexEmbeds(t *testing.T) {
	type request struct {
		Instances []struct{ Content string }
	}
	var texts []string
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			io.WriteString(w, `{"access_token":"ya29.token","token_type":"Bearer","expires_in":3600}`)
			return
		}
		var body request
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/projects/p/locations/global/publishers/google/models/embedder:predict" || r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		texts = append(texts, body.Instances[0].Content)
		mu.Unlock()
		io.WriteString(w, `{"predictions":[{"embeddings":{"values":[1,2,3]}}]}`)
	}))
	defer server.Close()
	m := config.Model{Provider: config.ProviderGoogle, Name: "embedder"}
	o := options(t)
	account := providertest.GoogleAccount(t, server.URL+"/token")
	o.Getenv = func(name string) string {
		return map[string]string{
			"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global", "GOOGLE_APPLICATION_CREDENTIALS": account,
		}[name]
	}
	e, err := embed.Open(choice(m, server.URL, 3), o)
	if err != nil {
		t.Fatal(err)
	}
	if v := embedAll(t, e, "a", "b", "c"); len(v) != 3 || len(texts) != 3 {
		t.Errorf("%d vectors from the texts %q", len(v), texts)
	}
}
