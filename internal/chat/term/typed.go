package term

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/chat/screen"
)

// entry is a line that was typed, with what was pasted into it.
type entry struct {
	line   string
	pastes pastes
}

// history is what was typed, for the arrow keys.
type history struct {
	list  []entry
	at    int   // the entry that is shown; len(list) is the line under way
	draft entry // that line
}

// newHistory returns the history of what was typed before. What is long is folded
// as a paste is.
func newHistory(list []string) history {
	h := history{at: len(list)}
	for _, text := range list {
		var e entry
		e.line = text
		if isLong(text) {
			e.line = e.pastes.add(paste{text, false})
		}
		h.list = append(h.list, e)
	}
	return h
}

// add adds what was sent.
func (h *history) add(e entry) {
	if len(h.list) == 0 || h.list[len(h.list)-1].text() != e.text() {
		h.list = append(h.list, e)
	}
	h.at, h.draft = len(h.list), entry{}
}

// text returns the line unfolded.
func (e entry) text() string { return e.pastes.unfold(e.line).Text() }

// older returns the entry before the one that is shown; now is the line as it is.
func (h *history) older(now entry) (entry, bool) {
	if h.at == 0 {
		return entry{}, false
	}
	if h.at == len(h.list) {
		h.draft = now
	}
	h.at--
	return h.list[h.at], true
}

// newer returns the entry after the one that is shown.
func (h *history) newer() (entry, bool) {
	if h.at == len(h.list) {
		return entry{}, false
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

// isLong reports whether a text would not leave the line a line.
func isLong(text string) bool {
	return strings.Count(text, "\n")+1 >= foldLines || len(text) >= foldBytes
}

// pastes are the texts that the line holds folded.
type pastes struct{ list []paste }

// paste is a text that is folded.
type paste struct {
	text   string
	pasted bool // else it was typed, in a conversation before
}

// fold returns what stands for a pasted text: itself, or a mark. One with an @ is
// always folded: a file that is named in it is not meant to be sent, and the mark
// says that it was not typed.
func (p *pastes) fold(text string) string {
	if !isLong(text) && !strings.Contains(text, "@") {
		return text
	}
	return p.add(paste{text, true})
}

// add folds a text and returns its mark.
func (p *pastes) add(t paste) string {
	p.list = append(p.list[:len(p.list):len(p.list)], t)
	return p.mark(len(p.list) - 1)
}

// mark returns what stands for a folded text.
func (p *pastes) mark(i int) string {
	text := p.list[i].text
	size := fmt.Sprintf("%d bytes", len(text))
	if lines := strings.Count(text, "\n") + 1; lines > 1 {
		size = fmt.Sprintf("%d lines", lines)
	}
	return fmt.Sprintf("[pasted text %d: %s]", i+1, size)
}

// unfold puts the texts back in the places of their marks.
func (p *pastes) unfold(line string) screen.Message {
	var m screen.Message
	for line != "" {
		at, which := len(line), -1
		for i := range p.list {
			if j := strings.Index(line, p.mark(i)); j >= 0 && j < at {
				at, which = j, i
			}
		}
		if at > 0 {
			m = append(m, screen.Piece{Text: line[:at]})
		}
		if which < 0 {
			break
		}
		m = append(m, screen.Piece{Text: p.list[which].text, Pasted: p.list[which].pasted})
		line = line[at+len(p.mark(which)):]
	}
	return m
}

// repair returns what a line has to be after an edit that broke the mark of a
// paste, before and after the cursor: the mark goes as a whole, and what was put
// into it stands after it.
func (p *pastes) repair(before, after string) (left, right string, broken bool) {
	from, to, put := difference(before, after)
	insertion := from == to
	for i := range p.list {
		mark := p.mark(i)
		begin := strings.Index(before, mark)
		end := begin + len(mark)
		switch {
		case begin < 0 || strings.Contains(after, mark) || from >= end || to <= begin || from <= begin && to >= end:
			continue
		case insertion:
			from, to = end, end
		default:
			from, to = min(from, begin), max(to, end)
		}
		broken = true
	}
	return before[:from] + put, before[to:], broken
}

// difference returns the part of a line that an edit has replaced, and by what.
func difference(before, after string) (from, to int, put string) {
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	for from > 0 && from < len(before) && !utf8.RuneStart(before[from]) {
		from--
	}
	end := len(after)
	for to = len(before); to > from && end > from && before[to-1] == after[end-1]; to, end = to-1, end-1 {
	}
	for to < len(before) && !utf8.RuneStart(before[to]) {
		to, end = to+1, end+1
	}
	return from, to, after[from:end]
}
