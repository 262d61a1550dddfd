package provider_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/provider"
	"github.com/holodeck-go/holodeck/internal/provider/providertest"
)

func TestVertexIsReachedWithATokenOfTheAccount(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			asked++
			io.WriteString(w, `{"access_token":"ya29.token","token_type":"Bearer","expires_in":3600}`)
			return
		}
		io.WriteString(w, r.Header.Get("Authorization"))
	}))
	defer server.Close()
	env := map[string]string{
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global",
		"GOOGLE_APPLICATION_CREDENTIALS": providertest.GoogleAccount(t, server.URL+"/token"),
	}
	m := section("google", nil)
	m.Endpoint = &server.URL
	a, problems := provider.Resolve(m, variables(env))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := a.Client(server.Client())
	for range 3 {
		resp, err := c.Get(a.URL + "/v1")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "Bearer ya29.token" {
			t.Errorf("the request is signed with %q, %v", body, err)
		}
	}
	if asked != 1 {
		t.Errorf("a token was asked for %d times, want once", asked)
	}
}

func TestCredentialsOfGoogleThatAreMissingAreSaid(t *testing.T) {
	m := section("google", nil)
	m.Endpoint = ptr("http://127.0.0.1:1")
	a, problems := provider.Resolve(m, variables(map[string]string{
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global",
		"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(t.TempDir(), "none.json"),
	}))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, err := a.Client(http.DefaultClient).Get(a.URL)
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Retryable() || !strings.Contains(e.Error(), "none.json") || !strings.Contains(e.Error(), "gcloud auth application-default login") {
		t.Errorf("got %v", err)
	}
}
