package sse_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holodeck-go/holodeck/internal/llm/sse"
)

// read returns the events of a stream as name=data, and the error it ended in.
func read(r io.Reader) (events []string, failed error) {
	for e, err := range sse.Events(r) {
		if err != nil {
			failed = err
			continue
		}
		events = append(events, e.Name+"="+string(e.Data))
	}
	return events, failed
}

func TestEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		stream string
		want   []string
	}{
		"nothing":          {"", nil},
		"one":              {"data: {\"a\": 1}\n\n", []string{`={"a": 1}`}},
		"a name":           {"event: ping\ndata: x\n\n", []string{"ping=x"}},
		"several lines":    {"data: a\ndata: b\n\n", []string{"=a\nb"}},
		"CRLF":             {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"=a", "=b"}},
		"CR":               {"data: a\r\rdata: b\r\r", []string{"=a", "=b"}},
		"comments":         {": keep-alive\n\n: more\ndata: a\n\n", []string{"=a"}},
		"no blank":         {"data:a\n\n", []string{"=a"}},
		"unknown fields":   {"id: 5\nretry: 3\ndata: a\nnonsense\n\n", []string{"=a"}},
		"a name alone":     {"event: ping\n\ndata: a\n\n", []string{"=a"}},
		"no end":           {"data: a\n\ndata: b", []string{"=a", "=b"}},
		"an empty one":     {"data:\n\n", []string{"="}},
		"blank lines":      {"\n\n\ndata: a\n\n\n\n", []string{"=a"}},
		"white space kept": {"data:  a \n\n", []string{"= a "}},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":      strings.NewReader(tt.stream),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.stream)),
			} {
				if got, err := read(r); err != nil || !slices.Equal(got, tt.want) {
					t.Errorf("%s: %q, %v; want %q", how, got, err, tt.want)
				}
			}
		})
	}
}

func TestAStreamThatBreaksKeepsWhatCame(t *testing.T) {
	broken := errors.New("reset")
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"=a"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAnEventHasABound(t *testing.T) {
	line := bytes.Repeat([]byte("x"), sse.MaxEventBytes+1)
	if _, err := read(bytes.NewReader(append([]byte("data: "), line...))); !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("one long line: %v", err)
	}
	many := bytes.Repeat([]byte("data: "+strings.Repeat("x", 1<<20)+"\n"), sse.MaxEventBytes>>20+1)
	if _, err := read(bytes.NewReader(many)); !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("many lines: %v", err)
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: a\r\n\r\n", "\r", ":\n\n", "data", "data: a\rdata: b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		want, err := read(bytes.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		// How a stream is cut into packets changes nothing.
		if got, err := read(iotest.OneByteReader(bytes.NewReader(stream))); err != nil || !slices.Equal(got, want) {
			t.Errorf("at once %q, byte by byte %q, %v", want, got, err)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	stream := bytes.Repeat([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n"), 100)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range sse.Events(bytes.NewReader(stream)) {
			n++
		}
		if n != 100 {
			b.Fatal(n)
		}
	}
}
