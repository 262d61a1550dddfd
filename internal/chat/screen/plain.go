package screen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxMessage bounds a message, in bytes.
const MaxMessage = 4 << 20

// Plain is the Screen of a pipe: a line is a message, answers go to one writer
// and everything else to another. A line that ends in a backslash goes on in the
// next. Nobody is there to be asked.
type Plain struct {
	out, notes io.Writer
	prompt     string // written before a message is read; "" in a pipe
	lines      chan line
	quiet      bool
	verbose    bool

	answers int  // that were shown
	written bool // the turn's answer has text
	atStart bool // the last of it ended a line
	broken  bool // a response with text has ended, and another may follow
	err     error
}

// line is what was read from the input.
type line struct {
	text string
	err  error
}

// PlainOptions says how a Plain shows.
type PlainOptions struct {
	// Prompt is written to the notes before a message is read.
	Prompt string
	// Quiet leaves out everything that is neither an answer nor trouble; Verbose
	// tells of tool calls and thinking, too.
	Quiet, Verbose bool
}

// NewPlain returns a Plain. It reads from in, in a goroutine of its own that
// lives until in ends: a read cannot be called off.
func NewPlain(in io.Reader, out, notes io.Writer, opts PlainOptions) *Plain {
	p := &Plain{
		out: out, notes: notes, prompt: opts.Prompt, quiet: opts.Quiet, verbose: opts.Verbose,
		lines: make(chan line), atStart: true,
	}
	go readMessages(in, p.lines)
	return p
}

// readMessages reads messages until the input ends.
func readMessages(in io.Reader, to chan<- line) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readMessage(r)
		switch {
		case errors.As(err, new(*TooLongError)):
			to <- line{err: err}
		case err != nil:
			if text != "" { // the last line, without its end
				to <- line{text: text}
			}
			to <- line{err: err}
			return
		default:
			to <- line{text: text}
		}
	}
}

// TooLongError is the error of Read for a message that is longer than
// MaxMessage. The next Read goes on after it.
type TooLongError struct{ Bytes int }

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the message has %d bytes, and at most %d are taken; put it into a file and say @FILE", e.Bytes, MaxMessage)
}

// readMessage reads a message: a line, and those that it goes on in.
func readMessage(r *bufio.Reader) (string, error) {
	var (
		b    strings.Builder
		size int
	)
	for {
		piece, err := r.ReadSlice('\n')
		size += len(piece)
		if size <= MaxMessage {
			b.Write(piece)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		text := strings.TrimRight(b.String(), "\r\n")
		if err == nil && strings.HasSuffix(text, `\`) && size <= MaxMessage {
			b.Reset()
			b.WriteString(strings.TrimSuffix(text, `\`) + "\n")
			continue
		}
		if size > MaxMessage {
			return "", &TooLongError{size}
		}
		return text, err
	}
}

// Read implements Screen.
func (p *Plain) Read(ctx context.Context) (Message, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.prompt != "" {
		fmt.Fprint(p.notes, p.prompt)
	}
	select {
	case l := <-p.lines:
		if l.err != nil && !errors.Is(l.err, io.EOF) && !errors.As(l.err, new(*TooLongError)) {
			return nil, fmt.Errorf("read the next message: %w", l.err)
		}
		return Message{{Text: l.text}}, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Begin implements Screen: a turn is interrupted by a signal alone.
func (p *Plain) Begin(ctx context.Context) context.Context {
	p.written, p.broken = false, false
	return ctx
}

// Busy implements Screen.
func (*Plain) Busy(string) {}

// Text implements Screen.
func (p *Plain) Text(piece string) {
	text := Printable(piece)
	if text == "" {
		return
	}
	switch {
	case p.broken && p.atStart:
		text = "\n" + text
	case p.broken:
		text = "\n\n" + text
	case !p.written && p.answers > 0:
		text = "\n" + text
	}
	p.broken, p.written = false, true
	p.write(text)
}

// Break implements Screen.
func (p *Plain) Break() { p.broken = p.written }

// write writes a piece of an answer; what goes wrong is told by the next Read.
func (p *Plain) write(text string) {
	if _, err := io.WriteString(p.out, text); err != nil && p.err == nil {
		p.err = fmt.Errorf("write the answer: %w", err)
	}
	p.atStart = strings.HasSuffix(text, "\n")
}

// Line implements Screen.
func (p *Plain) Line(kind Kind, text string) {
	if p.quiet && kind != Trouble || !p.verbose && (kind == Tool || kind == Thought) {
		return
	}
	if !p.atStart && (p.broken || kind == Trouble) {
		p.write("\n") // which is to come anyway: both may go to one terminal
	}
	fmt.Fprintln(p.notes, Printable(text))
}

// End implements Screen.
func (p *Plain) End(summary string) {
	if p.written {
		p.answers++
		if !p.atStart {
			p.write("\n")
		}
	}
	if summary != "" && !p.quiet {
		fmt.Fprintf(p.notes, "[%s]\n", summary)
	}
}

// Say implements Screen.
func (p *Plain) Say(text string) { p.write(strings.TrimRight(Printable(text), "\n") + "\n") }

// Attended implements Screen.
func (*Plain) Attended() bool { return false }

// Ask implements Screen.
func (*Plain) Ask(_ context.Context, _ string, choices ...string) (string, error) {
	return Nothing(choices), nil
}
