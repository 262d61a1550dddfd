package llmtest

import "strings"

// BehindClaudeCode returns o for a server that the Claude Code CLI asks. The CLI
// writes reminders, notes of interruptions and requests of its own before and beside
// what a person says, or in a message of their own.
func BehindClaudeCode(o Options) Options {
	o.Note = func(text string) bool {
		for _, beginning := range []string{
			"<system-reminder>", "[Request interrupted by user", "[structured-output-enforce]",
			"Your response above was stopped", "[Your previous response had no visible output",
		} {
			if strings.HasPrefix(text, beginning) {
				return true
			}
		}
		return false
	}
	return o
}
