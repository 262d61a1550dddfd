package markdown_test

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/holodeck-go/holodeck/internal/chat/markdown"
)

func TestRenderWithoutColour(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"plain", "Hello there.", 40, "Hello there."},
		{"a paragraph is wrapped", "one two three four", 9, "one two\nthree\nfour"},
		{"line breaks stay", "one\ntwo", 40, "one\ntwo"},
		{"heading, weights, code", "# Top\n\nA **bold** and *slanted* `x := 1` ~~no~~.", 60, "Top\n\nA bold and slanted x := 1 no."},
		{"lists hang", "- one two three\n- four\n  1. five\n  2. six", 17, "• one two three\n• four\n  1. five\n  2. six"},
		{"a loose list", "3. a\n\n4. b", 20, "3. a\n\n4. b"},
		{"code is not re-flowed", "```go\nfunc f() {\n\treturn  1\n}\n```", 40, "    func f() {\n        return  1\n    }"},
		{"code is cut", "```\nabcdefghijklmnopqrstuvw\n```", 20, "    abcdefghijklmnop\n    qrstuvw"},
		{"quote", "> so it is", 40, "│ so it is"},
		{"an address is never hidden", "[bank](https://evil.example) <https://a.example>", 60, "bank (https://evil.example) https://a.example"},
		{"entities", "a &amp; b &lt;c&gt; \\*d\\*", 40, "a & b <c> *d*"},
		{"table", "| a | bb |\n|---|---:|\n| 1 | 2 |", 40, "a  bb\n─────\n1   2"},
		{"a table that is too wide", "| name | price |\n|---|---|\n| a long lamp | 12 pounds |", 20, "name: a long lamp\nprice: 12 pounds"},
		{"rule", "---", 5, "─────"},
		{"html", "<b>x</b>", 40, "<b>x</b>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(markdown.New(false).Render(tt.in, tt.width), "\n"); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestNothingSteersTheTerminal(t *testing.T) {
	hostile := "a\x1b[2J\x1b]52;c;Zm9v\x07 &#27;[31m `\x1b[1m` [x](\x1b]8;;http://e\x07) \u202e <b \x1b> \u009b31m\n\n```\n\x1b[5m\n```\n\n\x1b[6n|\n"
	if got := strings.Join(markdown.New(false).Render(hostile, 80), "\n"); strings.ContainsAny(got, "\x1b\x07\u202e\u009b") {
		t.Errorf("%q", got)
	}
}

func TestStable(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"one":                            "",
		"one\n\n":                        "",
		"one\n\ntwo":                     "", // two may become anything
		"one\n\ntwo\n":                   "one\n\n",
		"- a\n\n  b\n":                   "",
		"- a\n\n- b\n":                   "- a\n\n",
		"```\na\n\nb\n":                  "",
		"```\na\n\nb\n```\n\nc\n":        "```\na\n\nb\n```\n\n",
		"x\n\n````\n```\n\ny\n````\nz\n": "x\n\n",
	} {
		if got := in[:markdown.Stable(in)]; got != want {
			t.Errorf("of %q %q is stable, want %q", in, got, want)
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n- b\n\n| c |\n|---|\n| d |", 20)
	f.Add("&#x1b;[0m 漢字 `e`", 5)
	f.Fuzz(func(t *testing.T, in string, width int) {
		width = max(4, min(width, 300))
		stable := markdown.Stable(in)
		if stable < 0 || stable > len(in) {
			t.Fatalf("%d of %d bytes are stable", stable, len(in))
		}
		for _, line := range markdown.New(true).Render(in, width) {
			if lipgloss.Width(line) > width {
				t.Errorf("%q is %d wide, and there is room for %d", line, lipgloss.Width(line), width)
			}
			rest := line
			for {
				_, after, ok := strings.Cut(rest, "\x1b")
				if !ok {
					break
				}
				if !strings.HasPrefix(after, "[") || !strings.Contains(after, "m") || strings.Trim(after[1:strings.Index(after, "m")], "0123456789;") != "" {
					t.Fatalf("%q steers the terminal", line)
				}
				rest = after
			}
		}
	})
}

func TestTextHangs(t *testing.T) {
	r := markdown.New(true)
	got := strings.Join(r.Text("one two three four\n\nfive\x1b[m", 12, 2, markdown.Bad), "|")
	if want := "\x1b[31mone two\x1b[0m|  \x1b[31mthree four\x1b[0m||\x1b[31mfive[m\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
