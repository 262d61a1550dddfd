package proc

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

const (
	defaultTailLines = 20
	longestLine      = 8 << 10 // bytes
)

// tail keeps the last lines of a stream.
type tail struct {
	keep   int
	onLine func(string)
	mu     sync.Mutex
	lines  []string
}

func newTail(keep int, onLine func(string)) *tail {
	if keep == 0 {
		keep = defaultTailLines
	}
	return &tail{keep: keep, onLine: onLine}
}

// read takes in a stream to its end.
func (t *tail) read(r io.Reader) {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, longestLine), longestLine)
	s.Split(splitLines)
	for s.Scan() {
		t.add(strings.ToValidUTF8(s.Text(), "\uFFFD"))
	}
}

// splitLines is bufio.ScanLines, save that a line that does not fit is handed on
// in pieces.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if len(data) >= longestLine && bytes.IndexByte(data, '\n') < 0 {
		return len(data), data, nil
	}
	return bufio.ScanLines(data, atEOF)
}

func (t *tail) add(line string) {
	t.mu.Lock()
	if len(t.lines) == t.keep {
		t.lines = slices.Delete(t.lines, 0, 1)
	}
	t.lines = append(t.lines, line)
	t.mu.Unlock()
	if t.onLine != nil {
		t.onLine(line)
	}
}

func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}
