package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

// bad returns an entry of a server that does wrong, as in mcptest.Misbehave.
func bad(t testing.TB, way string) *server { return started(t, "bad "+way) }

// says fails the test unless err says all of want.
func says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
}

func TestAServerThatCannotBeUsedSaysWhyAndWhatToDo(t *testing.T) {
	for way, want := range map[string][]string{
		"exits":   {"MCPConnectionError", "server files", "exit status 1", "run it by hand", "npx -y files", "cannot find the database", "set DATABASE_URL"},
		"garbage": {"MCPProtocolError", "server files", `line 1 of its stdout is no message: "Server is starting ..."`, "its log to stderr"},
		"version": {"MCPProtocolError", "server files", "version of the protocol", "2024-11-05"},
		"endless": {"MCPProtocolError", "server files", "without end", "load_tools: false"},
		"duplicates": {
			"MCPProtocolError", "server files", "files__read-file", `"read.file"`, `"read-file"`, "config.allowed_tools",
		},
	} {
		t.Run(way, func(t *testing.T) {
			noLeaks(t)
			s := bad(t, way)
			s.Args = []string{"-y", "files"}
			c := s.client(t)
			err := c.Connect(t.Context())
			says(t, err, want...)
			var base *mcp.Error
			var ofTool *agent.ToolError
			if !errors.As(err, &base) || base.Server != "files" || !errors.As(err, &ofTool) || ofTool.Tool != "files" {
				t.Errorf("%v is no error of the tool files", err)
			}
			if !strings.Contains(c.Degraded(), err.Error()) {
				t.Errorf("the client is degraded by %q", c.Degraded())
			}
			if tools, _ := c.Tools(); len(tools) > 0 {
				t.Errorf("there are tools: %q", names(c))
			}
		})
	}
}

func TestAProgramThatIsNotInstalledIsToldOf(t *testing.T) {
	s := entry(config.MCPStdio)
	command := config.MCPCommand("npx")
	s.Command = &command
	s.opts.Lookup = func(v string) (string, bool) { return t.TempDir(), v == "PATH" }
	err := s.client(t).Connect(t.Context())
	says(t, err, "MCPConnectionError", "files", "npx", "not installed", "install Node.js")
	var broken *mcp.ConnectionError
	if !errors.As(err, &broken) {
		t.Errorf("%v is no ConnectionError", err)
	}
}

func TestAServerThatDoesNotAnswerIsLeftInTime(t *testing.T) {
	noLeaks(t)
	timeout := 0.05
	s := bad(t, "mute")
	s.ConnectTimeout = &timeout
	err := s.client(t).Connect(t.Context())
	says(t, err, "MCPTimeoutError", "server files", "within 50ms", "raise timeout")
	var late *mcp.TimeoutError
	var broken *mcp.ConnectionError
	if !errors.As(err, &late) || late.After != 50*time.Millisecond || !errors.As(err, &broken) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is no TimeoutError in its hierarchy", err)
	}
	s.ConnectTimeout, s.ProtocolVersion = nil, "2026-07-28"
	c := s.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Connect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled attempt ended in %v", err)
	}
	if got := c.Degraded(); !strings.Contains(got, "not there yet") {
		t.Errorf("a server that is waited for is degraded by %q", got)
	}
}

func TestNothingIsLeftOfAServerThatDoesNotWantToEnd(t *testing.T) {
	for _, way := range []string{"ignores-eof", "grandchildren"} {
		t.Run(way, func(t *testing.T) {
			l := listen(t)
			s := bad(t, way)
			s.Env[mcptest.AddressVariable] = secret.New(l.Addr().String())
			c := s.connect(t)
			var alive []net.Conn
			for range map[string]int{"ignores-eof": 1, "grandchildren": 2}[way] {
				alive = append(alive, accept(t, l))
			}
			begin := time.Now()
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("closing took %s", took)
			}
			for _, conn := range alive {
				if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && err == nil {
					t.Error("a process of the server is alive")
				}
			}
		})
	}
}

func TestWhatCannotBeOfferedIsLeftOutAndToldOf(t *testing.T) {
	for way, want := range map[string][]string{
		"large-schema":   {"tool large", "files", "left out", "schema", "KiB"},
		"invalid-schema": {"tool invalid", "files", "left out", "schema"},
		"no-object":      {"tool scalar", "files", "left out", "not that of an object"},
	} {
		t.Run(way, func(t *testing.T) {
			s := bad(t, way)
			c := s.connect(t)
			says(t, errors.New(s.told()), want...)
			if got := names(c); len(got) != 1 || got[0] != "files__good" {
				t.Errorf("the tools are %q", got)
			}
			if got := mustCall(t, c, "files__good", "{}"); got != "well" {
				t.Errorf("the good tool says %q", got)
			}
		})
	}
}

func TestARefusalSaysWhatToDoAndMovesNoTerminal(t *testing.T) {
	c := bad(t, "refuses").connect(t)
	_, err := call(t.Context(), t, c, "files__good", "{}")
	says(t, err, "MCPProtocolError", "files", "refused", "red", "arguments are what it takes")
	if strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 2000 {
		t.Errorf("%d bytes: %q", len(err.Error()), err)
	}
}

func TestAServerMayHaveThousandsOfTools(t *testing.T) {
	s := bad(t, "many")
	c := s.connect(t)
	says(t, errors.New(s.told()), "2000 tools", "at most 128", "config.allowed_tools", "tool_filtering")
	got := names(c)
	if len(got) != 2000 || got[1999] != "files__tool-1999" {
		t.Errorf("there are %d tools", len(got))
	}
	if got := mustCall(t, c, "files__tool-1234", "{}"); got != "well" {
		t.Errorf("a tool says %q", got)
	}
}

func TestOldServersAreSpokenTo(t *testing.T) {
	for _, way := range []string{"old", "batch", "crlf"} {
		t.Run(way, func(t *testing.T) {
			if got := mustCall(t, bad(t, way).connect(t), "files__good", "{}"); got != "well" {
				t.Errorf("the tool says %q", got)
			}
		})
	}
	t.Run("that are offered the newest", func(t *testing.T) {
		s := bad(t, "old")
		s.ProtocolVersion = "2026-07-28"
		if got := mustCall(t, s.connect(t), "files__good", "{}"); got != "well" {
			t.Errorf("the tool says %q", got)
		}
	})
}

func TestACallThatGoesWrongSaysWhy(t *testing.T) {
	for way, want := range map[string][]string{
		"garbage-later": {"MCPProtocolError", "files", "a log line that got lost", "stderr"},
		"dies":          {"MCPConnectionError", "files", "exit status 4", "out of memory"},
		"huge":          {"MCPProtocolError", "files", "more than 64 MiB", "ask for less"},
		"bad-result":    {"MCPProtocolError", "files"},
	} {
		t.Run(way, func(t *testing.T) {
			noLeaks(t)
			c := bad(t, way).connect(t)
			_, err := call(t.Context(), t, c, "files__good", "{}")
			says(t, err, want...)
			// And the server is brought back for the next turn.
			if err := c.Refresh(t.Context()); err != nil || c.Degraded() != "" {
				t.Errorf("after that: %v, %s", err, c.Degraded())
			}
			if got := names(c); len(got) != 1 {
				t.Errorf("the tools are %q", got)
			}
		})
	}
}

func TestAResultOf50MBArrives(t *testing.T) {
	for _, transport := range transports() {
		t.Run(string(transport), func(t *testing.T) {
			size := 18_000_000 // beyond what the SDK takes as a rule
			if transport == config.MCPStdio {
				size = 50_000_000
			}
			s := over(t, transport, "alpha")
			s.RequestTimeout = 300 // a busy machine is slow at it
			got := mustCall(t, s.connect(t), "files__large", fmt.Sprintf(`{"bytes":%d}`, size))
			if len(got) != size {
				t.Errorf("%d bytes arrived", len(got))
			}
		})
	}
}

func TestAnAnswerAfterTheCallWasCancelledIsPassedOver(t *testing.T) {
	s := bad(t, "late")
	l := listen(t)
	s.Env[mcptest.AddressVariable] = secret.New(l.Addr().String())
	c := s.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := find(t, c, "files__good").Call(ctx, nil)
		done <- err
	}()
	conn := accept(t, l) // the server has the call
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended in %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) { // and has answered
		t.Fatal(err)
	}
	if got := mustCall(t, c, "files__good", "{}"); got != "well" {
		t.Errorf("the next call got %q", got)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestAServerThatReadsNothingHoldsUpNobody(t *testing.T) {
	noLeaks(t)
	s := bad(t, "deaf")
	c := s.connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 3)
	large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}` // more than a pipe holds
	for range cap(done) {
		go func() {
			_, err := find(t, c, "files__good").Call(ctx, []byte(large))
			done <- err
		}()
	}
	cancel()
	for range cap(done) {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a call ended in %v", err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
