package chat

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// turnScreen shows the events of one turn.
type turnScreen struct {
	screen   screen.Screen
	now      func() time.Time
	verbose  bool                    // show thinking, and arguments that are long
	running  []agent.ToolCallStarted // calls that have not ended
	thought  strings.Builder         // the thinking under way
	words    int                     // of it
	since    time.Time               // when it began
	answered bool                    // some text was shown
	inText   bool                    // in the response under way
}

// show shows a turn as it runs and returns what it came to, beside the error it
// ended in.
func (t *turnScreen) show(turn iter.Seq2[agent.Event, error]) (agent.Result, error) {
	var f agent.Folder
	t.screen.Busy("")
	for e, err := range turn {
		if err != nil {
			t.endThought()
			return f.Result(), err
		}
		f.Add(e)
		t.event(e)
	}
	r := f.Result()
	if !t.answered && r.Response != "" {
		t.screen.Text(r.Response)
		t.answered = true
	}
	return r, nil
}

// event shows an event.
func (t *turnScreen) event(e agent.Event) {
	main := e.Header().Parent == ""
	if _, ok := e.(agent.ThinkingDelta); !ok && main {
		t.endThought()
	}
	switch e := e.(type) {
	case agent.ThinkingDelta:
		if main {
			t.think(e.Text)
		}
	case agent.TextDelta:
		if main && e.Text != "" { // a sub-agent's words are its caller's, not the answer
			if !t.inText {
				t.screen.Busy("answering")
			}
			t.inText, t.answered = true, true
			t.screen.Text(e.Text)
		}
	case agent.ModelCall:
		if main && e.Purpose == "" && t.inText {
			t.inText = false
			t.screen.Break()
			t.screen.Busy("")
		}
	case agent.ToolCallStarted:
		t.running = append(t.running, e)
		t.busy()
	case agent.ToolCallFinished:
		t.finish(e)
	case agent.Notice:
		t.screen.Line(screen.Note, "note: "+e.Text)
	}
}

// busy says which calls are under way.
func (t *turnScreen) busy() {
	var calls []string
	for _, c := range t.running {
		calls = append(calls, c.Name+" "+screen.OneLine(string(c.Arguments), 60))
	}
	t.screen.Busy(strings.Join(calls, ", "))
}

// finish shows a call that has ended: its arguments, how much it gave, and its
// time.
func (t *turnScreen) finish(e agent.ToolCallFinished) {
	var arguments string
	t.running = slices.DeleteFunc(t.running, func(c agent.ToolCallStarted) bool {
		if c.CallID != e.CallID {
			return false
		}
		arguments = t.arguments(c.Arguments)
		return true
	})
	if e.Arguments != nil {
		arguments = t.arguments(e.Arguments) // what ran
	}
	call := strings.TrimSpace(e.Name + " " + arguments)
	if e.Head.Parent != "" {
		call = "  " + call
	}
	elapsed := round(e.End.Sub(e.Start))
	if e.Err != "" {
		t.screen.Line(screen.Trouble, fmt.Sprintf("%s failed after %s: %s", call, elapsed, screen.OneLine(e.Err, 300)))
	} else {
		t.screen.Line(screen.Tool, fmt.Sprintf("%s gave %s in %s", call, size(e.Result), elapsed))
	}
	t.busy()
}

// arguments returns the arguments of a call as they are shown.
func (t *turnScreen) arguments(text []byte) string {
	if t.verbose {
		return screen.OneLine(string(text), 10_000)
	}
	return screen.OneLine(string(text), 100)
}

// size returns how much a tool gave.
func size(r agent.ToolResult) string {
	if n := len(r.Passages); n > 0 {
		return plural(n, "passage")
	}
	n := 0
	for _, p := range r.Parts {
		n += len(p.Text) + len(p.Data)
	}
	return bytesText(n)
}

// bytesText returns a number of bytes as people read it.
func bytesText(n int) string {
	switch {
	case n < 1000:
		return plural(n, "byte")
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// think folds a piece of thinking.
func (t *turnScreen) think(text string) {
	if t.since.IsZero() {
		t.since = t.now()
	}
	t.words += len(strings.Fields(text))
	if t.verbose {
		t.thought.WriteString(text)
	}
	t.screen.Busy("thinking, " + plural(t.words, "word"))
}

// endThought shows the thinking that has ended, folded.
func (t *turnScreen) endThought() {
	if t.since.IsZero() {
		return
	}
	line := fmt.Sprintf("thought for %s, %s", round(t.now().Sub(t.since)), plural(t.words, "word"))
	if t.verbose {
		line += ":\n" + strings.TrimSpace(t.thought.String())
	} else {
		line += " (/thinking shows them)"
	}
	t.screen.Line(screen.Thought, line)
	t.thought.Reset()
	t.words, t.since = 0, time.Time{}
	t.screen.Busy("")
}

// summary returns the line under an answer: tokens, cost and time, and how far
// the limit of messages is.
func (c *Chat) summary(e Exchange) string {
	var parts []string
	if u := e.Result.Usage; u.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", u.Prompt, u.Completion))
	}
	if cost := e.Result.CostUSD; cost != nil && *cost > 0 {
		parts = append(parts, dollars(*cost))
	}
	parts = append(parts, round(e.Elapsed).String())
	if c.MaxMessages > 0 {
		parts = append(parts, fmt.Sprintf("message %d of %d", c.sent, c.MaxMessages))
	}
	return strings.Join(parts, " · ")
}

// dollars returns an amount with four decimals, and up to eight where there is
// more to say: a small call costs far less than a cent.
func dollars(usd float64) string {
	s := fmt.Sprintf("$%.8f", usd)
	least := len(s) - 4
	return s[:least] + strings.TrimRight(s[least:], "0")
}
