package term

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holodeck-go/holodeck/internal/chat/markdown"
	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// View implements tea.Model.
func (m *model) View() tea.View {
	above := m.above()
	input := m.input.View()
	var b strings.Builder
	for _, line := range above {
		b.WriteString(line + "\n")
	}
	prompt := "> "
	if m.asked() {
		prompt = "? "
	}
	for i, line := range strings.Split(input, "\n") {
		if i > 0 {
			b.WriteByte('\n')
			prompt = "  "
		}
		b.WriteString(prompt + strings.TrimRight(line, " "))
	}
	if foot := m.foot(); foot != "" {
		for _, line := range m.screen.render.Text(foot, max(1, m.width-1), 0, markdown.Faint)[:1] {
			b.WriteString("\n" + line)
		}
	}
	v := tea.NewView(b.String())
	if c := m.input.Cursor(); c != nil {
		c.X += 2
		c.Y += len(above)
		v.Cursor = c
	}
	return v
}

// above returns what stands above the line that is typed: the end of the answer,
// and what is under way or asked.
func (m *model) above() []string {
	out := []string{""}
	width := max(1, m.width-1)
	out = append(out, m.tail(width)...)
	switch {
	case m.question != nil:
		most := shown(m.height) - m.input.Height() - 1
		lines := m.ask(width, most)
		if len(lines)+1 > most {
			return lines // nothing else stands there
		}
		out = append(out[:1], lines...)
	case m.turn:
		if len(out) > 1 {
			out = append(out, "")
		}
		out = append(out, m.progress(width))
	}
	if most := shown(m.height) - m.input.Height() - 1; len(out) > most {
		out = out[len(out)-max(0, most):]
	}
	return out
}

// tail returns the end of the answer, which may still change. It is drawn anew when
// it has grown, and as much of it as may be seen: what a long paragraph costs does
// not grow with it.
func (m *model) tail(width int) []string {
	most := 4 * (width + 1) * max(m.height, 1)
	m.screen.mu.Lock()
	seen := m.screen.tail
	tail := strings.ToValidUTF8(string(seen[max(0, len(seen)-most):]), "")
	m.screen.mu.Unlock()
	if d := &m.drawn; d.text != tail || d.width != width {
		d.text, d.width, d.lines = tail, width, nil
		if strings.TrimSpace(tail) != "" {
			d.lines = m.screen.render.Render(tail, width)
		}
	}
	return m.drawn.lines
}

// progress returns the line that says what is under way.
func (m *model) progress(width int) string {
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	what := m.busy
	switch {
	case m.stopping:
		what = "stopping"
	case what == "":
		what = "waiting for the model"
	}
	elapsed := m.now.Sub(m.since)
	frame := []rune(frames)[int(elapsed/tick)%10]
	end := fmt.Sprintf(" · %ds · Ctrl-C stops", int(elapsed.Seconds()))
	if width < 40 {
		end = fmt.Sprintf(" · %ds", int(elapsed.Seconds()))
	}
	room := max(1, width-2-lipgloss.Width(end))
	return m.screen.render.Text(fmt.Sprintf("%c %s%s", frame, screen.OneLine(what, room), end), 1000, 0, markdown.Faint)[0]
}

// foot returns what stands under the line that is typed.
func (m *model) foot() string {
	switch {
	case m.hint != "":
		return m.hint
	case m.turn || m.question != nil:
		return ""
	}
	return m.footer
}
