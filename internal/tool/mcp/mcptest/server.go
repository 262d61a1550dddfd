package mcptest

//lint:file-ignore SA1019 protocol 2026-07-28 deprecates roots, sampling and logging; servers of the versions before live on them

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// New returns a server with the tools of [Tools] and the prompt greet, under a
// name that its answers bear. Changes of its tools are told to clients.
func New(name string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ServerOptions{Instructions: "Be kind."})
	add := func(tool string, schema string, readOnly bool, handler mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{
			Name: tool, Description: "The tool " + tool + ".", InputSchema: json.RawMessage(schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly},
		}, handler)
	}
	add("echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, true,
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(name + " says " + argument(r, "text")), nil
		})
	add("note", `{"type":"object","properties":{"text":{"type":"string"}}}`, false,
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("noted " + argument(r, "text")), nil
		})
	add("everything", `{"type":"object"}`, true, everything)
	add("fail", `{"type":"object"}`, true, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("the disk is full")
		r.IsError = true
		return r, nil
	})
	add("slow", `{"type":"object"}`, false, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done(): // the client gave up
			return nil, ctx.Err()
		case <-time.After(slowest): // it went without a word, which over sse nobody is told
			return text("done at last"), nil
		}
	})
	add("large", `{"type":"object","properties":{"bytes":{"type":"integer"}}}`, true,
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args struct{ Bytes int }
			if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
				return nil, err
			}
			return text(strings.Repeat("word ", args.Bytes/5)), nil
		})
	add("grow", `{"type":"object"}`, false, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", `{"type":"object"}`, true, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("I am new"), nil
		})
		return text("there is another tool"), nil
	})
	add("ask", `{"type":"object"}`, false, ask)
	add("log", `{"type":"object"}`, true, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, level := range []mcp.LoggingLevel{"debug", "info", "warning", "error"} {
			err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: "disk", Data: "a message of level " + string(level)})
			if err != nil {
				return nil, err
			}
		}
		return text("logged"), nil
	})
	add("read.file", `{"type":"object"}`, true, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("the name has a dot"), nil
	})
	add("search", `{"type":"object","properties":{"query":{"type":"string"}}}`, true, search)
	s.AddPrompt(&mcp.Prompt{
		Name: "greet", Description: "How to greet somebody.",
		Arguments: []*mcp.PromptArgument{{Name: "who", Description: "whom", Required: true}},
	}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Say hello to " + r.Params.Arguments["who"]}}}}, nil
	})
	return s
}

// slowest is how long the tool slow takes when it is not cancelled.
const slowest = 3 * time.Second

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// argument returns an argument that is text.
func argument(r *mcp.CallToolRequest, name string) string {
	args := map[string]any{}
	_ = json.Unmarshal(r.Params.Arguments, &args) // what is no object has no such argument
	s, _ := args[name].(string)
	return s
}

// everything returns every kind of content there is.
func everything(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{
		Content: []mcp.Content{
			&mcp.TextContent{Text: "words"},
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG")},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF")},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///notes.txt", MIMEType: "text/plain", Text: "a note"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.zip", MIMEType: "application/zip", Blob: []byte("PK")}},
			&mcp.ResourceLink{URI: "https://example.com/manual", Name: "manual", Description: "how it works"},
		},
		StructuredContent: map[string]any{"answer": 42},
	}, nil
}

// ask asks the client for its roots, for a person's answer and for the model's, and
// tells how each went.
func ask(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var told []string
	tell := func(what string, answer func() (string, error)) {
		text, err := answer()
		if err != nil {
			text = "refused: " + err.Error()
		}
		told = append(told, what+" "+text)
	}
	tell("roots", func() (string, error) {
		list, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return "", err
		}
		var uris []string
		for _, root := range list.Roots {
			uris = append(uris, root.URI)
		}
		return strings.Join(uris, " "), nil
	})
	tell("elicitation", func() (string, error) {
		answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{
			Message:         "What is your name?",
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(answer.Action, " ", answer.Content["name"]), nil
	})
	tell("sampling", func() (string, error) {
		answer, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 50, SystemPrompt: "Answer in one word.",
			Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "What is the capital of France?"}}},
		})
		if err != nil {
			return "", err
		}
		said, ok := answer.Content.(*mcp.TextContent)
		if !ok {
			return "", errors.New("the answer is no text")
		}
		return said.Text, nil
	})
	return text(strings.Join(told, "\n")), nil
}

// search finds two passages, or nothing for the query nothing.
func search(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	hits := []map[string]any{
		{"id": "1", "content": "Paris is the capital of France.", "source": "docs/france.md", "score": 0.9},
		{"id": "2", "content": "Lyon is a city.", "source": "docs/lyon.md", "score": 0.4},
	}
	if argument(r, "query") == "nothing" {
		return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
	}
	data, err := json.Marshal(map[string]any{"results": hits})
	if err != nil {
		return nil, err
	}
	return text(string(data)), nil
}
