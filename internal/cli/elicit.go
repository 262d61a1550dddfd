package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/llm/schema"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
)

// elicitor asks the person in a conversation what an MCP server wants to know, one
// question after another.
type elicitor struct {
	mu     sync.Mutex
	screen screen.Screen // nil until the conversation is on it
}

// function returns what asks, or nil of a nil elicitor.
func (e *elicitor) function() func(context.Context, mcp.Question) (mcp.Answer, error) {
	if e == nil {
		return nil
	}
	return e.ask
}

// show says where the person is.
func (e *elicitor) show(s screen.Screen) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.screen = s
}

// ask puts a server's question to the person. While the agent is opened nobody is
// there yet, and the server is told so.
func (e *elicitor) ask(ctx context.Context, q mcp.Question) (mcp.Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.screen == nil {
		return mcp.Answer{Action: mcp.Cancel}, nil
	}
	const yes, no = "yes", "no"
	what := fmt.Sprintf("MCP server %s asks: %s. Answer it?", q.Server, sentence(q.Message))
	if q.URL != "" {
		what = fmt.Sprintf("MCP server %s asks you to open %s: %s. Have you?", q.Server, screen.OneLine(q.URL, 2000), sentence(q.Message))
	}
	answer, err := e.screen.Ask(ctx, what, yes, no)
	switch {
	case err != nil:
		return mcp.Answer{}, err
	case answer != yes:
		return mcp.Answer{Action: mcp.Decline}, nil
	case q.URL != "":
		return mcp.Answer{Action: mcp.Accept}, nil
	}
	return e.fill(ctx, q.Schema)
}

// sentence returns what a server says as part of a sentence of ours.
func sentence(text string) string { return strings.TrimRight(screen.OneLine(text, 1000), ".:?! ") }

// form is what of a server's schema the person is asked for: fields that are text,
// a number, yes or no, or a choice.
type form struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// field is one field of a form.
type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Default     any      `json:"default"`
	Enum        []any    `json:"enum"`
	OneOf       []option `json:"oneOf"`
	Items       struct {
		Enum  []any    `json:"enum"`
		AnyOf []option `json:"anyOf"`
	} `json:"items"`
}

// option is a choice with words for it.
type option struct {
	Const any    `json:"const"`
	Title string `json:"title"`
}

// fill asks for the fields of a form, those that are required first. Who leaves one
// of these goes away from the form.
func (e *elicitor) fill(ctx context.Context, text json.RawMessage) (mcp.Answer, error) {
	var f form
	if err := json.Unmarshal(text, &f); err != nil {
		return mcp.Answer{}, fmt.Errorf("the form cannot be read: %w", err)
	}
	content := map[string]any{}
	for _, name := range f.names() {
		value, given, err := e.field(ctx, name, f.Properties[name], slices.Contains(f.Required, name))
		switch {
		case err != nil:
			return mcp.Answer{}, err
		case given:
			content[name] = value
		case slices.Contains(f.Required, name):
			return mcp.Answer{Action: mcp.Cancel}, nil
		}
	}
	return mcp.Answer{Action: mcp.Accept, Content: content}, nil
}

// field asks for one field until what is said fits, and returns it. Nothing said
// is the default, if there is one.
func (e *elicitor) field(ctx context.Context, name string, text json.RawMessage, required bool) (value any, given bool, err error) {
	var f field
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, false, fmt.Errorf("the field %s of the form cannot be read: %w", name, err)
	}
	rules, err := schema.Compile(text)
	if err != nil {
		return nil, false, fmt.Errorf("the field %s of the form cannot be used: %w", name, err)
	}
	question := f.question(name, required)
	for {
		var said string
		if f.Type == "boolean" {
			said, err = e.screen.Ask(ctx, question, "yes", "no")
		} else {
			said, err = e.screen.Ask(ctx, question)
		}
		if err != nil {
			return nil, false, err
		}
		if strings.TrimSpace(said) == "" {
			return f.Default, f.Default != nil, nil
		}
		value, wrong := f.value(strings.TrimSpace(said))
		if wrong == nil {
			wrong = checkValue(rules, value)
		}
		if wrong == nil {
			return value, true, nil
		}
		question = fmt.Sprintf("%v. %s", wrong, f.question(name, required))
	}
}

// question returns what the person is asked.
func (f field) question(name string, required bool) string {
	text := name
	if f.Title != "" {
		text = f.Title
	}
	var more []string
	if f.Description != "" {
		more = append(more, f.Description)
	}
	if words := f.choices(); len(words) > 0 {
		list := "one of " + strings.Join(words, ", ")
		if f.Type == "array" {
			list = "any of " + strings.Join(words, ", ") + ", with commas between"
		}
		more = append(more, list)
	}
	if f.Default != nil {
		more = append(more, fmt.Sprintf("%v when left empty", f.Default))
	} else if !required {
		more = append(more, "may be left empty")
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return screen.OneLine(text, 1000) + "?"
}

// options returns the values to choose from, with words for each.
func (f field) options() []option {
	list := append(slices.Clone(f.OneOf), f.Items.AnyOf...)
	for _, v := range append(slices.Clone(f.Enum), f.Items.Enum...) {
		list = append(list, option{Const: v})
	}
	return list
}

// choices returns the words to choose from.
func (f field) choices() []string {
	var words []string
	for _, o := range f.options() {
		word := fmt.Sprint(o.Const)
		if o.Title != "" && o.Title != word {
			word += " (" + o.Title + ")"
		}
		words = append(words, word)
	}
	return words
}

// value returns what the person said as a value of the field.
func (f field) value(said string) (any, error) {
	switch f.Type {
	case "boolean":
		return said == "yes", nil
	case "integer":
		n, err := strconv.ParseInt(said, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", said)
		}
		return n, nil
	case "number":
		n, err := strconv.ParseFloat(said, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", said)
		}
		return n, nil
	case "array":
		var list []any
		for part := range strings.SplitSeq(said, ",") {
			v, err := f.chosen(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	return f.chosen(said)
}

// chosen returns the choice that the person means, by its value or its words.
func (f field) chosen(said string) (any, error) {
	options := f.options()
	for _, o := range options {
		if strings.EqualFold(said, fmt.Sprint(o.Const)) || o.Title != "" && strings.EqualFold(said, o.Title) {
			return o.Const, nil
		}
	}
	if len(options) > 0 {
		return nil, fmt.Errorf("%q is none of the choices", said)
	}
	return said, nil
}

// checkValue says what of a schema a value breaks.
func checkValue(rules *schema.Schema, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return rules.Check(data)
}

// names returns the names of the fields, those that are required first. The order
// in which the server has them is lost on the way.
func (f form) names() []string {
	return slices.SortedFunc(maps.Keys(f.Properties), func(a, b string) int {
		first, second := slices.Contains(f.Required, a), slices.Contains(f.Required, b)
		switch {
		case first && !second:
			return -1
		case second && !first:
			return 1
		}
		return strings.Compare(a, b)
	})
}
