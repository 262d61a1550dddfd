package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences splits running text, which has no line breaks that mean anything.
// "Yes." and the like stay with the sentence after them: alone they say
// nothing.
func sentences(text string) []string {
	var out []string
	pending := ""
	for text = strings.TrimSpace(text); text != ""; {
		n := sentenceEnd(text)
		sentence := strings.TrimSpace(text[:n])
		text = strings.TrimSpace(text[n:])
		if pending != "" {
			sentence = pending + " " + sentence
			pending = ""
		}
		if text != "" && len(strings.Fields(sentence)) <= 2 && !strings.HasSuffix(sentence, "?") && len(sentence) < 30 && strings.ContainsAny(sentence[len(sentence)-1:], ".!") {
			pending = sentence
			continue
		}
		out = append(out, sentence)
	}
	return out
}

// sentenceEnd returns the length of the sentence text begins with.
func sentenceEnd(text string) int {
	for i, r := range text {
		switch r {
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		case '.', '!', '?', '…':
			end := i + utf8.RuneLen(r)
			// What closes a quotation or a bracket belongs to the sentence.
			for end < len(text) {
				next, size := utf8.DecodeRuneInString(text[end:])
				if !strings.ContainsRune(`.!?…"'”’)]`, next) {
					break
				}
				end += size
			}
			if end == len(text) {
				return end
			}
			if next, _ := utf8.DecodeRuneInString(text[end:]); !unicode.IsSpace(next) {
				continue
			}
			if beginsSentence(text[end:]) && !(r == '.' && isAbbreviation(text[:i])) {
				return end
			}
		}
	}
	return len(text)
}

// beginsSentence reports whether what stands after white space may be the
// first word of a sentence.
func beginsSentence(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(strings.TrimSpace(rest), `"'“‘([`))
	return !unicode.IsLower(r)
}

// isAbbreviation reports whether a full stop after before is not the end of a
// sentence.
func isAbbreviation(before string) bool {
	word := before[strings.LastIndexAny(before, " \t\n([\"'")+1:]
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r) // an initial
	}
	switch strings.ToLower(word) {
	case "e.g", "i.e", "eg", "ie", "cf", "vs", "approx", "ca", "mr", "mrs", "ms", "dr", "prof", "st", "no", "nos", "fig", "art", "sec",
		"inc", "ltd", "co", "corp", "dept", "tel", "ext", "ave", "rd", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"z.b", "d.h", "u.a", "bzw", "nr", "str":
		// "No." is a number before a digit and an answer before anything else,
		// and it is short enough to stay with the next sentence either way.
		return true
	}
	return false
}

// leansOnPronoun reports whether the subject of a sentence is a pronoun.
func leansOnPronoun(s string) bool {
	first, _, _ := strings.Cut(s, " ")
	switch first {
	case "It", "They", "This", "These", "That", "Those", "He", "She", "Both", "Its", "Their":
		return true
	}
	return false
}

// endsSentence reports whether s ends as a sentence does.
func endsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"'”’)]`))
	return strings.ContainsRune(".!?…。！？", r)
}

// finished returns s with the full stop that a list item or a table row lacks.
func finished(s string) string {
	if s = strings.TrimRight(s, " ,;:"); endsSentence(s) || s == "" {
		return s
	}
	return s + "."
}

// capitalised returns s with its first letter a capital.
func capitalised(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	// iPad and eSIM keep their own spelling.
	if next, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsUpper(next) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
