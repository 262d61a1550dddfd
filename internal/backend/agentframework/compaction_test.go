package agentframework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// conversation makes a history of words: "p1" is a message of a person's, "a1" an
// answer, "c1" a response that calls a tool and its result, "r1" a request to
// correct an answer.
func conversation(words string) []llm.Message {
	var history []llm.Message
	for w := range strings.FieldsSeq(words) {
		parts := agent.Text(w).Parts
		switch w[0] {
		case 'p':
			history = append(history, llm.Message{Role: llm.RoleUser, Parts: parts})
		case 'r':
			history = append(history, llm.Message{Role: llm.RoleUser, Auto: true, Parts: parts})
		case 'a':
			history = append(history, llm.Message{Role: llm.RoleAssistant, Parts: parts})
		case 'c':
			history = append(history,
				llm.Message{Role: llm.RoleAssistant, Parts: parts, Calls: []llm.Call{{ID: w, Name: "kb_search", Arguments: json.RawMessage(`{"query":"` + w + `"}`)}}},
				llm.Message{Role: llm.RoleTool, Results: []llm.Result{{CallID: w, Name: "kb_search", Result: agent.TextResult("found " + w)}}})
		}
	}
	return history
}

// spell is the reverse of conversation; a summary is spelled as it is, in
// brackets.
func spell(history []llm.Message) string {
	var words []string
	for i, m := range history {
		text := agent.JoinText(m.Parts)
		switch {
		case m.Role == llm.RoleTool:
			if i == 0 || len(history[i-1].Calls) != 1 || m.Results[0].CallID != history[i-1].Calls[0].ID {
				words = append(words, "A RESULT WITHOUT ITS CALL")
			}
			continue
		case strings.HasPrefix(text, summaryHead):
			text = "[" + strings.TrimPrefix(text, summaryHead) + "]"
		}
		if len(m.Calls) > 0 && (i == len(history)-1 || history[i+1].Role != llm.RoleTool) {
			text = "A CALL WITHOUT ITS RESULT"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

func TestSlidingWindow(t *testing.T) {
	tests := []struct {
		keep          int
		history, want string // an empty want leaves the conversation as it is
		gone          int
	}{
		{4, "p1 a1 p2", "", 0},
		{4, "p1 a1 p2 a2", "", 0},
		{4, "p1 a1 p2 a2 p3", "p2 a2 p3", 2}, // a1 is the answer to a question that is gone
		{3, "p1 a1 p2 a2 p3", "p2 a2 p3", 2},
		{2, "p1 c1 a1 p2 c2", "p2 c2", 3},
		{3, "p1 c1 a1 p2 c2", "p2 c2", 3},
		{2, "p1 a1 p2 c2 c3 c4", "p2 c3 c4", 3}, // the question of the turn stays
		{1, "p1 c1 c2", "p1 c2", 1},
		{1, "p1", "", 0},
		{1, "p1 c1", "", 0}, // there is nothing to forget
		{2, "p1 a1 p2 a2 r2", "p2 a2 r2", 2},
		{20, "p1 a1 p2 a2 p3", "", 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d of %s", tt.keep, tt.history), func(t *testing.T) {
			history := conversation(tt.history)
			got, done, err := slidingWindow{tt.keep}.Compact(t.Context(), history, nil)
			if err != nil || spell(got) != tt.want || (got == nil) != (tt.want == "") {
				t.Errorf("it keeps %q, %v; want %q", spell(got), err, tt.want)
			}
			if tt.want != "" && !strings.Contains(done, fmt.Sprintf("the oldest %d of its", tt.gone)) {
				t.Errorf("it says %q, want that %d are gone", done, tt.gone)
			}
			if spell(history) != tt.history {
				t.Errorf("the conversation itself became %q", spell(history))
			}
		})
	}
}

func TestSummarization(t *testing.T) {
	tests := []struct {
		keep, slack   int
		history, want string
		old           string // what is summed up, in order
	}{
		{2, 1, "p1 a1 p2", "", ""},
		{2, 1, "p1 a1 p2 a2", "[S] p2 a2", "p1 a1"},
		{2, 0, "p1 a1 p2", "[S] a1 p2", "p1"},
		{2, 2, "p1 a1 p2 a2", "", ""},
		{2, 0, "p1 c1 a1 p2", "[S] a1 p2", "p1 c1"},
		{1, 0, "p1 a1 p2 c1 c2", "[S] p2 c2", "p1 a1 c1"}, // the question of the turn stays
		{1, 0, "p1 c1", "", ""},                           // there is nothing to sum up
		{4, 2, "p1 a1 p2 a2 p3 a3", "", ""},
		{4, 2, "p1 a1 p2 a2 p3 a3 p4", "[S] a2 p3 a3 p4", "p1 a1 p2"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d+%d of %s", tt.keep, tt.slack, tt.history), func(t *testing.T) {
			history := conversation(tt.history)
			asked := ""
			got, _, err := summarization{tt.keep, tt.slack}.Compact(t.Context(), history, func(_ context.Context, _ string, q agent.Message) (string, error) {
				asked = q.Text()
				return " S\n", nil
			})
			if err != nil || spell(got) != tt.want || (got == nil) != (tt.want == "") {
				t.Errorf("it keeps %q, %v; want %q", spell(got), err, tt.want)
			}
			if spell(history) != tt.history {
				t.Errorf("the conversation itself became %q", spell(history))
			}
			at := 0
			for w := range strings.FieldsSeq(tt.old) {
				i := strings.Index(asked[at:], w)
				if i < 0 {
					t.Fatalf("%s is not, or not in its place, in what is summed up: %q", w, asked)
				}
				at += i
			}
			for w := range strings.FieldsSeq(tt.want) {
				if w != "[S]" && strings.Contains(asked, w) {
					t.Errorf("%s stays, and is summed up: %q", w, asked)
				}
			}
		})
	}
}

func TestASummaryTakesInTheOneBefore(t *testing.T) {
	var asked []string
	ask := func(_ context.Context, system string, q agent.Message) (string, error) {
		if system != summaryRequest {
			t.Errorf("the request is %q", system)
		}
		asked = append(asked, q.Text())
		return fmt.Sprintf("S%d", len(asked)), nil
	}
	s := summarization{keep: 1, slack: 1}
	history, _, err := s.Compact(t.Context(), conversation("p1 c1 p2"), ask)
	if err != nil || spell(history) != "[S1] p2" {
		t.Fatalf("it keeps %q, %v", spell(history), err)
	}
	// The summary is none of the groups that count.
	history = append(history, conversation("a2")...)
	if got, _, err := s.Compact(t.Context(), history, ask); got != nil || err != nil {
		t.Fatalf("it keeps %q, %v", spell(got), err)
	}
	history, _, err = s.Compact(t.Context(), append(history, conversation("p3")...), ask)
	if err != nil || spell(history) != "[S2] p3" {
		t.Fatalf("it keeps %q, %v", spell(history), err)
	}
	want := transcriptHead + ":\n\n" + summaryHead + "S1\n\nPerson: p2\n\nAssistant: a2"
	if asked[1] != want {
		t.Errorf("it was asked to sum up\n%s\nwant\n%s", asked[1], want)
	}
	if !strings.Contains(asked[0], `Call of kb_search: {"query":"c1"}`) || !strings.Contains(asked[0], "Result of kb_search: found c1") {
		t.Errorf("calls and results are not in what is summed up: %s", asked[0])
	}
}

func TestASummaryThatCannotBeHad(t *testing.T) {
	history := conversation("p1 a1 p2 a2")
	s := summarization{keep: 1}
	for name, ask := range map[string]loop.Ask{
		"failed": func(context.Context, string, agent.Message) (string, error) { return "", errors.New("no") },
		"empty":  func(context.Context, string, agent.Message) (string, error) { return " \n", nil },
	} {
		if got, _, err := s.Compact(t.Context(), history, ask); got != nil || err == nil {
			t.Errorf("%s: it keeps %q, %v", name, spell(got), err)
		}
	}
}

func TestImagesAreNamedInASummary(t *testing.T) {
	got := words([]agent.Part{
		{Kind: agent.PartText, Text: "See this:"}, {Kind: agent.PartImage, Name: "a.png"}, {Kind: agent.PartDocument},
		{Kind: agent.PartThinking, Text: "hm"}, {Kind: agent.PartOpaque},
	})
	if want := "See this:\n\n[image a.png]\n\n[document]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzCompaction holds both strategies to what a Compactor promises, whatever the
// conversation.
func FuzzCompaction(f *testing.F) {
	f.Add("papcap", 2, 1)
	f.Add("pcccccc", 1, 0)
	f.Add("parap", 3, 0)
	f.Fuzz(func(t *testing.T, shape string, keep, slack int) {
		if len(shape) > 200 {
			return
		}
		var words []string
		last := ""
		for i, c := range "p" + shape {
			if strings.ContainsRune("parc", c) {
				words = append(words, fmt.Sprintf("%c%d", c, i))
				if c == 'p' {
					last = words[len(words)-1]
				}
			}
		}
		history := conversation(strings.Join(words, " "))
		keep, slack = 1+abs(keep)%30, abs(slack)%30
		ask := func(context.Context, string, agent.Message) (string, error) { return "S", nil }
		for _, c := range []loop.Compactor{slidingWindow{keep}, summarization{keep, slack}} {
			got, _, err := c.Compact(t.Context(), history, ask)
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				continue
			}
			text := spell(got)
			if strings.Contains(text, "WITHOUT") || !strings.Contains(" "+text+" ", " "+last+" ") {
				t.Errorf("%T makes %q of %q", c, text, words)
			}
			if first := got[0]; first.Role != llm.RoleUser {
				t.Errorf("%T begins with a message of role %s", c, first.Role)
			}
			if len(got) > len(history) {
				t.Errorf("%T makes %d messages of %d", c, len(got), len(history))
			}
			if again, _, _ := c.Compact(t.Context(), got, ask); again != nil {
				t.Errorf("%T is not done: %q becomes %q", c, text, spell(again))
			}
		}
	})
}

func abs(n int) int {
	if n < 0 {
		n = -(n + 1)
	}
	return n
}
