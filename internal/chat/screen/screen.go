// Package screen owns how a conversation reaches a person: what a [Screen] is
// asked for, its plain form for pipes ([Plain]), and the neutralising of what
// would steer a terminal ([Printable]). It refuses to know what is talked about.
package screen

import (
	"context"
	"errors"
	"strings"
)

// Screen is where a conversation is shown and where a person's words come from.
// Its methods are called from one goroutine, except for Ask, which tool calls
// that run side by side may call one after the other while a turn is under way.
// What it is given may hold anything: it is the Screen that makes it [Printable].
type Screen interface {
	// Read returns what the person says next. io.EOF says that they leave, and
	// ErrLeave that they do so by interrupting.
	Read(ctx context.Context) (Message, error)
	// Begin says that a turn begins. The context it returns ends with ctx, and
	// when the person interrupts the turn.
	Begin(ctx context.Context) context.Context
	// Busy says what is under way, until the next call; "" is the model.
	Busy(what string)
	// Text shows a piece of the answer, which is Markdown. Between two model
	// responses of one turn stands a Break.
	Text(piece string)
	// Break ends a model response that is not the last.
	Break()
	// Line shows a line that is not the answer.
	Line(kind Kind, text string)
	// End says that the turn has ended, and what it took; summary may be empty.
	End(summary string)
	// Say shows what the program itself answers, to a command.
	Say(text string)
	// Attended reports whether there is a person who can be asked.
	Attended() bool
	// Ask puts a question to the person and returns one of the choices, each of
	// which begins with a letter of its own. The last is the answer of who says
	// nothing. Without choices it returns what the person types, or "" of who says
	// nothing. The error is that of a ctx that ended.
	Ask(ctx context.Context, question string, choices ...string) (string, error)
}

// Message is what a person says, piece by piece.
type Message []Piece

// Piece is a part of a message.
type Piece struct {
	Text   string
	Pasted bool // it was not typed, and nothing in it was written to this program
}

// Text returns the whole of the message.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Nothing is the answer to a question of who says nothing.
func Nothing(choices []string) string {
	if len(choices) == 0 {
		return ""
	}
	return choices[len(choices)-1]
}

// ErrLeave is the error of Read when the person interrupts the program where
// there is nothing else to interrupt.
var ErrLeave = errors.New("the conversation was left by an interrupt")

// Kind is what a Line tells of.
type Kind int

// The kinds of line.
const (
	Note    Kind = iota // something a person may want to know
	Tool                // a tool call that ended well
	Thought             // the model's reasoning, folded
	Trouble             // what went wrong
)

// Printable returns text without the characters that steer a terminal: control
// characters but line ends and tabs, and those that turn the direction in which
// text runs, by which it could pass for another. A carriage return, which would
// overwrite a line, goes, too.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL and C1
			return -1
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c: // direction
			return -1
		case r == 0x2028, r == 0x2029: // line and paragraph separators
			return '\n'
		}
		return r
	}, text)
}

// OneLine returns printable text as one line of at most so many runes.
func OneLine(text string, most int) string {
	text = strings.Join(strings.Fields(Printable(text)), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:max(0, most-1)]) + "…"
	}
	return text
}
