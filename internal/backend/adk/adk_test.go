//go:build !noadk

package adk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	adksession "google.golang.org/adk/v2/session"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// puppet is a model that answers as a function says, and keeps what it was asked.
type puppet struct {
	provider, name string
	respond        func(context.Context, llm.Request) ([]llm.Chunk, error)

	mu       sync.Mutex
	requests []llm.Request
}

func (m *puppet) Info() llm.Info {
	return llm.Info{Provider: m.provider, Name: m.name, Capabilities: agent.Capabilities{Streaming: true, Thinking: true, StructuredOutput: true, Cost: true}}
}

func (m *puppet) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, req)
		m.mu.Unlock()
		chunks, err := m.respond(ctx, req)
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// says is a response of those pieces of text, which may ask for tools.
func says(text []string, calls ...llm.Call) []llm.Chunk {
	var chunks []llm.Chunk
	for _, s := range text {
		chunks = append(chunks, llm.Text(s))
	}
	return append(chunks, llm.Done{
		Message: llm.Message{Parts: agent.Text(strings.Join(text, "")).Parts, Calls: calls},
		Stop:    agent.StopEnd, Usage: agent.Usage{Prompt: 2, Completion: 1, Total: 3}, CostUSD: new(0.25),
	})
}

// always answers alike.
func always(chunks ...llm.Chunk) func(context.Context, llm.Request) ([]llm.Chunk, error) {
	return func(context.Context, llm.Request) ([]llm.Chunk, error) { return chunks, nil }
}

// look is a tool of any name.
type look struct{ name string }

func (l look) Definition() agent.Definition {
	return agent.Definition{Name: l.name, Description: "Looks.", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (l look) Call(context.Context, json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult("saw it"), nil
}

// open opens an agent with a google_adk section.
func open(t *testing.T, m llm.Model, section string, tools ...agent.Tool) *Backend {
	t.Helper()
	dir := t.TempDir()
	text := "name: help-desk\ninstructions: {inline: i}\nmodel: {provider: offline, name: x}\nbackend: google_adk\n" + section
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(dir, config.Options{WorkDir: dir})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, err := tool.New(testEnv(), tools...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(a, loop.Options{Env: testEnv(), Backend: "google_adk", Model: m, Tools: set, System: "Answer {kindly}, {braces?} and all."})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), set.Close()); err != nil {
			t.Error(err)
		}
	})
	return b.(*Backend)
}

func begin(t *testing.T, b *Backend, o agent.SessionOptions) *session {
	t.Helper()
	s, err := b.NewSession(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.(*session)
}

func send(t *testing.T, s agent.Session, text string) agent.Result {
	t.Helper()
	r, err := agent.Collect(s.Send(t.Context(), agent.Text(text)))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}

func TestModelsAreNamedAsADKNamesThem(t *testing.T) {
	for _, tt := range []struct{ provider, name, want string }{
		{"google", "gemini-2.5-flash", "gemini-2.5-flash"},
		{"openai", "gpt-4o", "openai/gpt-4o"},
		{"azure_openai", "my-deployment", "azure/my-deployment"},
		{"anthropic", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"},
		{"ollama", "llama3.1", "ollama/llama3.1"},
		{"offline", "scripted", "scripted"},
	} {
		b := open(t, &puppet{provider: tt.provider, name: tt.name, respond: always(says([]string{"Hello."})...)}, "")
		if got := (bridge{b}).Name(); got != tt.want {
			t.Errorf("%s %s is %s inside of ADK, want %s", tt.provider, tt.name, got, tt.want)
		}
		if r := send(t, begin(t, b, agent.SessionOptions{}), "hi"); r.Model != tt.want || r.Provider != tt.provider {
			t.Errorf("%s %s is reported as %s %s, want %s", tt.provider, tt.name, r.Provider, r.Model, tt.want)
		}
	}
}

func TestNamesThatADKRefusesAreAdapted(t *testing.T) {
	for name, want := range map[string]string{
		"desk": "desk", "help-desk": "help_desk", "Büro 7": "B_ro_7", "7even": "agent_7even", "": "agent_", "user": "agent_user", "START": "agent_START",
	} {
		if got := agentName(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}

func TestNamesThatMeanSomethingToADKAreToolsLikeAnyOther(t *testing.T) {
	names := []string{"set_model_response", "stop_streaming", "transfer_to_agent", "finish_task", "task_completed", "adk_request_confirmation", "adk_request_credential", "adk_request_input"}
	for _, there := range []bool{true, false} {
		for _, name := range names {
			m := &puppet{provider: "google", name: "g", respond: func(_ context.Context, req llm.Request) ([]llm.Chunk, error) {
				if req.Ordinal == 1 {
					return says(nil, llm.Call{Name: name, Arguments: json.RawMessage(`{}`)}), nil
				}
				return says([]string{"Done."}), nil
			}}
			tools, want := []agent.Tool{look{name}}, "saw it"
			if !there {
				tools, want = []agent.Tool{look{"other"}}, fmt.Sprintf("Error: there is no tool called %q; there are: other", name)
			}
			r := send(t, begin(t, open(t, m, "", tools...), agent.SessionOptions{}), "go")
			if len(r.ToolResults) != 1 || r.ToolResults[0].Name != name || r.ToolResults[0].Result != want || r.Response != "Done." {
				t.Errorf("%s: the result is %+v", name, r)
			}
			read := m.requests[1].Messages
			if len(read) != 3 || len(read[2].Results) != 1 || read[2].Results[0].Result.Text() != want {
				t.Errorf("%s: the model then reads %+v", name, read)
			}
		}
	}
}

func TestTextIsStreamedAsTheSectionSaysAndToldOnce(t *testing.T) {
	respond := always(append([]llm.Chunk{llm.Thinking("Let "), llm.Thinking("me see.")}, says([]string{"One, ", "two."})...)...)
	for section, want := range map[string]string{
		"":                                     "think:Let me see. text:One, two.",
		"google_adk: {streaming_mode: none}\n": "think:Let me see. text:One, two.",
		"google_adk: {streaming_mode: sse}\n":  "think:Let  think:me see. text:One,  text:two.",
	} {
		b := open(t, &puppet{provider: "google", name: "g", respond: respond}, section)
		if got := b.Capabilities().Streaming; got != strings.Contains(section, "sse") {
			t.Errorf("%q: it says that it streams: %t", section, got)
		}
		var told []string
		for e, err := range begin(t, b, agent.SessionOptions{}).Send(t.Context(), agent.Text("hi")) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case agent.TextDelta:
				told = append(told, "text:"+e.Text)
			case agent.ThinkingDelta:
				told = append(told, "think:"+e.Text)
			}
		}
		if got := strings.Join(told, " "); got != want {
			t.Errorf("%q: it tells %q, want %q", section, got, want)
		}
	}
}

func TestWhatCameBeforeAFailureIsTold(t *testing.T) {
	for _, mode := range []string{"none", "sse"} {
		m := &puppet{provider: "google", name: "g", respond: func(context.Context, llm.Request) ([]llm.Chunk, error) {
			return []llm.Chunk{llm.Notice{Code: agent.NoticeWaiting, Text: "wait"}, llm.Text("as far "), llm.Text("as")}, errors.New("the line is dead")
		}}
		s := begin(t, open(t, m, "google_adk: {streaming_mode: "+mode+"}\n"), agent.SessionOptions{})
		r, err := agent.Collect(s.Send(t.Context(), agent.Text("hi")))
		if r.Response != "as far as" || len(r.Notices) != 1 || err == nil || err.Error() != "backend google_adk: the line is dead" {
			t.Errorf("%s: it says %+v, %v", mode, r, err)
		}
	}
}

func TestTheAnswerIsReadFromTheStateOfItsOwnTurn(t *testing.T) {
	for _, section := range []string{"", "google_adk: {output_key: answer}\n", "google_adk: {output_key: 'temp:answer'}\n", "google_adk: {output_key: 'user:answer'}\n", "google_adk: {output_key: ''}\n"} {
		m := &puppet{provider: "google", name: "g", respond: func(_ context.Context, req llm.Request) ([]llm.Chunk, error) {
			switch {
			case req.Turn == 2:
				return says(nil), nil
			case req.Ordinal == 1:
				return says([]string{"Looking."}, llm.Call{Name: "look", Arguments: json.RawMessage(`{}`)}), nil
			}
			return says([]string{"Shelf ", "four."}), nil
		}}
		s := begin(t, open(t, m, section, look{"look"}), agent.SessionOptions{})
		if r := send(t, s, "where"); r.Response != "Shelf four." || r.NumTurns != 2 || r.Usage.Total != 6 {
			t.Errorf("%q: the answer is %+v", section, r)
		}
		if key := s.backend.outputKey; key != "" && !strings.HasPrefix(key, "temp:") {
			stored, err := s.stored(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := stored.State().Get(key); err != nil || got != "Shelf four." {
				t.Errorf("%q: the state has %v, %v", section, got, err)
			}
		}
		if r := send(t, s, "and"); r.Response != "" || r.StopReason != agent.StopEmpty || !r.IsError {
			t.Errorf("%q: the model says nothing, and the answer is %+v", section, r)
		}
	}
}

func TestThoughtsAloneAreNoAnswerToADK(t *testing.T) {
	thoughts := llm.Done{Message: llm.Message{Parts: []agent.Part{{Kind: agent.PartThinking, Text: "Hm."}}}, Stop: agent.StopEnd}
	m := &puppet{provider: "google", name: "g", respond: func(_ context.Context, req llm.Request) ([]llm.Chunk, error) {
		if req.Ordinal == 1 {
			return []llm.Chunk{llm.Thinking("Hm."), thoughts}, nil
		}
		return says([]string{"Yes."}), nil
	}}
	b := open(t, m, "")
	s := begin(t, b, agent.SessionOptions{})
	if r := send(t, s, "well?"); r.Response != "Yes." || r.NumTurns != 2 || r.Thinking != "Hm." {
		t.Errorf("the result is %+v", r)
	}
	last := m.requests[1].Messages
	if m := last[len(last)-1]; m.Role != llm.RoleUser || !m.Auto {
		t.Errorf("ADK has the model go on by %+v", m)
	}
	// What ADK said is no part of the conversation.
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	past, err := dialog.ReadSnapshot(snap, "google_adk")
	if err != nil || len(past.Messages) != 3 {
		t.Errorf("the snapshot is %s, %v", snap, err)
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	m := &puppet{provider: "google", name: "g", respond: func(_ context.Context, req llm.Request) ([]llm.Chunk, error) {
		if req.Ordinal == 1 {
			return says(nil, llm.Call{ID: "a", Name: "look"}, llm.Call{ID: "a", Name: "look"}), nil
		}
		return says([]string{agent.JoinText(req.Messages[0].Parts)}), nil
	}}
	b := open(t, m, "google_adk: {streaming_mode: sse}\n", look{"look"})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			s, err := b.NewSession(t.Context(), agent.SessionOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 2 {
				if r, err := agent.Collect(s.Send(t.Context(), agent.Text(fmt.Sprint(i)))); err != nil || r.Response != fmt.Sprint(i) || len(r.ToolResults) != 2 {
					t.Errorf("session %d: %+v, %v", i, r, err)
				}
			}
		})
	}
	all.Wait()
}

func TestCloseDeletesADKsSession(t *testing.T) {
	b := open(t, &puppet{provider: "google", name: "g", respond: always(says([]string{"Hello."})...)}, "")
	s := begin(t, b, agent.SessionOptions{})
	send(t, s, "hi")
	list := func() int {
		got, err := s.service.List(t.Context(), &adksession.ListRequest{AppName: b.agent.Name()})
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Sessions)
	}
	if list() != 1 {
		t.Fatalf("ADK has %d sessions, want 1", list())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if list() != 0 {
		t.Errorf("after Close ADK has %d sessions", list())
	}
}

func TestUsersAndSessionsAreTheirOwn(t *testing.T) {
	b := open(t, &puppet{provider: "google", name: "g", respond: always(says([]string{"Hello."})...)}, "")
	one, two := begin(t, b, agent.SessionOptions{ID: "mine"}), begin(t, b, agent.SessionOptions{ID: "mine"})
	if one.user == two.user || len(one.user) != 26 {
		t.Errorf("the users are %s and %s", one.user, two.user)
	}
	send(t, one, "hi")
	if e, err := two.stored(t.Context()); err != nil || e.Events().Len() != 0 {
		t.Errorf("what one session said is in another, %v", err)
	}
}

func TestAnAgentWithoutOpenToolsIsRefused(t *testing.T) {
	_, err := Open(&config.Agent{Name: "a"}, loop.Options{Env: testEnv(), Backend: "google_adk", Model: &puppet{provider: "google", name: "g"}})
	if _, ok := errors.AsType[*agent.BackendInitError](err); !ok || !strings.Contains(err.Error(), "not open") {
		t.Errorf("got %v", err)
	}
}

func TestGeminiRunsCodeWhereItIsAskedTo(t *testing.T) {
	for section, want := range map[string]bool{"": false, "google_adk: {code_execution: false}\n": false, "google_adk: {code_execution: true}\n": true} {
		m := &puppet{provider: "google", name: "g", respond: always(says([]string{"42."})...)}
		send(t, begin(t, open(t, m, section, look{"look"}), agent.SessionOptions{}), "6*7")
		if got := m.requests[0]; got.CodeExecution != want || len(got.Tools) != 1 {
			t.Errorf("%q: the model is asked for code: %t, with %d tools", section, got.CodeExecution, len(got.Tools))
		}
	}
}
