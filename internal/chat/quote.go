package chat

import (
	"strings"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// quotePasted returns a message as it would be typed for what was pasted to say
// what it says: an @ that begins a word is doubled there, so that it names no file.
func quotePasted(m screen.Message) string {
	var b strings.Builder
	before := ' '
	for _, p := range m {
		for _, r := range p.Text {
			if p.Pasted && r == '@' && unicode.IsSpace(before) {
				b.WriteByte('@')
			}
			b.WriteRune(r)
			before = r
		}
	}
	return b.String()
}

// quote returns what to type for a message to say text and name no file.
func quote(text string) string {
	return quotePasted(screen.Message{{Text: text, Pasted: true}})
}

// unquote returns what a message says: @@ at the beginning of a word is one @.
func unquote(typed string) string {
	var b strings.Builder
	before := ' '
	for i, r := range typed {
		quoting := r == '@' && unicode.IsSpace(before) && strings.HasPrefix(typed[i+1:], "@")
		before = r
		if !quoting {
			b.WriteRune(r)
		}
	}
	return b.String()
}
