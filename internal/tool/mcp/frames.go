package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messageError says that what a server sent is no message of the protocol.
type messageError struct{ text, next string }

// Error implements error.
func (e *messageError) Error() string { return e.text }

// tooLong is the error of a message beyond MaxMessage.
func tooLong() error {
	return &messageError{
		fmt.Sprintf("it sent a message of more than %d MiB", MaxMessage>>20),
		"ask for less at once",
	}
}

// frames reads the messages of a stdio server: JSON, one a line. Empty lines are
// passed over. A line may hold a batch of messages, as servers of the version
// 2025-03-26 send them.
type frames struct {
	r       *bufio.Reader
	most    int // bytes of a line
	line    int // lines read
	pending []jsonrpc.Message
}

func newFrames(r io.Reader, most int) *frames {
	return &frames{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// next returns the next message. The error is io.EOF at the end, a *messageError
// for what is no message, or that of the reader.
func (f *frames) next() (jsonrpc.Message, error) {
	for len(f.pending) == 0 {
		line, err := f.readLine()
		if err != nil {
			return nil, err
		}
		if f.pending, err = f.decode(line); err != nil {
			return nil, err
		}
	}
	m := f.pending[0]
	f.pending = f.pending[1:]
	return m, nil
}

// readLine returns the next line without its end and the space around it. What
// follows the last end of a line is a line too, if it is anything.
func (f *frames) readLine() ([]byte, error) {
	f.line++
	var line []byte
	for {
		piece, err := f.r.ReadSlice('\n')
		if len(line)+len(piece) > f.most {
			return nil, tooLong()
		}
		switch {
		case err == nil && line == nil:
			return bytes.TrimSpace(piece), nil // valid until the next read, and it is decoded before
		case errors.Is(err, bufio.ErrBufferFull), err == nil:
			line = append(line, piece...)
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line))+len(bytes.TrimSpace(piece)) > 0:
			return bytes.TrimSpace(append(line, piece...)), nil
		default:
			return nil, err
		}
		if err == nil {
			return bytes.TrimSpace(line), nil
		}
	}
}

// decode returns the messages of a line.
func (f *frames) decode(line []byte) ([]jsonrpc.Message, error) {
	if len(line) == 0 {
		return nil, nil
	}
	raws := []json.RawMessage{bytes.Clone(line)}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &raws); err != nil {
			return nil, f.garbage(line)
		}
	}
	messages := make([]jsonrpc.Message, 0, len(raws))
	for _, raw := range raws {
		m, err := decodeMessage(raw)
		if err != nil {
			return nil, f.garbage(line)
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// decodeMessage decodes a message. The library's decoder takes any object for one,
// and does not see what follows it.
func decodeMessage(raw []byte) (jsonrpc.Message, error) {
	if !json.Valid(raw) {
		return nil, errors.New("not JSON")
	}
	m, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil, err
	}
	if request, ok := m.(*jsonrpc.Request); ok && request.Method == "" {
		return nil, errors.New("neither a request nor a response")
	}
	return m, nil
}

// garbage is the error of a line that is no message.
func (f *frames) garbage(line []byte) error {
	return &messageError{
		fmt.Sprintf("line %d of its stdout is no message: %q", f.line, excerpt(line)),
		"a server must write its log to stderr, and nothing but the protocol to stdout",
	}
}

// excerpt returns the beginning of what a server said, for a message.
func excerpt(text []byte) string {
	const longest = 120 // bytes
	s := strings.ToValidUTF8(string(text[:min(len(text), longest+utf8.UTFMax)]), "\uFFFD")
	if len(s) <= longest {
		return s
	}
	cut := longest
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
