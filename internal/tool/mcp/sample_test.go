package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
)

func TestWhatAServerAsksTheModelCountsForTheTurn(t *testing.T) {
	s := over(t, config.MCPStdio, "alpha")
	s.opts.Model = oneAnswer{make(chan llm.Request, 1)}
	d, ok := find(t, s.connect(t), "files__ask").(agent.Delegate)
	if !ok {
		t.Fatal("nobody is told of what the tool asks the model")
	}
	var told []agent.Event
	result, err := d.Delegate(t.Context(), json.RawMessage("{}"), agent.Behalf{
		CallID: "7", Emit: func(parent string, e agent.Event) error {
			if parent != "7" {
				t.Errorf("told under %q", parent)
			}
			told = append(told, e)
			return nil
		},
	})
	if err != nil || !strings.Contains(result.Text(), "sampling Paris") {
		t.Fatalf("%s, %v", result.Text(), err)
	}
	if len(told) != 1 || told[0].(agent.ModelCall).Model == "" {
		t.Errorf("told %+v, want the one model call", told)
	}
}

func TestAServerMayNotAskTheModelWherePricesCannotBeKept(t *testing.T) {
	s := over(t, config.MCPStdio, "alpha")
	s.opts.Model = oneAnswer{make(chan llm.Request, 1)}
	d := find(t, s.connect(t), "files__ask").(agent.Delegate)
	result, err := d.Delegate(context.Background(), json.RawMessage("{}"), agent.Behalf{
		Limits: agent.Limits{MaxCostUSD: 1}, Emit: func(string, agent.Event) error { return nil },
	})
	if err != nil || !strings.Contains(result.Text(), "sampling refused: ") || !strings.Contains(result.Text(), "price") {
		t.Errorf("%s, %v", result.Text(), err)
	}
}
