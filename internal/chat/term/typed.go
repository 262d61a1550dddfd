package term

import (
	"fmt"
	"strings"
)

// history is what was typed, for the arrow keys.
type history struct {
	list  []string
	at    int    // the entry that is shown; len(list) is the line under way
	draft string // that line
}

func newHistory(list []string) history { return history{list: list, at: len(list)} }

// add adds what was sent.
func (h *history) add(text string) {
	if len(h.list) == 0 || h.list[len(h.list)-1] != text {
		h.list = append(h.list[:len(h.list):len(h.list)], text)
	}
	h.at, h.draft = len(h.list), ""
}

// older returns the entry before the one that is shown; now is the line as it is.
func (h *history) older(now string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.list) {
		h.draft = now
	}
	h.at--
	return h.list[h.at], true
}

// newer returns the entry after the one that is shown.
func (h *history) newer() (string, bool) {
	if h.at == len(h.list) {
		return "", false
	}
	h.at++
	if h.at == len(h.list) {
		return h.draft, true
	}
	return h.list[h.at], true
}

// What is pasted is folded from these on, so that the line stays a line.
const (
	foldLines = 8
	foldBytes = 1000
)

// pastes are the pasted texts that the line holds folded.
type pastes struct{ texts []string }

// fold returns what stands for a pasted text: itself, or a mark.
func (p *pastes) fold(text string) string {
	lines := strings.Count(text, "\n") + 1
	if lines < foldLines && len(text) < foldBytes {
		return text
	}
	p.texts = append(p.texts, text)
	return p.mark(len(p.texts) - 1)
}

// mark returns what stands for a folded text.
func (p *pastes) mark(i int) string {
	lines := strings.Count(p.texts[i], "\n") + 1
	size := fmt.Sprintf("%d bytes", len(p.texts[i]))
	if lines > 1 {
		size = fmt.Sprintf("%d lines", lines)
	}
	return fmt.Sprintf("[pasted text %d: %s]", i+1, size)
}

// unfold puts the texts back in the places of their marks.
func (p *pastes) unfold(line string) string {
	var pairs []string
	for i, text := range p.texts {
		pairs = append(pairs, p.mark(i), text)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}
