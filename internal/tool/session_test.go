package tool

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
)

// fakeServer is a server whose state the test sets.
type fakeServer struct {
	mu      sync.Mutex
	tools   []agent.Tool // as they are at the server
	listed  []agent.Tool // as they were listed last
	version int
	down    string
	closed  bool
}

// named returns tools of the server s.
func named(names ...string) []agent.Tool {
	tools := make([]agent.Tool, len(names))
	for i, name := range names {
		tools[i] = servedTool{agent.Definition{Name: "s__" + name, Schema: json.RawMessage(`{"type":"object"}`), Source: "mcp:s"}}
	}
	return tools
}

type servedTool struct{ def agent.Definition }

func (t servedTool) Definition() agent.Definition { return t.def }

func (t servedTool) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult("from " + t.def.Name), nil
}

func (s *fakeServer) set(down string, tools ...agent.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.tools = down, tools
}

func (s *fakeServer) Tools() ([]agent.Tool, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed, s.version
}

func (s *fakeServer) Refresh(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != "" {
		return errors.New(s.down)
	}
	if !reflect.DeepEqual(s.tools, s.listed) {
		s.listed = s.tools
		s.version++
	}
	return nil
}

func (s *fakeServer) Degraded() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

func (s *fakeServer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// mcpAgent is an agent with the server s and a search tool.
func mcpAgent(t *testing.T, keys string) *config.Agent {
	t.Helper()
	return load(t, "  - {type: mcp, name: s, description: d, command: uvx"+keys+"}\n"+offlineModel)
}

// servedSet returns a set of such an agent whose server is that one.
func servedSet(t *testing.T, a *config.Agent, s *fakeServer, r *cassette.Recorder) *Set {
	t.Helper()
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	set := newSet(systemEnv(), a)
	set.recorder = r
	var parts []part
	for _, c := range a.Tools {
		if _, ok := c.(*config.MCPTool); ok {
			parts = append(parts, partOf(c, opened{server: s, closer: s}))
			set.closers = append(set.closers, s)
			continue
		}
		parts = append(parts, partOf(c, opened{tools: []agent.Tool{answering{config.CanonicalName(c), "found"}}}))
	}
	if err := set.begin(parts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	return set
}

// offered returns the names of the server's tools that a set offers.
func offered(s *Set) []string {
	names := []string{}
	for _, d := range s.Definitions() {
		if strings.HasPrefix(d.Source, "mcp:") {
			names = append(names, d.Name)
		}
	}
	return names
}

// beginTurn begins a turn and returns the notices.
func beginTurn(t *testing.T, s *Set, turn int) []string {
	t.Helper()
	notices, err := s.BeginTurn(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, n := range notices {
		texts = append(texts, n.Text)
	}
	return texts
}

func sessionOf(t *testing.T, s *Set, id string, more ...agent.Tool) *Set {
	t.Helper()
	own, err := s.ForSession(t.Context(), id, more)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	return own
}

func TestToolsOfAServerChangeBetweenTurns(t *testing.T) {
	server := &fakeServer{tools: named("a", "b")}
	set := servedSet(t, mcpAgent(t, ""), server, nil)
	one, two := sessionOf(t, set, "1"), sessionOf(t, set, "2", answering{"mine", "mine"})
	beginTurn(t, one, 1)
	server.set("", named("b", "c")...)
	if got := offered(one); !reflect.DeepEqual(got, []string{"s__a", "s__b"}) {
		t.Errorf("within a turn the tools become %v", got)
	}
	beginTurn(t, two, 1)
	for _, tt := range []struct {
		name string
		set  *Set
		want []string
	}{{"the session that began a turn", two, []string{"s__b", "s__c"}}, {"the session in its turn", one, []string{"s__a", "s__b"}}} {
		if got := offered(tt.set); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s has %v, want %v", tt.name, got, tt.want)
		}
	}
	beginTurn(t, one, 2)
	if got := offered(one); !reflect.DeepEqual(got, []string{"s__b", "s__c"}) {
		t.Errorf("at its next turn the other session has %v", got)
	}
	if f := one.Call(t.Context(), Call{Name: "s__c"}); f.Err != "" || f.Result.Text() != "from s__c" {
		t.Errorf("the new tool says %+v", f)
	}
	if f := one.Call(t.Context(), Call{Name: "s__a"}); !strings.Contains(f.Err, `no tool called "s__a"`) {
		t.Errorf("the tool that is gone says %+v", f)
	}
	if f := two.Call(t.Context(), Call{Name: "mine"}); f.Result.Text() != "mine" {
		t.Errorf("the caller's own tool says %+v", f)
	}
}

func TestASessionIsToldOfAServerThatIsLostAndIsBack(t *testing.T) {
	server := &fakeServer{tools: named("a")}
	set := servedSet(t, mcpAgent(t, ""), server, nil)
	s := sessionOf(t, set, "1")
	for i, tt := range []struct {
		down string
		want []string
	}{
		{"", nil},
		{"the server is gone", []string{"the server is gone"}},
		{"the server is gone", nil}, // said once
		{"the server is still gone", []string{"the server is still gone"}},
		{"", []string{"MCP server s can be used again"}},
		{"", nil},
	} {
		server.set(tt.down, named("a")...)
		if got := beginTurn(t, s, i+1); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("turn %d, down %q: told %q, want %q", i+1, tt.down, got, tt.want)
		}
	}
	server.set("gone again", named("a")...)
	if got := beginTurn(t, sessionOf(t, set, "2"), 1); !reflect.DeepEqual(got, []string{"gone again"}) {
		t.Errorf("a new session is told %q", got)
	}
}

func TestAToolOfAServerThatCannotBeIsLeftOut(t *testing.T) {
	server := &fakeServer{tools: named("a")}
	set := servedSet(t, mcpAgent(t, ""), server, nil)
	s := sessionOf(t, set, "1")
	wrong := servedTool{agent.Definition{Name: "s__wrong", Schema: json.RawMessage(`{"type":"objekt"}`), Source: "mcp:s"}}
	taken := servedTool{agent.Definition{Name: "docs_search", Schema: json.RawMessage(`{}`), Source: "mcp:s"}}
	server.set("", append(named("a", "b"), wrong, taken)...)
	got := strings.Join(beginTurn(t, s, 1), "\n")
	for _, part := range []string{`"objekt" is not a type`, "both called docs_search"} {
		if !strings.Contains(got, part) {
			t.Errorf("nothing is said of %q:\n%s", part, got)
		}
	}
	if got := offered(s); !reflect.DeepEqual(got, []string{"s__a", "s__b"}) {
		t.Errorf("the tools are %v", got)
	}
}

func TestEverySessionHasAServerOfItsOwnWhereTheFileSaysSo(t *testing.T) {
	a := mcpAgent(t, ", scope: session")
	var started []*fakeServer
	start := func(context.Context) (server, error) {
		s := &fakeServer{tools: named("a")}
		started = append(started, s)
		return s, s.Refresh(t.Context())
	}
	first, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools, _ := first.Tools()
	pool := &perSession{spare: first, start: start}
	set := newSet(systemEnv(), a)
	set.closers = append(set.closers, pool)
	if err := set.begin([]part{partOf(a.Tools[len(a.Tools)-1], opened{tools: tools, perSession: pool, closer: pool})}); err != nil {
		t.Fatal(err)
	}
	if got := offered(set); !reflect.DeepEqual(got, []string{"s__a"}) {
		t.Errorf("before a session the agent has %v", got)
	}
	one, two := sessionOf(t, set, "1"), sessionOf(t, set, "2")
	if len(started) != 2 {
		t.Fatalf("two sessions started %d servers: the one that was opened first serves the first of them", len(started))
	}
	started[1].set("", named("a", "b")...)
	beginTurn(t, one, 1)
	beginTurn(t, two, 1)
	if x, y := offered(one), offered(two); len(x) != 1 || len(y) != 2 {
		t.Errorf("the sessions have %v and %v", x, y)
	}
	_ = one.Close()
	if !started[0].closed || started[1].closed {
		t.Error("a session that ends ends its own server, and no other")
	}
	_ = two.Close()
	if err := set.Close(); err != nil || !started[1].closed {
		t.Errorf("closed: %v, %v", started[1].closed, err)
	}
}

func TestPermissionsTakeTheNamesOfEveryRuntimeForAServersTool(t *testing.T) {
	for _, name := range []string{"s", "s__a", "mcp__s__a", "s-a", "mcp__s__*"} {
		a := mcpAgent(t, "")
		a.Permissions = &config.Permissions{DisallowedTools: []string{name}}
		set := servedSet(t, a, &fakeServer{tools: named("a")}, nil)
		if got := offered(set); len(got) > 0 {
			t.Errorf("disallowed_tools %q leaves %v", name, got)
		}
	}
}

func TestAReplayHasTheToolsThatEachTurnHad(t *testing.T) {
	dir := t.TempDir()
	a := mcpAgent(t, "")
	r, err := cassette.Record(dir, cassette.About{}, a.Redactor)
	if err != nil {
		t.Fatal(err)
	}
	server := &fakeServer{tools: named("a")}
	set := servedSet(t, a, server, r)
	s := sessionOf(t, set, "run")
	play := func(s *Set) (seen [][]string) {
		for turn := 1; turn <= 4; turn++ {
			switch turn {
			case 2:
				server.set("", named("a", "b")...)
			case 3:
				server.set("lost", named("a", "b")...)
			}
			notices := beginTurn(t, s, turn)
			seen = append(seen, append(offered(s), notices...))
		}
		return seen
	}
	recorded := play(s)
	want := [][]string{{"s__a"}, {"s__a", "s__b"}, {"s__a", "s__b", "lost"}, {"s__a", "s__b"}}
	if !reflect.DeepEqual(recorded, want) {
		t.Fatalf("recorded %v, want %v", recorded, want)
	}
	if _, err := r.Commit(); err != nil {
		t.Fatal(err)
	}
	p, err := cassette.Replay(dir, a.Redactor)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := replay(systemEnv(), a, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := play(sessionOf(t, replayed, "run")); !reflect.DeepEqual(got, want) {
		t.Errorf("replayed %v, want %v", got, want)
	}
}
