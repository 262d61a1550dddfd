package cli

import (
	"iter"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
	"github.com/holodeck-go/holodeck/internal/tool"
)

// maskTurn returns the events of a turn with every secret in them masked, for
// whoever shows them. Their number and order stay. A text is masked across its
// deltas: one that ends in what may be the beginning of a secret waits for the
// next of its text, and so does what came after it.
func maskTurn(r *secret.Redactor, turn iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		m := &turnMask{redactor: r, texts: map[textKey]*maskedText{}}
		for e, err := range turn {
			if err != nil {
				m.endTexts()
				if m.release(yield) {
					yield(nil, err)
				}
				return
			}
			m.add(e)
			if !m.release(yield) {
				return
			}
		}
		m.endTexts()
		m.release(yield)
	}
}

// turnMask masks the events of one turn.
type turnMask struct {
	redactor *secret.Redactor
	texts    map[textKey]*maskedText // of the model responses under way
	waiting  []*maskedEvent
}

// textKey tells the texts apart that may be under way at once.
type textKey struct {
	parent   string // the call id of the sub-agent, see agent.Header
	thinking bool
}

// maskedText is a text that comes in deltas.
type maskedText struct {
	stream *secret.Stream
	last   *maskedEvent // its newest delta, nil before the first
}

// maskedEvent is an event that has been masked.
type maskedEvent struct {
	make func(text string) agent.Event // text is that of a delta
	text string
	open bool // its text may go on
}

// add masks an event and puts it to those that wait.
func (m *turnMask) add(e agent.Event) {
	r := m.redactor
	switch e := e.(type) {
	case agent.TextDelta:
		m.addDelta(textKey{e.Head.Parent, false}, e.Text, func(text string) agent.Event {
			return agent.TextDelta{Head: m.head(e.Head), Text: text}
		})
	case agent.ThinkingDelta:
		m.addDelta(textKey{e.Head.Parent, true}, e.Text, func(text string) agent.Event {
			return agent.ThinkingDelta{Head: m.head(e.Head), Text: text}
		})
	case agent.ModelCall: // which ends the response
		m.endText(textKey{e.Head.Parent, false})
		m.endText(textKey{e.Head.Parent, true})
		e.Head, e.FinishReason = m.head(e.Head), r.String(e.FinishReason)
		m.addWhole(e)
	case agent.ToolCallStarted:
		e.Head, e.CallID, e.Name, e.Arguments = m.head(e.Head), r.String(e.CallID), r.String(e.Name), r.JSON(e.Arguments)
		m.addWhole(e)
	case agent.ToolCallFinished:
		e.Head, e.CallID, e.Name, e.Err = m.head(e.Head), r.String(e.CallID), r.String(e.Name), r.String(e.Err)
		e.Arguments, e.Result = r.JSON(e.Arguments), tool.Redacted(e.Result, r)
		m.addWhole(e)
	case agent.Notice:
		e.Head, e.Text = m.head(e.Head), r.String(e.Text)
		m.addWhole(e)
	case agent.TurnFinished:
		m.endTexts()
		e.Response, e.Structured, e.Reason = r.String(e.Response), r.JSON(e.Structured), r.String(e.Reason)
		m.addWhole(e)
	}
}

// head masks the call id in a header.
func (m *turnMask) head(h agent.Header) agent.Header {
	h.Parent = m.redactor.String(h.Parent)
	return h
}

// addDelta takes a delta of a text.
func (m *turnMask) addDelta(key textKey, text string, with func(string) agent.Event) {
	t := m.texts[key]
	if t == nil {
		t = &maskedText{stream: m.redactor.Stream()}
		m.texts[key] = t
	}
	if t.last != nil {
		t.last.open = false
	}
	shown := t.stream.Push(text)
	t.last = &maskedEvent{make: with, text: shown, open: !t.stream.Empty()}
	m.waiting = append(m.waiting, t.last)
}

// addWhole takes an event that is no delta.
func (m *turnMask) addWhole(e agent.Event) {
	m.waiting = append(m.waiting, &maskedEvent{make: func(string) agent.Event { return e }})
}

// endText ends a text, if there is one.
func (m *turnMask) endText(key textKey) {
	if t := m.texts[key]; t != nil && t.last != nil {
		t.last.text += t.stream.Rest()
		t.last.open = false
		t.last = nil
	}
}

// endTexts ends all texts.
func (m *turnMask) endTexts() {
	for key := range m.texts {
		m.endText(key)
	}
}

// release yields the events that need not wait, and reports whether the reader
// wants more.
func (m *turnMask) release(yield func(agent.Event, error) bool) bool {
	for len(m.waiting) > 0 && !m.waiting[0].open {
		e := m.waiting[0]
		m.waiting = m.waiting[1:]
		if !yield(e.make(e.text), nil) {
			return false
		}
	}
	return true
}
