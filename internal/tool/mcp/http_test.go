package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

func remotes() []config.MCPTransport {
	return []config.MCPTransport{config.MCPSSE, config.MCPHTTP, config.MCPWebsocket}
}

// guarded lets only requests through whose Authorization is right.
func guarded(want string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != want {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func TestHeadersAreSentWithEveryRequest(t *testing.T) {
	for _, transport := range remotes() {
		t.Run(string(transport), func(t *testing.T) {
			url := mcptest.Listen(t, string(transport), mcptest.New("alpha"), guarded("Bearer let-me-in"))
			s := at(transport, url)
			says(t, s.client(t).Connect(t.Context()), "MCPConnectionError", "server files", "401", "who are you?", "headers", "Bearer ${TOKEN}")
			s.Headers = map[string]secret.String{"authorization": secret.New("Bearer let-me-in")}
			if got := mustCall(t, s.connect(t), "files__echo", `{"text":"x"}`); got != "alpha says x" {
				t.Errorf("echo says %q", got)
			}
		})
	}
}

func TestCredentialsGoToTheConfiguredOriginAlone(t *testing.T) {
	var leaked atomic.Bool
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked.Store(true)
	}))
	t.Cleanup(thief.Close)
	redirect := func(http.Handler) http.Handler {
		return http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect)
	}
	for _, transport := range remotes() {
		t.Run(string(transport)+" redirect", func(t *testing.T) {
			s := at(transport, mcptest.Listen(t, string(transport), mcptest.New("alpha"), redirect))
			s.Headers = map[string]secret.String{"X-Key": secret.New("not-for-others")}
			says(t, s.client(t).Connect(t.Context()), "MCPConnectionError", "sends us to "+thief.URL, "set url")
		})
	}
	t.Run("sse endpoint", func(t *testing.T) {
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", thief.URL)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		t.Cleanup(elsewhere.Close)
		s := at(config.MCPSSE, elsewhere.URL)
		says(t, s.client(t).Connect(t.Context()), "MCPConnectionError", "sends us to "+thief.URL)
	})
	if leaked.Load() {
		t.Error("another host was asked")
	}
}

func TestWhatIsNoServerIsToldOf(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>It works!</html>")
	}))
	t.Cleanup(page.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, transport := range remotes() {
		for name, url := range map[string]string{"a web page": page.URL, "nothing": gone.URL} {
			t.Run(string(transport)+" "+name, func(t *testing.T) {
				if transport == config.MCPWebsocket {
					url = strings.Replace(url, "http", "ws", 1)
				}
				err := at(transport, url).client(t).Connect(t.Context())
				says(t, err, "server files")
				var base *mcp.Error
				if !errors.As(err, &base) || base.Next == "" {
					t.Errorf("%v does not say what to do", err)
				}
			})
		}
	}
}

func TestASessionIsEndedOnCloseUnlessTheFileSaysNo(t *testing.T) {
	for _, end := range []bool{true, false} {
		var deleted atomic.Bool
		s := at(config.MCPHTTP, mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete {
					deleted.Store(true)
				}
				next.ServeHTTP(w, r)
			})
		}))
		s.TerminateOnClose = &end
		if err := s.connect(t).Close(); err != nil {
			t.Error(err)
		}
		if deleted.Load() != end {
			t.Errorf("terminate_on_close: %v, and the session was ended: %v", end, deleted.Load())
		}
	}
}

func TestASilentStreamIsGivenUpAndOpenedAgain(t *testing.T) {
	var streams atomic.Int32
	s := at(config.MCPSSE, mcptest.Listen(t, "sse", mcptest.New("alpha"), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				streams.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	}))
	limit := 0.05
	s.SSEReadTimeout = &limit
	givenUp := s.waitLog("the stream is closed")
	c := s.connect(t)
	givenUp(t)
	if got := mustCall(t, c, "files__echo", `{"text":"x"}`); got != "alpha says x" || streams.Load() < 2 {
		t.Errorf("echo says %q over %d streams", got, streams.Load())
	}
}

// A server made after an example of the TypeScript SDK says that it does not know
// a session in ways of its own.
func TestAForgottenSessionIsBegunAnew(t *testing.T) {
	for name, refusal := range map[string]struct {
		code int
		body string
	}{
		"404": {404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`},
		"400": {400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			forgotten := map[string]bool{}
			var last string
			c := at(config.MCPHTTP, mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					id := r.Header.Get("Mcp-Session-Id")
					mu.Lock()
					if id != "" {
						last = id
					}
					gone := forgotten[id]
					mu.Unlock()
					if gone {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(refusal.code)
						io.WriteString(w, refusal.body)
						return
					}
					next.ServeHTTP(w, r)
				})
			})).connect(t)
			mu.Lock()
			forgotten[last] = true
			mu.Unlock()
			if got := mustCall(t, c, "files__note", `{"text":"x"}`); got != "noted x" {
				t.Errorf("note says %q", got)
			}
		})
	}
}

// issuer is an authorization server that gives tokens for a client's credentials.
func issuer(t *testing.T, given *atomic.Int32) *httptest.Server {
	var s *httptest.Server
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{
			"issuer": s.URL, "token_endpoint": s.URL + "/token", "authorization_endpoint": s.URL + "/authorize",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_id") != "holodeck" || r.FormValue("client_secret") != "the secret" {
			http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
			return
		}
		reply(w, map[string]any{"access_token": fmt.Sprintf("token-%d", given.Add(1)), "token_type": "Bearer", "expires_in": 3600})
	})
	s = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestATokenIsGotByClientCredentials(t *testing.T) {
	var given, valid atomic.Int32
	valid.Store(1)
	tokens := issuer(t, &given)
	var own string
	protected := mcptest.Handler("http", mcptest.New("alpha"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/oauth-protected-resource" {
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(map[string]any{"resource": own, "authorization_servers": []string{tokens.URL}})
			return
		}
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", valid.Load()) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+own+`/.well-known/oauth-protected-resource"`)
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		protected.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	own = server.URL
	s := at(config.MCPHTTP, server.URL)
	s.OAuth = &config.MCPOAuth{ClientID: "holodeck", ClientSecret: secret.New("another secret")}
	err := s.client(t).Connect(t.Context())
	says(t, err, "MCPConnectionError", "server files", "no token was given", "invalid_client", "oauth.client_secret")
	if strings.Contains(err.Error(), "another secret") {
		t.Errorf("the error shows the secret: %v", err)
	}
	s.OAuth.ClientSecret = secret.New("the secret")
	c := s.connect(t)
	for n := range int32(2) {
		valid.Store(n + 1) // the second time the token that was given is refused
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if r, err := find(t, c, "files__echo").Call(t.Context(), []byte(`{"text":"x"}`)); err != nil || r.Text() != "alpha says x" {
					t.Errorf("echo says %q, %v", r.Text(), err)
				}
			})
		}
		wg.Wait()
		if given.Load() != n+1 {
			t.Errorf("%d tokens were given, want %d", given.Load(), n+1)
		}
	}
}

func TestAnAnswerThatDoesNotComeInTimeOverAStream(t *testing.T) {
	s := at(config.MCPHTTP, mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if !strings.Contains(string(body), `"slow"`) {
				r.Body = io.NopCloser(bytes.NewReader(body))
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream") // and then nothing
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
	}))
	limit := 0.05
	s.SSEReadTimeout = &limit
	c := s.connect(t)
	_, err := call(t.Context(), t, c, "files__slow", "{}")
	says(t, err, "MCPConnectionError", "server files did not answer the call of slow", "the stream ended before the answer came", "sse_read_timeout")
	if got := mustCall(t, c, "files__echo", `{"text":"x"}`); got != "alpha says x" {
		t.Errorf("after that echo says %q", got)
	}
}

func TestAServerWithoutAnOptionalStreamIsFine(t *testing.T) {
	for _, code := range []int{401, 403, 404, 405, 406} {
		c := at(config.MCPHTTP, mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					http.Error(w, "no", code)
					return
				}
				next.ServeHTTP(w, r)
			})
		})).connect(t)
		if got := mustCall(t, c, "files__echo", `{"text":"x"}`); got != "alpha says x" {
			t.Errorf("%d: echo says %q", code, got)
		}
	}
}

func TestAServerWhoseOptionalStreamDoesNotBeginHoldsUpNothing(t *testing.T) {
	limit := 0.4
	s := at(config.MCPHTTP, mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	}))
	s.ConnectTimeout = &limit
	s.RequestTimeout = 30
	c := s.client(t)
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names(c), "files__echo") {
		t.Errorf("the tools are %q", names(c))
	}
}
