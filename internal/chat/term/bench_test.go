package term_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/chat/term"
)

// BenchmarkParagraph streams one paragraph, word by word: what a byte costs must
// not grow with its length.
func BenchmarkParagraph(b *testing.B) {
	for _, kB := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%dkB", kB), func(b *testing.B) {
			b.SetBytes(int64(kB) * 1000)
			in, keys := io.Pipe()
			s := term.Open(term.Options{In: in, Out: io.Discard, Width: 80, Height: 24, Environ: []string{"TERM=xterm"}})
			for b.Loop() {
				s.Begin(b.Context())
				for range kB * 200 {
					s.Text("word ")
				}
				s.End("")
			}
			if err := keys.Close(); err != nil {
				b.Error(err)
			}
			_ = s.Close() // its input has ended
		})
	}
}

// BenchmarkLines streams a long block of code.
func BenchmarkLines(b *testing.B) {
	code := strings.Repeat("x := f(y)\n", 20_000)
	b.SetBytes(int64(len(code)))
	in, keys := io.Pipe()
	s := term.Open(term.Options{In: in, Out: io.Discard, Width: 80, Height: 24, Environ: []string{"TERM=xterm"}})
	for b.Loop() {
		s.Begin(b.Context())
		s.Text("```go\n")
		for line := range strings.Lines(code) {
			s.Text(line)
		}
		s.End("")
	}
	if err := keys.Close(); err != nil {
		b.Error(err)
	}
	_ = s.Close() // its input has ended
}
