package mcp_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
	"github.com/holodeck-go/holodeck/internal/tool/mcp/mcptest"
)

func TestWhatIsOfferedIsWhatTheFileAsksFor(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*server)
		want   []string
		told   string
	}{
		"allowed tools": {
			func(s *server) {
				s.Config = map[string]any{"allowed_tools": []any{"echo", "files__read-file", "greet"}}
			},
			[]string{"files__echo", "files__read-file", "files__greet"}, "",
		},
		"a tool that is not there": {
			func(s *server) { s.Config = map[string]any{"allowed_tools": []any{"echo", "ecco"}} },
			[]string{"files__echo"}, "The MCP server files has no tool ecco, which config.allowed_tools names; it has: ask, echo",
		},
		"no tools": {func(s *server) { s.LoadTools = false }, []string{"files__greet"}, ""},
		"no prompts": {func(s *server) {
			s.LoadPrompts = false
			s.Config = map[string]any{"allowed_tools": []any{"echo", "greet"}}
		}, []string{"files__echo"}, "no tool greet"},
		"duplicates that are not asked for": {
			func(s *server) {
				s.Env[mcptest.ServerVariable] = secret.New("bad duplicates")
				s.Config = map[string]any{"allowed_tools": []any{"good"}}
			},
			[]string{"files__good"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t, "alpha")
			tt.change(s)
			got := names(s.connect(t))
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) || !strings.Contains(s.told(), tt.told) || tt.told == "" && s.told() != "" {
				t.Errorf("the tools are %q, want %q; told %q, want %q", got, tt.want, s.told(), tt.told)
			}
		})
	}
}

func TestDefinitionsAreWhatTheServerSays(t *testing.T) {
	c := started(t, "alpha").connect(t)
	echo, note, greet := find(t, c, "files__echo").Definition(), find(t, c, "files__note").Definition(), find(t, c, "files__greet").Definition()
	if !echo.ReadOnly || note.ReadOnly || echo.Retrieval || echo.Source != "mcp:files" || echo.Description != "The tool echo." {
		t.Errorf("echo is %+v, note %+v", echo, note)
	}
	if want := `{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`; string(echo.Schema) != want {
		t.Errorf("the schema of echo is %s, want %s", echo.Schema, want)
	}
	want := `{"properties":{"who":{"description":"whom","type":"string"}},"required":["who"],"type":"object"}`
	if string(greet.Schema) != want || !greet.ReadOnly || greet.Description != "How to greet somebody." {
		t.Errorf("the prompt is %+v", greet)
	}
}

func TestAStdioServerSeesWhatItIsGivenAndNoMore(t *testing.T) {
	s := started(t, "bad environment")
	path, _ := s.opts.Lookup("PATH")
	s.opts.Lookup = func(name string) (string, bool) {
		v, ok := map[string]string{"PATH": path, "HOME": "/home/ada", "LANG": "C", "OUR_SECRET": "not-for-servers", "npm_config_cache": "/cache"}[name]
		return v, ok
	}
	t.Setenv("npm_config_cache", "/cache")
	s.Env["TOKEN"] = secret.New("for-the-server")
	s.Env["LANG"] = secret.New("de_DE")
	s.Config = map[string]any{"root": "/data", "allowed_tools": []any{"good"}}
	s.Args = []string{"-y", "a server", "$HOME; ls"}
	s.opts.Dir = t.TempDir()
	dir, err := filepath.EvalSymlinks(s.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	got := mustCall(t, s.connect(t), "files__good", "{}")
	for _, want := range []string{
		"HOME=/home/ada\n", "LANG=de_DE\n", "TOKEN=for-the-server\n", "npm_config_cache=/cache\n",
		`MCP_CONFIG={"allowed_tools":["good"],"root":"/data"}` + "\n", "dir=" + dir + "\n", `args=["-y" "a server" "$HOME; ls"]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the server does not see %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "not-for-servers") {
		t.Errorf("the server sees our environment:\n%s", got)
	}
}

func TestAServerMayWriteInAnotherEncoding(t *testing.T) {
	s := started(t, "bad latin-1")
	encoding := "iso-8859-1"
	s.Encoding = &encoding
	if got := mustCall(t, s.connect(t), "files__good", `{"text":"größer"}`); got != "größer" {
		t.Errorf("the tool says %q", got)
	}
}

func TestWhatNoServerCanBeMadeOfIsAConfigError(t *testing.T) {
	unknown, noURL := "klingon", "example.com"
	for name, tt := range map[string]struct {
		entry *server
		want  string
	}{
		"no command":       {entry(config.MCPStdio), "command is required"},
		"no url":           {entry(config.MCPHTTP), "url is required"},
		"not a url":        {at(config.MCPSSE, noURL), "url is not a URL"},
		"another encoding": {func() *server { s := started(t, "alpha"); s.Encoding = &unknown; return s }(), "klingon"},
		"another way":      {entry("carrier pigeon"), "carrier pigeon"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mcp.New(agent.SystemEnv(slog.New(slog.DiscardHandler)), &tt.entry.MCPTool, tt.entry.opts)
			var ours *mcp.ConfigError
			var configured *config.Error
			if !errors.As(err, &ours) || ours.Server != "files" || !errors.As(err, &configured) || len(configured.Problems) != 1 {
				t.Fatalf("%v is no ConfigError", err)
			}
			says(t, errors.New(strings.ReplaceAll(err.Error(), ": ", " ")), "MCPConfigError", tt.want)
		})
	}
}

func TestLogMessagesOfTheServerComeAtOurLevel(t *testing.T) {
	for _, version := range []config.MCPProtocol{"2025-11-25", "2026-07-28"} {
		for level, want := range map[slog.Level]string{slog.LevelDebug: "debug", slog.LevelInfo: "info", slog.LevelWarn: "warning", slog.LevelError: "error"} {
			t.Run(string(version)+" "+want, func(t *testing.T) {
				s := started(t, "alpha")
				s.ProtocolVersion = version
				wait := s.waitLog("a message of level error")
				s.level = level
				mustCall(t, s.connect(t), "files__log", "{}")
				wait(t)
				order := []string{"debug", "info", "warning", "error"}
				for i, l := range order {
					is := strings.Contains(s.log.String(), "a message of level "+l)
					if should := i >= slices.Index(order, want); is != should {
						t.Errorf("a message of level %s is in our log: %v, want %v", l, is, should)
					}
				}
				if !strings.Contains(s.log.String(), "server=files") || !strings.Contains(s.log.String(), "logger=disk") {
					t.Errorf("the log does not say whose the message is:\n%s", s.log.String())
				}
			})
		}
	}
}

// oneAnswer is a model that always says the same.
type oneAnswer struct{ asked chan llm.Request }

func (oneAnswer) Info() llm.Info { return llm.Info{Provider: "test", Name: "parrot"} }

func (m oneAnswer) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	m.asked <- req
	return func(yield func(llm.Chunk, error) bool) {
		if yield(llm.Text("Paris"), nil) {
			yield(llm.Done{Message: llm.Message{Role: llm.RoleAssistant, Parts: []agent.Part{{Kind: agent.PartText, Text: "Paris"}}}, Stop: agent.StopEnd}, nil)
		}
	}
}

func TestAServerMayAskOnlyWhatItIsAllowedTo(t *testing.T) {
	for _, transport := range transports() {
		t.Run(string(transport)+" nothing", func(t *testing.T) {
			got := mustCall(t, over(t, transport, "alpha").connect(t), "files__ask", "{}")
			for _, want := range []string{"roots refused: ", "elicitation refused: ", "sampling refused: "} {
				if !strings.Contains(got, want) {
					t.Errorf("the server was told %q, want %q", got, want)
				}
			}
		})
		t.Run(string(transport)+" everything", func(t *testing.T) {
			s := over(t, transport, "alpha")
			model := oneAnswer{make(chan llm.Request, 1)}
			s.opts.Model = model
			root := filepath.Join(string(filepath.Separator), "data", "of ada")
			s.opts.Roots = []string{root}
			s.opts.Elicit = func(_ context.Context, q mcp.Question) (mcp.Answer, error) {
				if q.Server != "files" || q.Message != "What is your name?" || !strings.Contains(string(q.Schema), `"name"`) {
					t.Errorf("the question is %+v", q)
				}
				return mcp.Answer{Action: mcp.Accept, Content: map[string]any{"name": "Ada"}}, nil
			}
			got := mustCall(t, s.connect(t), "files__ask", "{}")
			want := "roots file:///data/of%20ada\nelicitation accept Ada\nsampling Paris"
			if runtime.GOOS == "windows" {
				got, want = got[strings.Index(got, "\n"):], want[strings.Index(want, "\n"):] // there a root has a drive
			}
			if got != want {
				t.Errorf("the server was told %q, want %q", got, want)
			}
			req := <-model.asked
			if req.System != "Answer in one word." || len(req.Messages) != 1 || agent.JoinText(req.Messages[0].Parts) != "What is the capital of France?" || *req.Sampling.MaxTokens != 50 {
				t.Errorf("the model was asked %+v", req)
			}
		})
	}
}

func TestAPersonMaySayNo(t *testing.T) {
	s := started(t, "alpha")
	s.opts.Elicit = func(context.Context, mcp.Question) (mcp.Answer, error) {
		return mcp.Answer{Action: mcp.Decline, Content: map[string]any{"name": "not to be sent"}}, nil
	}
	got := mustCall(t, s.connect(t), "files__ask", "{}")
	if !strings.Contains(got, "elicitation decline <nil>") {
		t.Errorf("the server was told %q", got)
	}
}

func TestTheClockOfACallStopsWhileAPersonThinks(t *testing.T) {
	var running, paused bool
	ctx := agent.WithPause(t.Context(), func() func() {
		running, paused = false, true
		return func() { running = true }
	})
	s := started(t, "alpha")
	s.opts.Elicit = func(context.Context, mcp.Question) (mcp.Answer, error) {
		if !paused || running {
			t.Error("the clock runs while a person thinks")
		}
		return mcp.Answer{Action: mcp.Cancel}, nil
	}
	if r, err := call(ctx, t, s.connect(t), "files__ask", "{}"); err != nil || !strings.Contains(r.Text(), "elicitation cancel") || !running {
		t.Errorf("the call said %q, %v; the clock runs on: %v", r.Text(), err, running)
	}
}
