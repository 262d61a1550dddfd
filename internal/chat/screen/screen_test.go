package screen_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

func TestPlainReadsMessages(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	p := screen.NewPlain(strings.NewReader("one\r\ntwo \\\nthree\n\n"+long+"\n"+strings.Repeat("y", screen.MaxMessage+1)+"\nlast"), io.Discard, io.Discard, screen.PlainOptions{})
	for _, want := range []string{"one", "two \nthree", "", long} {
		if got, err := p.Read(t.Context()); err != nil || got.Text() != want {
			t.Errorf("read %.20q, %v; want %.20q", got.Text(), err, want)
		}
	}
	if _, err := p.Read(t.Context()); !errors.As(err, new(*screen.TooLongError)) {
		t.Errorf("a message that is too long: %v", err)
	}
	if got, err := p.Read(t.Context()); err != nil || got.Text() != "last" {
		t.Errorf("after it: %q, %v", got.Text(), err)
	}
	if _, err := p.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestPlainStopsReadingWithItsContext(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := screen.NewPlain(in, io.Discard, io.Discard, screen.PlainOptions{}).Read(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// broken is a pipe that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestPlainTellsOfABrokenPipe(t *testing.T) {
	p := screen.NewPlain(strings.NewReader("more\n"), broken{}, io.Discard, screen.PlainOptions{})
	p.Begin(t.Context())
	p.Text("x")
	p.End("")
	if _, err := p.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "write the answer: broken pipe") {
		t.Error(err)
	}
}

func TestPlainShowsAnswersApart(t *testing.T) {
	var out, notes strings.Builder
	p := screen.NewPlain(strings.NewReader(""), &out, &notes, screen.PlainOptions{})
	p.Begin(t.Context())
	p.Text("I will ")
	p.Text("look.")
	p.Break()
	p.Line(screen.Tool, "looked")
	p.Line(screen.Trouble, "mind\x1b[2J")
	p.Text("Found.\n")
	p.Break()
	p.End("9 tokens")
	p.Begin(t.Context())
	p.End("none")
	p.Begin(t.Context())
	p.Text("\x1b]0;t\aDone.")
	p.End("")
	p.Say("said\n")
	if want := "I will look.\n\nFound.\n\n]0;tDone.\nsaid\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	if want := "mind[2J\n[9 tokens]\n[none]\n"; notes.String() != want {
		t.Errorf("%q", notes.String())
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc":                    "a\tb\nc",
		"\x1b[31m\x07\r\x08\x7f\x00": "[31m",
		"\u009b31m\u0085":            "31m",
		"\u202eabc\u2069\u200f":      "abc",
		"a\u2028b":                   "a\nb",
		"漢字 é 🙂\u200d":               "漢字 é 🙂\u200d",
	} {
		if got := screen.Printable(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := screen.OneLine(" a\n b\tc ", 4); got != "a b…" {
		t.Errorf("%q", got)
	}
}
