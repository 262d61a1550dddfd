package backend

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend/loop"
	"github.com/holodeck-go/holodeck/internal/backend/turn"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// load loads an agent file with more than a name and instructions.
func load(t *testing.T, more string) *config.Agent {
	t.Helper()
	dir := t.TempDir()
	text := "name: test\ninstructions: {inline: Be brief.}\n" + more
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, problems := config.Load(dir, config.Options{WorkDir: dir})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	return a
}

// open opens an agent without tools. It is closed with the test.
func open(t *testing.T, a *config.Agent) (agent.Backend, error) {
	t.Helper()
	set, err := tool.New(testEnv())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	b, err := Open(t.Context(), testEnv(), a, set, llm.Open(testEnv(), llm.Options{}))
	if err == nil {
		t.Cleanup(func() { b.Close() })
	}
	return b, err
}

func TestTheOfflineModelRunsOnEveryRuntime(t *testing.T) {
	for _, tt := range []struct {
		backend, runtime string
		notices          int
	}{
		{"", "agent_framework", 0},
		{"agent_framework", "agent_framework", 0},
		{"openai_agents", "agent_framework", 0},
		{"claude", "claude", 1},
		{"google_adk", "google_adk", 1},
		{"semantic_kernel", "semantic_kernel", 1},
	} {
		t.Run(tt.backend, func(t *testing.T) {
			more := "model: {provider: offline, name: built-in, script: [{do: [{text: Hello.}]}]}\n"
			if tt.backend != "" {
				more += "backend: " + tt.backend + "\n"
			}
			b, err := open(t, load(t, more))
			if err != nil {
				t.Fatal(err)
			}
			r, err := agent.RunOnce(t.Context(), b, agent.Text("hi"))
			if err != nil || r.Response != "Hello." {
				t.Errorf("it answers %q, %v", r.Response, err)
			}
			if len(r.Notices) != tt.notices {
				t.Errorf("the notices are %+v, want %d", r.Notices, tt.notices)
			}
			for _, n := range r.Notices {
				if n.Code != agent.NoticeSubstitute || !strings.Contains(n.Text, tt.runtime) {
					t.Errorf("the notice is %+v", n)
				}
			}
		})
	}
}

func TestWhatThisBuildCannotRunSaysWhatToDo(t *testing.T) {
	for runtime, model := range map[string]string{
		"agent_framework": "{provider: openai, name: gpt-x}",
		"claude":          "{provider: anthropic, name: some-model}",
		"google_adk":      "{provider: google, name: some-model}",
	} {
		_, err := open(t, load(t, "model: "+model+"\n"))
		refused, ok := errors.AsType[*agent.BackendInitError](err)
		if !ok || refused.Backend != runtime || !strings.Contains(err.Error(), "--offline") {
			t.Errorf("%s: got %v", runtime, err)
		}
	}
}

func TestABadScriptIsAProblemOfTheConfiguration(t *testing.T) {
	_, err := open(t, load(t, "model: {provider: offline, name: x, script: [{dow: 1}]}\n"))
	if _, ok := errors.AsType[*config.Error](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestLimits(t *testing.T) {
	defaults := loop.Limits{
		Model: turn.Deadline{After: time.Minute, Key: "execution.llm_timeout"},
		Turn:  turn.Deadline{After: 10 * time.Minute, Key: "execution.turn_timeout"},
	}
	with := func(change func(*loop.Limits)) loop.Limits {
		l := defaults
		change(&l)
		return l
	}
	tests := map[string]struct {
		yaml string
		want loop.Limits
	}{
		"nothing": {"model: {provider: offline, name: x}\n", defaults},
		"llm_timeout bounds the turn when it is written": {
			"model: {provider: offline, name: x}\nexecution: {llm_timeout: 5}\n",
			with(func(l *loop.Limits) {
				l.Model.After = 5 * time.Second
				l.Turn = l.Model
			}),
		},
		"the shorter turn_timeout stays": {
			"model: {provider: offline, name: x}\nexecution: {llm_timeout: 50, turn_timeout: 7}\n",
			with(func(l *loop.Limits) { l.Model.After, l.Turn.After = 50*time.Second, 7*time.Second }),
		},
		"openai": {
			"model: {provider: openai, name: x}\nopenai: {max_turns: 7, max_budget_usd: 0.5}\n",
			with(func(l *loop.Limits) { l.MaxTurns, l.MaxSessionCostUSD = 7, 0.5 }),
		},
		"openai without an OpenAI model": {
			"model: {provider: offline, name: x}\nopenai: {max_turns: 7, max_budget_usd: 0.5}\n", defaults,
		},
		"openai and rounds": {
			"model: {provider: openai, name: x}\nopenai: {}\nagent_framework: {max_tool_rounds: 3}\n",
			with(func(l *loop.Limits) { l.MaxTurns = 4 }),
		},
		"rounds and the answer": {
			"model: {provider: offline, name: x}\nagent_framework: {max_tool_rounds: 3}\n",
			with(func(l *loop.Limits) { l.MaxTurns = 4 }),
		},
		"claude": {
			"model: {provider: offline, name: x}\nbackend: claude\nclaude: {max_turns: 2, max_budget_usd: 1.5}\nagent_framework: {max_tool_rounds: 9}\n",
			with(func(l *loop.Limits) { l.MaxTurns, l.MaxTurnCostUSD = 2, 1.5 }),
		},
		"google_adk": {
			"model: {provider: offline, name: x}\nbackend: google_adk\ngoogle_adk: {max_iterations: 6}\n",
			with(func(l *loop.Limits) { l.MaxTurns = 6 }),
		},
		"semantic_kernel has no section": {
			"model: {provider: offline, name: x}\nbackend: semantic_kernel\n", defaults,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := limits(load(t, tt.yaml)); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
	a := load(t, "model: {provider: offline, name: x}\nopenai: {max_turns: 7}\n")
	a.Offline = true
	if got := limits(a).MaxTurns; got != 7 {
		t.Errorf("a stand-in for an OpenAI model may respond %d times, want the 7 of its section", got)
	}
}

func TestCheckWarnsOfKeysWithoutEffect(t *testing.T) {
	tests := map[string]struct {
		yaml string
		want []string // path and code
	}{
		"nothing":    {"model: {provider: offline, name: x}\n", nil},
		"compaction": {"model: {provider: openai, name: x}\nagent_framework: {compaction_strategy: sliding_window}\n", []string{"agent_framework.compaction_strategy unsupported"}},
		"none":       {"model: {provider: openai, name: x}\nagent_framework: {compaction_strategy: none}\n", nil},
		"another's":  {"model: {provider: offline, name: x}\nclaude: {web_search: true}\ngoogle_adk: {code_execution: true}\n", nil},
		"claude": {
			"model: {provider: offline, name: x}\nbackend: claude\nclaude: {web_search: true, max_turns: 3, max_budget_usd: 1, effort: low}\n",
			[]string{"claude.web_search no_effect", "claude.effort no_effect"},
		},
		"google_adk": {
			"model: {provider: offline, name: x}\nbackend: google_adk\ngoogle_adk: {max_iterations: 3, output_key: answer}\n",
			[]string{"google_adk.output_key no_effect"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := load(t, tt.yaml)
			var got []string
			for _, p := range Check(a) {
				if p.Severity != config.SeverityWarning || p.Pos.Line == 0 {
					t.Errorf("the problem is %+v", p)
				}
				got = append(got, p.Path+" "+p.Code)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			a.Offline = true
			if got := Check(a); got != nil {
				t.Errorf("offline it warns of %v", got)
			}
		})
	}
}
