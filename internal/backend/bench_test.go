package backend

import (
	"slices"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// BenchmarkTurnOnEveryRuntime measures a turn of text and one of two calls side by
// side, in a session of its own, with a model at hand and with one behind the fake
// server: the difference between runtimes is what they cost.
func BenchmarkTurnOnEveryRuntime(b *testing.B) {
	call := script.Step{Call: &script.Call{Name: "kb_search", Args: `{"query":"lamps"}`}}
	google := sources()[slices.IndexFunc(sources(), func(s modelSource) bool { return s.name == "google" })]
	for _, r := range runtimes() {
		if r.name != "agent_framework" && r.name != "google_adk" {
			continue // they are the same loop
		}
		for _, source := range []modelSource{{name: "offline"}, google} {
			for name, rules := range map[string][]script.Rule{
				"text":  {{Steps: []script.Step{{Text: "Shelf "}, {Text: "four."}}}},
				"calls": {{When: script.When{Round: 1}, Steps: []script.Step{call, call}}, {Steps: []script.Step{{Text: "Shelf "}, {Text: "four."}}}},
			} {
				b.Run(r.name+"/"+source.name+"/"+name, func(b *testing.B) {
					benchmarkTurn(b, r, source.open(b, script.Script{Rules: rules}))
				})
			}
		}
	}
}

func benchmarkTurn(b *testing.B, r runtime, model llm.Model) {
	set, err := tool.New(testEnv(), shelf{})
	if err != nil {
		b.Fatal(err)
	}
	defer set.Close()
	a := &config.Agent{Name: "bench", GoogleADK: &config.GoogleADK{StreamingMode: config.StreamingSSE, OutputKey: "output"}}
	backend, err := r.open(a, loop.Options{Env: testEnv(), Backend: r.name, Model: model, Tools: set})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	b.ReportAllocs()
	for b.Loop() {
		if result, err := agent.RunOnce(b.Context(), backend, agent.Text("Where are the lamps?")); err != nil || result.Response != "Shelf four." {
			b.Fatal(result.Response, err)
		}
	}
}
