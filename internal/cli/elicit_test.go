package cli

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
)

// answering is a screen with a person who gives these answers, one after another.
type answering struct {
	screen.Screen
	answers []string
	asked   []string
}

func (a *answering) Ask(_ context.Context, question string, choices ...string) (string, error) {
	a.asked = append(a.asked, question)
	if len(a.answers) == 0 {
		return "", errors.New("more is asked than was foreseen: " + question)
	}
	said := a.answers[0]
	a.answers = a.answers[1:]
	if said == "" {
		return screen.Nothing(choices), nil
	}
	return said, nil
}

func TestAServersForm(t *testing.T) {
	const schema = `{"type":"object","required":["name","age"],"properties":{
		"name":{"type":"string","title":"Your name","minLength":2},
		"age":{"type":"integer","minimum":18},
		"weight":{"type":"number"},
		"news":{"type":"boolean","description":"by mail","default":true},
		"size":{"type":"string","enum":["small","large"],"default":"small"},
		"colour":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]},
		"days":{"type":"array","items":{"enum":["mon","tue","wed"]}}}}`
	for _, tt := range []struct {
		name    string
		answers []string
		want    mcp.Answer
	}{
		{"all of it", []string{"yes", "42", "Ann", "green", "mon, WED", "no", "large", "1.5"}, mcp.Answer{Action: mcp.Accept, Content: map[string]any{
			"name": "Ann", "age": int64(42), "weight": 1.5, "news": false, "size": "large", "colour": "#0f0", "days": []any{"mon", "wed"}}}},
		{"as little as possible", []string{"yes", "18", "Ann", "", "", "yes", "", ""}, mcp.Answer{Action: mcp.Accept, Content: map[string]any{
			"name": "Ann", "age": int64(18), "news": true, "size": "small"}}},
		{"what does not fit is asked for again", []string{"yes", "old", "17", "18", "A", "Ann", "blue", "Red", "fri", "", "yes", "huge", "", "heavy", ""}, mcp.Answer{
			Action: mcp.Accept, Content: map[string]any{"name": "Ann", "age": int64(18), "news": true, "size": "small", "colour": "#f00"}}},
		{"no", []string{"no"}, mcp.Answer{Action: mcp.Decline}},
		{"a form that is left", []string{"yes", "18", ""}, mcp.Answer{Action: mcp.Cancel}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			person := &answering{answers: tt.answers}
			e := new(elicitor)
			e.show(person)
			got, err := e.ask(t.Context(), mcp.Question{Server: "shop", Message: "Who are you?", Schema: json.RawMessage(schema)})
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("the answer is %+v, %v; want %+v", got, err, tt.want)
			}
			if first := person.asked[0]; first != "MCP server shop asks: Who are you. Answer it?" {
				t.Errorf("it is asked %q", first)
			}
			if all := strings.Join(person.asked, "\n"); len(tt.answers) > 7 && !strings.Contains(all, "colour (one of #f00 (Red), #0f0 (Green); may be left empty)?") {
				t.Errorf("it is asked\n%s", all)
			}
		})
	}
}

func TestAPageThatAServerWantsOpened(t *testing.T) {
	person := &answering{answers: []string{"yes"}}
	e := new(elicitor)
	q := mcp.Question{Server: "shop", Message: "Sign in.", URL: "https://shop.example/in\x1b[31m"}
	if got, err := e.ask(t.Context(), q); err != nil || got.Action != mcp.Cancel {
		t.Errorf("without a conversation the answer is %+v, %v", got, err)
	}
	e.show(person)
	got, err := e.ask(t.Context(), q)
	if err != nil || got.Action != mcp.Accept || len(got.Content) > 0 {
		t.Errorf("the answer is %+v, %v", got, err)
	}
	if person.asked[0] != "MCP server shop asks you to open https://shop.example/in[31m: Sign in. Have you?" {
		t.Errorf("it is asked %q", person.asked[0])
	}
}

func TestAFormThatIsNone(t *testing.T) {
	for _, schema := range []string{"", "5", `{"properties":{"a":5}}`, `{"properties":{"a":{"type":"objekt"}}}`} {
		e := new(elicitor)
		e.show(&answering{answers: []string{"yes"}})
		if got, err := e.ask(t.Context(), mcp.Question{Server: "s", Schema: json.RawMessage(schema)}); err == nil {
			t.Errorf("the form %s is answered by %+v", schema, got)
		}
	}
}

func FuzzForm(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string","enum":[1,null]}}}`, "x")
	f.Add(`{"properties":{"a":{"type":"array","items":{"anyOf":[{"const":{}}]}}},"required":["a"]}`, "1,2")
	f.Fuzz(func(t *testing.T, schema, said string) {
		e := new(elicitor)
		e.show(&answering{answers: []string{"yes", said, said, said}})
		_, _ = e.ask(t.Context(), mcp.Question{Schema: json.RawMessage(schema)})
	})
}
