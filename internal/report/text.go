package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/runs"
)

// ink writes in colours, or not.
type ink bool

const (
	red    = "\x1b[91m"
	green  = "\x1b[92m"
	yellow = "\x1b[93m"
	strong = "\x1b[1m"
	reset  = "\x1b[0m"
)

func (i ink) color(code, text string) string {
	if !i {
		return text
	}
	return code + text + reset
}

func (i ink) bold(text string) string { return i.color(strong, text) }

// status colours a text by how a case ended.
func (i ink) status(s runs.Status, text string) string {
	switch s {
	case runs.Passed:
		return i.color(green, text)
	case runs.Unchecked:
		return i.color(yellow, text)
	}
	return i.color(red, text)
}

// mark is the sign of how a case or turn ended.
func (i ink) mark(s runs.Status) string {
	switch s {
	case runs.Passed:
		return i.status(s, "✓")
	case runs.Unchecked:
		return i.status(s, "○")
	}
	return i.status(s, "✗")
}

// maxShown is the length in bytes to which a text is cut before it is worked on.
// No line shows as much.
const maxShown = 8 << 10

// printable returns s on one line, without anything that moves a cursor or the
// direction of the text.
func printable(s string) string {
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// cut returns the first n runes of s, the last of them an ellipsis when some
// were left out.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

// excerptLen is how many runes of a text the summary shows.
const excerptLen = 200

// excerpt returns the beginning of a text on one line.
func excerpt(s string) string {
	return cut(strings.Join(strings.Fields(printable(s)), " "), excerptLen)
}

// reasonLen is how many runes of a reason are shown. Reasons quote excerpts
// already.
const reasonLen = 1000

func reason(s string) string { return cut(printable(s), reasonLen) }

// title returns what an attempt at a case is called.
func title(c *runs.Case) string { return c.Title() + attemptOf(c) }

// attemptOf returns such as " (2 of 5)", or "" for a case that runs once.
func attemptOf(c *runs.Case) string {
	if c.Repeats <= 1 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", c.Attempt, c.Repeats)
}

// where returns file:line of a case, or "" when that is not known.
func where(c *runs.Case) string {
	if c.Pos.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", c.Pos.File, c.Pos.Line)
}
