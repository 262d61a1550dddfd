package dialog

import (
	"slices"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// Happening is something that one of the calls of a response did: the event of
// its end, or, with the call id of a sub-agent, one of what goes on inside of it.
type Happening struct {
	Index  int // of the call in the response
	Parent string
	Event  agent.Event
}

// End returns how the call ended, if that is what happened.
func (h Happening) End() (agent.ToolCallFinished, bool) {
	f, ok := h.Event.(agent.ToolCallFinished)
	return f, ok && h.Parent == ""
}

// Telling puts what the calls of a response do into the order in which a turn
// tells of it. It belongs to the goroutine of the turn.
type Telling struct {
	kept  [][]Happening // by call, where order matters; its end is the last
	ended []bool
	left  int
	wait  bool
}

// NewTelling returns the Telling of n calls. As things come, unless the run is
// recorded or replayed: then nothing is told until all calls have ended, and then
// one call after the other, by the time they ended. In a replay all end at once,
// and are to be told of in the same order.
func NewTelling(n int, recorded bool) *Telling {
	return &Telling{kept: make([][]Happening, n), ended: make([]bool, n), left: n, wait: recorded}
}

// Left returns how many calls have not ended.
func (t *Telling) Left() int { return t.left }

// Ended reports whether a call has.
func (t *Telling) Ended(index int) bool { return t.ended[index] }

// Add takes what happened, and returns what is to be told now. Who was left behind
// by its call's end and speaks too late is not heard.
func (t *Telling) Add(h Happening) []Happening {
	if t.ended[h.Index] {
		return nil
	}
	if _, ended := h.End(); ended {
		t.ended[h.Index] = true
		t.left--
	}
	if !t.wait {
		return []Happening{h}
	}
	t.kept[h.Index] = append(t.kept[h.Index], h)
	if t.left > 0 {
		return nil
	}
	slices.SortStableFunc(t.kept, func(a, b []Happening) int {
		first, _ := a[len(a)-1].End()
		second, _ := b[len(b)-1].End()
		return first.End.Compare(second.End)
	})
	return slices.Concat(t.kept...)
}
