package loop

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/backendtest"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// overWire is the header that tells the fake server which session a request
// belongs to; the real ones are not told.
type overWire struct{ next http.RoundTripper }

type sessionKey struct{}

// RoundTrip implements http.RoundTripper.
func (w overWire) RoundTrip(r *http.Request) (*http.Response, error) {
	if id, ok := r.Context().Value(sessionKey{}).(string); ok {
		r = r.Clone(r.Context())
		r.Header.Set(llmtest.SessionHeader, id)
	}
	return w.next.RoundTrip(r)
}

// inSession is a model whose calls carry their session in the context.
type inSession struct{ llm.Model }

func (m inSession) Unwrap() llm.Model { return m.Model }

func (m inSession) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return m.Model.Stream(context.WithValue(ctx, sessionKey{}, req.Session), req)
}

// TestTheLoopKeepsTheContractOverEveryWire runs the suite with every provider's
// client, against a server that plays the scripts in the provider's language.
func TestTheLoopKeepsTheContractOverEveryWire(t *testing.T) {
	responses := config.APIResponses
	dated := "2024-10-21"
	for name, tt := range map[string]struct {
		model config.Model
		tail  string
		lacks backendtest.Wire
	}{
		"openai":           {model: config.Model{Provider: config.ProviderOpenAI, Name: "gpt-4o"}, tail: "/v1"},
		"openai responses": {model: config.Model{Provider: config.ProviderOpenAI, Name: "gpt-5", API: &responses}, tail: "/v1"},
		"azure_openai":     {model: config.Model{Provider: config.ProviderAzureOpenAI, Name: "gpt-4o"}},
		"azure deployment": {model: config.Model{Provider: config.ProviderAzureOpenAI, Name: "gpt-4o", APIVersion: &dated}},
		"anthropic":        {model: config.Model{Provider: config.ProviderAnthropic, Name: "claude-sonnet-4-5"}, lacks: backendtest.Wire{NoFilter: true}},
		"google":           {model: config.Model{Provider: config.ProviderGoogle, Name: "gemini-2.5-flash"}, lacks: backendtest.Wire{NoRefusal: true}},
		"ollama":           {model: config.Model{Provider: config.ProviderOllama, Name: "llama3.1"}, lacks: backendtest.Wire{NoRefusal: true, NoFilter: true}},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.RunOver(t, tt.lacks, func(t *testing.T, s script.Script, o backendtest.Options) agent.Backend {
				server := llmtest.Start(t, s, llmtest.Options{
					Key:  "canary-key-123",
					Auto: func(text string) bool { return strings.HasPrefix(text, "That does not match the JSON Schema") },
				})
				c := tt.model
				endpoint := server.URL + tt.tail
				c.Endpoint, c.APIKey = &endpoint, secret.New("canary-key-123")
				transport := http.DefaultTransport.(*http.Transport).Clone()
				t.Cleanup(transport.CloseIdleConnections)
				models := llm.Open(testEnv(), llm.Options{
					HTTP:       &http.Client{Transport: overWire{transport}},
					Decorators: []llm.Decorator{func(m llm.Model) llm.Model { return inSession{m} }},
				})
				model, err := models.Model(&c)
				if err != nil {
					t.Fatal(err)
				}
				set, with := newToolSet(t, o.Tools...)
				b, err := New(Options{
					Env: testEnv(), Backend: "agent_framework", Model: model, Tools: set, ForSession: with, Schema: o.Schema,
					Limits: Limits{
						MaxTurns: o.MaxTurns,
						Model:    turn.Deadline{After: o.ModelTimeout, Key: "execution.llm_timeout"},
						Turn:     turn.Deadline{After: o.TurnTimeout, Key: "execution.turn_timeout"},
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				return b
			})
		})
	}
}
