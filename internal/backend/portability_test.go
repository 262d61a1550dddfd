package backend

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// camera is a tool whose result is more than text.
type camera struct{}

func (camera) Definition() agent.Definition {
	return agent.Definition{
		Name: "camera__shoot", Description: "Takes a picture of {what}.", Source: "mcp:camera",
		Schema: json.RawMessage(`{"properties": {"z": {"type": "integer"},  "a": {"type": "string"}}, "type": "object"}`),
	}
}

func (camera) Call(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return agent.ToolResult{
		Parts: []agent.Part{
			{Kind: agent.PartText, Text: string(args)},
			{Kind: agent.PartImage, MIME: "image/png", Data: []byte{0, 1, 0xff}},
		},
		Structured: json.RawMessage(`{"z": 9007199254740993}`),
	}, nil
}

// elaborate asks for tools in every way there is.
func elaborate(req llm.Request) llm.Done {
	if req.Turn > 1 || req.Ordinal > 2 {
		return says("Done.")
	}
	d := says("Looking.")
	d.Message.Parts = append([]agent.Part{
		{Kind: agent.PartThinking, Text: "Hm.", Provider: "fake", Opaque: json.RawMessage(`"seal"`)},
		{Kind: agent.PartOpaque, Provider: "fake", Opaque: json.RawMessage(`{"b":1,"a":2}`)},
	}, d.Message.Parts...)
	d.Message.Calls = []llm.Call{
		{ID: "same", Name: "camera__shoot", Arguments: json.RawMessage(`{"z": 9007199254740993,   "a": "x"}`), Opaque: json.RawMessage(`{"id":"g1"}`)},
		{ID: "two", Name: "camera__shoot", Arguments: json.RawMessage(`"{\"z\": "`)},
		{ID: "three", Name: "attic", Arguments: json.RawMessage(`[1]`)},
		{ID: "four", Name: "kb_search", Arguments: json.RawMessage(`{"query":"lamps"}`)},
	}
	if req.Ordinal == 2 {
		d.Message.Calls = d.Message.Calls[3:]
		d.Message.Calls[0].ID = "five" // the runtime's own would be another every time
	}
	return d
}

// TestModelsAndResultsAreTheSameOnEveryRuntime holds that only the runtime's name
// changes when only the runtime does: what the model is asked and what a turn comes
// to are equal to the byte.
func TestModelsAndResultsAreTheSameOnEveryRuntime(t *testing.T) {
	type told struct {
		Requests []llm.Request
		Results  []agent.Result
	}
	hold := func(r runtime) told {
		model := &obedient{respond: elaborate}
		o := base(t, r, model, camera{}, shelf{})
		o.System = "Answer {kindly}.\n\nUse {{tools}}."
		o.Sampling = llm.Sampling{Temperature: new(0.3), TopP: new(0.123456789), MaxTokens: new(77)}
		b, err := r.open(r.file(t, ""), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		s, err := b.NewSession(t.Context(), agent.SessionOptions{ID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		var got told
		for _, q := range []string{"one", "two"} {
			result, err := agent.Collect(s.Send(t.Context(), agent.Text(q)))
			if err != nil {
				t.Fatal(err)
			}
			result.Notices, result.Model = nil, "" // which name the runtime
			got.Results = append(got.Results, result)
		}
		got.Requests = model.requests
		return got
	}
	want := hold(runtimes()[0])
	if len(want.Requests) != 4 || len(want.Results[0].ToolResults) != 5 {
		t.Fatalf("the conversation is %+v", want)
	}
	for _, r := range runtimes()[1:] {
		if r.name == "semantic_kernel" {
			continue // it shows the model names of its own
		}
		got := hold(r)
		for i := range want.Requests {
			if !reflect.DeepEqual(got.Requests[i], want.Requests[i]) {
				t.Errorf("%s: the model is asked\n%+v\nwant\n%+v", r.name, got.Requests[i], want.Requests[i])
			}
		}
		if !reflect.DeepEqual(got.Results, want.Results) {
			t.Errorf("%s: the turns come to\n%+v\nwant\n%+v", r.name, got.Results, want.Results)
		}
	}
}
