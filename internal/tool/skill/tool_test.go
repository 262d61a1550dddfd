package skill_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/skill"
)

// child is a child agent that plays events.
type child struct {
	agent.Backend
	events []agent.Event
	err    error // ends the turn in place of a TurnFinished

	opts   agent.SessionOptions
	task   string
	closed bool
}

func (c *child) NewSession(_ context.Context, opts agent.SessionOptions) (agent.Session, error) {
	c.opts = opts
	return childSession{c: c}, nil
}

type childSession struct {
	agent.Session
	c *child
}

func (s childSession) Send(_ context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	s.c.task = m.Text()
	return func(yield func(agent.Event, error) bool) {
		for _, e := range s.c.events {
			if !yield(e, nil) {
				return
			}
		}
		if s.c.err != nil {
			yield(nil, s.c.err)
		}
	}
}

func (s childSession) Close() error { s.c.closed = true; return nil }

// told collects what a turn is told, one line an event.
type told []string

func (o *told) behalf() agent.Behalf {
	return agent.Behalf{
		CallID: "c1", Session: "s/refunds 1.1", User: "ann", Mode: agent.ModeTest, Limits: agent.Limits{MaxTurns: 7, MaxCostUSD: 2},
		Emit: func(parent string, e agent.Event) error {
			what := ""
			switch e := e.(type) {
			case agent.TextDelta:
				what = e.Text
			case agent.ThinkingDelta:
				what = e.Text
			case agent.ToolCallStarted:
				what = e.CallID
			case agent.ToolCallFinished:
				what = e.CallID
			case agent.Notice:
				what = e.Text
			}
			*o = append(*o, strings.TrimSpace(fmt.Sprintf("%s %s %s", parent, e.Type(), what)))
			return nil
		},
	}
}

var refunds = &config.SkillTool{
	ToolBase: config.ToolBase{Name: "refunds", Description: "Gives money back."}, Prompt: "Be kind.", AllowedTools: []string{"orders"},
}

const task = `{"task": "Refund order 7"}`

func TestASkillIsATurnOfItsChild(t *testing.T) {
	c := &child{events: []agent.Event{
		agent.Notice{Code: agent.NoticeSubstitute, Text: "not again"},
		agent.Notice{Code: agent.NoticeRetry, Text: "again"},
		agent.ThinkingDelta{Text: "Let "}, agent.ThinkingDelta{Text: "me see."}, agent.TextDelta{Text: "I look "}, agent.TextDelta{Text: "it up."},
		agent.ModelCall{},
		agent.ToolCallStarted{CallID: "x", Name: "orders"},
		agent.Under("x", agent.TextDelta{Text: "Deeper."}), agent.Under("x", agent.ModelCall{}),
		agent.Under("x", agent.ToolCallStarted{CallID: "x/y"}), agent.Under("x", agent.ToolCallFinished{CallID: "x/y"}),
		agent.ToolCallFinished{CallID: "x", Name: "orders"},
		agent.TextDelta{Text: "Done."}, agent.ModelCall{},
		agent.TurnFinished{Response: "Done.", StopReason: agent.StopEnd},
	}}
	var o told
	got, err := skill.New(refunds, c).Delegate(t.Context(), json.RawMessage(task), o.behalf())
	if err != nil || got.IsError || got.Text() != "Done." {
		t.Errorf("got %+v, %v", got, err)
	}
	want := []string{
		"c1 notice again", "c1 thinking_delta Let me see.", "c1 text_delta I look it up.", "c1 model_call",
		"c1 tool_call_started c1/x", "c1/x text_delta Deeper.", "c1/x model_call", "c1/x tool_call_started c1/x/y", "c1/x tool_call_finished c1/x/y",
		"c1 tool_call_finished c1/x", "c1 text_delta Done.", "c1 model_call",
	}
	if strings.Join(o, "\n") != strings.Join(want, "\n") {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(o, "\n"), strings.Join(want, "\n"))
	}
	if c.task != "Refund order 7" || !c.closed {
		t.Errorf("the child was given %q; its session is closed: %v", c.task, c.closed)
	}
	if c.opts.ID != "s/refunds 1.1" || c.opts.User != "ann" || c.opts.Mode != agent.ModeTest || c.opts.Limits.MaxTurns != 7 || c.opts.Limits.MaxCostUSD != 2 {
		t.Errorf("the session of the child is %+v", c.opts)
	}
}

func TestHowASkillEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  agent.TurnFinished
		err  error
		text string
		want string
	}{
		{"without a word", agent.TurnFinished{StopReason: agent.StopEnd}, nil, "The skill gave no answer.", ""},
		{"in a limit", agent.TurnFinished{StopReason: agent.StopMaxTurns, IsError: true, Reason: "20 model responses", Response: "So far."}, nil,
			"The skill did not come to an end: 20 model responses\nThis is how far it came:\nSo far.", ""},
		{"in a refusal", agent.TurnFinished{StopReason: agent.StopRefusal, IsError: true, Reason: "the model refused"}, nil, "The skill did not come to an end: the model refused", ""},
		{"in an error", agent.TurnFinished{}, errors.New("no connection"), "", "no connection"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &child{err: tt.err}
			if tt.err == nil {
				c.events = []agent.Event{tt.end}
			}
			got, err := skill.New(refunds, c).Call(t.Context(), json.RawMessage(task))
			if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want || got.Text() != tt.text || got.IsError != tt.end.IsError {
				t.Errorf("got %+v, %v", got, err)
			}
			if !c.closed {
				t.Error("the session of the child is open")
			}
		})
	}
}

func TestASkillNeedsATask(t *testing.T) {
	if _, err := skill.New(refunds, &child{}).Call(t.Context(), json.RawMessage(`{"task": " "}`)); err == nil || err.Error() != "task is blank; say what is to be done" {
		t.Errorf("got %v", err)
	}
}

func TestTheFilesOfASkill(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	for name, text := range map[string]string{
		filepath.Join(dir, "SKILL.md"): "x", filepath.Join(dir, "references", "rules.md"): "Never more than 20.",
		filepath.Join(dir, "large.txt"): strings.Repeat("x", 1<<20+1), filepath.Join(dir, "logo.png"): "\x89PNG\xff",
		filepath.Join(dir, ".git", "config"): "x", filepath.Join(dir, ".env"): "x", outside: "hidden",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" { // where links need a right of their own
		if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
			t.Fatal(err)
		}
	}
	f, err := skill.OpenFiles(&config.SkillTool{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := f.Definition().Description, "Read a file that belongs to your instructions. The files are: large.txt, logo.png, references/rules.md"; got != want {
		t.Errorf("the model is told %q, want %q", got, want)
	}
	for path, want := range map[string]string{
		"references/rules.md": "", `references\rules.md`: "", "./references/rules.md": "",
		"../secret.txt": "the skill has no file", outside: "the skill has no file", "SKILL.md": "the skill has no file", ".env": "the skill has no file",
		"link.txt": "the skill has no file", "": "the skill has no file", "large.txt": "has more than 1048576 bytes", "logo.png": "is not a text in UTF-8",
	} {
		args, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Call(t.Context(), args)
		switch {
		case want == "" && (err != nil || got.Text() != "Never more than 20."):
			t.Errorf("%s: %q, %v", path, got.Text(), err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestASkillWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", dir} {
		if f, err := skill.OpenFiles(&config.SkillTool{Folder: folder}); f != nil || err != nil {
			t.Errorf("%q: %v, %v", folder, f, err)
		}
	}
}
