package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxEventBytes bounds one event. Without a bound a peer that never ends an
// event would fill the memory.
const MaxEventBytes = 32 << 20

// ErrTooLong is the error of an event larger than MaxEventBytes.
var ErrTooLong = fmt.Errorf("an event is larger than %d bytes", MaxEventBytes)

// Event is one event of a stream.
type Event struct {
	// Name is the event's type; empty where it has none.
	Name string
	// Data is what it says, its lines joined. It is good until the next event.
	Data []byte
}

// Events yields the events of a stream until it ends. An error of r is yielded
// as it is, and ends the stream. An event that was begun and not ended is still
// yielded at the end: some servers leave out the blank line there.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, MaxEventBytes)
		lines.Split(splitLine)
		var (
			e     Event
			data  bytes.Buffer
			begun bool // e has some data
		)
		for lines.Scan() {
			line := lines.Bytes()
			if len(line) == 0 {
				if e.Data = data.Bytes(); begun && !yield(e, nil) {
					return
				}
				e, begun = Event{}, false
				data.Reset()
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "event":
				e.Name = string(value)
			case "data":
				if begun {
					data.WriteByte('\n')
				}
				begun = true
				data.Write(value)
			}
			if data.Len() > MaxEventBytes {
				yield(Event{}, ErrTooLong)
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Event{}, ErrTooLong)
		case err != nil:
			yield(Event{}, err)
		case begun:
			e.Data = data.Bytes()
			yield(e, nil)
		}
	}
}

// splitLine is a bufio.SplitFunc for lines that end in LF, CRLF or CR, without
// their ends.
func splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	case i+1 < len(data) || atEOF:
		return i + 1, data[:i], nil
	}
	return 0, nil, nil // a CR at the end may be half of a CRLF
}
