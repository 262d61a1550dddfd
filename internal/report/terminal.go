package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// Options says how a Terminal prints.
type Options struct {
	// Out takes lines and summary.
	Out io.Writer
	// Live takes a line that moves while cases run; nil means none. It must be a
	// terminal.
	Live io.Writer
	// Terminal says that Out is one: marks instead of PASS and FAIL.
	Terminal bool
	// Color allows colours in Out.
	Color bool
	// Actions says that GitHub Actions reads Out, which takes commands from it.
	Actions bool
	// Verbose shows the checks of every case, Quiet the summary alone.
	Verbose, Quiet bool
	// Total is how many attempts at cases there are.
	Total int
}

// Terminal prints a run as it goes, and is the [Writer] of what comes at its
// end: the failures and the counts. All its methods are called from one
// goroutine; End ends it.
//
// CaseStarted and CaseFinished come as attempts start and finish. For a run that
// is over they do not come at all.
type Terminal struct {
	opts Options
	ink  ink

	done     int
	failures failures
	err      error // the first error of Out

	mu      sync.Mutex // guards what the moving line shows, and both writers
	running map[int]string
	frame   int
	drawn   bool // the moving line is on the screen
	stop    chan struct{}
	stopped sync.WaitGroup
}

// NewTerminal returns a Terminal, which draws its moving line until End.
func NewTerminal(opts Options) *Terminal {
	t := &Terminal{opts: opts, ink: ink(opts.Color), running: map[int]string{}, stop: make(chan struct{})}
	t.failures.why = t.ink.why
	if opts.Live != nil && !opts.Quiet {
		t.stopped.Go(t.animate)
	}
	return t
}

// CaseStarted takes note of an attempt that runs now. Attempts are numbered from
// 0 in the order in which they start.
func (t *Terminal) CaseStarted(number int, title string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[number] = title
}

// CaseFinished prints the line of an attempt.
func (t *Terminal) CaseFinished(number int, c *runs.Case) {
	t.done++
	t.mu.Lock()
	delete(t.running, number)
	t.mu.Unlock()
	if t.opts.Quiet {
		return
	}
	line := t.line(c)
	if t.opts.Verbose {
		line += t.ink.checks(c)
	}
	t.print(line)
}

// Begin implements [Writer]. The command has said already what it runs.
func (t *Terminal) Begin(runs.Run) error { return nil }

// Case keeps what the summary tells of an attempt.
func (t *Terminal) Case(c *runs.Case) error {
	t.failures.add(c)
	return nil
}

// End ends the moving line and prints the failures and the counts. The error is
// the first that any line could not be written for.
func (t *Terminal) End(s runs.Summary) error {
	close(t.stop)
	t.stopped.Wait()
	var b strings.Builder
	if len(t.failures.list) > 0 {
		b.WriteString("\n" + t.ink.bold("Failures") + "\n")
		for n, f := range t.failures.list {
			b.WriteString("\n" + t.ink.failure(n+1, f))
		}
		if n := t.failures.hidden; n > 0 {
			fmt.Fprintf(&b, "\n… and %d more; --output FILE.html shows every case\n", n)
		}
	}
	b.WriteString(t.ink.summary(s, t.opts))
	t.print(b.String())
	if t.err != nil {
		return fmt.Errorf("print results: %w", t.err)
	}
	return nil
}

// line returns the line of a finished case.
func (t *Terminal) line(c *runs.Case) string {
	title := printable(title(c)) + t.took(c.Elapsed)
	if t.opts.Terminal {
		return fmt.Sprintf("Test %d/%d: %s %s\n", t.done, t.opts.Total, t.ink.mark(c.Status), title)
	}
	word := map[runs.Status]string{runs.Passed: "PASS", runs.Failed: "FAIL", runs.Unchecked: "UNCHECKED"}[c.Status]
	return fmt.Sprintf("[Test %d/%d] %s %s\n", t.done, t.opts.Total, t.ink.status(c.Status, word), title)
}

// took returns how long a case took, where that is worth a word.
func (t *Terminal) took(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf(" (%.2fs)", d.Seconds())
	case t.opts.Verbose:
		return fmt.Sprintf(" (%dms)", d.Milliseconds())
	}
	return ""
}

// print writes text in place of the moving line.
func (t *Terminal) print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	if t.opts.Actions {
		text = noCommands(text)
	}
	if _, err := io.WriteString(t.opts.Out, text); err != nil && t.err == nil {
		t.err = err
	}
}

// interval is how often the moving line moves.
const interval = 100 * time.Millisecond

// animate draws the moving line until stop is closed.
func (t *Terminal) animate() {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.draw()
		case <-t.stop:
			t.mu.Lock()
			t.erase()
			t.mu.Unlock()
			return
		}
	}
}

// frames are what the moving line begins with, one after the other.
const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// lineWidth is the longest moving line: the narrowest terminal, one column free.
const lineWidth = 79

func (t *Terminal) draw() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.running) == 0 {
		t.erase()
		return
	}
	signs := []rune(frames)
	t.frame++
	oldest := slices.Min(slices.Collect(maps.Keys(t.running)))
	line := fmt.Sprintf("%c Test %d/%d: Running %s", signs[t.frame%len(signs)], oldest+1, t.opts.Total, printable(t.running[oldest]))
	if more := len(t.running) - 1; more > 0 {
		suffix := fmt.Sprintf(" and %d more", more)
		line = cut(line, lineWidth-len(suffix)) + suffix
	}
	// A line that cannot be drawn is no result that is lost.
	_, err := io.WriteString(t.opts.Live, "\r"+cut(line, lineWidth)+"\x1b[K")
	t.drawn = err == nil
}

// erase removes the moving line. The caller holds mu.
func (t *Terminal) erase() {
	if t.drawn {
		io.WriteString(t.opts.Live, "\r\x1b[K") // see draw
		t.drawn = false
	}
}
