//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a screen may take to show what it is to show.
const patience = 20 * time.Second

// tmux is a terminal in a tmux server of its own.
type tmux struct {
	socket string
	number int // of the terminal
}

func newTmux(dir string) *tmux { return &tmux{socket: filepath.Join(dir, "tmux.sock")} }

// do runs a tmux command and returns what it printed.
func (t *tmux) do(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", t.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// start runs a command line in a new terminal of that size, which stays when the
// command has ended and then shows its exit code.
func (t *tmux) start(width, height int, command string) error {
	t.number++ // the one before stays: a server without any ends
	_, err := t.do("new-session", "-d", "-s", t.name(), "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		command+`; echo "left with $?"; cat`)
	if err == nil {
		_, err = t.do("set-option", "-t", t.name(), "history-limit", "50000")
	}
	return err
}

func (t *tmux) name() string { return fmt.Sprintf("chat%d", t.number) }

// keys presses keys, by tmux's names for them.
func (t *tmux) keys(keys ...string) error {
	_, err := t.do(append([]string{"send-keys", "-t", t.name()}, keys...)...)
	return err
}

// text types a text, letter by letter.
func (t *tmux) text(s string) error {
	_, err := t.do("send-keys", "-t", t.name(), "-l", s)
	return err
}

// say types a text and presses Enter.
func (t *tmux) say(s string) error {
	if err := t.text(s); err != nil {
		return err
	}
	return t.keys("Enter")
}

// paste pastes a file, as a terminal does that brackets what is pasted.
func (t *tmux) paste(file string) error {
	if _, err := t.do("load-buffer", file); err != nil {
		return err
	}
	_, err := t.do("paste-buffer", "-p", "-t", t.name())
	return err
}

// resize changes the size of the terminal.
func (t *tmux) resize(width, height int) error {
	_, err := t.do("resize-window", "-t", t.name(), "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
	return err
}

// screen returns what is on the screen; with history, what has scrolled away, too.
func (t *tmux) screen(history bool) (string, error) {
	args := []string{"capture-pane", "-p", "-t", t.name()}
	if history {
		args = append(args, "-S", "-")
	}
	return t.do(args...)
}

// see waits until the screen, or what has scrolled away, shows all of the texts,
// in which spaces and line ends are alike.
func (t *tmux) see(texts ...string) error {
	deadline := time.Now().Add(patience)
	for {
		shown, err := t.screen(true)
		if err != nil {
			return err
		}
		missing := ""
		for _, text := range texts {
			if !strings.Contains(words(shown), words(text)) {
				missing = text
			}
		}
		if missing == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the screen does not show %q, but:\n%s", missing, shown)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// hide waits until the screen itself no longer shows a text.
func (t *tmux) hide(text string) error {
	deadline := time.Now().Add(patience)
	for {
		shown, err := t.screen(false)
		if err != nil || !strings.Contains(words(shown), words(text)) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the screen still shows %q:\n%s", text, shown)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// words returns a text with every run of spaces and line ends as one space.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }
