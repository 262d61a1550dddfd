package claudecode

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrames(t *testing.T) {
	const stream = "noise\n\n{\"a\":\"ä\u2028\"}\n  {\"b\":1}\r\n[1]\n{\"cut"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream))} {
		f := newFrames(r)
		for _, want := range []string{"{\"a\":\"ä\u2028\"}", `{"b":1}`} {
			if got, err := f.next(); string(got) != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
		if got, err := f.next(); err != io.EOF {
			t.Errorf("%s: at the end %q, %v", name, got, err)
		}
	}
	f := newFrames(strings.NewReader(`{"a":"` + strings.Repeat("x", 100) + `"}` + "\n"))
	f.max = 50
	if _, err := f.next(); !errors.Is(err, errFrameTooLong) {
		t.Errorf("a frame that is too long: %v", err)
	}
}

func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}`,
		`{"type":"user","message":{"content":"x"}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]}]}}`,
		`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":1}}}`,
		`{"type":"result","subtype":"success","modelUsage":{"a":{"costUSD":1}}}`,
		`{"type":"system","subtype":"init","mcp_servers":[{}]}`,
		"{\"type\":\"system\",\"subtype\":\"api_retry\",\"error_status\":null}\n{",
	} {
		f.Add([]byte(seed + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, r := newFrames(bytes.NewReader(data)), &reader{}
		for {
			frame, err := frames.next()
			if err != nil {
				return
			}
			if frame[0] != '{' {
				t.Fatalf("a frame begins with %q", frame[0])
			}
			r.read(frame)
		}
	})
}
