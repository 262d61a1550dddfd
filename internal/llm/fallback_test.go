package llm

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// pair returns a model that fails and one that answers in its place.
func pair(failure error, words ...string) (big, small *calls, m Model) {
	big = &calls{
		info:  Info{Provider: "openai", Name: "big", Capabilities: agent.Capabilities{Streaming: true, Images: true, Cost: true}},
		plays: []func(context.Context, func(Chunk, error) bool){fails(failure, words...)},
	}
	small = &calls{
		info:  Info{Provider: "openai", Name: "small", Capabilities: agent.Capabilities{Streaming: true, Thinking: true}},
		plays: []func(context.Context, func(Chunk, error) bool){says("Hello.", agent.Usage{Prompt: 1})},
	}
	return big, small, &fallback{big, small, (*secret.Redactor)(nil).String}
}

func TestAnotherModelAnswersForOneThatIsOverloaded(t *testing.T) {
	for _, status := range []int{429, 500, 503, 529} {
		big, small, m := pair(refusal(status))
		chunks, done, err := collect(m.Stream(t.Context(), asked("hi")))
		if err != nil || done == nil || done.Model != "small" || done.Provider != "openai" || done.Usage.Prompt != 1 {
			t.Errorf("%d: it ends in %+v, %v", status, done, err)
		}
		told := notices(chunks)
		if len(told) != 1 || told[0].Code != agent.NoticeFallback || !strings.Contains(told[0].Text, "model small answers instead") {
			t.Errorf("%d: the notices are %q", status, told)
		}
		if len(big.times) != 1 || len(small.times) != 1 {
			t.Errorf("%d: %d and %d calls", status, len(big.times), len(small.times))
		}
	}
}

func TestTheOtherModelIsNotAskedForNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		failure error
		words   []string
	}{
		"no connection": {refusal(0), nil}, "no such key": {refusal(401), nil}, "something else": {errors.New("odd"), nil},
		"words were said": {refusal(503), []string{"Once"}},
	} {
		_, small, m := pair(tt.failure, tt.words...)
		_, _, err := collect(m.Stream(t.Context(), asked("hi")))
		if !errors.Is(err, tt.failure) || len(small.times) != 0 {
			t.Errorf("%s: %d calls of the other model, %v", name, len(small.times), err)
		}
	}
}

func TestWhenBothModelsFailBothAreNamed(t *testing.T) {
	_, small, m := pair(refusal(503))
	small.plays = []func(context.Context, func(Chunk, error) bool){fails(&ProviderError{Provider: "openai", Model: "small", Status: 404, Message: "no such model"})}
	_, _, err := collect(m.Stream(t.Context(), asked("hi")))
	if want := "openai model big: 503 Service Unavailable: no; and in its place: openai model small: 404 Not Found: no such model"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

func TestAPairCanDoWhatBothCan(t *testing.T) {
	big, small, m := pair(refusal(503))
	want := Info{Provider: "openai", Name: "big", Capabilities: agent.Capabilities{Streaming: true, Thinking: true}}
	if got := m.Info(); !reflect.DeepEqual(got, want) {
		t.Errorf("it can %+v", got)
	}
	EndSession(m, "s1")
	if len(big.ended) != 1 || len(small.ended) != 1 {
		t.Errorf("the end of a session reached %v and %v", big.ended, small.ended)
	}
}

func TestACallCostsWhatTheTableSays(t *testing.T) {
	prices, err := price.Open(func(string) string { return "" }, "")
	if err != nil {
		t.Fatal(err)
	}
	known := &calls{
		info:  Info{Provider: "openai", Name: "gpt-4o"},
		plays: []func(context.Context, func(Chunk, error) bool){says("Hello.", agent.Usage{Prompt: 1_000_000, Completion: 100_000})},
	}
	m := newPriced(known, prices)
	_, done, err := collect(m.Stream(t.Context(), asked("hi")))
	if err != nil || done.CostUSD == nil || *done.CostUSD != 3.5 || !m.Info().Capabilities.Cost {
		t.Errorf("it cost %+v, %v", done, err)
	}
	unknown := &calls{info: Info{Provider: "openai", Name: "our-own"}, plays: known.plays}
	m = newPriced(unknown, prices)
	if _, done, err := collect(m.Stream(t.Context(), asked("hi"))); err != nil || done.CostUSD != nil || m.Info().Capabilities.Cost {
		t.Errorf("a model without a price cost %+v, %v", done, err)
	}
	// What the provider itself says stands.
	m = newPriced(&calls{info: known.info, plays: []func(context.Context, func(Chunk, error) bool){
		func(_ context.Context, yield func(Chunk, error) bool) { yield(Done{CostUSD: new(float64)}, nil) },
	}}, prices)
	if _, done, _ := collect(m.Stream(t.Context(), asked("hi"))); *done.CostUSD != 0 {
		t.Errorf("the provider's own figure became %g", *done.CostUSD)
	}
}

func TestEveryModelHasTheSameAroundIt(t *testing.T) {
	m, err := Open(testEnv(), Options{}).Model(&config.Model{Provider: config.ProviderOffline, Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for m != nil {
		order = append(order, reflect.TypeOf(m).String())
		d, ok := m.(interface{ Unwrap() Model })
		if !ok {
			break
		}
		m = d.Unwrap()
	}
	if want := []string{"*llm.retrying", "*llm.limited", "*llm.offlineModel"}; !reflect.DeepEqual(order, want) {
		t.Errorf("from the outside in: %v, want %v", order, want)
	}
}

func TestAnOverloadedProviderIsAskedAgainAndThenTheOtherModel(t *testing.T) {
	server := llmtest.Start(t, script.Script{Rules: []script.Rule{
		{Times: 3, Steps: []script.Step{{Error: &script.Error{Status: 429, Message: "slow down", RetryAfterMS: 1}}}},
		{Steps: []script.Step{{Text: "Hello."}, {Usage: &agent.Usage{Prompt: 1_000_000, Total: 1_000_000}}}},
	}}, llmtest.Options{})
	a, problems := agentWith(t, "  provider: openai\n  name: gpt-4o\n  api_key: canary-key\n  endpoint: "+server.URL+"/v1\n"+
		"openai: {fallback_model: gpt-4o-mini, max_budget_usd: 1}\n", map[string]string{})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	prices, err := price.Open(func(string) string { return "" }, "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(testEnv(), Options{Parallel: 4, Prices: prices, Redactor: a.Redactor}).Chat(a)
	if err != nil {
		t.Fatal(err)
	}
	chunks, done, err := collect(m.Stream(t.Context(), asked("hi")))
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, n := range notices(chunks) {
		codes = append(codes, n.Code)
	}
	if want := []string{agent.NoticeRetry, agent.NoticeRetry, agent.NoticeFallback}; !reflect.DeepEqual(codes, want) {
		t.Errorf("the notices are %v, want %v", codes, want)
	}
	if done.Model != "gpt-4o-mini" || done.CostUSD == nil || *done.CostUSD != 0.15 {
		t.Errorf("%s answered, and it cost %v", done.Model, done.CostUSD)
	}
	var asked []string
	for _, r := range server.Requests() {
		var body struct{ Model string }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		asked = append(asked, body.Model)
	}
	if want := []string{"gpt-4o", "gpt-4o", "gpt-4o", "gpt-4o-mini"}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked were %v, want %v", asked, want)
	}
}
