package cli

import (
	"fmt"
	"io"
	"sync"
)

// indexProgress tells on stderr how the indexing of search tools goes: on a
// terminal in one moving line, elsewhere in a line when a tool begins. It is
// safe for concurrent use.
type indexProgress struct {
	w        io.Writer
	terminal bool
	quiet    bool

	mu     sync.Mutex
	moving bool            // the moving line is on the screen
	begun  map[string]bool // tools that were told of
}

// report tells that a tool has indexed so many of its files.
func (p *indexProgress) report(tool string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.quiet:
	case p.terminal:
		fmt.Fprintf(p.w, "\r\x1b[Kindexing %s: %d of %s", tool, done, plural(total, "file"))
		p.moving = true
	case !p.begun[tool]:
		if p.begun == nil {
			p.begun = map[string]bool{}
		}
		p.begun[tool] = true
		fmt.Fprintf(p.w, "indexing %s: %s\n", tool, plural(total, "file"))
	}
}

// say tells something in a line of its own.
func (p *indexProgress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	p.clear()
	fmt.Fprintln(p.w, text)
}

// done takes the moving line away.
func (p *indexProgress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *indexProgress) clear() {
	if p.moving {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.moving = false
	}
}
