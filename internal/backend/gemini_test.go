package backend

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// TestWhatGoesWrongBetweenADKAndItsModel holds that every failure says which it
// is, and that other sessions go on.
func TestWhatGoesWrongBetweenADKAndItsModel(t *testing.T) {
	failing := func(status int, text string) []script.Step {
		return []script.Step{{Error: &script.Error{Status: status, Message: text}}}
	}
	calling := func(name, args string) []script.Step {
		return []script.Step{{Call: &script.Call{Name: name, Args: args}}}
	}
	tests := map[string]struct {
		steps  []script.Step
		source string           // google, or offline where a failure would be tried again
		err    string           // in the error
		stop   agent.StopReason // else
		reason string           // of the error result
		tool   string           // in the result of the call
	}{
		"a blocked answer":        {steps: []script.Step{{Text: "as far as"}, {Finish: script.FinishContentFilter}}, source: "google", stop: agent.StopBlocked, reason: "the provider's content filter blocked the answer (SAFETY)"},
		"an empty candidate":      {steps: []script.Step{{Finish: script.FinishStop}}, source: "google", stop: agent.StopEmpty, reason: "the model's answer is empty (STOP)"},
		"a cut answer":            {steps: []script.Step{{Text: "as far as"}, {Finish: script.FinishLength}}, source: "google", stop: agent.StopMaxTokens},
		"a call cut short":        {steps: append(calling("kb_search", `{"query":"x"}`), script.Step{Finish: script.FinishLength}), source: "google", stop: agent.StopMaxTokens, reason: "max_tokens", tool: "not run"},
		"an unknown function":     {steps: calling("attic", `{}`), source: "google", stop: agent.StopEnd, tool: `there is no tool called "attic"; there are: kb_search`},
		"malformed arguments":     {steps: calling("kb_search", `{"query": `), source: "google", stop: agent.StopEnd, tool: "the arguments of kb_search"},
		"a bad request":           {steps: failing(400, "no such thing"), source: "google", err: "no such thing"},
		"a wrong key":             {steps: failing(401, "the key is wrong"), source: "google", err: "the key is wrong"},
		"a cut stream":            {steps: []script.Step{{Text: "as far as"}, {Cut: true}}, source: "google", err: "ended before it was complete"},
		"what no API says":        {steps: []script.Step{{Text: "as far as"}, {Garbage: "<html>"}}, source: "google", err: "<html>"},
		"too many requests":       {steps: failing(429, "slow down"), source: "offline", err: "slow down"},
		"a failure of the server": {steps: failing(500, "on fire"), source: "offline", err: "on fire"},
	}
	r := runtimes()[slices.IndexFunc(runtimes(), func(r runtime) bool { return r.name == "google_adk" })]
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			source := sources()[slices.IndexFunc(sources(), func(s modelSource) bool { return s.name == tt.source })]
			model := source.open(t, script.Script{Rules: []script.Rule{
				{When: script.When{User: "fine"}, Steps: []script.Step{{Text: "Fine."}}},
				{When: script.When{Result: " "}, Steps: []script.Step{{Text: "Sorry."}}},
				{Steps: tt.steps},
			}})
			b, err := r.open(r.file(t, ""), base(t, r, model, shelf{}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			s, err := b.NewSession(t.Context(), agent.SessionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := agent.Collect(s.Send(t.Context(), agent.Text("go")))
			if tt.err != "" {
				if _, ok := errors.AsType[*agent.BackendSessionError](err); !ok || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("the error is %v, want %q in it", err, tt.err)
				}
			} else if err != nil || result.StopReason != tt.stop || result.IsError != (tt.reason != "") || !strings.Contains(result.ErrorReason, tt.reason) {
				t.Errorf("the result is %+v, %v", result, err)
			}
			if tt.tool != "" && (len(result.ToolResults) != 1 || !result.ToolResults[0].IsError || !strings.Contains(result.ToolResults[0].Result, tt.tool)) {
				t.Errorf("the calls came to %+v, want %q", result.ToolResults, tt.tool)
			}
			for _, again := range []agent.Session{s, nil} {
				if again == nil {
					if again, err = b.NewSession(t.Context(), agent.SessionOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				if r, err := agent.Collect(again.Send(t.Context(), agent.Text("fine"))); err != nil || r.Response != "Fine." {
					t.Errorf("another turn gives %+v, %v", r, err)
				}
			}
		})
	}
}
