package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/holodeck-go/holodeck/internal/knowledge"
)

// indexProgress tells on stderr how the indexing of search tools goes: on a
// terminal in a moving line of all of them, elsewhere in a line when a tool
// begins. It is safe for concurrent use.
type indexProgress struct {
	w        io.Writer
	terminal bool
	quiet    bool

	mu     sync.Mutex
	moving bool                 // the moving line is on the screen
	tools  []knowledge.Progress // that are at it, in the order they began
}

// report tells how far a tool is.
func (p *indexProgress) report(now knowledge.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	began := p.note(now)
	switch {
	case p.quiet:
	case p.terminal:
		p.draw()
	case began && now.ContextsTotal > 0:
		fmt.Fprintf(p.w, "indexing %s: %s to be written\n", now.Tool, plural(now.ContextsTotal, "context"))
	case began:
		fmt.Fprintf(p.w, "indexing %s: %s\n", now.Tool, plural(now.DocumentsTotal, "file"))
	}
}

// note keeps how far a tool is, and reports whether it is the first that is
// heard of it.
func (p *indexProgress) note(now knowledge.Progress) bool {
	for i := range p.tools {
		if p.tools[i].Tool == now.Tool {
			p.tools[i] = now
			return false
		}
	}
	p.tools = append(p.tools, now)
	return true
}

// draw shows how far the tools are that are not done.
func (p *indexProgress) draw() {
	var parts []string
	for _, t := range p.tools {
		if t.DocumentsTotal == 0 || t.Documents < t.DocumentsTotal {
			parts = append(parts, indexLine(t))
		}
	}
	p.clear()
	if len(parts) > 0 {
		fmt.Fprint(p.w, "\r\x1b[K\x1b[?7l"+strings.Join(parts, " │ ")+"\x1b[?7h") // cut at the edge, not wrapped
		p.moving = true
	}
}

// indexLine says in a few words how far a tool is.
func indexLine(t knowledge.Progress) string {
	const width = 10
	done, total, what := t.Passages, t.PassagesTotal, plural(t.PassagesTotal, "passage")+" of "+plural(t.DocumentsTotal, "file")
	if t.PassagesTotal == 0 {
		done, total, what = t.Contexts, t.ContextsTotal, plural(t.ContextsTotal, "context")
	}
	filled := width * done / max(total, 1)
	line := fmt.Sprintf("indexing %s %s%s %d of %s", t.Tool, strings.Repeat("━", filled), strings.Repeat("╌", width-filled), done, what)
	if t.Tokens > 0 {
		line += fmt.Sprintf(", %d tokens", t.Tokens)
	}
	if t.CostUSD > 0 {
		line += fmt.Sprintf(", $%.4f", t.CostUSD)
	}
	return line
}

// say tells something in a line of its own.
func (p *indexProgress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	p.clear()
	if p.terminal {
		text = printable(text) // names of files are in it
	}
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
