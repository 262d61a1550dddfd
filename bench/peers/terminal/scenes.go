//go:build unix

package main

import (
	"errors"
	"fmt"
	"strings"
)

// scenes returns what happens, in order: all are in one folder, so that later
// ones can continue the conversations of earlier ones.
func scenes() []scene {
	const answer = "We have two lamps, and a lamp() for more (https://example.com/lamps):"
	return []scene{
		{"an answer in Markdown, on 80 columns", 80, 40, "", func(s *stage) error {
			return all(s.seeStep("Ctrl-D leaves"), s.pictureStep("1-first-prompt"), s.sayStep("tell the long story"),
				s.seeStep("thought for", answer, "• the small one", "1. red", "That is all", "tokens in", "Ctrl-D leaves"),
				s.harmless, s.within(80), s.pictureStep("2-markdown-80"), s.keysStep("C-d"), s.seeStep("left with 0"))
		}},
		{"the same on 40 columns, and while it is resized", 40, 24, "", func(s *stage) error {
			return all(s.seeStep("/help"), s.sayStep("tell the long story"), s.seeStep(answer, "price: 12", "That is all", "tokens in"),
				s.harmless, s.within(40), s.pictureStep("3-markdown-40"), s.sayStep("be slow"), s.seeStep("A first line.", "A second", "answering"),
				s.resizeStep(70, 20), s.seeStep("A second", "Ctrl-C stops"), s.resizeStep(30, 12), s.within(30), s.seeStep("answering"),
				s.keysStep("C-c"), s.seeStep("cancelled"), s.resizeStep(80, 24), s.sayStep("hello"), s.seeStep("Hello to you."),
				s.once("cancelled;"), s.keysStep("C-d"), s.seeStep("left with 0"))
		}},
		{"a permission that is asked for, refused and given", 72, 24, "", func(s *stage) error {
			return all(s.seeStep("/help"), s.sayStep("please ask"), s.seeStep(`May docs_search be called with {"query":"gates"}?`, "[n]o"),
				s.pictureStep("4-permission"), s.sayStep("n"), s.seeStep("was not allowed: the person said no", "I have asked."),
				s.sayStep("/reset"), s.seeStep("a new conversation"), s.sayStep("please ask"), s.seeStep("[n]o"), s.sayStep("y"), s.seeStep("gave 1 passage", "I have asked."),
				s.sayStep("/exit"), s.seeStep("left with 0"))
		}},
		{"Ctrl-C: a turn, a line, the program", 72, 24, "", func(s *stage) error {
			return all(s.seeStep("/help"), s.sayStep("be slow"), s.seeStep("A second"), s.pictureStep("5-streaming"), s.keysStep("C-c"),
				s.seeStep("cancelled; the conversation goes on"), s.sayStep("hello"), s.seeStep("Hello to you."),
				func() error { return s.text("never mind") }, s.seeStep("> never mind"), s.keysStep("C-c"),
				func() error { return s.hide("never mind") },
				s.keysStep("C-c"), s.seeStep("Ctrl-C again"), s.keysStep("C-c"), s.seeStep("left with 130"))
		}},
		{"pastes: two lines, many lines, a megabyte", 72, 24, "", func(s *stage) error {
			return all(s.seeStep("/help"), s.pasteStep("short"), s.seeStep("> hello from two lines"), s.keysStep("Enter"), s.seeStep("Hello to you."),
				s.pasteStep("poem"), s.seeStep("[pasted text 1: 41 lines]"), func() error { return s.text(" what is this?") }, s.keysStep("Enter"), s.seeStep("A fine poem."),
				s.pasteStep("big"), s.seeStep("[pasted text 1: 10487 lines]"), s.pictureStep("6-paste"), s.keysStep("Enter"), s.seeStep("All of it came."),
				s.keysStep("C-d"), s.seeStep("left with 0"))
		}},
		{"a conversation is continued; keys go through what was said, and complete", 72, 24, "--resume", func(s *stage) error {
			return all(s.seeStep("continues the conversation", "All of it came."), s.sayStep("hello again"), s.seeStep("Hello to you."),
				s.keysStep("Up"), s.seeStep("> hello again"), s.keysStep("C-u"), func() error { return s.text("/us") }, s.keysStep("Tab", "Enter"),
				s.seeStep("tokens out"), func() error { return s.text("hello @docs/ga") }, s.keysStep("Tab", "Enter"), s.seeStep("hello @docs/gates.md"),
				func() error { return s.text(`one \`) }, s.keysStep("Enter"), func() error { return s.text("farewell") }, s.keysStep("Enter"),
				s.seeStep("> one farewell", "And to you.", "Ctrl-D leaves"), s.keysStep("C-d"), s.seeStep("left with 0"))
		}},
		{"a killed program leaves the terminal usable", 72, 24, "", func(s *stage) error {
			return all(s.seeStep("/help"), s.sayStep("be slow"), s.seeStep("A second"), s.terminate, s.seeStep("the conversation so far is kept", "left with 143"))
		}},
	}
}

// once holds that a text is shown once, in what has scrolled away as well.
func (s *stage) once(text string) func() error {
	return func() error {
		shown, err := s.screen(true)
		if err != nil {
			return err
		}
		if n := strings.Count(words(shown), text); n != 1 {
			return fmt.Errorf("%q is shown %d times:\n%s", text, n, shown)
		}
		return nil
	}
}

// terminate sends SIGTERM to the program in the terminal.
func (s *stage) terminate() error {
	pid, err := s.do("display-message", "-p", "-t", s.name(), "#{pane_pid}")
	if err != nil {
		return err
	}
	child, err := childOf(strings.TrimSpace(pid))
	if err != nil {
		return err
	}
	if child == 0 {
		return errors.New("no program runs in the terminal")
	}
	return signalTerm(child)
}
