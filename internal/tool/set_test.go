package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a tool that does what its func does.
type fake struct {
	def agent.Definition
	do  func(ctx context.Context, args json.RawMessage) (agent.ToolResult, error)
}

func (f fake) Definition() agent.Definition { return f.def }

func (f fake) Call(ctx context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return f.do(ctx, args)
}

const querySchema = `{"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"], "additionalProperties": false}`

// searcher returns a tool called name with one string argument.
func searcher(name string, do func(ctx context.Context, args json.RawMessage) (agent.ToolResult, error)) fake {
	return fake{def: agent.Definition{Name: name, Description: "Search " + name, Schema: json.RawMessage(querySchema)}, do: do}
}

// echo answers with its arguments.
func echo(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
	return agent.TextResult(string(args)), nil
}

func testEnv() agent.Env {
	env := agent.SystemEnv(slog.New(slog.DiscardHandler))
	return env
}

func open(t *testing.T, tools ...agent.Tool) *tool.Set {
	t.Helper()
	s, err := tool.New(testEnv(), tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestCallReturnsTheToolsResult(t *testing.T) {
	s := open(t, searcher("kb_search", echo))
	got := s.Call(t.Context(), tool.Call{ID: "c1", Name: "kb_search", Arguments: json.RawMessage(`{"query": "x"}`)})
	if got.CallID != "c1" || got.Name != "kb_search" || got.Err != "" || got.Result.IsError || got.Result.Text() != `{"query": "x"}` {
		t.Errorf("Call = %+v", got)
	}
	if got.Start.IsZero() || got.End.Before(got.Start) {
		t.Errorf("start %v, end %v", got.Start, got.End)
	}
}

func TestFailuresAreToldToTheModel(t *testing.T) {
	s := open(t,
		searcher("ok", echo),
		searcher("fails", func(context.Context, json.RawMessage) (agent.ToolResult, error) {
			return agent.ToolResult{}, errors.New("the index is gone")
		}),
		searcher("reports", func(context.Context, json.RawMessage) (agent.ToolResult, error) {
			r := agent.TextResult("no such order\nmore")
			r.IsError = true
			return r, nil
		}),
		searcher("panics", func(context.Context, json.RawMessage) (agent.ToolResult, error) { panic("boom") }),
		searcher("exits", func(context.Context, json.RawMessage) (agent.ToolResult, error) {
			runtime.Goexit()
			return agent.ToolResult{}, nil
		}),
	)
	for _, tt := range []struct{ name, tool, args, err string }{
		{"unknown tool", "kb", `{}`, `there is no tool called "kb"; there are: ok, fails, reports, panics, exits`},
		{"missing argument", "ok", `{}`, `the arguments of ok do not fit: query is missing (string)`},
		{"no arguments", "ok", ``, `the arguments of ok do not fit: query is missing (string)`},
		{"null", "ok", ` null `, `the arguments of ok do not fit: query is missing (string)`},
		{"wrong type", "ok", `{"query": 7}`, `the arguments of ok do not fit: query is the number 7, want string`},
		{"unknown argument", "ok", `{"query": "x", "limit": 1}`, `the arguments of ok do not fit: limit is not known; known are query`},
		{"not JSON", "ok", `"{query: x"`, `the arguments of ok are not a JSON object: "{query: x"`},
		{"torn JSON", "ok", `{"query`, `the arguments of ok do not fit: not JSON: unexpected end of JSON input`},
		{"a list", "ok", `[1]`, `the arguments of ok do not fit: is an array, want object`},
		{"the tool's own error", "fails", `{"query": "x"}`, `the index is gone`},
		{"the tool's own error result", "reports", `{"query": "x"}`, `no such order`},
		{"a panic", "panics", `{"query": "x"}`, `the tool crashed: boom`},
		{"a goroutine that ends", "exits", `{"query": "x"}`, `the tool ended without a result`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Call(t.Context(), tool.Call{ID: "1", Name: tt.tool, Arguments: json.RawMessage(tt.args)})
			if got.Err != tt.err {
				t.Errorf("Err = %q, want %q", got.Err, tt.err)
			}
			if !got.Result.IsError || !strings.Contains(got.Result.Text(), tt.err) {
				t.Errorf("the model is told %+v", got.Result)
			}
		})
	}
}

func TestNoToolsAtAll(t *testing.T) {
	got := open(t).Call(t.Context(), tool.Call{Name: "kb"})
	if want := `there is no tool called "kb"; this agent has no tools`; got.Err != want {
		t.Errorf("Err = %q, want %q", got.Err, want)
	}
}

func TestNewRefuses(t *testing.T) {
	broken := searcher("b", echo)
	broken.def.Schema = json.RawMessage(`{"type": 7}`)
	for _, tt := range []struct {
		name  string
		tools []agent.Tool
		want  string
	}{
		{"two of one name", []agent.Tool{searcher("a", echo), searcher("a", echo)}, "both called a"},
		{"a schema that is none", []agent.Tool{broken}, "schema of its arguments"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tool.New(testEnv(), tt.tools...)
			var te *agent.ToolError
			if !errors.As(err, &te) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want a ToolError with %q", err, tt.want)
			}
		})
	}
}

func TestWithAddsTheCallersTools(t *testing.T) {
	s := open(t, searcher("a", echo))
	wider, err := s.ForSession(t.Context(), "s", []agent.Tool{searcher("b", echo)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Definitions()); n != 1 {
		t.Errorf("the first set has %d tools", n)
	}
	defs := wider.Definitions()
	if len(defs) != 2 || defs[0].Name != "a" || defs[1].Name != "b" {
		t.Errorf("Definitions = %+v", defs)
	}
	if err := wider.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.Call(t.Context(), tool.Call{Name: "a", Arguments: json.RawMessage(`{"query": "x"}`)}); got.Err != "" {
		t.Errorf("closing the wider set closed the first: %s", got.Err)
	}
	if _, err := s.ForSession(t.Context(), "s", []agent.Tool{searcher("a", echo)}); err == nil || !strings.Contains(err.Error(), "the name of a tool of the agent") {
		t.Errorf("With a name that is taken = %v", err)
	}
}

func TestAHundredCallsAtOnce(t *testing.T) {
	const calls = 100
	var all sync.WaitGroup // every call waits for all others: they run at once
	all.Add(calls)
	s := open(t, searcher("kb_search", func(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
		all.Done()
		all.Wait()
		return agent.TextResult(string(args)), nil
	}))
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			args := fmt.Sprintf(`{"query": "%d"}`, i)
			got := s.Call(t.Context(), tool.Call{ID: fmt.Sprint(i), Name: "kb_search", Arguments: json.RawMessage(args)})
			if got.CallID != fmt.Sprint(i) || got.Result.Text() != args {
				t.Errorf("call %d got %+v", i, got)
			}
		})
	}
	wg.Wait()
}

func TestACallEndsAtItsDeadline(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(ctx context.Context, release <-chan struct{}) error
	}{
		{"the tool listens", func(ctx context.Context, _ <-chan struct{}) error { <-ctx.Done(); return ctx.Err() }},
		{"the tool wraps what it heard", func(ctx context.Context, _ <-chan struct{}) error {
			<-ctx.Done()
			return fmt.Errorf("search: %w", ctx.Err())
		}},
		{"the tool does not listen", func(_ context.Context, release <-chan struct{}) error { <-release; return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				s, err := tool.New(testEnv(), searcher("slow", func(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
					return agent.ToolResult{}, tt.do(ctx, release)
				}))
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				got := s.Call(t.Context(), tool.Call{Name: "slow", Arguments: json.RawMessage(`{"query": "x"}`)})
				if want := "slow did not answer within 1m0s"; got.Err != want {
					t.Errorf("Err = %q, want %q", got.Err, want)
				}
				if took := time.Since(begin); took != tool.DefaultTimeout {
					t.Errorf("the call took %s", took)
				}
				close(release)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestACancelledCall(t *testing.T) {
	wait := func(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
		<-ctx.Done()
		return agent.ToolResult{}, ctx.Err()
	}
	for _, tt := range []struct {
		name string
		ctx  func(parent context.Context) (context.Context, context.CancelFunc)
		want string
	}{
		{"by the caller", func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, "cancelled"},
		{"before it began", func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			cancel()
			return ctx, cancel
		}, "cancelled"},
		{"by the turn's deadline", func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(parent, time.Second)
		}, "cancelled: the turn ran out of time before the tool answered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := tool.New(testEnv(), searcher("slow", wait))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				got := s.Call(ctx, tool.Call{Name: "slow", Arguments: json.RawMessage(`{"query": "x"}`)})
				if got.Err != tt.want || !got.Result.IsError {
					t.Errorf("Call = %+v, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestCloseCancelsWaitsAndNamesWhoStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, err := tool.New(testEnv(),
			searcher("listens", func(ctx context.Context, _ json.RawMessage) (agent.ToolResult, error) {
				<-ctx.Done()
				return agent.ToolResult{}, ctx.Err()
			}),
			searcher("deaf", func(context.Context, json.RawMessage) (agent.ToolResult, error) {
				<-release
				return agent.ToolResult{}, nil
			}),
		)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, name := range []string{"listens", "deaf"} {
			wg.Go(func() {
				got := s.Call(t.Context(), tool.Call{Name: name, Arguments: json.RawMessage(`{"query": "x"}`)})
				if want := "cancelled: the agent was closed"; got.Err != want {
					t.Errorf("%s: Err = %q, want %q", name, got.Err, want)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		err = s.Close()
		if err == nil || !strings.Contains(err.Error(), "deaf did not return") || strings.Contains(err.Error(), "listens") {
			t.Errorf("Close = %v, want it to name deaf alone", err)
		}
		if took := time.Since(begin); took != tool.CloseGrace {
			t.Errorf("Close took %s", took)
		}
		if again := s.Close(); !errors.Is(again, err) {
			t.Errorf("the second Close = %v", again)
		}
		wg.Wait()
		close(release)
		synctest.Wait()

		got := s.Call(t.Context(), tool.Call{Name: "listens", Arguments: json.RawMessage(`{"query": "x"}`)})
		if want := "cancelled: the agent was closed"; got.Err != want {
			t.Errorf("a call after Close: Err = %q, want %q", got.Err, want)
		}
	})
}

func TestLargeResultsAreCut(t *testing.T) {
	word := strings.Repeat("abcdefghi ", tool.MaxText/10+100)
	for _, tt := range []struct {
		name   string
		result agent.ToolResult
		check  func(t *testing.T, r agent.ToolResult)
	}{
		{"text", agent.TextResult(word), func(t *testing.T, r agent.ToolResult) {
			text := r.Text()
			if len(text) > tool.MaxText+200 || !strings.Contains(text, "… cut: ") {
				t.Errorf("%d bytes, ends in %q", len(text), text[len(text)-80:])
			}
			if !strings.Contains(text, "abcdefghi\n… cut") {
				t.Errorf("a word was cut: %q", text[len(text)-100:])
			}
		}},
		{"several parts share the limit", agent.ToolResult{Parts: []agent.Part{{Kind: agent.PartText, Text: word[:tool.MaxText/2]}, {Kind: agent.PartText, Text: word[:tool.MaxText*3/4]}}}, func(t *testing.T, r agent.ToolResult) {
			if len(r.Parts) != 2 || len(r.Parts[0].Text) != tool.MaxText/2 || !strings.Contains(r.Parts[1].Text, "… cut: ") {
				t.Errorf("parts of %d and %d bytes", len(r.Parts[0].Text), len(r.Parts[1].Text))
			}
		}},
		{"text without a blank", agent.TextResult(strings.Repeat("é", tool.MaxText)), func(t *testing.T, r agent.ToolResult) {
			if body, _, ok := strings.Cut(r.Text(), "\n… cut"); !ok || strings.Trim(body, "é") != "" {
				t.Error("a character was cut")
			}
		}},
		{"images", agent.ToolResult{Parts: []agent.Part{{Kind: agent.PartImage, Data: make([]byte, tool.MaxData-1)}, {Kind: agent.PartImage, Data: make([]byte, 2)}}}, func(t *testing.T, r agent.ToolResult) {
			if len(r.Parts) != 2 || r.Parts[0].Kind != agent.PartImage || !strings.Contains(r.Parts[1].Text, "… image of 2 bytes left out") {
				t.Errorf("second part %+v", r.Parts[1])
			}
		}},
		{"passages", agent.ToolResult{Passages: []agent.Passage{{Text: word[:tool.MaxText-20]}, {Text: "one two three four five"}, {Text: "gone"}}}, func(t *testing.T, r agent.ToolResult) {
			if len(r.Passages) != 2 || r.Passages[1].Text != "one two three four" {
				t.Errorf("%d passages, the last %q", len(r.Passages), r.Passages[len(r.Passages)-1].Text)
			}
		}},
		{"structured", agent.ToolResult{Structured: json.RawMessage(`"` + word + `"`)}, func(t *testing.T, r agent.ToolResult) {
			if !json.Valid(r.Structured) || len(r.Structured) > 200 {
				t.Errorf("structured: %.80s", r.Structured)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, searcher("big", func(context.Context, json.RawMessage) (agent.ToolResult, error) { return tt.result, nil }))
			got := s.Call(t.Context(), tool.Call{Name: "big", Arguments: json.RawMessage(`{"query": "x"}`)})
			if got.Err != "" {
				t.Fatal(got.Err)
			}
			tt.check(t, got.Result)
		})
	}
}

func BenchmarkCall(b *testing.B) {
	s, err := tool.New(testEnv(), searcher("kb_search", echo))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	args := json.RawMessage(`{"query": "how do I send something back"}`)
	b.ReportAllocs()
	for b.Loop() {
		if got := s.Call(b.Context(), tool.Call{Name: "kb_search", Arguments: args}); got.Err != "" {
			b.Fatal(got.Err)
		}
	}
}
