package llm

import (
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// tokenRunes is how many characters of a word make one counted token.
const tokenRunes = 4

// CountTokens estimates the tokens of a text where no provider counted them:
// every word, which is a run of characters that are not white space, is one
// token for each four characters begun. The rule is fixed, so that counts are
// the same on every machine; it is no provider's own.
func CountTokens(text string) int {
	tokens, run := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf && r != ' ' && r > '\r' || r >= utf8.RuneSelf && !unicode.IsSpace(r) {
			if run%tokenRunes == 0 {
				tokens++
			}
			run++
			continue
		}
		run = 0
	}
	return tokens
}

// countPrompt estimates the tokens of everything a request gives to read.
func countPrompt(req Request) int {
	n := CountTokens(req.System)
	for _, d := range req.Tools {
		n += CountTokens(d.Name) + CountTokens(d.Description) + CountTokens(string(d.Schema))
	}
	for _, m := range req.Messages {
		n += countMessage(m)
	}
	return n + CountTokens(string(req.Schema))
}

// countMessage estimates the tokens of a message.
func countMessage(m Message) int {
	n := countParts(m.Parts)
	for _, c := range m.Calls {
		n += CountTokens(c.Name) + CountTokens(string(c.Arguments))
	}
	for _, r := range m.Results {
		n += countParts(r.Result.Parts)
	}
	return n
}

func countParts(parts []agent.Part) int {
	n := 0
	for _, p := range parts {
		n += CountTokens(p.Text)
	}
	return n
}
