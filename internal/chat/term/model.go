package term

import (
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// What the Screen tells its model.
type (
	heardMsg struct{}               // the message was read
	beginMsg struct{ at time.Time } // a turn begins
	busyMsg  string                 // what is under way
	endMsg   struct{}               // the turn has ended
	askMsg   struct{ q *question }  // nil takes the question away
	tickMsg  time.Time
)

// question is a question that waits for its answer.
type question struct {
	text    string
	choices []string // the last is the answer of who interrupts; none: it is typed
	answer  chan string
	// draft and pastes are what the person was typing before.
	draft  string
	pastes pastes
}

// typed reports whether the answer is typed.
func (q *question) typed() bool { return len(q.choices) == 0 }

// tick is how often what moves is drawn.
const tick = 100 * time.Millisecond

// model is what is shown below what was printed. It belongs to the goroutine of
// the program.
type model struct {
	screen   *Screen
	input    textarea.Model
	footer   string
	history  history
	pastes   pastes
	complete func(string) []string

	width, height int
	sized         bool // the terminal has told its size
	sent          bool // a message was sent that is not read yet
	turn          bool // an answer is under way
	stopping      bool // it was interrupted
	leaving       bool // a second interrupt leaves
	hint          string
	busy          string
	since, now    time.Time
	question      *question
}

func newModel(s *Screen, o Options) *model {
	input := textarea.New()
	input.Prompt = ""
	input.ShowLineNumbers = false
	input.EndOfBufferCharacter = ' '
	input.DynamicHeight, input.MinHeight, input.MaxHeight = true, 1, 6
	input.MaxContentHeight = 100_000
	input.CharLimit = 0
	input.SetStyles(textarea.Styles{})
	input.SetVirtualCursor(false)
	input.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("ctrl+j", "alt+enter", "shift+enter"))
	input.KeyMap.Paste.SetEnabled(false) // the terminal pastes
	input.Focus()
	m := &model{
		screen: s, input: input, footer: o.Footer, history: newHistory(o.History), complete: o.Complete,
		width: s.width, height: s.height,
	}
	m.resize(s.width, s.height)
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
		if !m.sized {
			m.sized = true
			close(m.screen.sized)
		}
	case heardMsg:
		m.sent = false
	case beginMsg:
		m.turn, m.stopping, m.busy, m.since, m.now = true, false, "", msg.at, msg.at
		return m, m.tick()
	case busyMsg:
		m.busy = string(msg)
	case endMsg:
		m.turn, m.stopping = false, false
	case askMsg:
		m.pose(msg.q)
	case tickMsg:
		m.now = time.Time(msg)
		if m.turn {
			return m, m.tick()
		}
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

func (m *model) tick() tea.Cmd {
	return tea.Tick(tick, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// resize takes the size of the terminal.
func (m *model) resize(width, height int) {
	m.width, m.height = width, height
	m.screen.mu.Lock()
	m.screen.width, m.screen.height = width, height
	m.screen.mu.Unlock()
	m.input.MaxHeight = max(1, shown(height)-3)
	m.input.SetWidth(max(1, width-3)) // the prompt, and a column for the cursor
}

// press answers a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name != "ctrl+c" {
		m.leaving, m.hint = false, ""
	}
	switch {
	case name == "ctrl+c":
		m.interrupt()
		return nil
	case name == "ctrl+z":
		return tea.Suspend
	case name == "ctrl+l":
		return tea.ClearScreen
	case m.question != nil && !m.question.typed():
		m.choose(name)
		return nil
	case m.question != nil && name == "enter":
		m.answer(m.pastes.unfold(m.input.Value()))
		return nil
	case name == "ctrl+d" && m.input.Length() == 0:
		m.end()
		return nil
	case name == "enter":
		m.enter()
		return nil
	case name == "tab":
		m.completeWord()
		return nil
	case name == "up" && m.input.Line() == 0 && m.input.LineInfo().RowOffset == 0:
		m.recall(m.history.older(m.pastes.unfold(m.input.Value())))
		return nil
	case name == "down" && m.input.Line() == m.input.LineCount()-1:
		m.recall(m.history.newer())
		return nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(k)
	return cmd
}

// show puts a text into the line that is typed.
func (m *model) show(text string, ok bool) {
	if ok {
		m.input.SetValue(text)
		m.input.MoveToEnd()
	}
}

// recall puts a text into the line that was sent before, or was about to be: a
// long one is folded as a paste is.
func (m *model) recall(text string, ok bool) {
	if ok {
		m.pastes = pastes{}
		m.show(m.pastes.fold(text), true)
	}
}

// interrupt answers Ctrl-C: it stops what is under way, else it empties the line,
// else, twice in a row, it leaves.
func (m *model) interrupt() {
	if m.question != nil {
		m.answer(screen.Nothing(m.question.choices))
	}
	switch {
	case m.turn && !m.stopping:
		m.stopping = m.screen.interrupt()
	case !m.turn && m.input.Length() > 0:
		m.input.Reset()
		m.pastes = pastes{}
	case m.leaving || m.turn:
		m.leave(screen.ErrLeave)
	default:
		m.leaving, m.hint = true, "Ctrl-C again, or Ctrl-D, leaves"
	}
}

// end answers Ctrl-D.
func (m *model) end() {
	if m.turn {
		m.hint = "the answer is under way; Ctrl-C stops it"
		return
	}
	m.leave(io.EOF)
}

func (m *model) leave(err error) {
	select {
	case m.screen.left <- err:
	default: // they are leaving already
	}
}

// enter sends what was typed, unless the line goes on or cannot be sent yet.
func (m *model) enter() {
	text := m.input.Value()
	switch {
	case strings.HasSuffix(text, `\`):
		m.input.SetValue(strings.TrimSuffix(text, `\`) + "\n")
		m.input.MoveToEnd()
	case strings.TrimSpace(text) == "":
		m.input.Reset()
	case m.turn:
		m.hint = "the answer is under way; Ctrl-C stops it"
	case m.sent:
		m.hint = "one moment: the message before is still to be read"
	default:
		whole := m.pastes.unfold(text)
		if len(whole) > screen.MaxMessage {
			m.hint = fmt.Sprintf("the message has %d MB, and %d are taken; put it into a file and say @FILE", len(whole)>>20, screen.MaxMessage>>20)
			return
		}
		m.sent = true
		m.screen.said <- message{text: whole, shown: text} // which has room for one
		m.history.add(whole)
		m.input.Reset()
		m.pastes = pastes{}
	}
}

// paste takes what the terminal pastes.
func (m *model) paste(text string) {
	if m.question != nil && !m.question.typed() {
		return
	}
	m.hint = ""
	m.input.InsertString(m.pastes.fold(screen.Printable(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))))
}

// pose shows a question; nil takes away the one there is. What the person was
// typing waits until a typed answer is given.
func (m *model) pose(q *question) {
	if old := m.question; old != nil && old.typed() {
		m.input.SetValue(old.draft)
		m.input.MoveToEnd()
		m.pastes = old.pastes
	}
	m.question = q
	if q != nil && q.typed() {
		q.draft, q.pastes = m.input.Value(), m.pastes
		m.input.Reset()
		m.pastes = pastes{}
	}
}

// answer answers the question.
func (m *model) answer(text string) {
	q := m.question
	m.pose(nil)
	q.answer <- text
}

// choose answers the question by the letter of a choice.
func (m *model) choose(name string) {
	for _, c := range m.question.choices {
		if strings.EqualFold(name, c[:1]) {
			m.answer(c)
			return
		}
	}
}

// completeWord completes what is typed, as far as there is one way to.
func (m *model) completeWord() {
	if m.complete == nil {
		return
	}
	line := m.input.Value()
	options := m.complete(line)
	switch len(options) {
	case 0:
	case 1:
		m.show(options[0], true)
	default:
		if common := commonPrefix(options); len(common) > len(line) {
			m.show(common, true)
			return
		}
		var words []string
		for _, o := range options {
			words = append(words, o[strings.LastIndexAny(o, " /@")+1:])
		}
		m.hint = strings.Join(words, "  ")
	}
}

func commonPrefix(list []string) string {
	prefix := list[0]
	for _, s := range list[1:] {
		for !strings.HasPrefix(s, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.ToValidUTF8(prefix, "")
}
