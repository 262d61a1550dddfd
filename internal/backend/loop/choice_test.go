package loop

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// chooser is a Selector that a function is, and that keeps what it was asked.
type chooser struct {
	choose func(Situation) ([]string, error)
	asked  []Situation
}

func (c *chooser) Select(_ context.Context, s Situation) ([]string, error) {
	used := map[string]int{} // as it is now
	for name, n := range s.Used {
		used[name] = n
	}
	s.Used = used
	c.asked = append(c.asked, s)
	return c.choose(s)
}

// offered returns the names of the tools a request offers.
func offered(req llm.Request) []string {
	names := []string{}
	for _, d := range req.Tools {
		names = append(names, d.Name)
	}
	return names
}

func TestATurnOffersTheToolsThatWereChosen(t *testing.T) {
	set, with := newToolSet(t, echoTool{}, renamed{echoTool{}, "order"}, renamed{echoTool{}, "other"})
	model := &fakeModel{respond: func(req llm.Request) llm.Done {
		if req.Ordinal == 1 && req.Turn == 1 {
			return calling("", llm.Call{Name: "t-order", Arguments: json.RawMessage(`{"query":"x"}`)})
		}
		return answered("Done.")
	}}
	sel := &chooser{choose: func(s Situation) ([]string, error) {
		if s.Message == "second" {
			return nil, nil
		}
		return []string{"other", "no such tool", "lookup"}, nil
	}}
	s := newSession(t, Options{
		Model: model, Tools: set, ForSession: with, Selector: sel,
		WireName: func(d agent.Definition) string { return "t-" + d.Name },
	}, agent.SessionOptions{ID: "s"})
	first := send(t, s, "first")
	if got := first.ToolResults; len(got) != 1 || got[0].IsError {
		t.Errorf("a tool that was not offered and was called gave %+v", got)
	}
	send(t, s, "second")
	var got [][]string
	for _, req := range model.requests {
		got = append(got, offered(req))
	}
	if want := [][]string{{"t-lookup", "t-other"}, {"t-lookup", "t-other"}, {}}; !reflect.DeepEqual(got, want) {
		t.Errorf("the calls offered %v, want %v: in the order of the agent, for the whole turn", got, want)
	}
	if len(sel.asked) != 2 {
		t.Fatalf("the selector was asked %d times in two turns", len(sel.asked))
	}
	a := sel.asked[1]
	if a.Session != "s" || a.Turn != 2 || a.Message != "second" || len(a.Tools) != 3 || !reflect.DeepEqual(a.Used, map[string]int{"order": 1}) {
		t.Errorf("the second choice was made by %+v", a)
	}
}

func TestWhatASessionUsedOutlivesASnapshot(t *testing.T) {
	set, with := newToolSet(t, echoTool{})
	sel := &chooser{choose: func(Situation) ([]string, error) { return []string{"lookup"}, nil }}
	model := &fakeModel{respond: func(req llm.Request) llm.Done {
		if req.Ordinal == 1 {
			return calling("", llm.Call{Name: "lookup", Arguments: json.RawMessage(`{"query":"x"}`)})
		}
		return answered("Done.")
	}}
	o := Options{Model: model, Tools: set, ForSession: with, Selector: sel}
	s := newSession(t, o, agent.SessionOptions{})
	send(t, s, "one")
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send(t, newSession(t, o, agent.SessionOptions{Resume: snap}), "two")
	if got := sel.asked[1].Used; !reflect.DeepEqual(got, map[string]int{"lookup": 1}) {
		t.Errorf("the resumed session has used %v", got)
	}
}

func TestAChoiceThatFailsOffersAllToolsAndSaysSo(t *testing.T) {
	set, with := newToolSet(t, echoTool{})
	model := &fakeModel{respond: func(llm.Request) llm.Done { return answered("Done.") }}
	sel := &chooser{choose: func(Situation) ([]string, error) { return nil, errors.New("the embedder is down") }}
	r := send(t, newSession(t, Options{Model: model, Tools: set, ForSession: with, Selector: sel}, agent.SessionOptions{}), "hi")
	if got := offered(model.requests[0]); !slices.Equal(got, []string{"lookup"}) {
		t.Errorf("the call offered %v", got)
	}
	if len(r.Notices) != 1 || r.Notices[0].Code != agent.NoticeDegraded || !strings.Contains(r.Notices[0].Text, "the embedder is down") {
		t.Errorf("the notices are %+v", r.Notices)
	}
}

// shortener is a Compactor that a function is.
type shortener func(ctx context.Context, history []llm.Message, ask Ask) ([]llm.Message, string, error)

func (f shortener) Compact(ctx context.Context, history []llm.Message, ask Ask) ([]llm.Message, string, error) {
	return f(ctx, history, ask)
}

// summarising puts all but the last message into what the model says of it.
var summarising = shortener(func(ctx context.Context, history []llm.Message, ask Ask) ([]llm.Message, string, error) {
	if len(history) < 3 {
		return nil, "", nil
	}
	text, err := ask(ctx, "Be short.", agent.Text("sum up"))
	if err != nil {
		return nil, "", err
	}
	summary := llm.Message{Role: llm.RoleUser, Auto: true, Parts: agent.Text(text).Parts}
	return []llm.Message{summary, history[len(history)-1]}, "made it short", nil
})

// summingUp answers a request to sum up with a summary, and all else with "Done.".
func summingUp(req llm.Request) llm.Done {
	d := answered("Done.")
	if req.Messages[0].Parts[0].Text == "sum up" {
		d = answered("They talked.")
	}
	d.Usage = agent.Usage{Prompt: 2, Completion: 1, Total: 3}
	d.CostUSD = cost(0.25)
	return d
}

func TestALongConversationIsShortened(t *testing.T) {
	temperature := 0.5
	model := &fakeModel{respond: summingUp, capabilities: agent.Capabilities{Cost: true}}
	set, with := newToolSet(t, echoTool{})
	s := newSession(t, Options{
		Model: model, Tools: set, ForSession: with, Compactor: summarising, System: "Help.",
		Schema: nil, Sampling: llm.Sampling{Temperature: &temperature},
	}, agent.SessionOptions{})
	if r := send(t, s, "one"); len(r.Notices) != 0 || r.NumTurns != 1 {
		t.Errorf("the first turn gave %+v", r)
	}
	r := send(t, s, "two")
	if r.Response != "Done." || r.NumTurns != 1 || r.Usage.Total != 6 || r.CostUSD == nil || *r.CostUSD != 0.5 {
		t.Errorf("the summary counts in usage and cost, and is no response of the turn: %+v", r)
	}
	if len(r.Notices) != 1 || r.Notices[0].Code != agent.NoticeCompaction || r.Notices[0].Text != "made it short" {
		t.Errorf("the notices are %+v", r.Notices)
	}
	if len(model.requests) != 3 {
		t.Fatalf("there were %d model calls, want 3", len(model.requests))
	}
	aside, next := model.requests[1], model.requests[2]
	if aside.System != "Be short." || len(aside.Tools) != 0 || aside.Session != next.Session+"/compaction" || aside.Turn != 2 || aside.Ordinal != 1 || aside.Sampling.Temperature != &temperature {
		t.Errorf("the summary was asked for by %+v", aside)
	}
	if next.Ordinal != 1 || len(next.Messages) != 2 || next.Messages[0].Parts[0].Text != "They talked." || next.System != "Help." {
		t.Errorf("the model then read %+v", next)
	}
	snap, err := s.Snapshot(t.Context())
	if err != nil || !strings.Contains(string(snap), "They talked.") || strings.Contains(string(snap), `"one"`) {
		t.Errorf("the snapshot is %s, %v", snap, err)
	}
}

func TestWhatASummaryCostsCountsAgainstTheBudget(t *testing.T) {
	model := &fakeModel{respond: summingUp, capabilities: agent.Capabilities{Cost: true}}
	s := newSession(t, Options{Model: model, Compactor: summarising, Limits: Limits{MaxTurnCostUSD: 0.25}}, agent.SessionOptions{})
	send(t, s, "one")
	if r := send(t, s, "two"); r.StopReason != agent.StopBudget || !r.IsError || r.NumTurns != 0 {
		t.Errorf("the result is %+v", r)
	}
}

func TestACompactionThatFailsLeavesTheConversationWhole(t *testing.T) {
	refused := func(req llm.Request) llm.Done {
		d := summingUp(req)
		if d.Message.Parts[0].Text == "They talked." {
			d.Stop = agent.StopRefusal
		}
		return d
	}
	model := &fakeModel{respond: refused}
	s := newSession(t, Options{Model: model, Compactor: summarising}, agent.SessionOptions{})
	send(t, s, "one")
	r := send(t, s, "two")
	if r.Response != "Done." || len(r.Notices) != 1 || !strings.Contains(r.Notices[0].Text, "refused") {
		t.Errorf("the result is %+v", r)
	}
	if last := model.requests[len(model.requests)-1]; len(last.Messages) != 3 {
		t.Errorf("the model read %d messages, want all 3", len(last.Messages))
	}
}

func TestLeavingDuringASummaryKeepsTheConversation(t *testing.T) {
	model := &fakeModel{respond: summingUp}
	s := newSession(t, Options{Model: model, Compactor: summarising}, agent.SessionOptions{})
	send(t, s, "one")
	for e, err := range s.Send(t.Context(), agent.Text("two")) {
		if err != nil {
			t.Fatal(err)
		}
		if call, ok := e.(agent.ModelCall); ok && call.Purpose == agent.PurposeCompaction {
			break
		}
	}
	send(t, s, "three")
	if last := model.requests[len(model.requests)-1]; last.Messages[len(last.Messages)-1].Parts[0].Text != "three" {
		t.Errorf("the model read %+v", last.Messages)
	}
}
