package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

// waitLog returns what waits until the client's log says something.
func (s *server) waitLog(text string) (wait func(t *testing.T)) {
	s.level = slog.LevelDebug
	said := make(chan struct{}, 1)
	s.log.onWrite = func(line string) {
		if strings.Contains(line, text) {
			select {
			case said <- struct{}{}:
			default:
			}
		}
	}
	return func(t *testing.T) {
		t.Helper()
		select {
		case <-said:
		case <-time.After(30 * time.Second):
			t.Fatalf("the log never said %q", text)
		}
	}
}

func TestToolsThatChangeAreThereAtTheNextTurn(t *testing.T) {
	for _, transport := range transports() {
		for _, version := range []config.MCPProtocol{"2025-11-25", "2026-07-28"} {
			t.Run(string(transport)+" "+string(version), func(t *testing.T) {
				s := over(t, transport, "alpha")
				s.ProtocolVersion = version
				wait := s.waitLog("tools of the server changed")
				c := s.connect(t)
				before, was := c.Tools()
				if err := c.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, version := c.Tools(); version != was {
					t.Errorf("nothing changed, and the version went from %d to %d", was, version)
				}
				mustCall(t, c, "files__grow", "{}")
				wait(t)
				if slices.Contains(names(c), "files__grown") {
					t.Error("the tools changed in the midst of a turn")
				}
				if err := c.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				after, version := c.Tools()
				if !slices.Contains(names(c), "files__grown") || version == was {
					t.Errorf("the tools are %q, version %d after %d", names(c), version, was)
				}
				if !slices.Contains(after, before[0]) {
					t.Error("a tool that stayed the same is another instance")
				}
				if got := mustCall(t, c, "files__grown", "{}"); got != "I am new" {
					t.Errorf("the new tool says %q", got)
				}
			})
		}
	}
}

func TestACallThatRunsOutOfTimeIsCancelledAlone(t *testing.T) {
	for _, transport := range transports() {
		t.Run(string(transport), func(t *testing.T) {
			s := over(t, transport, "alpha")
			s.RequestTimeout = 1
			c := s.connect(t)
			slow := make(chan error, 1)
			go func() {
				_, err := call(context.WithoutCancel(t.Context()), t, c, "files__slow", "{}")
				slow <- err
			}()
			for {
				mustCall(t, c, "files__echo", `{"text":"beside it"}`)
				select {
				case err := <-slow:
					says(t, err, "MCPTimeoutError", "server files did not answer the call of slow within 1s", "raise request_timeout")
					mustCall(t, c, "files__echo", `{"text":"after it"}`)
					if c.Degraded() != "" {
						t.Error(c.Degraded())
					}
					return
				default:
				}
			}
		})
	}
}

func TestCallsRunSideBySide(t *testing.T) {
	for _, transport := range transports() {
		t.Run(string(transport), func(t *testing.T) {
			c := over(t, transport, "alpha").connect(t)
			echo := find(t, c, "files__echo")
			var wg sync.WaitGroup
			for i := range 1000 {
				wg.Go(func() {
					r, err := echo.Call(t.Context(), fmt.Appendf(nil, `{"text":"%d"}`, i))
					if want := fmt.Sprintf("alpha says %d", i); err != nil || r.Text() != want {
						t.Errorf("got %q, %v, want %q", r.Text(), err, want)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestClosingEndsWhatIsUnderWay(t *testing.T) {
	for _, transport := range transports() {
		t.Run(string(transport), func(t *testing.T) {
			noLeaks(t)
			s := over(t, transport, "alpha")
			c := s.connect(t)
			done := make(chan error, 1)
			slow := find(t, c, "files__slow")
			go func() {
				_, err := slow.Call(context.WithoutCancel(t.Context()), nil)
				done <- err
			}()
			mustCall(t, c, "files__echo", `{"text":"x"}`)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			says(t, <-done, "MCPConnectionError", "server files was closed")
		})
	}
}

// clock is a time that tests set.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.passed.Load()))
}

func (c *clock) pass(d time.Duration) { c.passed.Add(int64(d)) }

func TestAServerThatIsLateIsTriedAgainWithGrowingPauses(t *testing.T) {
	var up atomic.Bool
	var tries atomic.Int32
	url := mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !up.Load() {
				tries.Add(1)
				http.Error(w, "starting", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	s := at(config.MCPHTTP, url)
	var wall clock
	env := agent.SystemEnv(slog.New(slog.DiscardHandler))
	env.Now = wall.now
	c, err := mcp.New(env, &s.MCPTool, s.opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	says(t, c.Connect(t.Context()), "MCPConnectionError", "server files", "503", "starting", "try again later")
	for i, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		before := tries.Load()
		wall.pass(pause - 1)
		if err := c.Refresh(t.Context()); err == nil || tries.Load() != before {
			t.Errorf("after failure %d it was tried again within %s: %v", i+1, pause, err)
		}
		wall.pass(1)
		if err := c.Refresh(t.Context()); err == nil || tries.Load() != before+1 {
			t.Errorf("after failure %d it was not tried again at %s: %v", i+1, pause, err)
		}
	}
	if !strings.Contains(c.Degraded(), "files") || !strings.Contains(c.Degraded(), "503") {
		t.Errorf("the client is degraded by %q", c.Degraded())
	}
	up.Store(true)
	wall.pass(time.Minute)
	if err := c.Refresh(t.Context()); err != nil || c.Degraded() != "" {
		t.Errorf("once it is up: %v, %s", err, c.Degraded())
	}
	if got := mustCall(t, c, "files__echo", `{"text":"x"}`); got != "alpha says x" {
		t.Errorf("echo says %q", got)
	}
}

// restartable is a server over HTTP that can be restarted: what it knew of
// sessions is gone then, and so are its connections.
type restartable struct {
	mu        sync.Mutex
	transport string
	handler   http.Handler
	conns     map[net.Conn]bool
}

func (r *restartable) restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handler = mcptest.Handler(r.transport, mcptest.New("alpha"))
	for conn := range r.conns {
		conn.Close()
	}
	r.conns = map[net.Conn]bool{}
}

func (r *restartable) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	h := r.handler
	r.mu.Unlock()
	h.ServeHTTP(w, req)
}

func TestAClosedStreamIsOpenedByTheNextCall(t *testing.T) {
	for _, transport := range []config.MCPTransport{config.MCPSSE, config.MCPHTTP, config.MCPWebsocket} {
		t.Run(string(transport), func(t *testing.T) {
			r := &restartable{transport: string(transport)}
			r.restart()
			l := listen(t)
			hs := &http.Server{Handler: r, ConnState: func(conn net.Conn, state http.ConnState) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if state != http.StateClosed {
					r.conns[conn] = true
				}
			}}
			go hs.Serve(l)
			t.Cleanup(func() { hs.Close(); r.restart() })
			url := "http://" + l.Addr().String()
			if transport == config.MCPWebsocket {
				url = "ws://" + l.Addr().String()
			}
			c := at(transport, url).connect(t)
			_, was := c.Tools()
			for range 3 {
				r.restart()
				if got := mustCall(t, c, "files__echo", `{"text":"again"}`); got != "alpha says again" {
					t.Errorf("echo says %q", got)
				}
				if err := c.Refresh(t.Context()); err != nil || c.Degraded() != "" {
					t.Errorf("after that: %v, %s", err, c.Degraded())
				}
			}
			if _, version := c.Tools(); version != was {
				t.Error("the tools are others, and did not change")
			}
		})
	}
}

func TestAToolThatIsGoneSaysSo(t *testing.T) {
	s := mcptest.New("alpha")
	c := at(config.MCPHTTP, mcptest.Listen(t, "http", s)).connect(t)
	echo := find(t, c, "files__echo")
	s.RemoveTools("echo")
	_, err := echo.Call(t.Context(), []byte(`{"text":"x"}`))
	says(t, err, "MCPProtocolError", "server files refused", `"echo"`)
	var refusal *mcp.ProtocolError
	if !errors.As(err, &refusal) || refusal.Code != -32602 {
		t.Errorf("the error is %#v", err)
	}
}

func TestAServerThatIsSlowToStartIsThereForALaterTurn(t *testing.T) {
	ready := make(chan struct{})
	s := at(config.MCPHTTP, mcptest.Listen(t, "http", mcptest.New("alpha"), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-ready:
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})
	}))
	c := s.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits as long as it takes
	if err := c.Connect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("not waiting ended in %v", err)
	}
	if len(names(c)) > 0 || !strings.Contains(c.Degraded(), "not there yet") {
		t.Errorf("the tools are %q, degraded by %q", names(c), c.Degraded())
	}
	close(ready)
	if err := c.Refresh(t.Context()); err != nil || c.Degraded() != "" || !slices.Contains(names(c), "files__echo") {
		t.Errorf("at the next turn: %v, %q, %q", err, c.Degraded(), names(c))
	}
}

func TestAServerThatIsGoneForGoodIsToldOfAndLeft(t *testing.T) {
	for _, transport := range []config.MCPTransport{config.MCPSSE, config.MCPHTTP} {
		t.Run(string(transport), func(t *testing.T) {
			server := httptest.NewServer(mcptest.Handler(string(transport), mcptest.New("alpha")))
			c := at(transport, server.URL).connect(t)
			t.Cleanup(func() { server.Config.Close() })
			server.Listener.Close()
			server.CloseClientConnections()
			for _, name := range []string{"files__echo", "files__note", "files__echo"} {
				_, err := call(t.Context(), t, c, name, `{"text":"x"}`)
				says(t, err, "MCPConnectionError", "server files", "see that the server runs")
				if strings.Contains(err.Error(), "rejected by transport") {
					t.Errorf("the error has words that say nothing: %v", err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
