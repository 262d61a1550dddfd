package term_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/chat/term"
)

var _ screen.Screen = (*term.Screen)(nil)

// output is what was written to a terminal.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// terminal is a Screen on a terminal that a test types into.
type terminal struct {
	*term.Screen
	t    *testing.T
	in   *io.PipeWriter
	out  *output
	once sync.Once
}

func open(t *testing.T, o term.Options) *terminal {
	t.Helper()
	in, keys := io.Pipe()
	out := &output{}
	o.In, o.Out, o.Width, o.Height, o.Environ = in, out, 60, 20, []string{"TERM=xterm"}
	tt := &terminal{Screen: term.Open(o), t: t, in: keys, out: out}
	t.Cleanup(tt.end)
	return tt
}

// end takes the Screen off the terminal.
func (tt *terminal) end() {
	tt.once.Do(func() {
		tt.in.Close() // so that nothing is read any more
		_ = tt.Close()
	})
}

// keys types into the terminal.
func (tt *terminal) keys(s string) {
	if _, err := io.WriteString(tt.in, s); err != nil {
		tt.t.Error(err)
	}
}

// reads types, and fails unless that sends the message.
func (tt *terminal) reads(keys, want string) {
	tt.t.Helper()
	go tt.keys(keys)
	got, err := tt.Read(tt.t.Context())
	if err != nil || got != want {
		tt.t.Fatalf("read %.80q, %v; want %.80q", got, err, want)
	}
}

func TestWhatIsTypedIsSent(t *testing.T) {
	long := strings.Repeat("a line of a poem\n", 100)
	tt := open(t, term.Options{History: []string{"older", "old"}, Complete: func(string) []string { return []string{"/usage "} }})
	tt.reads("hello\r", "hello")
	tt.reads("one\\\rtwo\r", "one\ntwo")
	tt.reads("one\ntwo\r", "one\ntwo") // Ctrl-J
	tt.reads("\x1b[200~a\r\nb\x1b[2J\tc\x1b[201~!\r", "a\nb    c!")
	tt.reads("\x1b[200~"+long+"\x1b[201~ whose?\r", long+" whose?")
	tt.reads("\r  \rx\x7fy\r", "y")
	tt.reads("\x1b[A\x1b[A mine.\r", long+" whose? mine.")
	tt.reads("/us\t\r", "/usage ")
	tt.end()
	for _, want := range []string{"> hello", "> one", "[pasted text 1: 101 lines] whose?"} {
		if !strings.Contains(tt.out.String(), want) {
			t.Errorf("%q was not shown", want)
		}
	}
	if strings.Contains(tt.out.String(), "a line of a poem") {
		t.Error("the long paste was shown")
	}
}

func TestArrowsGoThroughWhatWasSaid(t *testing.T) {
	tt := open(t, term.Options{History: []string{"older", "old"}})
	tt.reads("\x1b[A\x1b[A\r", "older")
	tt.reads("draft\x1b[A\x1b[B!\r", "draft!")
	tt.reads("\x1b[A\x1b[A\r", "older")
}

func TestInterruptStopsTheTurn(t *testing.T) {
	tt := open(t, term.Options{})
	tt.reads("go\r", "go")
	turn := tt.Begin(t.Context())
	tt.Text("half an ans")
	go tt.keys("typed ahead\x03")
	<-turn.Done()
	if !errors.Is(turn.Err(), context.Canceled) {
		t.Error(turn.Err())
	}
	tt.End("1 token")
	tt.reads("\r", "typed ahead")
	turn = tt.Begin(t.Context())
	tt.End("")
	if turn.Err() == nil {
		t.Error("the context of a turn that has ended goes on")
	}
	tt.end()
	if out := tt.out.String(); !strings.Contains(out, "half an ans") || !strings.Contains(out, "1 token") {
		t.Errorf("%q", out)
	}
}

func TestLeaving(t *testing.T) {
	for keys, want := range map[string]error{"\x04": io.EOF, "x\x04\x03\x04": io.EOF, "\x03\x03": screen.ErrLeave, "x\x03\x03\x03": screen.ErrLeave} {
		tt := open(t, term.Options{})
		go tt.keys(keys)
		if got, err := tt.Read(t.Context()); !errors.Is(err, want) {
			t.Errorf("%q gave %q, %v; want %v", keys, got, err, want)
		}
	}
}

func TestAsk(t *testing.T) {
	tt := open(t, term.Options{})
	for keys, want := range map[string]string{"xy": "yes", "A": "always", "n": "no", "\x03": "no"} {
		go tt.keys(keys)
		if got, err := tt.Ask(t.Context(), "May\x1b[2J it?", "yes", "always", "no"); err != nil || got != want {
			t.Errorf("%q answers %q, %v; want %q", keys, got, err, want)
		}
	}
	for keys, want := range map[string]string{"Ann\r": "Ann", "\r": "", "never mind\x03": ""} {
		go tt.keys(keys)
		if got, err := tt.Ask(t.Context(), "Your name?"); err != nil || got != want {
			t.Errorf("%q answers %q, %v; want %q", keys, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tt.Ask(ctx, "May it?", "yes", "no"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	tt.reads("x\r", "x")
}

func TestNothingSteersTheTerminal(t *testing.T) {
	tt := open(t, term.Options{Footer: "f\x1b]0;a\x07"})
	tt.Begin(t.Context())
	const evil = "\x1b]52;c;Zm9v\x07 \u009b5n"
	tt.Busy(evil)
	tt.Text(evil + "\n\n" + evil + "\n\nx\n")
	for _, kind := range []screen.Kind{screen.Note, screen.Tool, screen.Thought, screen.Trouble} {
		tt.Line(kind, evil)
	}
	tt.Say(evil)
	if _, err := tt.Write([]byte(evil)); err != nil {
		t.Error(err)
	}
	tt.End(evil)
	tt.end()
	if out := tt.out.String(); strings.Contains(out, "\x1b]52") || strings.Contains(out, "\x1b]0;") || strings.Contains(out, "\u009b") {
		t.Errorf("%q", out)
	}
}

func TestTheEndOfTheTerminal(t *testing.T) {
	tt := open(t, term.Options{})
	tt.in.CloseWithError(errors.New("it was unplugged"))
	if _, err := tt.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "the terminal is gone") {
		t.Error(err)
	}
	tt.Text("more")                // and so it is with all the rest
	tt.Line(screen.Note, "a note") // which does not wait for ever
	if a, err := tt.Ask(t.Context(), "May it?", "yes", "no"); a != "no" || err != nil {
		t.Error(a, err)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	tt := open(t, term.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tt.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
