//go:build unix

// Command terminal talks with an agent in a real terminal, of tmux: it presses
// keys and looks at the screen, wide and narrow, while it is resized, with pastes
// and interrupts and with an answer that means harm. It prints what it saw, keeps
// pictures of screens for people to look at, and ends with 1 when something was
// not as it should be.
//
//	terminal BINARY PICTURES
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: terminal BINARY PICTURES")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "terminal: %v\n", err)
		os.Exit(1)
	}
}

// agent is whom the conversations are with.
const agent = `name: lamps
instructions: {inline: Be brief.}
permissions: {ask: ["*"]}
model:
  provider: offline
  name: scripted
  script:
    - when: {user: long}
      do:
        - {thinking: "They want it all, so I shall tell them all."}
        - {text: "# The lamps\n\nWe have **two** lamps, and a ` + "`lamp()`" + ` for [more](https://example.com/lamps):\n\n"}
        - {text: "- the *small* one, which is very small and fits on any table you might have at home\n- the tall one\n  1. red\n  2. blue\n\n"}
        - {text: "| lamp | price | where |\n|---|---:|---|\n| small | 12 | in the back of the shop, left |\n| tall | 40 | front |\n\n"}
        - {text: "` + "```" + `go\nfunc lamp() int {\n\treturn 42 // a line of code that goes on and on, past the end of any narrow terminal\n}\n` + "```" + `\n\n> Mind the step.\n\n"}
        - {text: "Evil: \e[31mred\e[0m \e]0;taken over\a \e[2J \u202Etrap &#27;[5n\n\nThat is all 漢字."}
    - when: {user: slow}
      do: [{text: "A first line.\n\nA second, "}, {text: "and no "}, {text: "more."}, {block: true}]
    - when: {user: ask, round: 1}
      do: [{call: {name: docs_search, args: {query: gates}}}]
    - when: {user: ask}
      do: [{text: "I have asked."}]
    - when: {user: last line of the poem}
      do: [{text: "A fine poem."}]
    - when: {user: end of the megabyte}
      do: [{text: "All of it came."}]
    - when: {user: farewell}
      do: [{text: "And to you."}]
    - when: {user: hello}
      do: [{text: "Hello to you."}]
tools:
  - {type: vectorstore, name: docs, description: the guides, source: docs}
`

// scene is something that happens in a terminal.
type scene struct {
	name          string
	width, height int
	flags         string
	play          func(*stage) error
}

// stage is what a scene plays on.
type stage struct {
	*tmux
	dir      string
	pictures string
	scene    scene
}

func run(binary, pictures string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if pictures, err = filepath.Abs(pictures); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "terminal")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir, pictures); err != nil {
		return err
	}
	t := newTmux(dir)
	defer func() { _, _ = t.do("kill-server") }()
	if err := firstPrompt(t, dir, binary); err != nil {
		return err
	}
	var failed []error
	for _, s := range scenes() {
		began := time.Now()
		err := t.start(s.width, s.height, fmt.Sprintf("cd %s && env -u NO_COLOR TERM=screen-256color HOME=%s %s chat %s .", dir, dir, binary, s.flags))
		if err == nil {
			err = s.play(&stage{t, dir, pictures, s})
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			fmt.Printf("FAIL %s\n", s.name)
			continue
		}
		fmt.Printf("ok   %s (%s)\n", s.name, time.Since(began).Round(10*time.Millisecond))
	}
	return errors.Join(failed...)
}

// firstPrompt prints how long it takes until there is a line to type in.
func firstPrompt(t *tmux, dir, binary string) error {
	var times []time.Duration
	for range 9 {
		began := time.Now()
		if err := t.start(80, 24, fmt.Sprintf("cd %s && exec %s chat .", dir, binary)); err != nil {
			return err
		}
		for shown := ""; !strings.Contains(shown, "Ctrl-D leaves"); {
			if time.Since(began) > patience {
				return fmt.Errorf("there is no prompt, but:\n%s", shown)
			}
			var err error
			if shown, err = t.screen(false); err != nil {
				return err
			}
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	fmt.Printf("the first prompt stood after %s, the median of %d starts\n", times[len(times)/2].Round(time.Millisecond), len(times))
	return nil
}

// prepare makes the agent and what is pasted.
func prepare(dir, pictures string) error {
	poem := strings.Repeat("a line of the poem\n", 40) + "the last line of the poem"
	big := strings.Repeat(strings.Repeat("x", 99)+"\n", 10_486) + "the end of the megabyte"
	var errs []error
	for name, text := range map[string]string{
		"agent.yaml": agent, "docs/gates.md": "The gates open at six.", "poem": poem, "big": big, "short": "hello from\ntwo lines",
	} {
		path := filepath.Join(dir, name)
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return errors.Join(append(errs, os.MkdirAll(pictures, 0o755))...)
}

// all runs steps until one fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) keysStep(keys ...string) func() error { return func() error { return s.keys(keys...) } }
func (s *stage) sayStep(text string) func() error     { return func() error { return s.say(text) } }
func (s *stage) seeStep(texts ...string) func() error { return func() error { return s.see(texts...) } }
func (s *stage) pasteStep(name string) func() error {
	return func() error { return s.paste(filepath.Join(s.dir, name)) }
}
func (s *stage) resizeStep(width, height int) func() error {
	return func() error { return s.resize(width, height) }
}
func (s *stage) pictureStep(name string) func() error {
	return func() error { return s.picture(filepath.Join(s.pictures, name+".png"), s.scene.width, s.scene.height) }
}

// within holds that no line of the screen is wider than the terminal.
func (s *stage) within(width int) func() error {
	return func() error {
		shown, err := s.screen(false)
		if err != nil {
			return err
		}
		for line := range strings.Lines(shown) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				return fmt.Errorf("a line has %d characters of %d: %s", n, width, line)
			}
		}
		return nil
	}
}

// harmless holds that nothing of an answer has steered the terminal.
func (s *stage) harmless() error {
	title, err := s.do("display-message", "-p", "-t", s.name(), "#{pane_title}")
	if err != nil {
		return err
	}
	if strings.Contains(title, "taken over") {
		return errors.New("the answer has set the title of the terminal")
	}
	shown, err := s.do("capture-pane", "-p", "-e", "-t", s.name(), "-S", "-")
	if err != nil {
		return err
	}
	if strings.Contains(shown, "\x1b[31mred") || strings.Contains(shown, "\u202e") {
		return fmt.Errorf("the answer has coloured or turned itself:\n%q", shown)
	}
	return nil
}
