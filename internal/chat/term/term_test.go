package term_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
	"github.com/holodeck-go/holodeck/internal/chat/term"
)

var _ screen.Screen = (*term.Screen)(nil)

// output is what was written to a terminal.
type output struct {
	mu      sync.Mutex
	b       strings.Builder
	written sync.Cond
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.written.Broadcast()
	return o.b.Write(p)
}

// seen waits until a text was written n times.
func (o *output) seen(text string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for strings.Count(o.b.String(), text) < n {
		o.written.Wait()
	}
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
	out.written.L = &out.mu
	o.In, o.Out, o.Environ = in, out, []string{"TERM=xterm"}
	if o.Width == 0 {
		o.Width, o.Height = 60, 20
	}
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
	if err != nil || got.Text() != want {
		tt.t.Fatalf("read %.80q, %v; want %.80q", got.Text(), err, want)
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
			t.Errorf("%q gave %q, %v; want %v", keys, got.Text(), err, want)
		}
	}
}

// asked is a question that is put, and what came of it.
type asked struct {
	answer string
	err    error
}

// asks puts a question while the test types.
func (tt *terminal) asks(ctx context.Context, question string, choices ...string) <-chan asked {
	done := make(chan asked, 1)
	go func() {
		a, err := tt.Ask(ctx, question, choices...)
		done <- asked{a, err}
	}()
	return done
}

func TestAsk(t *testing.T) {
	tt := open(t, term.Options{})
	n := 0
	for _, c := range []struct{ keys, want string }{
		{"why\rYes\r", "yes"}, {"A\r", "always"}, {"always\r", "always"}, {"\rn\r", "no"}, {"y\x03", "no"},
		{"\x1b[200~y\x1b[201~\rn\r", "no"},
	} {
		n++
		done := tt.asks(t.Context(), "May\x1b[2J it?", "yes", "always", "no")
		tt.out.seen("[n]o   and Enter", n)
		tt.keys(c.keys)
		if a := <-done; a.err != nil || a.answer != c.want {
			t.Errorf("%q answers %v; want %q", c.keys, a, c.want)
		}
		tt.out.seen("? May[2J it? "+c.want, 1)
	}
	n = 0
	for keys, want := range map[string]string{"Ann\r": "Ann", "\r": "", "never mind\x03": ""} {
		n++
		done := tt.asks(t.Context(), "Your name?")
		tt.out.seen("Enter answers", n)
		tt.keys(keys)
		if a := <-done; a.err != nil || a.answer != want {
			t.Errorf("%q answers %v; want %q", keys, a, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tt.Ask(ctx, "May it?", "yes", "no"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	tt.reads("x\r", "x")
}

func TestWhatIsTypedAheadAnswersNoQuestion(t *testing.T) {
	tt := open(t, term.Options{})
	tt.Begin(t.Context())
	tt.keys("is it y")
	done := tt.asks(t.Context(), "May it?", "yes", "always", "no")
	tt.out.seen("? May it?", 1)
	for range 3 {
		tt.keys("\ry\ra\ryes\r") // it was not meant for the question
	}
	tt.out.seen("[n]o", 1)
	select {
	case a := <-done:
		t.Fatalf("what was typed ahead answers %v", a)
	default:
	}
	tt.keys("n\r")
	if a := <-done; a.answer != "no" {
		t.Errorf("%v", a)
	}
	tt.End("ended")
	tt.out.seen("ended", 1)
	tt.reads("?\r", "is it yyayesyayesyayes?")
}

func TestAQuestionIsReadWholeInASmallTerminal(t *testing.T) {
	tt := open(t, term.Options{Width: 40, Height: 12})
	done := tt.asks(t.Context(), "May docs_search be called with {"+strings.Repeat("word ", 200)+"and the end}? (because)", "yes", "always in this conversation", "no")
	tt.out.seen("and the end}?", 1)
	tt.out.seen("May docs_search be called", 2) // above, whole, and below
	tt.out.seen("[n]o", 1)
	tt.keys("n\r")
	if a := <-done; a.answer != "no" {
		t.Errorf("%v", a)
	}
}

func TestTwoInterruptsLeaveTheDraft(t *testing.T) {
	tt := open(t, term.Options{})
	turn := tt.Begin(t.Context())
	tt.keys("a draft\x03\x03\x03")
	<-turn.Done()
	tt.End("stopped")
	tt.out.seen("stopped", 1)
	tt.keys("\x03\x03")
	tt.reads("!\r", "a draft!")
}

func TestAPasteIsWhole(t *testing.T) {
	long := strings.Repeat("a line of a poem\n", 100)
	paste := "\x1b[200~" + long + "\x1b[201~"
	tt := open(t, term.Options{})
	tt.reads("see "+paste+"\x7fx\r", "see x")
	tt.reads("a"+paste+"\x1b[D\x1b[Dbc\r", "a"+long+"bc")
	tt.reads("a"+paste+"b\x1b[D\x1b[D\x7fc\r", "acb")
	tt.reads("a"+paste+"b \x17\x17c\r", "c") // Ctrl-W
	tt.reads("é"+paste+"ü\x1b[D\x7f\r", "éü")
}

func TestWhatIsPastedIsToldFromWhatIsTyped(t *testing.T) {
	tt := open(t, term.Options{})
	for _, keys := range []string{"see \x1b[200~@notes.md\x1b[201~ and @b\r", "\x1b[A\r"} {
		go tt.keys(keys)
		m, err := tt.Read(t.Context())
		if want := (screen.Message{{Text: "see "}, {Text: "@notes.md", Pasted: true}, {Text: " and @b"}}); err != nil || !slices.Equal(m, want) {
			t.Errorf("%q: %+v, %v", keys, m, err)
		}
	}
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
