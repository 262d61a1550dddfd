//go:build unix

package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// picture draws what is on the screen into a PNG file, by a browser.
func (t *tmux) picture(file string, width, height int) error {
	out, err := t.do("capture-pane", "-p", "-e", "-t", t.name())
	if err != nil {
		return err
	}
	page := strings.TrimSuffix(file, ".png") + ".html"
	if err := os.WriteFile(page, []byte(asHTML(out)), 0o644); err != nil {
		return err
	}
	profile, err := os.MkdirTemp("", "picture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	abs, err := filepath.Abs(page)
	if err != nil {
		return err
	}
	browser := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
		"--user-data-dir="+profile, "--screenshot="+file, fmt.Sprintf("--window-size=%d,%d", width*10+40, height*20+40), "file://"+abs)
	if out, err := browser.CombinedOutput(); err != nil {
		return fmt.Errorf("draw %s: %w: %s", file, err, out)
	}
	return os.Remove(page)
}

// asHTML returns a screen with its colours and weights as a page.
func asHTML(screen string) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset="utf-8"><style>body{background:#181818;color:#d8d8d8;margin:16px}
pre{font:16px/20px "DejaVu Sans Mono",monospace;margin:0}</style><pre>`)
	var codes []string
	for screen != "" {
		before, after, ok := strings.Cut(screen, "\x1b[")
		writeSpan(&b, before, codes)
		if !ok {
			break
		}
		sequence, rest, _ := strings.Cut(after, "m")
		for _, code := range strings.Split(sequence, ";") {
			switch code {
			case "", "0":
				codes = nil
			case "39": // the usual colour
				codes = slices.DeleteFunc(codes, func(c string) bool { return strings.HasPrefix(c, "3") && len(c) == 2 })
			default:
				codes = append(codes, code)
			}
		}
		screen = rest
	}
	return b.String() + "</pre>"
}

// writeSpan writes a text under the codes of a terminal that are in force.
func writeSpan(b *strings.Builder, text string, codes []string) {
	style := map[string]string{
		"1": "font-weight:bold", "2": "opacity:.6", "3": "font-style:italic", "9": "text-decoration:line-through",
		"7": "background:#d8d8d8;color:#181818", "31": "color:#ff6b68", "35": "color:#d787d7", "36": "color:#5fd7d7",
	}
	var list []string
	for _, code := range codes {
		list = append(list, style[code])
	}
	fmt.Fprintf(b, `<span style="%s">%s</span>`, strings.Join(list, ";"), html.EscapeString(text))
}
