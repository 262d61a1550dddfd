package cli

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// under is the header of a sub-agent's event.
func under(call string) agent.Header { return agent.Header{Parent: call} }

func TestMaskTurnMasksEveryText(t *testing.T) {
	const canary = "hunter2-hunter2"
	r := secret.NewRedactor([]string{canary})
	boom := errors.New("boom")
	whole := []agent.Event{
		agent.ThinkingDelta{Text: "hm hunter2"}, agent.TextDelta{Text: "It is hunter2-"}, agent.ThinkingDelta{Text: "-hunter2."},
		agent.TextDelta{Text: "hunter2"}, agent.TextDelta{Head: under("a"), Text: "inner hunter2-"},
		agent.Notice{Text: "see " + canary}, agent.TextDelta{Text: " or so"},
		agent.ModelCall{FinishReason: canary},
		agent.TextDelta{Head: under("a"), Text: "hunter2"}, agent.ModelCall{Head: under("a")},
		agent.ToolCallStarted{CallID: canary, Name: canary, Arguments: json.RawMessage(`{"a": "` + canary + `", "` + canary + `": "hunter2\u002dhunter2"}`)},
		agent.ToolCallStarted{CallID: "b", Name: "x", Arguments: json.RawMessage(`not JSON: ` + canary)},
		agent.ToolCallFinished{CallID: canary, Name: canary, Err: canary, Result: agent.ToolResult{
			Parts: []agent.Part{{Kind: agent.PartText, Text: canary}}, Structured: json.RawMessage(`"` + canary + `"`),
			Passages: []agent.Passage{{ID: canary, Text: canary, Source: canary, Metadata: map[string]string{"k": canary}}},
		}},
		agent.TurnFinished{Response: "It is " + canary + " or so", Structured: json.RawMessage(`["` + canary + `"]`), Reason: canary},
	}
	for cut := range len(whole) + 1 { // the turn may fail after any event
		var (
			types, masked []string
			texts         = map[string]string{}
			failed        error
		)
		for e, err := range maskTurn(r, turnOf(whole[:cut], boom)) {
			if failed = err; err != nil {
				break
			}
			data, err := agent.MarshalEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			types, masked = append(types, e.Type()), append(masked, string(data))
			switch e := e.(type) {
			case agent.TextDelta:
				texts["text "+e.Head.Parent] += e.Text
			case agent.ThinkingDelta:
				texts["thinking "+e.Head.Parent] += e.Text
			}
		}
		if !errors.Is(failed, boom) {
			t.Errorf("after %d events it ended in %v", cut, failed)
		}
		var want []string
		for _, e := range whole[:cut] {
			want = append(want, e.Type())
		}
		if !reflect.DeepEqual(types, want) {
			t.Errorf("after %d events it had %v, want %v", cut, types, want)
		}
		if all := strings.Join(masked, "\n") + texts["text "] + texts["text a"] + texts["thinking "]; strings.Contains(all, canary) {
			t.Errorf("after %d events it showed the secret: %s", cut, all)
		}
		if cut < len(whole) {
			continue
		}
		if want := map[string]string{"text ": "It is [redacted] or so", "thinking ": "hm [redacted].", "text a": "inner [redacted]"}; !reflect.DeepEqual(texts, want) {
			t.Errorf("the texts are %q, want %q", texts, want)
		}
	}
}

func TestMaskTurnStopsWithItsReader(t *testing.T) {
	n := 0
	for range maskTurn(nil, turnOf([]agent.Event{agent.TextDelta{Text: "a "}, agent.TextDelta{Text: "b "}}, nil)) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("the reader got %d events", n)
	}
}

func TestMaskTurnShowsWhatNeedNotWait(t *testing.T) {
	shown := 0
	for range maskTurn(nil, func(yield func(agent.Event, error) bool) {
		if !yield(agent.TextDelta{Text: "one "}, nil) || shown != 1 {
			t.Errorf("%d deltas were shown when the first had come, want 1", shown)
		}
		if !yield(agent.TextDelta{Text: "two"}, nil) || shown != 1 {
			t.Errorf("%d deltas were shown when a word was under way, want 1", shown)
		}
		if !yield(agent.TextDelta{Text: "fold three"}, nil) || shown != 2 {
			t.Errorf("%d deltas were shown when the word had ended, want 2", shown)
		}
	}) {
		shown++
	}
	if shown != 3 {
		t.Errorf("%d deltas were shown, want 3", shown)
	}
}
