package testrun

import (
	"encoding/json"
	"time"

	"github.com/holodeck-go/holodeck/internal/eval/grader"
	"github.com/holodeck-go/holodeck/internal/runs"
)

// gradedCase returns what graders are told of a turn.
func gradedCase(t *runs.Turn, j judgement) *grader.Case {
	c := &grader.Case{
		Input: t.Input, Response: t.Answer, GroundTruth: t.GroundTruth,
		Retrieval: t.RetrievalContext, TurnIndex: j.number - 1, TurnConfig: j.turn.TurnConfig,
		Structured: t.Structured, CostUSD: t.CostUSD, LatencyMS: float64(t.AgentTime) / float64(time.Millisecond), Attempt: j.of.Attempt,
	}
	if j.of.Name != "" {
		c.TestCaseName = &j.of.Name
	}
	if c.Retrieval == nil {
		c.Retrieval = j.found
	}
	for _, call := range t.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, gradedCall(call))
	}
	for _, tool := range j.turn.ExpectedTools {
		c.ExpectedTools = append(c.ExpectedTools, tool.Name)
	}
	if u := t.Usage; u != nil {
		c.Usage = &grader.Usage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Total}
	}
	for i := range j.before { // they may still be judged: what was said does not change
		c.PriorTurns = append(c.PriorTurns, grader.PriorTurn{Input: j.before[i].Input, Response: j.before[i].Answer})
	}
	for _, f := range j.turn.Files {
		switch {
		case f.Path != nil:
			c.Files = append(c.Files, *f.Path)
		case f.URL != nil:
			c.Files = append(c.Files, *f.URL)
		}
	}
	return c
}

// gradedCall returns what graders are told of a tool call.
func gradedCall(call runs.ToolCall) grader.ToolCall {
	out := grader.ToolCall{
		Name: call.Name, Result: call.Result, Bytes: len(call.Result), DurationMS: call.Elapsed.Milliseconds(),
	}
	if json.Unmarshal(call.Arguments, &out.Args) != nil || out.Args == nil {
		out.Args = map[string]any{} // what the model said is no object
	}
	if call.Err != "" {
		out.Error = &call.Err
	}
	return out
}
