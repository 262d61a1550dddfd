package dialog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

func TestStructuredAnswersMayStandInAFence(t *testing.T) {
	for text, want := range map[string]string{
		"```json\n{\"a\": 1}\n```":  `{"a": 1}`,
		"```\n{\"a\": 1}\n```\n":    `{"a": 1}`,
		" {\"a\": 1} ":              `{"a": 1}`,
		"Here: ```json\n{}\n```":    "Here: ```json\n{}\n```",
		"```":                       "```",
		"```json\n{\"a\": \"`\"}\n": "{\"a\": \"`\"}",
	} {
		if got := string(jsonOf(text)); got != want {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
}

func TestResumeRefusesABrokenHistory(t *testing.T) {
	const head = `{"schema":"holodeck.snapshot/v1","backend":"agent_framework","turns":1,"messages":`
	for name, messages := range map[string]string{
		"call without result":   `[{"role":"user"},{"role":"assistant","calls":[{"id":"a","name":"x","arguments":{}}]}]`,
		"call, then user":       `[{"role":"assistant","calls":[{"id":"a","name":"x","arguments":{}}]},{"role":"user"}]`,
		"result of another":     `[{"role":"assistant","calls":[{"id":"a","name":"x","arguments":{}}]},{"role":"tool","results":[{"call_id":"b"}]}]`,
		"one result of two":     `[{"role":"assistant","calls":[{"id":"a"},{"id":"b"}]},{"role":"tool","results":[{"call_id":"a"}]}]`,
		"result without a call": `[{"role":"tool","results":[{"call_id":"b"}]}]`,
		"no results":            `[{"role":"user"},{"role":"tool"}]`,
		"unknown role":          `[{"role":"system"}]`,
		"not a list":            `{}`,
	} {
		if _, err := ReadSnapshot(json.RawMessage(head+messages+"}"), "agent_framework"); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	if _, err := ReadSnapshot(json.RawMessage(strings.Replace(head, `"turns":1`, `"turns":-1`, 1)+"[]}"), "agent_framework"); err == nil {
		t.Error("a negative number of turns was taken")
	}
}

func TestWhatAFilterKeptBackIsNamed(t *testing.T) {
	for want, d := range map[string]llm.Done{
		"the provider's content filter blocked the answer (RECITATION)": {Stop: agent.StopBlocked, FinishReason: "RECITATION"},
		"the provider's content filter blocked the prompt (BLOCKLIST)":  {Stop: agent.StopBlocked, FinishReason: "BLOCKLIST", PromptBlocked: true},
		"the provider's content filter blocked the answer":              {Stop: agent.StopBlocked},
	} {
		if got := Cut(d); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
