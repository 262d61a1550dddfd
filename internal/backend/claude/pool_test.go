package claude

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// crowded opens an agent that may have one process.
func crowded(t *testing.T, scenario string) *cli {
	t.Helper()
	b, err := openOn(t, loaded(t, fakeCLI(t, scenario), "claude: {max_concurrent_sessions: 1}\n"), systemEnv(), CLIOptions{}, tool.Options{}, loop.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return b.(*cli)
}

func expect(t *testing.T, s agent.Session, say, want string) {
	t.Helper()
	if r, err := ask(t, s, say); err != nil || r.Response != want {
		t.Errorf("to %q it said %q, %v, want %q", say, r.Response, err, want)
	}
}

func TestASessionThatIsIdleMakesRoomAndGoesOn(t *testing.T) {
	b := crowded(t, "answers")
	one, two := sessionOf(t, b, agent.SessionOptions{}).(*cliSession), sessionOf(t, b, agent.SessionOptions{}).(*cliSession)
	expect(t, one, "a", "a")
	first := one.client
	expect(t, two, "b", "b")
	if first.Alive() || one.client != nil || first.PID() == two.client.PID() {
		t.Error("two sessions have a process, or share one")
	}
	expect(t, one, "c", "session-1 hears c")
}

func TestATurnWaitsForAPlaceAndSaysSo(t *testing.T) {
	b := crowded(t, "calls")
	held := heldTool{entered: make(chan struct{}, 2), release: make(chan struct{})}
	one := sessionOf(t, b, agent.SessionOptions{Tools: []agent.Tool{held}})
	two := sessionOf(t, b, agent.SessionOptions{Tools: []agent.Tool{echoTool{}}})
	ended := make(chan error, 1)
	go func() {
		_, err := agent.Collect(one.Send(context.WithoutCancel(t.Context()), agent.Text("go")))
		ended <- err
	}()
	<-held.entered
	waited := false
	for e, err := range two.Send(t.Context(), agent.Text("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := e.(agent.Notice); ok && n.Code == agent.NoticeWaiting {
			waited = true
			close(held.release)
		}
	}
	if !waited {
		t.Error("the turn did not say that it waits")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAProcessThatIsIdleIsEndedAndNobodyNotices(t *testing.T) {
	b := crowded(t, "answers")
	b.pool.idle = time.Millisecond
	s := sessionOf(t, b, agent.SessionOptions{}).(*cliSession)
	var first <-chan struct{}
	for e, err := range s.Send(t.Context(), agent.Text("a")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.TextDelta); ok {
			first = s.client.Done()
		}
	}
	<-first
	expect(t, s, "b", "session-1 hears b")
}

func TestHowManyProcessesThereMayBe(t *testing.T) {
	five := 5
	for _, tt := range []struct {
		section *config.Claude
		free    int
		want    int
	}{
		{nil, 4000, 8}, {nil, 0, fewProcesses}, {nil, 100, 1},
		{&config.Claude{SessionMemoryEstimateMiB: 1000}, 4000, 4},
		{&config.Claude{MaxConcurrentSessions: &five, SessionMemoryEstimateMiB: 1000}, 4000, 5},
	} {
		if got := mostProcesses(tt.section, tt.free); got != tt.want {
			t.Errorf("with %+v and %d MiB there may be %d, want %d", tt.section, tt.free, got, tt.want)
		}
	}
}

// heldTool is a tool whose calls stay until they are let go.
type heldTool struct{ entered, release chan struct{} }

func (heldTool) Definition() agent.Definition { return echoTool{}.Definition() }

func (h heldTool) Call(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
	h.entered <- struct{}{}
	select {
	case <-h.release:
		return agent.TextResult("held"), nil
	case <-ctx.Done():
		return agent.ToolResult{}, ctx.Err()
	}
}
