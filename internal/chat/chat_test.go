package chat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/backend"
	"github.com/holodeck-go/holodeck/internal/chat"
	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// person is a Screen that says what a test has them say.
type person struct {
	says     []any // strings, and functions that do something between them
	shown    []string
	text     strings.Builder
	stops    string // interrupts a turn that says this
	cancel   context.CancelFunc
	answers  []string // to questions
	attended bool
}

func (p *person) Read(context.Context) (screen.Message, error) {
	for len(p.says) > 0 {
		next := p.says[0]
		p.says = p.says[1:]
		switch next := next.(type) {
		case string:
			return screen.Message{{Text: next}}, nil
		case screen.Message:
			return next, nil
		case func():
			next()
		case error:
			return nil, next
		}
	}
	return nil, io.EOF
}

func (p *person) Begin(ctx context.Context) context.Context {
	ctx, p.cancel = context.WithCancel(ctx)
	p.text.Reset()
	return ctx
}

func (p *person) Busy(string) {}
func (p *person) Text(s string) {
	p.text.WriteString(s)
	if p.stops != "" && strings.Contains(p.text.String(), p.stops) {
		p.cancel()
	}
}
func (p *person) Break()                       {}
func (p *person) Line(_ screen.Kind, s string) { p.shown = append(p.shown, s) }
func (p *person) Say(s string)                 { p.shown = append(p.shown, s) }
func (p *person) Attended() bool               { return p.attended }
func (p *person) End(string) {
	p.cancel()
	if p.text.Len() > 0 {
		p.shown = append(p.shown, p.text.String())
	}
}
func (p *person) Ask(_ context.Context, question string, choices ...string) (string, error) {
	p.shown = append(p.shown, question)
	if len(p.answers) == 0 {
		return choices[len(choices)-1], nil
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	for _, c := range choices {
		if strings.HasPrefix(c, a) {
			return c, nil
		}
	}
	return "", fmt.Errorf("no choice begins with %q", a)
}

// sees fails unless the person was shown each of the texts, in that order.
func (p *person) sees(t *testing.T, texts ...string) {
	t.Helper()
	rest := p.shown
	for _, text := range texts {
		i := 0
		for i < len(rest) && !strings.Contains(rest[i], text) {
			i++
		}
		if i == len(rest) {
			t.Fatalf("%q is not shown there, but:\n%s", text, strings.Join(p.shown, "\n"))
		}
		rest = rest[i+1:]
	}
}

// bot is an agent that counts turns, and what else tests need.
const bot = `name: bot
instructions: {inline: Be brief.}
permissions: {ask: ["*"]}
model:
  provider: offline
  name: scripted
  script:
    - {when: {user: stall}, do: [{text: "Let me "}, {text: "see "}, {text: "now"}, {block: true}]}
    - {when: {user: secret}, do: [{text: "The key is hunter2-hunter2 of course."}]}
    - {when: {user: search, round: 1}, do: [{call: {name: docs_search, args: {query: gates}}}]}
    - {when: {turn: 1}, do: [{text: "one"}]}
    - {when: {turn: 2}, do: [{text: "two"}]}
    - {when: {turn: 3}, do: [{text: "three"}]}
    - {do: [{text: "many"}]}
tools:
  - {type: vectorstore, name: docs, description: the guides, source: docs}
`

// fixture is an agent in a folder of its own.
type fixture struct {
	dir  string
	opts chat.Options
}

func open(t *testing.T, file string) *fixture {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "agent.yaml"), file)
	write(t, filepath.Join(dir, "docs", "a.md"), "The gates open at six.")
	getenv := func(string) string { return "" }
	a, problems := check.Load(dir, check.Options{Open: true, Options: config.Options{WorkDir: dir, Environ: []string{"SHOP_API_KEY=hunter2-hunter2"}}})
	if config.HasErrors(problems) {
		t.Fatal(problems)
	}
	env := agent.SystemEnv(slog.New(slog.DiscardHandler))
	models := llm.Open(env, llm.Options{})
	set, err := tool.Open(t.Context(), env, a, tool.Options{Getenv: getenv, Models: models})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := backend.Open(t.Context(), env, a, set, models, backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	store, err := chat.OpenStore(a, getenv)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{dir, chat.Options{Env: env, Agent: a, Backend: b, Store: store, Tools: set.Definitions, WorkDir: dir}}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// talk holds a conversation and returns how it went.
func (f *fixture) talk(t *testing.T, p *person) chat.Outcome {
	t.Helper()
	o := f.opts
	o.Screen = p
	outcome, err := chat.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// newest returns the conversation that was last used.
func (f *fixture) newest(t *testing.T) *chat.Record {
	t.Helper()
	r, err := f.opts.Store.Find("")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestATurnIsInterruptedAndTheConversationGoesOn(t *testing.T) {
	f := open(t, bot)
	p := &person{says: []any{"please stall", "and now"}, stops: "Let me see"}
	if o := f.talk(t, p); o.Failed != 0 || o.Messages != 2 {
		t.Errorf("%+v", o)
	}
	p.sees(t, "cancelled; the conversation goes on", "two")
	e := f.newest(t).Exchanges
	if len(e) != 2 || e[0].Error != "cancelled" || e[0].Result.Response != "Let me see " || e[1].Result.Response != "two" {
		t.Errorf("%+v", e)
	}
}

func TestAPastedTextSendsNoFile(t *testing.T) {
	f := open(t, bot)
	outside := filepath.Join(t.TempDir(), "private.txt")
	write(t, outside, "priv 1")
	pasted := "look:\n@" + outside + "\n@docs/a.md\nme@docs"
	p := &person{says: []any{
		screen.Message{{Text: "why "}, {Text: pasted, Pasted: true}, {Text: " and @docs/a.md, said @@bob?"}},
		"and @" + outside,
		"@app.get(\"/users\") @@app.get @Input() @app.route('/x')",
	}}
	if o := f.talk(t, p); o.Refused != 0 {
		t.Errorf("%+v", o)
	}
	p.sees(t, "with the file docs"+string(filepath.Separator)+"a.md (22 bytes)", "one", "with the file "+outside+" (6 bytes), which is outside of the working folder", "two", "three")
	e := f.newest(t).Exchanges
	if e[0].Said != "why "+pasted+" and @docs/a.md, said @bob?" || len(e[0].Files) != 1 {
		t.Errorf("%q, %q", e[0].Said, e[0].Files)
	}
	if e[2].Said != "@app.get(\"/users\") @app.get @Input() @app.route('/x')" || len(e[2].Files) != 0 {
		t.Errorf("%q, %q", e[2].Said, e[2].Files)
	}
	if said := f.opts.Store.Said(); said[2] != "@@app.get(\"/users\") @@app.get @@Input() @@app.route('/x')" || said[1] != "and @"+outside {
		t.Errorf("the arrow keys go back to %q", said)
	}
}

func TestUndoGoesBackAlsoInAConversationThatIsContinued(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a", "b", "c"}})
	f.opts.Resume = f.newest(t)
	p := &person{says: []any{"/undo", "/undo", "again", "/undo", "/undo", "/undo", "from the start"}}
	f.talk(t, p)
	p.sees(t, "continues the conversation", "taken back: c", "taken back: b", "two", "taken back: again", "taken back: a", "/undo: nothing was said yet", "one")
	if r := f.newest(t); len(r.Exchanges) != 1 || r.Exchanges[0].Said != "from the start" {
		t.Errorf("%+v", r.Exchanges)
	}
}

func TestUndoSaysHowFarItGoes(t *testing.T) {
	f := open(t, bot)
	var says []any
	for range 25 {
		says = append(says, "x")
	}
	for range 25 {
		says = append(says, "/undo")
	}
	p := &person{says: says}
	f.talk(t, p)
	p.sees(t, "/undo: the state before the last message is no longer kept")
	if n := len(f.newest(t).Exchanges); n != 6 {
		t.Errorf("%d exchanges are left, want 6: 20 states are kept", n)
	}
}

func TestPermissionIsAskedHere(t *testing.T) {
	f := open(t, bot)
	p := &person{attended: true, answers: []string{"no", "yes", "always"}, says: []any{"search", "search", "search", "search", "/reset", "search"}}
	f.talk(t, p)
	p.sees(t, "May docs_search be called with {\"query\":\"gates\"}? (permissions.ask has \"*\")", "was not allowed: the person said no",
		"May docs_search", "gave 1 passage", "May docs_search", "gave 1 passage", "gave 1 passage", "a new conversation", "May docs_search", "said no")
}

func TestTheLimitOfMessages(t *testing.T) {
	f := open(t, bot)
	f.opts.MaxMessages = 2
	p := &person{says: []any{"a", "/usage", "/reset", "b", "c"}}
	if o := f.talk(t, p); o.Messages != 2 || o.Refused != 1 {
		t.Errorf("%+v", o)
	}
	p.sees(t, "one", "one", "not sent: this was to be a conversation of at most 2 messages (-m)")
}

func TestLeavingByAnInterrupt(t *testing.T) {
	f := open(t, bot)
	o := f.opts
	o.Screen = &person{says: []any{"a", screen.ErrLeave}}
	if _, err := chat.Run(t.Context(), o); !errors.Is(err, screen.ErrLeave) {
		t.Errorf("%v", err)
	}
	if n := len(f.newest(t).Exchanges); n != 1 {
		t.Errorf("%d exchanges are kept", n)
	}
}

func TestTheEndOfTheProcessKeepsTheTurnUnderWay(t *testing.T) {
	f := open(t, bot)
	ctx, cancel := context.WithCancel(t.Context())
	o := f.opts
	p := &person{says: []any{"stall", "never sent"}, stops: "Let me see"}
	o.Screen = &endingScreen{p, cancel}
	if _, err := chat.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if e := f.newest(t).Exchanges; len(e) != 1 || e[0].Result.Response != "Let me see " {
		t.Errorf("%+v", e)
	}
}

// endingScreen ends everything when the turn is interrupted.
type endingScreen struct {
	*person
	end context.CancelFunc
}

func (s *endingScreen) Begin(ctx context.Context) context.Context {
	ctx = s.person.Begin(ctx)
	s.person.cancel = s.end
	return ctx
}

func TestVerboseShowsThinkingAndArguments(t *testing.T) {
	long := strings.Repeat("long ", 40) + "end"
	f := open(t, strings.NewReplacer(`args: {query: gates}`, `args: {query: "`+long+`"}`, `{when: {turn: 1}, do: [`, `{when: {turn: 1}, do: [{thinking: "I ponder it."}, `).Replace(bot))
	f.opts.Verbose = true
	p := &person{attended: true, answers: []string{"yes"}, says: []any{"search"}}
	f.talk(t, p)
	p.sees(t, long+`"} gave`, "3 words:\nI ponder it.")
}

func TestUsageHasWhatWasTakenBackAndWhatIsNotKnown(t *testing.T) {
	f := open(t, bot)
	p := &person{says: []any{"a", "b", "/undo", "/undo", "/usage", "please stall", "/usage"}, stops: "Let me see"}
	f.talk(t, p)
	p.sees(t, "messages    0, and 2 taken back", "messages    1, and 2 taken back")
	last := p.shown[len(p.shown)-1]
	if !strings.Contains(last, "cost        not known") || strings.Contains(last, "tokens in   0") {
		t.Errorf("%s", last)
	}
	if o := f.newest(t).Undone; o.Messages != 2 || o.Usage.Total == 0 {
		t.Errorf("%+v", o)
	}
}
