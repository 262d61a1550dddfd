package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

func testEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// asked is a request of one message.
func asked(text string) Request {
	return Request{Messages: []Message{{Role: RoleUser, Parts: agent.Text(text).Parts}}}
}

// collect returns what a call yielded: its chunks but the last, and the last.
func collect(seq iter.Seq2[Chunk, error]) (chunks []Chunk, done *Done, err error) {
	for c, e := range seq {
		if e != nil {
			return chunks, nil, e
		}
		if d, ok := c.(Done); ok {
			done = &d
			continue
		}
		chunks = append(chunks, c)
	}
	return chunks, done, nil
}

func scripted(t *testing.T, steps ...script.Step) Model {
	t.Helper()
	m, err := Scripted(testEnv(), "small", script.Script{Rules: []script.Rule{{Steps: steps}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAScriptIsPlayedAsItIsWritten(t *testing.T) {
	m := scripted(t,
		script.Step{Thinking: "Hm."}, script.Step{Text: "One "}, script.Step{Text: "two."},
		script.Step{Call: &script.Call{ID: "c1", Name: "lookup", Args: `{"query":"x"}`}},
		script.Step{Call: &script.Call{Name: "broken", Args: `{"query": `}},
		script.Step{Call: &script.Call{Name: "bare"}},
		script.Step{Text: " Three."},
		script.Step{Finish: script.FinishLength},
	)
	chunks, done, err := collect(m.Stream(t.Context(), asked("hi there")))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Chunk{Thinking("Hm."), Text("One "), Text("two."), Text(" Three.")}; !reflect.DeepEqual(chunks, want) {
		t.Errorf("the chunks are %q, want %q", chunks, want)
	}
	wantParts := []agent.Part{{Kind: agent.PartThinking, Text: "Hm."}, {Kind: agent.PartText, Text: "One two. Three."}}
	if !reflect.DeepEqual(done.Message.Parts, wantParts) || done.Message.Role != RoleAssistant {
		t.Errorf("the message is %+v", done.Message)
	}
	calls := done.Message.Calls
	if len(calls) != 3 || calls[0].ID != "c1" || calls[1].ID == "" || calls[1].ID == calls[2].ID {
		t.Fatalf("the calls are %+v", calls)
	}
	for i, want := range []string{`{"query":"x"}`, `"{\"query\": "`, `{}`} {
		if got := string(calls[i].Arguments); got != want {
			t.Errorf("the arguments of %s are %s, want %s", calls[i].Name, got, want)
		}
	}
	if done.Stop != agent.StopMaxTokens || done.FinishReason != script.FinishLength {
		t.Errorf("it stopped for %s (%s)", done.Stop, done.FinishReason)
	}
	if done.CostUSD == nil || *done.CostUSD != 0 {
		t.Errorf("it cost %v", done.CostUSD)
	}
	if done.Usage.Prompt != 3 || done.Usage.Reasoning != 1 || done.Usage.Total != done.Usage.Prompt+done.Usage.Completion {
		t.Errorf("the usage is %+v", done.Usage)
	}
}

func TestAScriptedErrorIsAProviderError(t *testing.T) {
	m := scripted(t, script.Step{Text: "partial"}, script.Step{Error: &script.Error{Status: 429, Message: "slow down", RetryAfterMS: 1500}})
	chunks, _, err := collect(m.Stream(t.Context(), asked("hi")))
	refused, ok := errors.AsType[*ProviderError](err)
	if !ok || refused.Status != 429 || refused.RetryAfter != 1500*time.Millisecond || len(chunks) != 1 {
		t.Fatalf("after %q came %v", chunks, err)
	}
	if want := "offline model small: 429 Too Many Requests: slow down; try again after 1.5s"; err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	if got := (&ProviderError{Provider: "p", Model: "m", Message: "reset"}).Error(); got != "p model m: connection broken: reset" {
		t.Errorf("the error is %q", got)
	}
}

func TestAScriptedResponseMayBreakOff(t *testing.T) {
	for name, tt := range map[string]struct {
		step  script.Step
		want  string
		retry bool
	}{
		"cut":     {script.Step{Cut: true}, "connection broken: the response ended before it was complete", true},
		"garbage": {script.Step{Garbage: "<html>"}, `unusable response: not what a model says: "<html>"`, false},
	} {
		chunks, _, err := collect(scripted(t, script.Step{Text: "partial"}, tt.step).Stream(t.Context(), asked("hi")))
		broken, ok := errors.AsType[*ProviderError](err)
		if !ok || broken.Retryable() != tt.retry || !strings.Contains(err.Error(), tt.want) || len(chunks) != 1 {
			t.Errorf("%s: after %q came %v", name, chunks, err)
		}
	}
}

func TestDelaysAndBlocksEndWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, done, err := collect(scripted(t, script.Step{DelayMS: 1500}, script.Step{Text: "ok"}).Stream(t.Context(), asked("hi")))
		if err != nil || done == nil || time.Since(begin) != 1500*time.Millisecond {
			t.Errorf("a delay took %s and gave %v", time.Since(begin), err)
		}
		for name, step := range map[string]script.Step{"delay": {DelayMS: 1e6}, "block": {Block: true}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			begin := time.Now()
			_, _, err := collect(scripted(t, step).Stream(ctx, asked("hi")))
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("%s: after %s came %v", name, time.Since(begin), err)
			}
		}
	})
}

func TestACancelledCallSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for _, err := range scripted(t, script.Step{Text: "a"}, script.Step{Text: "b"}).Stream(ctx, asked("hi")) {
		n++
		last = err
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d chunks, then %v", n, last)
	}
}

func TestWhatAScriptSeesIsTheTurnUnderWay(t *testing.T) {
	user := func(s string) Message { return Message{Role: RoleUser, Parts: agent.Text(s).Parts} }
	result := func(s string) Message {
		return Message{Role: RoleTool, Results: []Result{{Result: agent.TextResult(s)}}}
	}
	said := Message{Role: RoleAssistant}
	tests := map[string]struct {
		history []Message
		want    script.Situation
	}{
		"nothing":          {nil, script.Situation{Round: 1}},
		"first call":       {[]Message{user("a")}, script.Situation{User: "a", Turn: 1, Round: 1}},
		"after a search":   {[]Message{user("a"), said, result("r1"), said, result("r2")}, script.Situation{User: "a", Turn: 1, Round: 3, Result: "r2"}},
		"next turn":        {[]Message{user("a"), said, result("r1"), said, user("b")}, script.Situation{User: "b", Turn: 2, Round: 1}},
		"a failed turn":    {[]Message{user("a"), user("b")}, script.Situation{User: "b", Turn: 2, Round: 1}},
		"asked to correct": {[]Message{user("a"), said, {Role: RoleUser, Auto: true, Parts: agent.Text("again").Parts}}, script.Situation{User: "a", Turn: 1, Round: 2}},
	}
	for name, tt := range tests {
		if got := lastTurn(tt.history).situation(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestARuleIsUsedUpInEachSessionOnItsOwn(t *testing.T) {
	m, err := Scripted(testEnv(), "small", script.Script{Rules: []script.Rule{
		{Times: 1, Steps: []script.Step{{Text: "once"}}}, {Steps: []script.Step{{Text: "then"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	outer := wrapped{wrapped{m}}
	say := func(session string) string {
		req := asked("hi")
		req.Session = session
		chunks, _, err := collect(outer.Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		return string(chunks[0].(Text))
	}
	for i, tt := range []struct{ session, want string }{{"a", "once"}, {"a", "then"}, {"b", "once"}, {"a", "then"}} {
		if got := say(tt.session); got != tt.want {
			t.Errorf("call %d, of session %s: %q, want %q", i+1, tt.session, got, tt.want)
		}
	}
	EndSession(outer, "a")
	if got := say("a"); got != "once" {
		t.Errorf("a session that begins anew gets %q", got)
	}
}

type wrapped struct{ Model }

func (w wrapped) Unwrap() Model { return w.Model }

func TestWithoutARuleItSearchesAndAnswersWithSources(t *testing.T) {
	m, err := Open(testEnv(), Options{}).Model(&config.Model{Provider: config.ProviderOffline, Name: "built-in"})
	if err != nil {
		t.Fatal(err)
	}
	req := searching()
	chunks, done, err := collect(m.Stream(t.Context(), req))
	if err != nil || len(done.Message.Calls) != 1 || len(chunks) != 0 {
		t.Fatalf("the first response is %+v with %q, %v", done, chunks, err)
	}
	c := done.Message.Calls[0]
	if c.Name != "guide_search" || c.ID == "" || !strings.Contains(string(c.Arguments), "harbour") {
		t.Errorf("it calls %+v", c)
	}
	found := agent.TextResult("found")
	found.Passages = []agent.Passage{{Text: "The gates of the harbour open at six in the morning.", Source: "guide/gates.md", Score: 0.9}}
	req.Messages = append(req.Messages, done.Message, Message{Role: RoleTool, Results: []Result{{CallID: c.ID, Name: c.Name, Result: found}}})
	chunks, done, err = collect(m.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	text := agent.JoinText(done.Message.Parts)
	if !strings.Contains(text, "at six in the morning") || !strings.Contains(text, "guide/gates.md") {
		t.Errorf("it answers %q", text)
	}
	var joined strings.Builder
	for _, chunk := range chunks {
		joined.WriteString(string(chunk.(Text)))
	}
	if joined.String() != text || len(chunks) < 5 {
		t.Errorf("%d deltas add up to %q, want %q", len(chunks), joined.String(), text)
	}
}

func TestDecoratorsStandRoundEveryModel(t *testing.T) {
	var order []string
	named := func(name string) Decorator {
		return func(m Model) Model { return tracing{m, func() { order = append(order, name) }} }
	}
	m, err := Open(testEnv(), Options{Decorators: []Decorator{named("outer"), named("inner")}}).Model(&config.Model{Provider: config.ProviderOffline, Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := collect(m.Stream(t.Context(), asked("hi"))); err != nil {
		t.Fatal(err)
	}
	if want := []string{"outer", "inner"}; !reflect.DeepEqual(order, want) {
		t.Errorf("a call passes %v, want %v", order, want)
	}
}

type tracing struct {
	Model
	trace func()
}

func (m tracing) Unwrap() Model { return m.Model }

func (m tracing) Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error] {
	m.trace()
	return m.Model.Stream(ctx, req)
}

func TestAProviderWithoutAClientSaysWhatToDo(t *testing.T) {
	_, err := Open(testEnv(), Options{}).Model(&config.Model{Provider: config.ProviderOpenAI, Name: "gpt-x"})
	if err == nil || !strings.Contains(err.Error(), "openai") || !strings.Contains(err.Error(), "--offline") || !strings.Contains(err.Error(), "gpt-x") {
		t.Errorf("got %v", err)
	}
}

// agentWith loads an agent file with that model section.
func agentWith(t testing.TB, model string, files map[string]string) (*config.Agent, []config.Problem) {
	t.Helper()
	dir := t.TempDir()
	files["agent.yaml"] = "name: test\ninstructions: {inline: Be brief.}\nmodel:\n" + model
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(dir, config.Options{WorkDir: dir})
}

func TestCheckFindsWhatIsWrongWithScripts(t *testing.T) {
	tests := map[string]struct {
		model string
		file  string // text of rules.yaml
		want  []string
	}{
		"fine": {"  provider: offline\n  name: x\n  script: [{do: [{text: hi}]}]\n", "", nil},
		"inline": {"  provider: offline\n  name: x\n  script:\n    - {dow: 1}\n    - do: [{text: a}]\n    - do:\n        - {tekst: a}\n", "", []string{
			`agent.yaml:7:13: model.script[0].dow: unknown key (did you mean "do"?)`,
			`agent.yaml:10:19: model.script[2].do[0].tekst: unknown key (did you mean "text"?)`,
		}},
		"in a file":      {"  provider: offline\n  name: x\n  script_file: rules.yaml\n", "- when: {turn: 0}\n  do: [{text: hi}]\n", []string{"rules.yaml:1:10: [0].when.turn: is 0, want 1 or more"}},
		"fine in a file": {"  provider: offline\n  name: x\n  script_file: rules.yaml\n", "- do: [{text: hi}]\n", nil},
		"keys it does not heed": {"  provider: offline\n  name: x\n  temperature: 0.5\n  api_key: not-needed\n", "", []string{
			"agent.yaml:6:16: warning: model.temperature: has no effect on the offline model",
			"agent.yaml:7:12: warning: model.api_key: has no effect on the offline model",
		}},
		"a missing key":  {"  provider: openai\n  name: gpt-x\n", "", []string{"agent.yaml:4:3: model.api_key: openai model gpt-x needs a key, and there is none (set OPENAI_API_KEY in the environment or in a .env file beside the agent file, or run with --offline)"}},
		"a bad endpoint": {"  provider: openai\n  name: gpt-x\n  endpoint: localhost:1\n", "", []string{"agent.yaml:6:13: model.endpoint: is not an http or https address (write it as https://host/path)"}},
		"sampling of a reasoning model": {"  provider: openai\n  name: o3\n  api_key: not-needed\n  temperature: 0.5\n", "", []string{
			"agent.yaml:7:16: warning: model.temperature: has no effect: o3 thinks before it answers, and takes none",
		}},
		"temperature and top_p of a newer Claude": {"  provider: anthropic\n  name: claude-sonnet-4-5\n  api_key: not-needed\n  temperature: 0.5\n  top_p: 0.9\nbackend: agent_framework\n", "", []string{
			"agent.yaml:8:10: warning: model.top_p: has no effect: claude-sonnet-4-5 takes temperature or top_p, not both",
		}},
		"responses of an old Azure": {"  provider: azure_openai\n  name: x\n  endpoint: https://r.example\n  api_key: not-needed\n  api_version: '2024-10-21'\n  api: responses\n", "", []string{
			"agent.yaml:9:8: model.api: Azure speaks responses only without a dated api_version (remove api_version, or api)",
		}},
		"too hot for anthropic": {"  provider: anthropic\n  name: x\n  temperature: 1.5\nbackend: agent_framework\n", "", []string{
			"agent.yaml:4:3: model.api_key: anthropic model x needs a key, and there is none (set ANTHROPIC_API_KEY in the environment or in a .env file beside the agent file, or run with --offline)",
			"agent.yaml:6:16: model.temperature: is 1.5, and anthropic takes 0 to 1 (lower it)",
		}},
		"claude, over the API": {"  provider: anthropic\n  name: x\n", "", []string{
			"agent.yaml:4:3: model.api_key: anthropic model x needs a key, and there is none (set ANTHROPIC_API_KEY in the environment or in a .env file beside the agent file, or run with --offline)",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			if tt.file != "" {
				files["rules.yaml"] = tt.file
			}
			a, problems := agentWith(t, tt.model, files)
			if config.HasErrors(problems) {
				t.Fatal(problems)
			}
			var got []string
			for _, p := range Check(a) {
				p.Pos.File = filepath.Base(p.Pos.File)
				got = append(got, p.String())
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if a.Model.Provider != config.ProviderOffline {
				return
			}
			_, err := Open(testEnv(), Options{}).Model(a.Model)
			if _, refused := errors.AsType[*config.Error](err); refused != config.HasErrors(Check(a)) {
				t.Errorf("opening the model gave %v", err)
			}
		})
	}
}

func TestAScriptFileThatCannotBeReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if f, err := os.Create(large); err != nil || f.Truncate(script.MaxFileBytes+1) != nil || f.Close() != nil {
		t.Fatal("cannot make a large file")
	}
	for file, why := range map[string]string{
		filepath.Join(dir, "none.yaml"): "none.yaml",
		dir:                             "is a folder",
		large:                           "is larger",
	} {
		_, err := Open(testEnv(), Options{}).Model(&config.Model{Provider: config.ProviderOffline, Name: "x", ScriptFile: &file})
		if _, ok := errors.AsType[*config.Error](err); !ok || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v", why, err)
		}
	}
}

func TestCountTokens(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " \n\t": 0, "a": 1, "four": 1, "fives": 2, "one two  three": 4, "größe": 2, "a b": 2,
	} {
		if got := CountTokens(text); got != want {
			t.Errorf("%q is %d tokens, want %d", text, got, want)
		}
	}
}

func TestWordsKeepEveryCharacter(t *testing.T) {
	for _, text := range []string{"", "one", "one two", "  one\n\ntwo\t", "\n"} {
		if got := strings.Join(collectWords(text), ""); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := collectWords("one  two\nthree"); len(got) != 3 {
		t.Errorf("the pieces are %q", got)
	}
}

func collectWords(text string) []string {
	var list []string
	for w := range words(text) {
		list = append(list, w)
	}
	return list
}

// searching is a request that a search tool may help with.
func searching() Request {
	req := asked("When do the gates of the harbour open?")
	req.Tools = []agent.Definition{{
		Name: "guide_search", Retrieval: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
	}}
	return req
}

func BenchmarkOfflineSearch(b *testing.B) { benchmarkOffline(b, searching()) }

func BenchmarkOfflineAnswer(b *testing.B) {
	found := agent.TextResult("found")
	for i := range 5 {
		found.Passages = append(found.Passages, agent.Passage{
			Text:   strings.Repeat("The gates of the harbour open at six in the morning. Boats leave when the tide allows it. ", 5),
			Source: "guide/gates.md", Score: 0.9 - float64(i)/10,
		})
	}
	req := searching()
	req.Messages = append(req.Messages,
		Message{Role: RoleAssistant, Calls: []Call{{ID: "a", Name: "guide_search"}}},
		Message{Role: RoleTool, Results: []Result{{CallID: "a", Name: "guide_search", Result: found}}})
	benchmarkOffline(b, req)
}

func benchmarkOffline(b *testing.B, req Request) {
	m, err := Open(testEnv(), Options{}).Model(&config.Model{Provider: config.ProviderOffline, Name: "built-in"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := collect(m.Stream(b.Context(), req)); err != nil {
			b.Fatal(err)
		}
	}
}
