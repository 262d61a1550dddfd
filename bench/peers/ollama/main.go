// Command ollama asks a real Ollama server what the product asks one, with the
// product's own clients: Ollama's API, and OpenAI's and Anthropic's, which Ollama
// speaks, too. The server has the models that ollama.sh makes: tiny, which says
// what its table says, and noise, whose weights are chance.
//
//	ollama http://HOST:PORT
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/embed"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// peer is a way to the server.
type peer struct {
	name     string
	provider config.Provider
	tail     string // of the address
	api      config.ModelAPI
	native   bool // Ollama's own API, which tells of more
	silent   bool // Ollama does not say there that an answer was cut
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ollama http://HOST:PORT")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	failed := run(ctx, os.Args[1])
	cancel()
	if failed {
		os.Exit(1)
	}
}

// run makes every check over every way, and reports whether one failed.
func run(ctx context.Context, base string) (failed bool) {
	report := func(way, what string, err error) {
		if err != nil {
			failed = true
			fmt.Printf("FAIL %s: %s: %v\n", way, what, err)
			return
		}
		fmt.Printf("ok   %s: %s\n", way, what)
	}
	for _, p := range []peer{
		{name: "ollama", provider: config.ProviderOllama, native: true},
		{name: "openai chat", provider: config.ProviderOpenAI, tail: "/v1", api: config.APIChat},
		{name: "openai responses", provider: config.ProviderOpenAI, tail: "/v1", api: config.APIResponses, silent: true},
		{name: "anthropic", provider: config.ProviderAnthropic},
	} {
		report(p.name, "text", text(ctx, p.model(base, "tiny")))
		report(p.name, "a tool", tool(ctx, p.model(base, "tiny")))
		report(p.name, "a bound", p.bound(ctx, p.model(base, "tiny")))
		report(p.name, "a model there is not", unknown(ctx, p.model(base, "absent")))
		report(p.name, "cancelling", cancelled(ctx, p.model(base, "tiny")))
		if p.native {
			report(p.name, "a prompt that is too long", overflow(ctx, p.model(base, "tiny")))
			report(p.name, "a schema", schema(ctx, p.model(base, "noise")))
		}
	}
	report("ollama", "embeddings", vectors(ctx, config.ProviderOllama, base))
	report("openai", "embeddings", vectors(ctx, config.ProviderOpenAI, base+"/v1"))
	return failed
}

// model returns a model of the server, and nothing around it that would try
// again.
func (p peer) model(base, name string) llm.Model {
	endpoint := base + p.tail
	c := &config.Model{Provider: p.provider, Name: name, Endpoint: &endpoint, APIKey: secret.New("not-needed")}
	if p.api != "" {
		c.API = &p.api
	}
	m, err := llm.Open(agent.SystemEnv(slog.New(slog.DiscardHandler)), llm.Options{}).Model(c)
	if err != nil {
		panic(err) // the sections are our own
	}
	return m
}

// call makes a call, and checks that the deltas add up to the message.
func call(ctx context.Context, m llm.Model, req llm.Request) (llm.Done, error) {
	var said strings.Builder
	for chunk, err := range m.Stream(ctx, req) {
		if err != nil {
			return llm.Done{}, err
		}
		switch c := chunk.(type) {
		case llm.Text:
			said.WriteString(string(c))
		case llm.Done:
			if got := agent.JoinText(c.Message.Parts); got != said.String() {
				return c, fmt.Errorf("the deltas add up to %q, and the message is %q", said.String(), got)
			}
			return c, nil
		}
	}
	return llm.Done{}, errors.New("the call did not end")
}

func ask(text string) llm.Request {
	return llm.Request{System: "Be brief.", Messages: []llm.Message{{Role: llm.RoleUser, Parts: agent.Text(text).Parts}}}
}

func text(ctx context.Context, m llm.Model) error {
	done, err := call(ctx, m, ask("hi"))
	if err != nil {
		return err
	}
	if got := agent.JoinText(done.Message.Parts); got != "Hello from a tiny scripted model." || done.Stop != agent.StopEnd {
		return fmt.Errorf("it said %q and stopped for %s", got, done.Stop)
	}
	if u := done.Usage; u.Prompt == 0 || u.Completion == 0 || u.Total != u.Prompt+u.Completion {
		return fmt.Errorf("the usage is %+v", u)
	}
	return nil
}

func tool(ctx context.Context, m llm.Model) error {
	req := ask("look it up")
	req.Tools = []agent.Definition{{
		Name: "lookup", Description: "Looks up.",
		Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`),
	}}
	done, err := call(ctx, m, req)
	if err != nil {
		return err
	}
	calls := done.Message.Calls
	if len(calls) != 1 || calls[0].Name != "lookup" || calls[0].ID == "" || !strings.Contains(string(calls[0].Arguments), `"x"`) {
		return fmt.Errorf("the calls are %+v", calls)
	}
	req.Messages = append(req.Messages, done.Message, llm.Message{Role: llm.RoleTool, Results: []llm.Result{
		{CallID: calls[0].ID, Name: "lookup", Result: agent.TextResult("found")},
	}})
	if done, err = call(ctx, m, req); err != nil {
		return fmt.Errorf("after the result: %w", err)
	}
	if got := agent.JoinText(done.Message.Parts); got != "The tool answered and I am done!" {
		return fmt.Errorf("after the result it said %q", got)
	}
	return nil
}

func (p peer) bound(ctx context.Context, m llm.Model) error {
	req := ask("hi")
	three := 3
	req.Sampling.MaxTokens = &three
	done, err := call(ctx, m, req)
	if err != nil {
		return err
	}
	if got := agent.JoinText(done.Message.Parts); got != "Hello from a" || done.Stop != agent.StopMaxTokens && !p.silent {
		return fmt.Errorf("it said %q and stopped for %s", got, done.Stop)
	}
	return nil
}

func unknown(ctx context.Context, m llm.Model) error {
	_, err := call(ctx, m, ask("hi"))
	refused, ok := errors.AsType[*llm.ProviderError](err)
	if !ok || refused.Status != http.StatusNotFound || refused.Retryable() || !strings.Contains(err.Error(), "absent") {
		return fmt.Errorf("it gave %v", err)
	}
	return nil
}

// cancelled leaves a response that would go on for long.
func cancelled(ctx context.Context, m llm.Model) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req := ask("go on and on")
	many := 1500
	req.Sampling.MaxTokens = &many
	var last error
	for _, err := range m.Stream(ctx, req) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		return fmt.Errorf("it ended in %v", last)
	}
	return nil
}

func overflow(ctx context.Context, m llm.Model) error {
	done, err := call(ctx, m, ask(strings.Repeat("This is longer than the model reads. ", 1000)))
	if err != nil {
		return err
	}
	if done.Stop != agent.StopContextOverflow {
		return fmt.Errorf("it stopped for %s (%s)", done.Stop, done.FinishReason)
	}
	return nil
}

func schema(ctx context.Context, m llm.Model) error {
	req := ask("which city?")
	req.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"ok":{"type":"boolean"}},"required":["n","ok"],"additionalProperties":false}`)
	many := 400
	req.Sampling.MaxTokens = &many
	done, err := call(ctx, m, req)
	if err != nil {
		return err
	}
	var value struct {
		N  *float64
		Ok *bool
	}
	got := agent.JoinText(done.Message.Parts)
	if err := json.Unmarshal([]byte(got), &value); err != nil || value.N == nil || value.Ok == nil {
		return fmt.Errorf("it said %q: %v", got, err)
	}
	return nil
}

func vectors(ctx context.Context, p config.Provider, endpoint string) error {
	e, err := embed.Open(embed.Choice{Model: config.Model{Provider: p, Name: "noise", Endpoint: &endpoint}}, embed.Options{Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		return err
	}
	got, err := e.Embed(ctx, []string{"one", "two", "one"})
	if err != nil {
		return err
	}
	if e.Dimensions() != 64 || len(got) != 3 || got[0][0] != got[2][0] || got[0][0] == got[1][0] {
		return fmt.Errorf("%d vectors of %d came", len(got), e.Dimensions())
	}
	if _, err := e.Embed(ctx, []string{strings.Repeat("longer than the model reads ", 2000)}); p == config.ProviderOllama && (err == nil || !strings.Contains(err.Error(), "chunk_size")) {
		return fmt.Errorf("a text that is too long gave %v", err)
	}
	return nil
}
