//go:build ignore

// This program asks the fake model server (internal/llm/llmtest) what it is asked
// with the modules that the providers publish, and compares what those
// understand with what the script says. It is built by sdks.sh in a module of
// its own: the product does not depend on them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	ollama "github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// response is what a client understood.
type response struct {
	Thinking, Text  string
	Call, Arguments string
	Stop            string
	Prompt, Cached  int64
}

// want returns what the rules in sdks.sh say.
func want(thinking, stop string, cached int64) response {
	return response{thinking, "One two.", "weather", `{"city":"Oslo"}`, stop, 100, cached}
}

func main() {
	base := os.Args[1]
	ctx := context.Background()
	for _, peer := range []struct {
		name string
		run  func(context.Context, string) error
	}{
		{"openai-go: chat completions", chat},
		{"openai-go: responses", respond},
		{"openai-go: embeddings", embed},
		{"anthropic-sdk-go: messages", messages},
		{"genai: generateContent", gemini},
		{"genai: embeddings", geminiEmbed},
		{"ollama: chat and embed", llama},
	} {
		if err := peer.run(ctx, base); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", peer.name, err)
			os.Exit(1)
		}
		fmt.Printf("%s: understood as it was meant\n", peer.name)
	}
}

// same compares what was understood.
func same(how string, got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s: understood %+v, want %+v", how, got, want)
	}
	return nil
}

func compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func openAIOptions(base string) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(base + "/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0)}
}

func chat(ctx context.Context, base string) error {
	service := openai.NewChatCompletionService(openAIOptions(base)...)
	params := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("s"), openai.UserMessage("hi")}}
	of := func(message openai.ChatCompletionMessage, finish string, u openai.CompletionUsage) response {
		call := message.ToolCalls[0].Function
		return response{"", message.Content, call.Name, call.Arguments, finish, u.PromptTokens, u.PromptTokensDetails.CachedTokens}
	}
	whole, err := service.New(ctx, params)
	if err != nil {
		return err
	}
	if err := same("whole", of(whole.Choices[0].Message, whole.Choices[0].FinishReason, whole.Usage), want("", "tool_calls", 60)); err != nil {
		return err
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := service.NewStreaming(ctx, params)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			return fmt.Errorf("a chunk does not fit the others: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return same("streamed", of(all.Choices[0].Message, all.Choices[0].FinishReason, all.Usage), want("", "tool_calls", 60))
}

func respond(ctx context.Context, base string) error {
	service := responses.NewResponseService(openAIOptions(base)...)
	params := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{
		OfInputItemList: responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("hi", "user")},
	}}
	of := func(r responses.Response) response {
		out := response{Text: r.OutputText(), Stop: string(r.Status), Prompt: r.Usage.InputTokens, Cached: r.Usage.InputTokensDetails.CachedTokens}
		for _, item := range r.Output {
			switch item := item.AsAny().(type) {
			case responses.ResponseReasoningItem:
				out.Thinking = item.Summary[0].Text
			case responses.ResponseFunctionToolCall:
				out.Call, out.Arguments = item.Name, item.Arguments
			}
		}
		return out
	}
	whole, err := service.New(ctx, params)
	if err != nil {
		return err
	}
	if err := same("whole", of(*whole), want("Let me think.", "completed", 60)); err != nil {
		return err
	}
	var deltas response
	stream := service.NewStreaming(ctx, params)
	for stream.Next() {
		switch event := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			deltas.Text += event.Delta
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			deltas.Thinking += event.Delta
		case responses.ResponseCompletedEvent:
			if err := same("streamed", of(event.Response), want("Let me think.", "completed", 60)); err != nil {
				return err
			}
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return same("deltas", deltas, response{Thinking: "Let me think.", Text: "One two."})
}

func embed(ctx context.Context, base string) error {
	service := openai.NewEmbeddingService(openAIOptions(base)...)
	r, err := service.New(ctx, openai.EmbeddingNewParams{Model: "m", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a", "b"}}})
	if err != nil {
		return err
	}
	return same("vectors", []int{len(r.Data), len(r.Data[1].Embedding), int(r.Data[1].Index)}, []int{2, 8, 1})
}

func messages(ctx context.Context, base string) error {
	service := anthropic.NewMessageService(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
	params := anthropic.MessageNewParams{Model: "m", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}}
	of := func(m *anthropic.Message) response {
		out := response{Stop: string(m.StopReason), Prompt: m.Usage.InputTokens + m.Usage.CacheReadInputTokens, Cached: m.Usage.CacheReadInputTokens}
		for _, b := range m.Content {
			switch b := b.AsAny().(type) {
			case anthropic.ThinkingBlock:
				out.Thinking = b.Thinking
			case anthropic.TextBlock:
				out.Text = b.Text
			case anthropic.ToolUseBlock:
				out.Call, out.Arguments = b.Name, compact(b.Input)
			}
		}
		return out
	}
	whole, err := service.New(ctx, params)
	if err != nil {
		return err
	}
	if err := same("whole", of(whole), want("Let me think.", "tool_use", 60)); err != nil {
		return err
	}
	stream := service.NewStreaming(ctx, params)
	var all anthropic.Message
	for stream.Next() {
		if err := all.Accumulate(stream.Current()); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	if err := same("streamed", of(&all), want("Let me think.", "tool_use", 60)); err != nil {
		return err
	}
	params.Messages = append(params.Messages, all.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock("c1", "sunny", false)))
	next, err := service.New(ctx, params)
	if err != nil {
		return err
	}
	return same("after the result", next.Content[0].Text, "done")
}

func newGenai(ctx context.Context, base string) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base}})
}

func gemini(ctx context.Context, base string) error {
	client, err := newGenai(ctx, base)
	if err != nil {
		return err
	}
	history := genai.Text("hi")
	add := func(out *response, r *genai.GenerateContentResponse) {
		for _, p := range r.Candidates[0].Content.Parts {
			switch {
			case p.FunctionCall != nil:
				out.Call, out.Arguments = p.FunctionCall.Name, compact(p.FunctionCall.Args)
			case p.Thought:
				out.Thinking += p.Text
			default:
				out.Text += p.Text
			}
		}
		if reason := r.Candidates[0].FinishReason; reason != "" {
			out.Stop, out.Prompt, out.Cached = string(reason), int64(r.UsageMetadata.PromptTokenCount), int64(r.UsageMetadata.CachedContentTokenCount)
		}
	}
	r, err := client.Models.GenerateContent(ctx, "gemini-m", history, nil)
	if err != nil {
		return err
	}
	var whole, streamed response
	add(&whole, r)
	if err := same("whole", whole, want("Let me think.", "STOP", 60)); err != nil {
		return err
	}
	for piece, err := range client.Models.GenerateContentStream(ctx, "gemini-m", history, nil) {
		if err != nil {
			return err
		}
		add(&streamed, piece)
	}
	if err := same("streamed", streamed, want("Let me think.", "STOP", 60)); err != nil {
		return err
	}
	history = append(history, r.Candidates[0].Content, genai.NewContentFromFunctionResponse("weather", map[string]any{"output": "sunny"}, "user"))
	if r, err = client.Models.GenerateContent(ctx, "gemini-m", history, nil); err != nil {
		return err
	}
	return same("after the result", r.Text(), "done")
}

func geminiEmbed(ctx context.Context, base string) error {
	client, err := newGenai(ctx, base)
	if err != nil {
		return err
	}
	r, err := client.Models.EmbedContent(ctx, "gemini-embedding-001", append(genai.Text("a"), genai.Text("b")...), nil)
	if err != nil {
		return err
	}
	return same("vectors", []int{len(r.Embeddings), len(r.Embeddings[1].Values)}, []int{2, 8})
}

func llama(ctx context.Context, base string) error {
	address, err := url.Parse(base)
	if err != nil {
		return err
	}
	client := ollama.NewClient(address, http.DefaultClient)
	var out response
	var thinking, text strings.Builder
	err = client.Chat(ctx, &ollama.ChatRequest{Model: "m", Messages: []ollama.Message{{Role: "user", Content: "hi"}}}, func(r ollama.ChatResponse) error {
		thinking.WriteString(r.Message.Thinking)
		text.WriteString(r.Message.Content)
		for _, c := range r.Message.ToolCalls {
			out.Call, out.Arguments = c.Function.Name, compact(c.Function.Arguments)
		}
		if r.Done {
			out.Stop, out.Prompt = r.DoneReason, int64(r.PromptEvalCount)
		}
		return nil
	})
	if err != nil {
		return err
	}
	out.Thinking, out.Text = thinking.String(), text.String()
	if err := same("streamed", out, want("Let me think.", "stop", 0)); err != nil {
		return err
	}
	r, err := client.Embed(ctx, &ollama.EmbedRequest{Model: "m", Input: []string{"a", "b"}})
	if err != nil {
		return err
	}
	return same("vectors", []int{len(r.Embeddings), len(r.Embeddings[1])}, []int{2, 8})
}
