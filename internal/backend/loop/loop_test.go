package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/backendtest"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func testEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// newToolSet returns a set of tools that is closed with the test, and the
// function that widens it.
func newToolSet(t testing.TB, tools ...agent.Tool) (*tool.Set, func(context.Context, string, []agent.Tool) (SessionTools, error)) {
	t.Helper()
	set, err := tool.New(testEnv(), tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Errorf("close tools: %v", err)
		}
	})
	return set, func(ctx context.Context, id string, more []agent.Tool) (SessionTools, error) {
		return set.ForSession(ctx, id, more)
	}
}

func scripted(t testing.TB, s script.Script) llm.Model {
	t.Helper()
	m, err := llm.Scripted(testEnv(), "scripted", s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheLoopKeepsTheContract(t *testing.T) {
	for _, name := range []string{"agent_framework", "semantic_kernel", "google_adk", "claude"} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t, func(t *testing.T, s script.Script, o backendtest.Options) agent.Backend {
				set, with := newToolSet(t, o.Tools...)
				b, err := New(Options{
					Env: testEnv(), Backend: name, Model: scripted(t, s),
					Tools: set, ForSession: with, Schema: o.Schema,
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

// fakeModel answers as a function says, and keeps what it was asked.
type fakeModel struct {
	capabilities agent.Capabilities
	respond      func(llm.Request) llm.Done
	requests     []llm.Request
	ended        []string
}

func (m *fakeModel) Info() llm.Info {
	return llm.Info{Provider: "fake", Name: "m1", Capabilities: m.capabilities}
}

func (m *fakeModel) EndSession(id string) { m.ended = append(m.ended, id) }

func (m *fakeModel) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.requests = append(m.requests, req)
		done := m.respond(req)
		for _, p := range done.Message.Parts {
			if p.Kind == agent.PartText && !yield(llm.Text(p.Text), nil) {
				return
			}
		}
		yield(done, nil)
	}
}

// decorated is a model round another.
type decorated struct{ llm.Model }

func (d decorated) Unwrap() llm.Model { return d.Model }

func answered(text string) llm.Done {
	return llm.Done{Message: llm.Message{Parts: agent.Text(text).Parts}, Stop: agent.StopEnd}
}

func calling(text string, calls ...llm.Call) llm.Done {
	d := answered(text)
	d.Message.Calls = calls
	return d
}

func newSession(t *testing.T, o Options, so agent.SessionOptions) agent.Session {
	t.Helper()
	o.Env, o.Backend = testEnv(), "agent_framework"
	if o.Tools == nil {
		o.Tools, o.ForSession = newToolSet(t)
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	s, err := b.NewSession(t.Context(), so)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func send(t *testing.T, s agent.Session, text string) agent.Result {
	t.Helper()
	r, err := agent.Collect(s.Send(t.Context(), agent.Text(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type echoTool struct{}

func (echoTool) Definition() agent.Definition {
	return agent.Definition{Name: "lookup", Description: "Looks up.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}
}

func (echoTool) Call(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult("found " + string(args)), nil
}

func TestTheModelIsGivenTheWholeHistory(t *testing.T) {
	temperature := 0.5
	model := &fakeModel{respond: func(req llm.Request) llm.Done {
		if len(req.Messages)%2 == 1 && len(req.Messages) == 1 {
			return calling("Looking.", llm.Call{Name: "kb-lookup", Arguments: json.RawMessage(`{"query":"a"}`), Opaque: json.RawMessage(`"sig"`)})
		}
		return answered("Done.")
	}}
	set, with := newToolSet(t, echoTool{})
	s := newSession(t, Options{
		Model: decorated{model}, Tools: set, ForSession: with, System: "Be brief.",
		Sampling: llm.Sampling{Temperature: &temperature},
		WireName: func(d agent.Definition) string { return "kb-" + d.Name },
	}, agent.SessionOptions{ID: "s1"})

	r := send(t, s, "one")
	if len(r.ToolCalls) != 1 || r.ToolCalls[0].Name != "lookup" || r.ToolResults[0].Name != "lookup" {
		t.Errorf("events do not carry canonical names: %+v", r)
	}
	send(t, s, "two")
	last := model.requests[len(model.requests)-1]
	if last.Session != "s1" || last.System != "Be brief." || last.Sampling.Temperature != &temperature {
		t.Errorf("the request is %+v", last)
	}
	if len(last.Tools) != 1 || last.Tools[0].Name != "kb-lookup" {
		t.Errorf("the model sees the tools %+v, want the wire name", last.Tools)
	}
	var roles []llm.Role
	for _, m := range last.Messages {
		roles = append(roles, m.Role)
	}
	want := []llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, llm.RoleAssistant, llm.RoleUser}
	if !reflect.DeepEqual(roles, want) {
		t.Fatalf("the history is %v, want %v", roles, want)
	}
	call, result := last.Messages[1].Calls[0], last.Messages[2].Results[0]
	if call.Name != "kb-lookup" || string(call.Opaque) != `"sig"` || call.ID == "" || result.CallID != call.ID || result.Name != call.Name {
		t.Errorf("call %+v is answered by %+v", call, result)
	}
	if got := result.Result.Text(); got != `found {"query":"a"}` {
		t.Errorf("the model is told %q", got)
	}
	if err := s.Close(); err != nil || !reflect.DeepEqual(model.ended, []string{"s1", "s1/compaction"}) {
		t.Errorf("closing told the model of the sessions %v, %v", model.ended, err)
	}
}

func TestToolsThatWouldLookAlikeAreRefused(t *testing.T) {
	set, with := newToolSet(t, echoTool{})
	b, err := New(Options{
		Env: testEnv(), Backend: "agent_framework", Model: &fakeModel{}, Tools: set, ForSession: with,
		WireName: func(agent.Definition) string { return "same" },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.NewSession(t.Context(), agent.SessionOptions{Tools: []agent.Tool{renamed{echoTool{}, "other"}}})
	if err == nil || !strings.Contains(err.Error(), "lookup") || !strings.Contains(err.Error(), "other") || !strings.Contains(err.Error(), "same") {
		t.Errorf("got %v", err)
	}
}

// renamed is a tool under another name.
type renamed struct {
	agent.Tool
	name string
}

func (r renamed) Definition() agent.Definition {
	d := r.Tool.Definition()
	d.Name = r.name
	return d
}

func TestACancelledCallHasAResultInTheHistory(t *testing.T) {
	model := &fakeModel{respond: func(req llm.Request) llm.Done {
		if len(req.Messages) == 1 {
			return calling("", llm.Call{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"query":"x"}`)})
		}
		return answered("Done.")
	}}
	set, with := newToolSet(t, echoTool{})
	s := newSession(t, Options{Model: model, Tools: set, ForSession: with}, agent.SessionOptions{})
	for _, leaveAt := range []string{"model_call", "tool_call_started"} {
		for e, err := range s.Send(t.Context(), agent.Text("go")) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type() == leaveAt {
				break
			}
		}
	}
	send(t, s, "again")
	history := model.requests[len(model.requests)-1].Messages
	if err := dialog.WellFormed(history); err != nil {
		t.Errorf("the history is broken: %v", err)
	}
	r := history[2].Results[0].Result
	if r.Text() != "cancelled" || !r.IsError {
		t.Errorf("the cancelled call returned %+v", r)
	}
}

func cost(usd float64) *float64 { return &usd }

func TestBudgets(t *testing.T) {
	priced := func(req llm.Request) llm.Done {
		d := calling("Thinking.", llm.Call{Name: "lookup", Arguments: json.RawMessage(`{"query":"x"}`)})
		if strings.HasPrefix(agent.JoinText(req.Messages[len(req.Messages)-1].Parts), "short") {
			d = answered("Short.")
		}
		d.CostUSD = cost(0.4)
		return d
	}
	tests := map[string]struct {
		limits  Limits
		session agent.Limits
		say     []string
		want    []agent.StopReason
		calls   int // model calls in all
	}{
		"of a turn":               {Limits{MaxTurnCostUSD: 1}, agent.Limits{}, []string{"long", "short"}, []agent.StopReason{agent.StopBudget, agent.StopEnd}, 4},
		"tightened":               {Limits{MaxTurnCostUSD: 1}, agent.Limits{MaxCostUSD: 0.5}, []string{"long"}, []agent.StopReason{agent.StopBudget}, 2},
		"of a session":            {Limits{MaxSessionCostUSD: 1}, agent.Limits{}, []string{"short", "long", "short"}, []agent.StopReason{agent.StopEnd, agent.StopBudget, agent.StopBudget}, 3},
		"an answer is never lost": {Limits{MaxTurnCostUSD: 0.1}, agent.Limits{}, []string{"short"}, []agent.StopReason{agent.StopEnd}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			model := &fakeModel{respond: priced, capabilities: agent.Capabilities{Cost: true}}
			set, with := newToolSet(t, echoTool{})
			s := newSession(t, Options{Model: model, Tools: set, ForSession: with, Limits: tt.limits}, agent.SessionOptions{Limits: tt.session})
			for i, text := range tt.say {
				r := send(t, s, text)
				if r.StopReason != tt.want[i] || r.IsError != (tt.want[i] != agent.StopEnd) {
					t.Errorf("turn %d: %s (%s), want %s", i+1, r.StopReason, r.ErrorReason, tt.want[i])
				}
				if r.IsError && !strings.Contains(r.ErrorReason, "USD") {
					t.Errorf("turn %d: the reason does not name the cost: %s", i+1, r.ErrorReason)
				}
				if r.IsError && r.NumTurns > 0 && r.Response != "Thinking." {
					t.Errorf("turn %d: the partial text is %q", i+1, r.Response)
				}
			}
			if len(model.requests) != tt.calls {
				t.Errorf("%d model calls, want %d", len(model.requests), tt.calls)
			}
		})
	}
}

// spender is a tool that spends half a dollar on a model of its own.
type spender struct {
	echoTool
	left chan agent.Limits
}

func (s spender) Delegate(_ context.Context, _ json.RawMessage, b agent.Behalf) (agent.ToolResult, error) {
	s.left <- b.Limits
	return agent.TextResult("spent"), b.Emit(b.CallID, agent.ModelCall{CostUSD: cost(0.5)})
}

func (spender) Basis() any { return nil }

func TestWhatAToolSpendsCountsForTheBudget(t *testing.T) {
	model := &fakeModel{capabilities: agent.Capabilities{Cost: true}, respond: func(llm.Request) llm.Done {
		d := calling("Thinking.", llm.Call{Name: "lookup", Arguments: json.RawMessage(`{"query":"x"}`)})
		d.CostUSD = cost(0.25)
		return d
	}}
	tool := spender{left: make(chan agent.Limits, 9)}
	set, with := newToolSet(t, tool)
	limits := Limits{MaxTurnCostUSD: 2, MaxSessionCostUSD: 1.5, Model: turn.Deadline{After: time.Minute}}
	s := newSession(t, Options{Model: model, Tools: set, ForSession: with, Limits: limits}, agent.SessionOptions{})
	r := send(t, s, "go")
	if r.StopReason != agent.StopBudget || *r.CostUSD != 1.5 || len(model.requests) != 2 {
		t.Errorf("the turn ended in %s after %d model calls and %v USD: %s", r.StopReason, len(model.requests), *r.CostUSD, r.ErrorReason)
	}
	for _, want := range []float64{1.25, 0.5} {
		if got := <-tool.left; got.MaxCostUSD != want || got.ModelTimeout != time.Minute || got.MaxTurns != DefaultMaxTurns {
			t.Errorf("the tool may use %+v, want %g USD", got, want)
		}
	}
}

func TestACostLimitThatCannotBeKeptIsRefused(t *testing.T) {
	model := &fakeModel{}
	_, err := New(Options{Env: testEnv(), Backend: "agent_framework", Model: model, Limits: Limits{MaxSessionCostUSD: 1}})
	if _, ok := errors.AsType[*agent.BackendInitError](err); !ok || !strings.Contains(err.Error(), "fake model m1") {
		t.Errorf("New gave %v", err)
	}
	set, with := newToolSet(t)
	b, err := New(Options{Env: testEnv(), Backend: "agent_framework", Model: model, Tools: set, ForSession: with})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.NewSession(t.Context(), agent.SessionOptions{Limits: agent.Limits{MaxCostUSD: 1}})
	if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok {
		t.Errorf("NewSession gave %v", err)
	}
}

func TestABadSchemaIsRefusedWhenTheAgentIsOpened(t *testing.T) {
	_, err := New(Options{Env: testEnv(), Backend: "agent_framework", Model: &fakeModel{}, Schema: json.RawMessage(`{"type": 5}`)})
	if _, ok := errors.AsType[*agent.BackendInitError](err); !ok || !strings.Contains(err.Error(), "response_format") {
		t.Errorf("New gave %v", err)
	}
}

func TestAnAnswerThatWasCutIsNotAskedForAgain(t *testing.T) {
	model := &fakeModel{respond: func(llm.Request) llm.Done {
		d := answered(`{"a": `)
		d.Stop = agent.StopMaxTokens
		return d
	}}
	s := newSession(t, Options{Model: model, Schema: json.RawMessage(`{"type":"object"}`)}, agent.SessionOptions{})
	r := send(t, s, "go")
	if !r.IsError || r.StopReason != agent.StopMaxTokens || !strings.Contains(r.ErrorReason, "max_tokens") || r.NumTurns != 1 {
		t.Errorf("the result is %+v", r)
	}
}

func TestCallsOfAResponseThatWasCutAreNotRun(t *testing.T) {
	model := &fakeModel{respond: func(llm.Request) llm.Done {
		d := calling("Looking.", llm.Call{ID: "a", Name: "lookup", Arguments: json.RawMessage(`"{\"que"`)})
		d.Stop = agent.StopMaxTokens
		return d
	}}
	s := newSession(t, Options{Model: model}, agent.SessionOptions{})
	r := send(t, s, "go")
	if !r.IsError || r.StopReason != agent.StopMaxTokens || r.Response != "Looking." || len(r.ToolResults) != 1 || !strings.HasPrefix(r.ToolResults[0].Result, "not run") {
		t.Errorf("the result is %+v", r)
	}
}

func TestAModelThatDoesNotFinishIsAnError(t *testing.T) {
	s := newSession(t, Options{Model: silent{}}, agent.SessionOptions{})
	_, err := agent.Collect(s.Send(t.Context(), agent.Text("go")))
	if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok || !strings.Contains(err.Error(), "without finishing") {
		t.Errorf("got %v", err)
	}
}

type silent struct{}

func (silent) Info() llm.Info { return llm.Info{Provider: "fake", Name: "silent"} }
func (silent) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(func(llm.Chunk, error) bool) {}
}

func TestDeadlinesNameTheKeyThatSetThem(t *testing.T) {
	hang := script.Script{Rules: []script.Rule{{Steps: []script.Step{{Block: true}}}}}
	tests := map[string]struct {
		limits  Limits
		session agent.Limits
		want    string
		after   time.Duration
	}{
		"model call": {
			limits: Limits{Model: turn.Deadline{After: time.Minute, Key: "execution.llm_timeout"}, Turn: turn.Deadline{After: time.Hour, Key: "execution.turn_timeout"}},
			want:   "model call (limit 1m0s, execution.llm_timeout) timed out", after: time.Minute,
		},
		"turn": {
			limits: Limits{Model: turn.Deadline{After: time.Hour, Key: "execution.llm_timeout"}, Turn: turn.Deadline{After: time.Minute, Key: "execution.turn_timeout"}},
			want:   "turn (limit 1m0s, execution.turn_timeout) timed out", after: time.Minute,
		},
		"session": {
			limits:  Limits{Model: turn.Deadline{After: time.Hour, Key: "execution.llm_timeout"}},
			session: agent.Limits{ModelTimeout: time.Second, TurnTimeout: time.Minute},
			want:    "model call (limit 1s, limit of the session) timed out", after: time.Second,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, Options{Model: scripted(t, hang), Limits: tt.limits}, agent.SessionOptions{Limits: tt.session})
				begin := time.Now()
				_, err := agent.Collect(s.Send(t.Context(), agent.Text("go")))
				if err == nil || err.Error() != "backend agent_framework: "+tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				if took := time.Since(begin); took != tt.after {
					t.Errorf("it took %s, want %s", took, tt.after)
				}
			})
		})
	}
}

func TestNoticesAreSaidOnceASession(t *testing.T) {
	model := &fakeModel{respond: func(llm.Request) llm.Done { return answered("ok") }}
	note := agent.Notice{Code: agent.NoticeSubstitute, Text: "standing in"}
	s := newSession(t, Options{Model: model, Notices: []agent.Notice{note}}, agent.SessionOptions{})
	for want := 1; want >= 0; want-- {
		if r := send(t, s, "hi"); len(r.Notices) != want {
			t.Errorf("the notices are %+v, want %d", r.Notices, want)
		}
	}
}

func TestAModelThatSeesNoImagesIsNotGivenAny(t *testing.T) {
	model := &fakeModel{respond: func(llm.Request) llm.Done { return answered("ok") }}
	s := newSession(t, Options{Model: model}, agent.SessionOptions{})
	for _, p := range []agent.Part{{Kind: agent.PartImage, Name: "a.png"}, {Kind: agent.PartDocument, Name: "b.pdf"}, {Kind: agent.PartOpaque}} {
		_, err := agent.Collect(s.Send(t.Context(), agent.Message{Parts: []agent.Part{p}}))
		if err == nil || !strings.Contains(err.Error(), p.Name) {
			t.Errorf("%s: got %v", p.Kind, err)
		}
	}
	model.capabilities = agent.Capabilities{Images: true, Documents: true}
	for _, p := range []agent.Part{{Kind: agent.PartImage, Name: "a.png"}, {Kind: agent.PartDocument, Name: "b.pdf"}} {
		if _, err := agent.Collect(s.Send(t.Context(), agent.Message{Parts: []agent.Part{p}})); err != nil {
			t.Errorf("%s: got %v", p.Kind, err)
		}
	}
}

func FuzzResume(f *testing.F) {
	f.Add([]byte(`{"schema":"holodeck.snapshot/v1","backend":"agent_framework","turns":1,"messages":[{"role":"user","parts":[{"kind":"text","text":"hi"}]},{"role":"assistant","calls":[{"id":"a","name":"lookup","arguments":{"query":"x"}}]},{"role":"tool","results":[{"call_id":"a","name":"lookup","result":{"parts":[{"kind":"text","text":"found"}]}}]}]}`))
	set, with := newToolSet(f, echoTool{})
	b, err := New(Options{Env: testEnv(), Backend: "agent_framework", Model: scripted(f, script.Script{}), Tools: set, ForSession: with})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return // a new conversation
		}
		s, err := b.NewSession(t.Context(), agent.SessionOptions{Resume: data})
		if err != nil {
			return
		}
		defer s.Close()
		// What was taken can be gone on with, and put away again.
		if _, err := agent.Collect(s.Send(t.Context(), agent.Text("hello"))); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again, err := b.NewSession(t.Context(), agent.SessionOptions{Resume: snap})
		if err != nil {
			t.Fatalf("our own snapshot was refused: %v", err)
		}
		again.Close()
	})
}

func BenchmarkTurnOfText(b *testing.B) {
	benchmarkTurn(b, script.Script{Rules: []script.Rule{{Steps: []script.Step{{Text: "Hello, "}, {Text: "world."}}}}})
}

func BenchmarkTurnWithTwoCalls(b *testing.B) {
	look := script.Step{Call: &script.Call{Name: "lookup", Args: `{"query":"x"}`}}
	benchmarkTurn(b, script.Script{Rules: []script.Rule{
		{When: script.When{Round: 1}, Steps: []script.Step{look, look}},
		{Steps: []script.Step{{Text: "Hello, "}, {Text: "world."}}},
	}})
}

// benchmarkTurn measures a session of one turn, so that no history grows.
func benchmarkTurn(b *testing.B, s script.Script) {
	set, with := newToolSet(b, echoTool{})
	backend, err := New(Options{Env: testEnv(), Backend: "agent_framework", Model: scripted(b, s), Tools: set, ForSession: with})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agent.RunOnce(b.Context(), backend, agent.Text("hello")); err != nil {
			b.Fatal(err)
		}
	}
}

// noticing is a model whose first response another model gave, after a wait.
type noticing struct{ fakeModel }

func (m *noticing) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if !yield(llm.Notice{Code: agent.NoticeWaiting, Text: "waiting"}, nil) {
			return
		}
		for c, err := range m.fakeModel.Stream(ctx, req) {
			if !yield(c, err) {
				return
			}
		}
	}
}

func TestWhatHappensAroundACallIsTold(t *testing.T) {
	m := &noticing{fakeModel{respond: func(llm.Request) llm.Done {
		d := answered("Hello.")
		d.Provider, d.Model = "fake", "stand-in"
		return d
	}}}
	r := send(t, newSession(t, Options{Model: m}, agent.SessionOptions{}), "hi")
	if len(r.Notices) != 1 || r.Notices[0].Code != agent.NoticeWaiting || r.Notices[0].Text != "waiting" {
		t.Errorf("the notices are %+v", r.Notices)
	}
	if r.Model != "stand-in" || r.Response != "Hello." {
		t.Errorf("%s answered %q", r.Model, r.Response)
	}
}

func TestEveryCallHasItsPlaceInTheSession(t *testing.T) {
	m := &fakeModel{respond: func(req llm.Request) llm.Done {
		if req.Ordinal == 1 {
			return calling("", llm.Call{ID: "c", Name: "none", Arguments: json.RawMessage("{}")})
		}
		return answered("Done.")
	}}
	s := newSession(t, Options{Model: m}, agent.SessionOptions{ID: "s"})
	send(t, s, "one")
	send(t, s, "two")
	var got []string
	for _, req := range m.requests {
		got = append(got, fmt.Sprintf("%s %d.%d", req.Session, req.Turn, req.Ordinal))
	}
	if want := []string{"s 1.1", "s 1.2", "s 2.1", "s 2.2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
}

func TestWhatRunsSideBySideHasAScopeOfItsOwn(t *testing.T) {
	var scopes sync.Map
	env := testEnv()
	env.Scopes = func(name string) agent.Env {
		scopes.Store(name, true)
		inner := testEnv()
		inner.Scopes = func(inside string) agent.Env {
			scopes.Store(name+"/"+inside, true)
			return testEnv()
		}
		return inner
	}
	m := &fakeModel{respond: func(req llm.Request) llm.Done {
		if req.Ordinal == 1 {
			return calling("", llm.Call{ID: "a", Name: "none", Arguments: json.RawMessage("{}")}, llm.Call{ID: "b", Name: "none", Arguments: json.RawMessage("{}")})
		}
		return answered("Done.")
	}}
	set, with := newToolSet(t)
	b, err := New(Options{Env: env, Backend: "agent_framework", Model: m, Tools: set, ForSession: with})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	s, err := b.NewSession(t.Context(), agent.SessionOptions{ID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	send(t, s, "hi")
	for _, want := range []string{"s", "s/tool 1.1", "s/tool 1.2"} {
		if _, ok := scopes.Load(want); !ok {
			t.Errorf("nothing was taken from scope %q", want)
		}
	}
}
