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
	readMsg  struct {               // a question may have been read
		q    *question
		keys int // that were pressed when it was looked at last
	}
	tickMsg time.Time
)

// question is a question that waits for its answer.
type question struct {
	text    string
	choices []string // the last is the answer of who interrupts; none: it is typed
	answer  chan string
	open    bool // it takes an answer; until then, keys are the draft's
	// draft and pastes are what the person was typing when it opened.
	draft  string
	pastes pastes
}

// typed reports whether the answer is typed.
func (q *question) typed() bool { return len(q.choices) == 0 }

// tick is how often what moves is drawn.
const tick = 100 * time.Millisecond

// pause is how long nobody types before a question takes an answer: who types
// ahead has not read it, and what they type is not meant for it.
const pause = 700 * time.Millisecond

// calm is how long after the end of a turn that was stopped another Ctrl-C is
// still meant for that turn.
const calm = time.Second

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
	sized         bool      // the terminal has told its size
	sent          bool      // a message was sent that is not read yet
	turn          bool      // an answer is under way
	stopping      bool      // it was interrupted
	stopped       time.Time // when a turn ended that was interrupted
	keys          int       // that were pressed
	leaving       bool      // a second interrupt leaves
	hint          string
	busy          string
	since, now    time.Time
	question      *question

	drawn struct { // of the answer, the last time
		text  string
		width int
		lines []string
	}
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
		m.stopped = time.Time{}
		m.turn, m.stopping, m.busy, m.since, m.now = true, false, "", msg.at, msg.at
		return m, m.tick()
	case busyMsg:
		m.busy = string(msg)
	case endMsg:
		if m.stopping {
			m.stopped = time.Now()
		}
		m.turn, m.stopping = false, false
	case askMsg:
		return m, m.pose(msg.q)
	case readMsg:
		return m, m.openQuestion(msg)
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
	m.keys++
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
	case name == "enter" && m.asked():
		m.reply()
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
		m.recall(m.history.older(entry{m.input.Value(), m.pastes}))
		return nil
	case name == "down" && m.input.Line() == m.input.LineCount()-1:
		m.recall(m.history.newer())
		return nil
	}
	var cmd tea.Cmd
	before := m.input.Value()
	m.input, cmd = m.input.Update(k)
	m.keepWhole(before)
	return cmd
}

// show puts a text into the line that is typed.
func (m *model) show(text string, ok bool) {
	if ok {
		m.input.SetValue(text)
		m.input.MoveToEnd()
	}
}

// recall puts a line back that was sent before, or was about to be.
func (m *model) recall(e entry, ok bool) {
	if ok {
		m.pastes = e.pastes
		m.show(e.line, true)
	}
}

// interrupt answers Ctrl-C: it stops what is under way, else it empties the line,
// else, twice in a row, it leaves. Who presses it twice to stop a turn neither
// leaves nor loses what they were typing.
func (m *model) interrupt() {
	if m.question != nil {
		m.answer(screen.Nothing(m.question.choices))
	}
	switch {
	case m.turn && !m.stopping:
		m.stopping = m.screen.interrupt()
	case m.turn:
		m.hint = "the turn is being stopped"
	case m.input.Length() > 0 && time.Since(m.stopped) < calm:
		m.hint = "the turn was stopped; Ctrl-C empties the line"
	case m.input.Length() > 0:
		m.input.Reset()
		m.pastes = pastes{}
	case m.leaving:
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
		if size := len(whole.Text()); size > screen.MaxMessage {
			m.hint = fmt.Sprintf("the message has %d MB, and %d are taken; put it into a file and say @FILE", size>>20, screen.MaxMessage>>20)
			return
		}
		m.sent = true
		m.screen.said <- message{said: whole, shown: text} // which has room for one
		m.history.add(entry{text, m.pastes})
		m.input.Reset()
		m.pastes = pastes{}
	}
}

// paste takes what the terminal pastes.
func (m *model) paste(text string) {
	m.keys++
	if m.asked() && !m.question.typed() {
		m.hint = "the question takes no paste"
		return
	}
	m.hint = ""
	before := m.input.Value()
	defer func() { m.keepWhole(before) }()
	m.input.InsertString(m.pastes.fold(screen.Printable(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))))
}

// keepWhole repairs the line after an edit that broke the mark of a paste: the
// mark goes with all that stood for it, and what was put into one stands after it.
func (m *model) keepWhole(before string) {
	if left, right, broken := m.pastes.repair(before, m.input.Value()); broken {
		m.input.SetValue(right)
		m.input.MoveToBegin()
		m.input.InsertString(left) // which leaves the cursor after it
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
