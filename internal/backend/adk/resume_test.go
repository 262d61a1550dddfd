//go:build !noadk

package adk

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// past is a conversation with everything that could get lost: ids that are used
// again in a later turn, calls that were cancelled, parts for their provider alone,
// requests that nobody said, responses of nothing.
func past() []llm.Message {
	result := func(id, text string) llm.Result {
		return llm.Result{CallID: id, Name: "look", Result: agent.TextResult(text)}
	}
	cancelled := dialog.Cancelled([]llm.Call{{ID: "b", Name: "look"}})[0]
	return []llm.Message{
		{Role: llm.RoleUser, Parts: agent.Text("one").Parts},
		{Role: llm.RoleAssistant, Parts: []agent.Part{
			{Kind: agent.PartThinking, Text: "Hm.", Provider: "google", Opaque: json.RawMessage(`"seal"`)}, {Kind: agent.PartText, Text: "Looking."},
		}, Calls: []llm.Call{
			{ID: "a", Name: "look", Arguments: json.RawMessage(`{"n":9007199254740993}`), Opaque: json.RawMessage(`{"id":"g"}`)},
			{ID: "b", Name: "look", Arguments: json.RawMessage(`"{"`)},
		}},
		{Role: llm.RoleTool, Results: []llm.Result{result("a", "saw one"), cancelled}},
		{Role: llm.RoleUser, Parts: []agent.Part{{Kind: agent.PartImage, MIME: "image/png", Data: []byte{1}}}},
		{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "a", Name: "look", Arguments: json.RawMessage(`{}`)}}},
		{Role: llm.RoleTool, Results: []llm.Result{result("a", "saw another")}},
		{Role: llm.RoleAssistant},
		{Role: llm.RoleUser, Auto: true, Parts: agent.Text("Answer again.").Parts},
		{Role: llm.RoleAssistant, Parts: []agent.Part{{Kind: agent.PartOpaque, Provider: "google", Opaque: json.RawMessage(`"s"`)}}},
	}
}

func TestNothingOfAConversationIsLostInADK(t *testing.T) {
	snap, err := dialog.Snapshot{Backend: "google_adk", Turns: 2, SpentUSD: 0.5, Used: map[string]int{"look": 3}, Messages: past()}.Write()
	if err != nil {
		t.Fatal(err)
	}
	m := &puppet{provider: "google", name: "g", respond: always(says([]string{"Done."})...)}
	s := begin(t, open(t, m, "", look{"look"}), agent.SessionOptions{Resume: snap})
	again, err := s.Snapshot(t.Context())
	if err != nil || string(again) != string(snap) {
		t.Errorf("the snapshot is\n%s, %v\nwant\n%s", again, err, snap)
	}
	r := send(t, s, "two")
	want := append(past(), llm.Message{Role: llm.RoleUser, Parts: agent.Text("two").Parts})
	if got := m.requests[0]; !reflect.DeepEqual(got.Messages, want) || got.Turn != 3 {
		t.Errorf("in turn %d the model reads\n%+v\nwant\n%+v", got.Turn, got.Messages, want)
	}
	if r.Response != "Done." || s.spentUSD != 0.75 {
		t.Errorf("the answer is %+v, and the session has spent %g", r, s.spentUSD)
	}
}

func FuzzResume(f *testing.F) {
	snap, err := dialog.Snapshot{Backend: "google_adk", Turns: 1, Messages: past()}.Write()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(snap))
	f.Add([]byte(`{"schema":"holodeck.snapshot/v1","backend":"google_adk","turns":1,"messages":[{"role":"user"},{"role":"assistant","parts":[{"kind":"thinking","text":"x"}]}]}`))
	set, err := tool.New(testEnv())
	if err != nil {
		f.Fatal(err)
	}
	m := &puppet{provider: "google", name: "g", respond: always(says([]string{"Done."})...)}
	b, err := Open(&config.Agent{Name: "a"}, loop.Options{Env: testEnv(), Backend: "google_adk", Model: m, Tools: set})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := errors.Join(b.Close(), set.Close()); err != nil {
			f.Error(err)
		}
	})
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
		if read, _ := dialog.ReadSnapshot(data, "google_adk"); len(m.last().Messages) != len(read.Messages)+1 {
			t.Errorf("of %d messages and one more the model reads %d", len(read.Messages), len(m.last().Messages))
		}
		again, err := b.NewSession(t.Context(), agent.SessionOptions{Resume: snap})
		if err != nil {
			t.Fatalf("our own snapshot was refused: %v", err)
		}
		again.Close()
	})
}

// last is what the model was asked last.
func (m *puppet) last() llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[len(m.requests)-1]
}
