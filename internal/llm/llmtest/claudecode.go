package llmtest

import "strings"

// BehindClaudeCode returns o for a server that the Claude Code CLI asks. The CLI
// writes reminders before what a person says, notes of interruptions beside it, and
// requests in a person's place.
func BehindClaudeCode(o Options) Options {
	o.Note = func(text string) bool {
		return strings.HasPrefix(text, "<system-reminder>") || strings.HasPrefix(text, "[Request interrupted by user")
	}
	o.Auto = func(text string) bool {
		return strings.HasPrefix(text, "[structured-output-enforce]") || strings.HasPrefix(text, "Your response above was stopped")
	}
	return o
}
