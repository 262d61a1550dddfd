package chunk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		opts       chunk.Options
		want       []string
	}{
		{"empty", "", chunk.Options{Size: 10}, nil},
		{"fits", "One.\n\nTwo.\n", chunk.Options{Size: 10}, []string{"One.\n\nTwo.\n"}},
		{"paragraphs stay whole", "first paragraph here\n\nsecond paragraph\n\nthird\n", chunk.Options{Size: 8},
			[]string{"first paragraph here\n\n", "second paragraph\n\nthird\n"}},
		{"indentation and blank lines stay", "  a\n\n\n\tb\n", chunk.Options{Size: 100}, []string{"  a\n\n\n\tb\n"}},
		{"a heading stays with its text", "some text that is long\n\n# Title\n\nbody of the section\n", chunk.Options{Size: 8},
			[]string{"some text that is long\n\n", "# Title\n\nbody of the section\n"}},
		{"headings in a row stay together", "some text that is long\n\n# A\n## B\n\nbody of it\n", chunk.Options{Size: 7},
			[]string{"some text that is long\n\n", "# A\n## B\n\nbody of it\n"}},
		{"an underlined heading too", "some text that is long\n\nTitle\n=====\n\nthe body\n", chunk.Options{Size: 7},
			[]string{"some text that is long\n\n", "Title\n=====\n\nthe body\n"}},
		{"a colon keeps its list", "some text that is long\n\nYou need:\n\n- a\n- b\n", chunk.Options{Size: 6},
			[]string{"some text that is long\n\n", "You need:\n\n- a\n- b\n"}},
		{"a long section keeps its heading on the first part", "# Title\n\nline one of it\nline two of it\nline three\n", chunk.Options{Size: 6},
			[]string{"# Title\n\nline one of it\n", "line two of it\n", "line three\n"}},
		{"code stays whole", "```go\na\n\nb\n```\n\ntext after the code\n", chunk.Options{Size: 7},
			[]string{"```go\na\n\nb\n```\n\n", "text after the code\n"}},
		{"inline code opens nothing", "```x``` is code\n\nand this is more\n", chunk.Options{Size: 5},
			[]string{"```x``` is code\n\n", "and this is more\n"}},
		{"long line by sentences", "One is here. Two is there. Is it? Yes!", chunk.Options{Size: 4},
			[]string{"One is here. ", "Two is there. ", "Is it? Yes!"}},
		{"abbreviated numbers are no sentence ends", "At 4.2 metres it stops.", chunk.Options{Size: 3}, []string{"At 4.2 ", "metres it ", "stops."}},
		{"chinese sentences", "退货需在十四天内。退款五天到账。谢谢", chunk.Options{Size: 3}, []string{"退货需在十四天内。", "退款五天到账。谢谢"}},
		{"long word anywhere", "abcdefghijkl", chunk.Options{Size: 1}, []string{"abcd", "efgh", "ijkl"}},
		{"overlap begins at a word", "alpha beta gamma delta epsilon zeta\n", chunk.Options{Size: 5, Overlap: 2},
			[]string{"alpha beta ", "beta gamma delta ", "delta epsilon ", "epsilon zeta\n"}},
		{"overlap of zero is none", "One is here. Two is there.", chunk.Options{Size: 4, Overlap: 0}, []string{"One is here. ", "Two is there."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range chunk.Split(tt.text, tt.opts) {
				got = append(got, p.Text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// require checks what holds for every text.
func require(t *testing.T, text string, opts chunk.Options) {
	t.Helper()
	limit := opts.Size * chunk.RunesPerToken
	end := 0
	var joined strings.Builder
	for i, p := range chunk.Split(text, opts) {
		own := text[p.Start:p.End]
		joined.WriteString(own)
		if p.Start != end || p.End <= p.Start {
			t.Fatalf("passage %d covers [%d,%d), the one before ended at %d", i, p.Start, p.End, end)
		}
		end = p.End
		if n := utf8.RuneCountInString(p.Text); n > limit {
			t.Fatalf("passage %d has %d characters, limit %d", i, n, limit)
		}
		overlap, ok := strings.CutSuffix(p.Text, own)
		if !ok || !strings.HasSuffix(text[:p.Start], overlap) {
			t.Fatalf("passage %d is not its own text after some of the text before: %q", i, p.Text)
		}
		if n := utf8.RuneCountInString(overlap); n > opts.Overlap*chunk.RunesPerToken {
			t.Fatalf("passage %d repeats %d characters, limit %d", i, n, opts.Overlap*chunk.RunesPerToken)
		}
	}
	if joined.String() != text {
		t.Fatalf("the passages joined are not the text:\n%q\n%q", joined.String(), text)
	}
}

func TestNoTextIsLost(t *testing.T) {
	manual := "# Manual\n\nIntro text. With two sentences!\n\n## Install\n\n1. Unpack\n2. Run:\n\n```sh\nmake\n\nmake install\n```\n\n" +
		"A very long paragraph " + strings.Repeat("that goes on and on, ", 40) + "and ends.\n\n\n\n### Empty\n\n| a | b |\n|---|---|\n" +
		strings.Repeat("| 1 | 2 |\n", 30) + "\nLast line without end"
	for _, text := range []string{manual, strings.Repeat("\n", 500), strings.Repeat("# h\n", 300), strings.Repeat("a:\n", 300), strings.Repeat("词", 999), manual + "\xff\xfe" + manual} {
		for _, size := range []int{1, 2, 3, 7, 20, 100, 512} {
			for _, overlap := range []int{0, 1, size / 2, size - 1} {
				if overlap < size {
					require(t, text, chunk.Options{Size: size, Overlap: overlap})
				}
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext. More text:\n- x\n", 3, 1)
	f.Add("```\na\n\n```\n退货。政策", 1, 0)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		if size < 1 || size > 1000 || overlap < 0 || overlap >= size {
			return
		}
		require(t, text, chunk.Options{Size: size, Overlap: overlap})
	})
}

func BenchmarkSplit(b *testing.B) {
	var doc strings.Builder
	for i := range 300 {
		fmt.Fprintf(&doc, "## Section %d\n\n%s\n\n", i, strings.Repeat("A sentence of some length that says little. ", 12))
	}
	b.SetBytes(int64(doc.Len()))
	b.ReportAllocs()
	for b.Loop() {
		chunk.Split(doc.String(), chunk.Options{Size: chunk.DefaultSize})
	}
}
