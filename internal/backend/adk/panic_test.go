//go:build !noadk

package adk

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/dialog"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestAPanicEndsItsTurnAndNothingElse(t *testing.T) {
	m := &puppet{provider: "google", name: "g", respond: func(_ context.Context, req llm.Request) ([]llm.Chunk, error) {
		if agent.JoinText(req.Messages[len(req.Messages)-1].Parts) == "panic" {
			panic("the model is on fire")
		}
		return says([]string{"Fine."}), nil
	}}
	b := open(t, m, "")
	one, two := begin(t, b, agent.SessionOptions{}), begin(t, b, agent.SessionOptions{})
	_, err := agent.Collect(one.Send(t.Context(), agent.Text("panic")))
	if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok || !strings.Contains(err.Error(), "the model is on fire") {
		t.Errorf("got %v", err)
	}
	for _, s := range []*session{one, two} {
		if r := send(t, s, "hi"); r.Response != "Fine." {
			t.Errorf("another turn gives %+v", r)
		}
	}
}

// badTools panics outside of the net that the tool set is.
type badTools struct{ loop.Tools }

func (badTools) Call(context.Context, tool.Call) agent.ToolCallFinished { panic("the hall is on fire") }

func TestAPanicOfACallEndsItsTurnAndNothingElse(t *testing.T) {
	m := &puppet{provider: "google", name: "g", respond: func(_ context.Context, req llm.Request) ([]llm.Chunk, error) {
		if req.Turn == 1 {
			return says(nil, llm.Call{Name: "look"}, llm.Call{Name: "look"}), nil
		}
		return says([]string{"Fine."}), nil
	}}
	b := open(t, m, "", look{"look"})
	b.options.Tools = badTools{b.options.Tools}
	s := begin(t, b, agent.SessionOptions{})
	r, err := agent.Collect(s.Send(t.Context(), agent.Text("go")))
	if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok || !strings.Contains(err.Error(), "the hall is on fire") {
		t.Errorf("got %v", err)
	}
	if len(r.ToolResults) != 2 || !r.ToolResults[0].IsError || !r.ToolResults[1].IsError {
		t.Errorf("the calls ended as %+v", r.ToolResults)
	}
	send(t, s, "hi")
	if err := dialog.WellFormed(m.requests[1].Messages); err != nil {
		t.Errorf("the history is broken: %v", err)
	}
}
