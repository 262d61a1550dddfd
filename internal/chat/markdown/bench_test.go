package markdown_test

import (
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/chat/markdown"
)

// BenchmarkRender draws an answer of two kilobytes, as it is drawn ten times a
// second while it streams and could still change as a whole.
func BenchmarkRender(b *testing.B) {
	answer := strings.Repeat("Some **text** with `code`, a [link](https://a.example) and *more* of it, line after line.\n", 20) +
		"\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc f() {}\n```\n"
	r := markdown.New(true)
	b.SetBytes(int64(len(answer)))
	for b.Loop() {
		r.Render(answer, 80)
	}
}

// BenchmarkStable looks for what is complete in a text of that size.
func BenchmarkStable(b *testing.B) {
	answer := strings.Repeat("- an entry of a list that goes on and on\n", 50)
	b.SetBytes(int64(len(answer)))
	for b.Loop() {
		markdown.Stable(answer)
	}
}
