// Package term owns a conversation in a terminal: what was said scrolls away as
// everything in a terminal does, and below it stand the answer under way, what is
// being done, and the line that is typed. It refuses to know what is talked
// about; it is a [screen.Screen].
package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/holodeck-go/holodeck/internal/chat/markdown"
	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// Options says what a Screen is opened with.
type Options struct {
	In      io.Reader // the terminal
	Out     io.Writer
	Environ []string
	Color   bool
	// Footer stands under the line that is typed while nothing is under way.
	Footer string
	// History is what was typed before, the oldest first.
	History []string
	// Complete returns the lines that a line may become; nil completes nothing.
	Complete func(line string) []string
	// Width and Height are assumed where the terminal does not tell its own.
	Width, Height int
	Quiet         bool // leave out what is neither an answer nor trouble
}

// Screen is a conversation in a terminal. Whoever opens it closes it.
type Screen struct {
	program *tea.Program
	render  *markdown.Renderer
	quiet   bool
	said    chan message
	left    chan error    // io.EOF or screen.ErrLeave
	sized   chan struct{} // the size of the terminal is known
	done    chan struct{} // the program has ended
	err     error         // that it ended in
	asking  sync.Mutex    // one question at a time

	mu            sync.Mutex
	width, height int                // of the terminal
	tail          []byte             // of the answer: what may still change
	looked        int                // how long the tail was when it was looked at for what is complete
	printed       part               // what was printed last
	cancel        context.CancelFunc // of the turn under way, else nil
}

// message is what a person sent, and how the screen shows it: a long paste is
// folded.
type message struct {
	said  screen.Message
	shown string
}

// part is a kind of what is printed. Between two kinds stands a blank line.
type part int

const (
	nothing part = iota
	words        // what the person said
	notes
	answer
	program
)

// Open puts a Screen on a terminal, and returns when it knows its size.
func Open(o Options) *Screen {
	s := &Screen{
		render: markdown.New(o.Color), quiet: o.Quiet,
		said: make(chan message, 1), left: make(chan error, 1), sized: make(chan struct{}), done: make(chan struct{}),
		width: max(o.Width, 1), height: max(o.Height, 1),
	}
	options := []tea.ProgramOption{
		tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(),
	}
	if o.Width > 0 && o.Height > 0 {
		options = append(options, tea.WithWindowSize(o.Width, o.Height))
	}
	s.program = tea.NewProgram(newModel(s, o), options...)
	go func() {
		defer close(s.done)
		_, s.err = s.program.Run()
	}()
	select {
	case <-s.sized:
	case <-s.done:
	}
	return s
}

// Close takes the Screen off the terminal, which is then as it was.
func (s *Screen) Close() error {
	s.program.Quit()
	<-s.done
	return s.err
}

// Read implements screen.Screen.
func (s *Screen) Read(ctx context.Context) (screen.Message, error) {
	select {
	case m := <-s.said:
		s.program.Send(heardMsg{})
		s.print(words, s.render.Text("> "+strings.ReplaceAll(m.shown, "\n", "\n  "), s.columns(), 2, markdown.Strong))
		return m.said, nil
	case err := <-s.left:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done:
		return nil, fmt.Errorf("the terminal is gone: %w", errors.Join(s.err, io.ErrUnexpectedEOF))
	}
}

// Begin implements screen.Screen: Ctrl-C ends the context.
func (s *Screen) Begin(ctx context.Context) context.Context {
	turn, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	s.program.Send(beginMsg{at: time.Now()})
	return turn
}

// interrupt cancels the turn under way, and reports whether there is one.
func (s *Screen) interrupt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil {
		return false
	}
	s.cancel()
	return true
}

// Busy implements screen.Screen.
func (s *Screen) Busy(what string) { s.program.Send(busyMsg(screen.OneLine(what, 400))) }

// Text implements screen.Screen. Blocks of the answer that are complete are
// printed; the rest is shown below them at the next tick.
func (s *Screen) Text(piece string) {
	s.mu.Lock()
	s.tail = append(s.tail, screen.Printable(piece)...)
	n := 0
	if strings.Contains(piece, "\n") && len(s.tail) >= s.looked+s.looked/8 { // a long one, less often
		n = markdown.Stable(string(s.tail))
		s.looked = len(s.tail) - n
	}
	stable := string(s.tail[:n])
	s.tail = s.tail[n:]
	s.mu.Unlock()
	if n > 0 {
		s.print(answer, s.render.Render(stable, s.columns()))
	}
}

// Break implements screen.Screen.
func (s *Screen) Break() { s.flush() }

// flush prints what is left of the answer.
func (s *Screen) flush() {
	s.mu.Lock()
	rest := string(s.tail)
	s.tail, s.looked = nil, 0
	s.mu.Unlock()
	if strings.TrimSpace(rest) != "" {
		s.print(answer, s.render.Render(rest, s.columns()))
	}
}

// Line implements screen.Screen.
func (s *Screen) Line(kind screen.Kind, text string) {
	if s.quiet && kind != screen.Trouble {
		return
	}
	s.flush()
	mark, tone := "", markdown.Faint
	switch kind {
	case screen.Tool:
		mark = "• "
	case screen.Thought:
		mark = "∙ "
	case screen.Trouble:
		mark, tone = "! ", markdown.Bad
	}
	s.print(notes, s.render.Text(mark+text, s.columns(), 2, tone))
}

// End implements screen.Screen.
func (s *Screen) End(summary string) {
	s.flush()
	s.mu.Lock()
	if s.cancel != nil {
		s.cancel()
	}
	s.cancel = nil
	s.mu.Unlock()
	if summary != "" && !s.quiet {
		s.print(program, s.render.Text(summary, s.columns(), 2, markdown.Faint))
	}
	s.program.Send(endMsg{})
}

// Say implements screen.Screen.
func (s *Screen) Say(text string) {
	s.print(program, s.render.Text(strings.TrimRight(text, "\n"), s.columns(), 2, markdown.Normal))
}

// Attended implements screen.Screen.
func (*Screen) Attended() bool { return true }

// Ask implements screen.Screen.
func (s *Screen) Ask(ctx context.Context, text string, choices ...string) (string, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	q := &question{text: screen.Printable(text), choices: choices, answer: make(chan string, 1)}
	s.flush()
	if lines := s.render.Text("? "+q.text, s.columns(), 2, markdown.Strong); len(lines) > 2 {
		s.print(notes, lines) // whole, above: below, there is room for its beginning
		text = screen.OneLine(text, 60)
	}
	s.program.Send(askMsg{q})
	defer s.program.Send(askMsg{})
	select {
	case a := <-q.answer:
		s.print(notes, s.render.Text("? "+text+" "+a, s.columns(), 2, markdown.Faint))
		return a, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-s.done:
		return screen.Nothing(choices), nil
	}
}

// Write shows lines that come from elsewhere, such as the log: the Screen is the
// only one to write to the terminal.
func (s *Screen) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			s.print(notes, s.render.Text(line, s.columns(), 2, markdown.Faint))
		}
	}
	return len(p), nil
}

// columns returns how wide a line may be: one less than the terminal, for some
// break a line that fills it.
func (s *Screen) columns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, s.width-1)
}

// print prints lines above what is shown. They go out in portions that fit on the
// screen together with that: what is longer would push it into the scroll-back.
func (s *Screen) print(kind part, lines []string) {
	s.mu.Lock()
	if s.printed != nothing && (kind != s.printed || kind == answer) {
		lines = append([]string{""}, lines...)
	}
	s.printed = kind
	portion := max(1, s.height-shown(s.height)-1)
	s.mu.Unlock()
	for len(lines) > 0 {
		n := min(portion, len(lines))
		text := strings.Join(lines[:n], "\n")
		if text == "" {
			text = " " // an empty line is not printed
		}
		s.program.Send(tea.Println(text)())
		lines = lines[n:]
	}
}

// shown returns how many lines at most are shown below what was printed.
func shown(height int) int { return max(3, height/2) }
