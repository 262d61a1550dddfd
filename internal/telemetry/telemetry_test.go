package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/telemetry/telemetrytest"
)

// canary is a secret of the agent file of these tests.
const canary = "canary-of-the-file-7731"

// load returns an agent whose observability section holds what is given, with
// URL and ADDRESS for those of the receiver.
func load(t *testing.T, r *telemetrytest.Receiver, section string) *config.Agent {
	t.Helper()
	dir := t.TempDir()
	text := "name: guide\ndescription: Knows the way.\nbackend: agent_framework\ninstructions: {inline: Be brief.}\n" +
		"model: {provider: openai, name: gpt-4o, api_key: " + canary + "}\n" +
		"observability:\n  enabled: true\n" + section
	if r != nil {
		text = strings.NewReplacer("URL", r.URL, "ADDRESS", r.Address).Replace(text)
	}
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(filepath.Join(dir, "agent.yaml"), config.Options{WorkDir: dir})
	if config.HasErrors(problems) {
		t.Fatal(&config.Error{Problems: problems})
	}
	return a
}

func systemEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// open opens the telemetry of an agent. Close is the test's, which asserts what
// was delivered by then.
func open(t *testing.T, a *config.Agent, opts Options) *Telemetry {
	t.Helper()
	tel, err := Open(t.Context(), systemEnv(), a, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tel.Close() })
	return tel
}

// toHTTP sends everything to the receiver.
const toHTTP = "  exporters: {otlp: {endpoint: URL, protocol: http}}\n"

// answering is a model that answers, or fails.
type answering struct {
	text string
	err  error
}

func (answering) Info() llm.Info { return llm.Info{Provider: "openai", Name: "gpt-4o"} }

func (m answering) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		if !yield(llm.Text(m.text), nil) {
			return
		}
		cost := 0.25
		yield(llm.Done{
			Message: llm.Message{Role: llm.RoleAssistant, Parts: agent.Text(m.text).Parts},
			Usage:   agent.Usage{Prompt: 7, Completion: 3, Total: 10, Cached: 2}, CostUSD: &cost, FinishReason: "stop",
		}, nil)
	}
}

// turner is a backend whose turns ask a model, call a tool, and ask again. With
// own it calls the model by itself, as a process of its own would.
type turner struct {
	agent.Backend
	tel   *Telemetry
	model llm.Model
	own   bool
	fail  error
}

func (r *turner) NewSession(context.Context, agent.SessionOptions) (agent.Session, error) {
	return &conversation{r: r}, nil
}

type conversation struct {
	agent.Session
	r *turner
}

func (*conversation) ID() string { return "conversation-1" }

func (c *conversation) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		stamp := agent.NewStamper(time.Now, 1)
		say := func(e agent.Event) bool { return yield(stamp.Stamp(e, ""), nil) }
		for round := range 2 {
			if !c.ask(ctx, m, say) {
				return
			}
			if round == 0 {
				args := json.RawMessage(`{"query":"` + canary + `"}`)
				ctx, ended := c.r.tel.ToolCall(ctx, "map_search", "call-1", args, &agent.Definition{Retrieval: true})
				f := agent.ToolCallFinished{CallID: "call-1", Name: "map_search", Result: agent.TextResult("north, says " + canary), Start: time.Now(), End: time.Now()}
				if c.r.fail != nil {
					f.Err = c.r.fail.Error()
				}
				_ = ctx
				ended(f)
				if !say(agent.ToolCallStarted{CallID: "call-1", Name: "map_search", Arguments: args}) || !say(f) {
					return
				}
			}
		}
		if c.r.fail != nil {
			yield(nil, c.r.fail)
			return
		}
		say(agent.TurnFinished{Response: "North.", StopReason: agent.StopEnd})
	}
}

func (c *conversation) ask(ctx context.Context, m agent.Message, say func(agent.Event) bool) bool {
	call := agent.ModelCall{Provider: "openai", Model: "gpt-4o", Usage: agent.Usage{Prompt: 7, Completion: 3, Total: 10}, Start: time.Now(), End: time.Now().Add(time.Millisecond)}
	if !c.r.own {
		for _, err := range c.r.model.Stream(ctx, llm.Request{Session: "conversation-1", Messages: []llm.Message{{Role: llm.RoleUser, Parts: m.Parts}}}) {
			if err != nil {
				return false
			}
		}
	}
	return say(agent.TextDelta{Text: "North."}) && say(call)
}

// turn runs one turn under telemetry and closes it.
func turn(t *testing.T, tel *Telemetry, r *turner) {
	t.Helper()
	r.tel, r.model = tel, tel.Model(answering{text: "North, says " + canary})
	s, err := tel.Backend(r).NewSession(t.Context(), agent.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	agent.Collect(s.Send(t.Context(), agent.Text("Which way? "+canary)))
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
}

const wantTree = `invoke_agent guide
  chat gpt-4o
  chat gpt-4o
  execute_tool map_search
`

func TestATurnIsOneTreeOfSpans(t *testing.T) {
	for name, section := range map[string]string{
		"http": toHTTP,
		"grpc": "  exporters: {otlp: {endpoint: ADDRESS}}\n",
		"gzip": "  exporters: {otlp: {endpoint: URL, protocol: http, compression: gzip}}\n",
	} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, own model calls %t", name, own), func(t *testing.T) {
				r := telemetrytest.New(t)
				tel := open(t, load(t, r, section), Options{Version: "1.2"})
				turn(t, tel, &turner{own: own})
				if got := r.Tree(); got != wantTree {
					t.Fatalf("the spans are\n%swant\n%s", got, wantTree)
				}
				spans := r.Spans()
				for _, s := range spans {
					if s.Trace != spans[0].Trace || s.Scope != "holodeck.backends.af" || s.Status != "Unset" {
						t.Errorf("%s: trace %s of scope %s, status %s", s.Name, s.Trace, s.Scope, s.Status)
					}
				}
				has(t, spans[0], map[string]string{
					"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide", "gen_ai.agent.description": "Knows the way.",
					"gen_ai.conversation.id": "conversation-1", "gen_ai.provider.name": "openai", "gen_ai.system": "openai",
					"gen_ai.request.model": "gpt-4o", "gen_ai.response.model": "gpt-4o",
					"gen_ai.usage.input_tokens": "14", "gen_ai.usage.output_tokens": "6",
					"gen_ai.usage.prompt_tokens": "14", "gen_ai.usage.completion_tokens": "6", "holodeck.num_turns": "2",
				})
				if got := spans[0].Resource; got["service.name"] != "holodeck-guide" || got["service.version"] != "1.2" {
					t.Errorf("the resource is %v", got)
				}
				has(t, find(t, spans, "chat gpt-4o"), map[string]string{
					"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.response.model": "gpt-4o",
					"gen_ai.usage.input_tokens": "7", "gen_ai.usage.prompt_tokens": "7", "gen_ai.usage.completion_tokens": "3",
				})
				has(t, find(t, spans, "execute_tool map_search"), map[string]string{
					"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "map_search", "gen_ai.tool.call.id": "call-1", "gen_ai.tool.type": "datastore",
				})
				var tokens, calls uint64
				for _, m := range r.Metrics() {
					switch {
					case m.Name == "gen_ai.client.token.usage" && m.Attributes["gen_ai.token.type"] == "input":
						tokens += uint64(m.Sum)
					case m.Name == "gen_ai.client.operation.duration" && m.Attributes["gen_ai.operation.name"] == "chat":
						calls += m.Count
					}
				}
				if tokens != 14 || calls != 2 {
					t.Errorf("the metrics have %d tokens and %d calls: %+v", tokens, calls, r.Metrics())
				}
				if got := everything(t, r); strings.Contains(got, canary) || strings.Contains(got, "Which way") || strings.Contains(got, "North") {
					t.Errorf("content was sent without capture_content: %s", got)
				}
			})
		}
	}
}

func has(t *testing.T, s telemetrytest.Span, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if s.Attributes[key] != value {
			t.Errorf("%s: %s is %q, want %q", s.Name, key, s.Attributes[key], value)
		}
	}
}

func find(t *testing.T, spans []telemetrytest.Span, name string) telemetrytest.Span {
	t.Helper()
	i := slices.IndexFunc(spans, func(s telemetrytest.Span) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no span %q among %+v", name, spans)
	}
	return spans[i]
}

// everything returns all that was received as text.
func everything(t *testing.T, r *telemetrytest.Receiver) string {
	t.Helper()
	data, err := json.Marshal([]any{r.Spans(), r.Metrics(), r.Logs()})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestContentIsCapturedAndMasked(t *testing.T) {
	r := telemetrytest.New(t)
	tel := open(t, load(t, r, toHTTP+"  traces: {capture_content: true, redaction_patterns: ['Which \\w+']}\n"), Options{})
	log := tel.Log(slog.New(slog.DiscardHandler))
	log.Warn("the key is "+canary, "key", canary, slog.Group("of", "value", canary), "error", errors.New(canary))
	turn(t, tel, &turner{fail: errors.New("refused " + canary)})
	spans := r.Spans()
	root := spans[0]
	if in := root.Attributes["gen_ai.input.messages"]; !strings.Contains(in, `[redacted]?`) || !strings.Contains(in, `"role":"user"`) {
		t.Errorf("what was said: %s", in)
	}
	if in := root.Attributes["gen_ai.system_instructions"]; !strings.Contains(in, "Be brief.") {
		t.Errorf("the instructions: %s", in)
	}
	if out := find(t, spans, "chat gpt-4o").Attributes["gen_ai.output.messages"]; !strings.Contains(out, "North, says [redacted]") {
		t.Errorf("the answer: %s", out)
	}
	tool := find(t, spans, "execute_tool map_search")
	has(t, tool, map[string]string{"gen_ai.tool.call.arguments": `{"query":"[redacted]"}`, "gen_ai.tool.call.result": "north, says [redacted]", "error.type": "tool_error"})
	if root.Status != "Error" || root.Message != "refused [redacted]" || tool.Status != "Error" {
		t.Errorf("the status is %s %q and %s", root.Status, root.Message, tool.Status)
	}
	if len(r.Logs()) != 1 {
		t.Errorf("the logs are %+v", r.Logs())
	}
	if got := everything(t, r); strings.Contains(got, canary) || strings.Contains(got, "Which way") {
		t.Errorf("a secret was sent: %s", got)
	}
}

func TestWhatJudgesSeeHasASwitchOfItsOwn(t *testing.T) {
	for _, on := range []bool{false, true} {
		r := telemetrytest.New(t)
		tel := open(t, load(t, r, toHTTP+fmt.Sprintf("  traces: {capture_content: %t, capture_evaluation_content: %t}\n", !on, on)), Options{})
		for range tel.Model(answering{text: "4 of 5"}).Stream(t.Context(), llm.Request{Session: "case-1/judge/relevance"}) {
		}
		tel.Close()
		span := find(t, r.Spans(), "chat gpt-4o")
		if got := strings.Contains(span.Attributes["gen_ai.output.messages"], "4 of 5"); got != on {
			t.Errorf("with the switch %t the answer was sent: %t", on, got)
		}
		has(t, span, map[string]string{"holodeck.purpose": "judge/relevance", "gen_ai.conversation.id": "case-1"})
	}
}

func TestAFailedModelCallSaysWhichStatus(t *testing.T) {
	r := telemetrytest.New(t)
	tel := open(t, load(t, r, toHTTP), Options{})
	for range tel.Model(answering{err: &llm.ProviderError{Provider: "openai", Status: 429, Message: "slow down"}}).Stream(t.Context(), llm.Request{}) {
	}
	tel.Close()
	span := find(t, r.Spans(), "chat gpt-4o")
	has(t, span, map[string]string{"error.type": "429"})
	if span.Status != "Error" {
		t.Errorf("the status is %s", span.Status)
	}
}

func TestSignalsAndSamplingAreSwitched(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, tt := range map[string]struct {
		section              string
		environ              string
		spans, metrics, logs bool
	}{
		"all":             {"", "", true, true, true},
		"no traces":       {"  traces: {enabled: false}\n", "", false, true, true},
		"no metrics":      {"  metrics: {enabled: false}\n", "", true, false, true},
		"no logs":         {"  logs: {enabled: false}\n", "", true, true, false},
		"nothing sampled": {"  traces: {sample_rate: 0}\n", "", false, true, true},
		"sampled before":  {"  traces: {sample_rate: 0}\n", parent, true, true, true},
		"otlp off":        {"  exporters: {otlp: {enabled: false}, console: {}}\n", "", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := telemetrytest.New(t)
			section := tt.section
			if !strings.Contains(section, "exporters") {
				section += toHTTP
			}
			tel := open(t, load(t, r, section), Options{Console: io.Discard, Getenv: func(name string) string {
				return map[string]string{"TRACEPARENT": tt.environ}[name]
			}})
			tel.Log(slog.New(slog.DiscardHandler)).Warn("hm")
			turn(t, tel, &turner{})
			if got := len(r.Spans()) > 0; got != tt.spans {
				t.Errorf("spans: %t", got)
			}
			if got := len(r.Metrics()) > 0; got != tt.metrics {
				t.Errorf("metrics: %t", got)
			}
			if got := len(r.Logs()) > 0; got != tt.logs {
				t.Errorf("logs: %t", got)
			}
			if tt.environ != "" {
				if s := r.Spans()[0]; s.Trace != "0af7651916cd43dd8448eb211c80319c" || s.Parent != "b7ad6b7169203331" {
					t.Errorf("the turn is of trace %s under %s", s.Trace, s.Parent)
				}
			}
		})
	}
}

func TestTheResourceAndTheHeadersAreTheFiles(t *testing.T) {
	r := telemetrytest.New(t)
	const section = "  service_name: desk\n  resource_attributes: {region: north}\n" +
		"  exporters: {otlp: {endpoint: ENDPOINT, headers: {X-Tenant: one}}}\n"
	for endpoint, protocol := range map[string]string{"URL": "http", "ADDRESS": "grpc"} {
		a := load(t, r, strings.Replace(section, "ENDPOINT", endpoint+", protocol: "+protocol, 1))
		tel := open(t, a, Options{})
		turn(t, tel, &turner{})
	}
	for _, s := range r.Spans() {
		if s.Resource["service.name"] != "desk" || s.Resource["region"] != "north" {
			t.Errorf("the resource is %v", s.Resource)
		}
	}
	for _, h := range r.Headers() {
		if h["x-tenant"] != "one" {
			t.Errorf("the headers are %v", h)
		}
	}
	if len(r.Spans()) != 8 {
		t.Errorf("%d spans came", len(r.Spans()))
	}
}

func TestLogsKeepTheirLevelTheirNamespaceAndTheirSpan(t *testing.T) {
	for name, tt := range map[string]struct {
		section string
		want    int
		traced  bool
	}{
		"as it is":              {"", 2, true},
		"from errors on":        {"  logs: {level: ERROR}\n", 1, true},
		"critical alone":        {"  logs: {level: CRITICAL}\n", 0, true},
		"without this room":     {"  logs: {filter_namespaces: [holodeck.telemetry]}\n", 0, true},
		"without their parents": {"  logs: {filter_namespaces: [holodeck]}\n", 0, true},
		"without another":       {"  logs: {filter_namespaces: [holodeck.tel]}\n", 2, true},
		"without their span":    {"  logs: {include_trace_context: false}\n", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := telemetrytest.New(t)
			tel := open(t, load(t, r, tt.section+toHTTP), Options{})
			var shown bytes.Buffer
			log := tel.Log(slog.New(slog.NewTextHandler(&shown, nil))).With("agent", "guide")
			ctx, ended := tel.ToolCall(t.Context(), "map_search", "call-1", nil, nil)
			log.DebugContext(ctx, "a detail")
			log.InfoContext(ctx, "it works", "n", 3)
			log.ErrorContext(ctx, "it does not")
			ended(agent.ToolCallFinished{})
			tel.Close()
			logs := r.Logs()
			if len(logs) != tt.want {
				t.Fatalf("%d records came: %+v", len(logs), logs)
			}
			span := r.Spans()[0]
			for _, l := range logs {
				if l.Scope != "holodeck.telemetry" || l.Attributes["agent"] != "guide" {
					t.Errorf("the record is %+v", l)
				}
				if (l.Span == span.ID) != tt.traced {
					t.Errorf("the record is of span %q, want %q: %t", l.Span, span.ID, tt.traced)
				}
			}
			if strings.Count(shown.String(), "\n") != 2 {
				t.Errorf("stderr has %q", shown.String())
			}
		})
	}
}

func TestTheConsoleShowsAllAndTheLogOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		section string
		pretty  bool
		times   bool
	}{
		"by default": {"", true, true},
		"plain":      {"  exporters: {console: {pretty_print: false, include_timestamps: false}}\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var console, shown bytes.Buffer
			tel := open(t, load(t, nil, tt.section), Options{Console: &console})
			tel.Log(slog.New(slog.NewTextHandler(&shown, nil))).Warn("hm")
			turn(t, tel, &turner{})
			got := console.String()
			for _, want := range []string{"invoke_agent guide", "gen_ai.client.token.usage", `"hm"`} {
				if !strings.Contains(got, want) {
					t.Errorf("the console lacks %s:\n%s", want, got)
				}
			}
			if shown.Len() > 0 {
				t.Errorf("the log is shown twice: %s", &shown)
			}
			if pretty := strings.Contains(got, "\n\t"); pretty != tt.pretty {
				t.Errorf("indented: %t", pretty)
			}
			year := fmt.Sprintf(`"StartTime":"%d`, time.Now().Year())
			if times := strings.Contains(strings.ReplaceAll(got, ": ", ":"), year); times != tt.times {
				t.Errorf("with times: %t", times)
			}
		})
	}
}

func TestWhoIsQuietShowsNoMoreThanTheFileAsksFor(t *testing.T) {
	for section, shows := range map[string]bool{"": false, "  exporters: {console: {}}\n": true} {
		var console bytes.Buffer
		turn(t, open(t, load(t, nil, section), Options{Console: &console, Quiet: true}), &turner{})
		if (console.Len() > 0) != shows {
			t.Errorf("with %q the console shows %d bytes", section, console.Len())
		}
	}
}

func TestPrometheusScrapes(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	section := "  exporters: {prometheus: {enabled: true, host: 127.0.0.1, path: /m, port: " + port + "}}\n"
	var said []string
	taken := open(t, load(t, nil, section), Options{Notice: func(s string) { said = append(said, s) }})
	if len(said) != 1 || !strings.Contains(said[0], port) {
		t.Errorf("of a port that is taken it said %q", said)
	}
	taken.Close()
	listener.Close()
	tel := open(t, load(t, nil, section), Options{})
	for range tel.Model(answering{text: "hi"}).Stream(t.Context(), llm.Request{}) {
	}
	resp, err := http.Get("http://127.0.0.1:" + port + "/m")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, _ := io.ReadAll(resp.Body)
	if !strings.Contains(string(page), "gen_ai_client_token_usage") {
		t.Errorf("the page is %s", page)
	}
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get("http://127.0.0.1:" + port + "/m"); err == nil {
		t.Error("the page is there after Close")
	}
}

func TestAReceiverThatIsDownCostsItsDataOnly(t *testing.T) {
	r := telemetrytest.New(t)
	r.Refuse()
	var said []string
	tel := open(t, load(t, r, toHTTP), Options{Notice: func(s string) { said = append(said, s) }})
	turn(t, tel, &turner{})
	if len(said) != 2 || !strings.Contains(said[1], "4 of 4 spans were not delivered") && !strings.Contains(said[0], "4 of 4 spans were not delivered") {
		t.Errorf("it said %q", said)
	}
}

// TestAReceiverThatDoesNotAnswerIsNotWaitedFor holds the bound of Close against
// receivers that are not there, and that say nothing.
func TestAReceiverThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // what connects is never accepted
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, address := range map[string]string{"silent": silent.Addr().String(), "gone": gone.Addr().String()} {
		for _, protocol := range []string{"grpc", "http"} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				var said []string
				a := load(t, nil, "  exporters: {otlp: {endpoint: 'http://"+address+"', protocol: "+protocol+"}}\n")
				tel := open(t, a, Options{Notice: func(s string) { said = append(said, s) }, grace: 200 * time.Millisecond})
				tel.Log(slog.New(slog.DiscardHandler)).Warn("hm")
				began := time.Now()
				turn(t, tel, &turner{})
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
				all := strings.Join(said, "\n")
				if len(said) != 3 || strings.Contains(all, "faster than") || !strings.Contains(all, "4 of 4 spans") || !strings.Contains(all, "1 of 1 log records") {
					t.Errorf("it said %q", said)
				}
			})
		}
	}
}

func TestWhatIsSaidIsNotInReasonsEither(t *testing.T) {
	r := telemetrytest.New(t)
	a := load(t, r, "  resource_attributes: {owner: "+canary+"}\n"+toHTTP)
	tel := open(t, a, Options{})
	turn(t, tel, &turner{fail: errors.New("the answer was Which way")})
	if got := everything(t, r); strings.Contains(got, "Which way") || strings.Contains(got, canary) {
		t.Errorf("content was sent: %s", got)
	}
	if s := r.Spans()[0]; s.Status != "Error" || s.Attributes["error.type"] != "_OTHER" {
		t.Errorf("the turn is %s, %s", s.Status, s.Attributes["error.type"])
	}
}

func TestANameThatAModelMadeUpIsNoSeriesOfItsOwn(t *testing.T) {
	r := telemetrytest.New(t)
	tel := open(t, load(t, r, toHTTP), Options{})
	_, ended := tel.ToolCall(t.Context(), canary, "call-1", nil, nil)
	ended(agent.ToolCallFinished{Err: "there is no such tool"})
	tel.Close()
	for _, m := range r.Metrics() {
		if name := m.Attributes["gen_ai.tool.name"]; name != "" && name != "_OTHER" {
			t.Errorf("a series is called %q", name)
		}
	}
}

// TestACallBesideTheConversationIsOneSpan holds that what a tool, or a compaction,
// has a model do within a turn is traced once, and is content like the rest.
func TestACallBesideTheConversationIsOneSpan(t *testing.T) {
	r := telemetrytest.New(t)
	tel := open(t, load(t, r, toHTTP+"  traces: {capture_content: true}\n"), Options{})
	s := &turnSpan{t: tel}
	ctx := s.start(t.Context(), "conversation-1", agent.Text("hi"))
	for range tel.Model(answering{text: "aside"}).Stream(ctx, llm.Request{Session: "conversation-1/clerk 1.1"}) {
	}
	s.observe(agent.ModelCall{Provider: "openai", Model: "gpt-4o", Head: agent.Header{Parent: "call-1"}}, nil)
	s.end()
	tel.Close()
	if got := r.Tree(); got != "invoke_agent guide\n  chat gpt-4o\n" {
		t.Errorf("the spans are\n%s", got)
	}
	if chat := find(t, r.Spans(), "chat gpt-4o"); !strings.Contains(chat.Attributes["gen_ai.output.messages"], "aside") {
		t.Errorf("what it said was not sent: %v", chat.Attributes)
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	r := telemetrytest.New(t)
	var said []string
	a := load(t, r, toHTTP+"  metrics: {enabled: false}\n  logs: {enabled: false}\n  traces: {max_queue_size: 1, max_export_batch_size: 1, schedule_delay_millis: 60000}\n")
	tel := open(t, a, Options{Notice: func(s string) { said = append(said, s) }})
	for range 2000 {
		_, ended := tel.ToolCall(t.Context(), "map_search", "call", nil, nil)
		ended(agent.ToolCallFinished{})
	}
	tel.Close()
	if len(r.Spans()) == 2000 || len(said) != 1 || !strings.Contains(said[0], "max_queue_size") {
		t.Errorf("%d spans came, and it said %q", len(r.Spans()), said)
	}
}

// TestWhatOthersTraceGoesNowhere holds that no global provider is set: a module
// that traces by itself puts the arguments of tools into its spans.
func TestWhatOthersTraceGoesNowhere(t *testing.T) {
	r := telemetrytest.New(t)
	tel := open(t, load(t, r, toHTTP), Options{})
	ctx, outer := tel.ToolCall(t.Context(), "outer", "call-1", nil, nil)
	ctx, span := otel.Tracer("gcp.vertex.agent").Start(ctx, "theirs", trace.WithAttributes(attribute.String("args", canary)))
	_, inner := tel.ToolCall(ctx, "inner", "call-2", nil, nil)
	inner(agent.ToolCallFinished{})
	span.End()
	outer(agent.ToolCallFinished{})
	tel.Close()
	if got := r.Tree(); got != "execute_tool outer\n  execute_tool inner\n" {
		t.Errorf("the spans are\n%s", got)
	}
}

func TestRequestsSayWhichSpanTheyBelongTo(t *testing.T) {
	r := telemetrytest.New(t)
	tel := open(t, load(t, r, toHTTP), Options{})
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Traceparent") }))
	defer server.Close()
	client := &http.Client{Transport: tel.Transport(http.DefaultTransport)}
	ctx, ended := tel.ToolCall(t.Context(), "map_search", "call-1", nil, nil)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	ended(agent.ToolCallFinished{})
	tel.Close()
	if s := r.Spans()[0]; got != "00-"+s.Trace+"-"+s.ID+"-01" {
		t.Errorf("the header is %q, the span %s of %s", got, s.ID, s.Trace)
	}
	client.CloseIdleConnections()
}

func TestOffIsNothing(t *testing.T) {
	a := load(t, nil, "")
	a.Observability.Enabled = false
	tel, err := Open(t.Context(), systemEnv(), a, Options{})
	if tel != nil || err != nil {
		t.Fatalf("Open = %v, %v", tel, err)
	}
	log := slog.New(slog.DiscardHandler)
	b := &turner{}
	if tel.Log(log) != log || tel.Backend(b) != agent.Backend(b) || tel.Model(answering{}) != llm.Model(answering{}) || tel.Transport(http.DefaultTransport) != http.DefaultTransport {
		t.Error("something was decorated")
	}
	_, ended := tel.ToolCall(t.Context(), "a", "b", nil, nil)
	ended(agent.ToolCallFinished{})
	if err := tel.Close(); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct{ section, want string }{
		"azure":                 {"  exporters: {azure_monitor: {enabled: true, connection_string: x}}\n", "azure_monitor is not supported"},
		"azure, off":            {"  exporters: {azure_monitor: {enabled: false}}\n", "azure_monitor is not supported"},
		"deflate":               {"  exporters: {otlp: {compression: deflate}}\n", "deflate is not supported"},
		"no address":            {"  exporters: {otlp: {endpoint: 'ftp://x'}}\n", "not the address of a collector"},
		"tls and no tls":        {"  exporters: {otlp: {insecure: false}}\n", "insecure is false, but the endpoint begins with http://"},
		"a path without slash":  {"  exporters: {prometheus: {enabled: true, path: metrics}}\n", "is no path of a page"},
		"a path of a pattern":   {"  exporters: {prometheus: {enabled: true, path: '/{'}}\n", "is no path of a page"},
		"prometheus, unasked":   {"  exporters: {prometheus: {port: 9999}, otlp: {}}\n", "prometheus is off"},
		"nothing to send":       {"  traces: {enabled: false}\n  metrics: {enabled: false}\n  logs: {enabled: false}\n", "all off"},
		"nowhere to send it":    {"  exporters: {otlp: {enabled: false}, console: {enabled: false}}\n", "every exporter is off"},
		"a header that is none": {"  exporters: {otlp: {headers: {'a b': x}}}\n", "is no header"},
		"a path over grpc":      {"  exporters: {otlp: {endpoint: 'http://c:4317/x'}}\n", "grpc has no place"},
		"all well":              {"  exporters: {otlp: {endpoint: 'collector:4317', insecure: false}}\n", ""},
	} {
		var texts []string
		for _, p := range Check(load(t, nil, tt.section)) {
			texts = append(texts, p.Text)
			if p.Pos.Line == 0 {
				t.Errorf("%s: %v has no position", name, p)
			}
		}
		if got := strings.Join(texts, "; "); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
