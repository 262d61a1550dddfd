package claudecode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFrame bounds a frame, in bytes. The result of a tool stands twice in one.
const maxFrame = 64 << 20

// errFrameTooLong is the error of a frame beyond maxFrame.
var errFrameTooLong = fmt.Errorf("a message is longer than %d MiB", maxFrame>>20)

// frames reads frames: lines of JSON, one object each. What begins otherwise is
// no frame and passed over.
type frames struct {
	r *bufio.Reader
	// max bounds a line, in bytes.
	max int
}

func newFrames(r io.Reader) *frames { return &frames{bufio.NewReaderSize(r, 64<<10), maxFrame} }

// next returns the next frame, whose bytes are the caller's. At the end it
// returns io.EOF, also behind a last line that was cut off.
func (f *frames) next() ([]byte, error) {
	for {
		line, err := f.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' {
			return line, nil
		}
	}
}

// line returns the next line that is complete.
func (f *frames) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := f.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > f.max:
			return nil, errFrameTooLong
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// envelope is what every frame has, and what those of the control protocol have.
type envelope struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  *response       `json:"response"`
}

// response is an answer to a control request.
type response struct {
	Subtype   string          `json:"subtype"` // success or error
	RequestID string          `json:"request_id"`
	Response  json.RawMessage `json:"response,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// encode returns v as a frame.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	return out.Bytes(), nil
}
