package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// allRuntimes are the runtimes that have skills.
var allRuntimes = []config.Backend{config.BackendAgentFramework, config.BackendClaude, config.BackendGoogleADK}

// openFile opens an agent file with everything it has, and returns its log.
func openFile(t *testing.T, text string) (agent.Backend, *bytes.Buffer) {
	t.Helper()
	a := load(t, text)
	var log bytes.Buffer
	env := agent.SystemEnv(slog.New(slog.NewTextHandler(&log, nil)))
	models := llm.Open(env, llm.Options{Redactor: a.Redactor})
	set, err := tool.Open(t.Context(), env, a, tool.Options{Models: models})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), env, a, set, models, Options{})
	if err != nil {
		t.Fatal(errors.Join(err, set.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), set.Close()); err != nil {
			t.Error(err)
		}
	})
	return b, &log
}

// deskFile is an agent with a skill that has a skill.
const deskFile = `model:
  provider: offline
  name: x
  script:
    - when: {user: "Price it", round: 1}
      do: [{call: {name: ask-price, args: {task: "Say the price"}}}]
    - when: {user: "Price it"}
      do: [{text: "It is 7."}]
    - when: {user: "Say the price", round: 1}
      do: [{call: {name: convert, args: {amount: 7}}}]
    - when: {user: "Say the price"}
      do: [{text: "7."}]
    - when: {user: "Convert 7"}
      do: [{text: "Seven."}]
    - when: {user: secret, round: 1}
      do: [{call: {name: pricing, args: {task: "Use what is not yours"}}}]
    - when: {user: not yours, round: 1}
      do: [{call: {name: hidden, args: {a: x}}}]
    - when: {result: there is no tool}
      do: [{text: "I have no such tool."}]
    - when: {user: buy, round: 1}
      do: [{call: {name: pricing, args: {task: "Price it"}}}]
    - do: [{text: "Bought."}]
tools:
  - {type: skill, name: pricing, description: d, instructions: x, allowed_tools: [ask-price]}
  - {type: skill, name: ask-price, description: d, instructions: x, allowed_tools: [convert]}
  - {type: prompt, name: convert, description: d, template: "Convert {{amount}}", parameters: {amount: {type: integer}}}
  - {type: prompt, name: hidden, description: d, template: "{{a}}", parameters: {a: {type: string}}}
`

func TestASkillMayCallASkill(t *testing.T) {
	for _, r := range allRuntimes {
		t.Run(string(r), func(t *testing.T) {
			b, _ := openFile(t, deskFile+"backend: "+string(r)+"\n")
			got, err := agent.RunOnce(t.Context(), b, agent.Text("buy"))
			if err != nil || got.Response != "Bought." || got.NumTurns != 2 {
				t.Fatalf("got %+v, %v", got, err)
			}
			var names []string
			for i, c := range got.ToolCalls {
				names = append(names, c.Name)
				if i > 0 && !strings.HasPrefix(c.CallID, got.ToolCalls[i-1].CallID+"/") {
					t.Errorf("the id of %s is %s, under that of %s, %s", c.Name, c.CallID, got.ToolCalls[i-1].Name, got.ToolCalls[i-1].CallID)
				}
			}
			if !slices.Equal(names, []string{"pricing", "ask-price", "convert"}) {
				t.Errorf("called %v", names)
			}
		})
	}
}

func TestASkillHasItsOwnToolsAndNoOthers(t *testing.T) {
	for _, r := range allRuntimes {
		t.Run(string(r), func(t *testing.T) {
			b, _ := openFile(t, deskFile+"backend: "+string(r)+"\n")
			got, err := agent.RunOnce(t.Context(), b, agent.Text("secret"))
			if err != nil || len(got.ToolResults) != 2 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if want := `Error: there is no tool called "hidden"; there are: ask-price`; got.ToolResults[1].Result != want {
				t.Errorf("the skill was told %q, want %q", got.ToolResults[1].Result, want)
			}
			if got.ToolResults[0].Result != "I have no such tool." {
				t.Errorf("the skill answered %q", got.ToolResults[0].Result)
			}
		})
	}
}

// saying is a person who says one thing.
type saying struct {
	err   error
	asked []string
}

func (s *saying) Approve(_ context.Context, r agent.ApprovalRequest) error {
	s.asked = append(s.asked, r.Tool)
	return s.err
}

func TestAPersonIsAskedForTheCallsOfASkill(t *testing.T) {
	for _, r := range allRuntimes {
		t.Run(string(r), func(t *testing.T) {
			b, log := openFile(t, deskFile+"backend: "+string(r)+"\npermissions: {ask: [convert]}\nhooks: [{event: Notification, action: log, message: asked}]\n")
			person := &saying{err: errors.New("not today")}
			s, err := b.NewSession(t.Context(), agent.SessionOptions{Approver: person})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got, err := agent.Collect(s.Send(t.Context(), agent.Text("buy")))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(person.asked, []string{"convert"}) {
				t.Errorf("a person was asked for %v", person.asked)
			}
			if last := got.ToolResults[len(got.ToolResults)-1]; last.Result != "Error: convert was not allowed: not today" {
				t.Errorf("the skill was told %q", last.Result)
			}
			if !strings.Contains(log.String(), `msg=asked event=Notification session=`+s.ID()+` code=permission text="convert waits for a person's consent`) {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// receiver takes what hooks post.
type receiver struct {
	mu      sync.Mutex
	reports []map[string]any
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var report map[string]any
	if json.NewDecoder(req.Body).Decode(&report) == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reports = append(r.reports, report)
	}
}

// seen returns the reports so far, each as "event turn stop_reason code".
func (r *receiver) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, report := range r.reports {
		var words []string
		for _, key := range []string{"event", "turn", "stop_reason", "code", "resumed"} {
			if v, ok := report[key]; ok {
				words = append(words, fmt.Sprint(v))
			}
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

func TestHooksOfSessionsAndTurns(t *testing.T) {
	for _, r := range append(allRuntimes, config.BackendSemanticKernel) {
		t.Run(string(r), func(t *testing.T) {
			var got receiver
			server := httptest.NewServer(&got)
			defer server.Close()
			defer http.DefaultClient.CloseIdleConnections()
			hooks := ""
			for _, event := range []string{"SessionStart", "Stop", "Notification"} {
				hooks += fmt.Sprintf("  - {event: %s, action: notify, url: %q}\n", event, server.URL)
			}
			b, _ := openFile(t, `model:
  provider: offline
  name: x
  script:
    - when: {user: fail}
      do: [{error: {status: 400, message: no}}]
    - when: {user: again}
      times: 1
      do: [{error: {status: 503, message: busy, retry_after_ms: 1}}]
    - when: {user: hang}
      do: [{text: "As far as "}, {block: true}]
    - do: [{text: Yes.}]
backend: `+string(r)+"\nclaude: {runtime: api}\ngoogle_adk: {streaming_mode: sse}\nhooks:\n"+hooks)
			s, err := b.NewSession(t.Context(), agent.SessionOptions{Mode: agent.ModeChat, User: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			say := func(text string) { _, _ = agent.Collect(s.Send(t.Context(), agent.Text(text))) }
			say("hello")
			say("again")
			say("fail")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for e := range s.Send(ctx, agent.Text("hang")) {
				if _, ok := e.(agent.TextDelta); ok {
					cancel()
				}
			}
			for range s.Send(t.Context(), agent.Text("hello")) {
				break // a reader that leaves
			}
			snapshot, err := s.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			resumed, err := b.NewSession(t.Context(), agent.SessionOptions{Resume: snapshot})
			if err != nil {
				t.Fatal(err)
			}
			defer resumed.Close()
			want := []string{
				"SessionStart", "Stop 1 end", "Notification 2 retry", "Stop 2 end", "Stop error", "Stop 4 cancelled", "Stop 5 cancelled", "SessionStart true",
			}
			if seen := got.seen(); !slices.Equal(seen, want) {
				t.Errorf("the server was told\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
			}
			if first := got.reports[1]; first["response"] != "Yes." || first["mode"] != "chat" || first["user"] != "ann" || first["session"] != s.ID() || first["agent"] != "test" {
				t.Errorf("the report of the first turn is %v", first)
			}
		})
	}
}

func TestATurnThatIsRangedTwiceHasOneEnd(t *testing.T) {
	b, log := openFile(t, "model: {provider: offline, name: x}\nhooks: [{event: Stop, action: log, message: over}]\n")
	s, err := b.NewSession(t.Context(), agent.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn := s.Send(t.Context(), agent.Text("hello"))
	if _, err := agent.Collect(turn); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Collect(turn); err == nil {
		t.Error("a turn ran twice")
	}
	if n := strings.Count(log.String(), "msg=over"); n != 1 {
		t.Errorf("%d ends were told:\n%s", n, log)
	}
}
