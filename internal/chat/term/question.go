package term

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/holodeck-go/holodeck/internal/chat/markdown"
)

// pose shows a question; nil takes away the one there is, and puts back what the
// person was typing. A question takes an answer once nobody has typed for a pause.
func (m *model) pose(q *question) tea.Cmd {
	if m.asked() {
		m.input.SetValue(m.question.draft)
		m.input.MoveToEnd()
		m.pastes = m.question.pastes
	}
	m.question, m.hint = q, ""
	if q == nil {
		return nil
	}
	return m.await(q)
}

// await looks at a question again after a pause.
func (m *model) await(q *question) tea.Cmd {
	keys := m.keys
	return tea.Tick(pause, func(time.Time) tea.Msg { return readMsg{q, keys} })
}

// openQuestion lets a question take an answer, on a line of its own, unless
// somebody has typed since it was looked at last.
func (m *model) openQuestion(msg readMsg) tea.Cmd {
	switch q := msg.q; {
	case m.question != q:
		return nil
	case m.keys != msg.keys:
		return m.await(q)
	default:
		q.open, q.draft, q.pastes = true, m.input.Value(), m.pastes
		m.input.Reset()
		m.pastes = pastes{}
		m.hint = ""
		if strings.TrimSpace(q.draft) != "" {
			m.hint = "what you were writing comes back after the answer"
		}
		return nil
	}
}

// asked reports whether what is typed answers a question.
func (m *model) asked() bool { return m.question != nil && m.question.open }

// reply answers the question with the line that was typed, if that is an answer.
func (m *model) reply() {
	line := m.pastes.unfold(m.input.Value()).Text()
	if m.question.typed() {
		m.answer(line)
		return
	}
	line = strings.ToLower(strings.TrimSpace(line))
	for _, c := range m.question.choices {
		word, _, _ := strings.Cut(c, " ")
		if line == c[:1] || line == word || line == c {
			m.answer(c)
			return
		}
	}
	m.hint = fmt.Sprintf("answer with %s, and Enter", letters(m.question.choices))
	m.input.Reset()
}

// letters returns such as "y, a or n".
func letters(choices []string) string {
	var b strings.Builder
	for i, c := range choices {
		switch {
		case i > 0 && i == len(choices)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(c[:1])
	}
	return b.String()
}

// answer answers the question.
func (m *model) answer(text string) {
	q := m.question
	m.pose(nil)
	q.answer <- text
}

// ask returns a question as it stands above the line, in at most so many lines:
// how it begins and how to answer it are always there.
func (m *model) ask(width, most int) []string {
	lines := m.screen.render.Text("? "+m.question.text, width, 2, markdown.Strong)
	var how []string
	switch {
	case !m.question.open:
	case m.question.typed():
		how = m.screen.render.Text("  Enter answers; an empty line does not", width, 2, markdown.Normal)
	default:
		var keys []string
		for _, c := range m.question.choices {
			keys = append(keys, "["+c[:1]+"]"+c[1:])
		}
		how = m.screen.render.Text("  "+strings.Join(keys, "   ")+"   and Enter", width, 2, markdown.Normal)
	}
	if room := max(1, most-len(how)); len(lines) > room {
		lines = lines[:room]
	}
	return append(lines, how...)
}
