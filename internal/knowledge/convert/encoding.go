package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how the characters of a text file are written.
type encoding int

const (
	utf8Text encoding = iota
	utf16Little
	utf16Big
	// windows1252 holds what Latin-1 does, and is what files that are said to be
	// Latin-1 are in.
	windows1252
)

// mark is a byte order mark.
type mark struct {
	bytes string
	of    encoding
}

func marks() []mark {
	return []mark{{"\xEF\xBB\xBF", utf8Text}, {"\xFF\xFE", utf16Little}, {"\xFE\xFF", utf16Big}}
}

// look finds the encoding of bytes that come piece by piece.
type look struct {
	encoding encoding
	marked   int    // bytes of the mark
	started  bool   // whether the encoding is known
	carry    []byte // the beginning of a character
	offset   int64  // of what comes next
	invalid  int64  // offset of the first byte that is not UTF-8, or -1
	badByte  byte
	zero     int64 // offset of the first zero byte, or -1
	control  bool  // whether there are control characters no text has
	quote    bool  // whether there is a "
	cr, lone bool  // whether the last byte was \r, and whether any stood alone
}

func newLook() *look { return &look{invalid: -1, zero: -1} }

// write looks at the next bytes.
func (l *look) write(p []byte) {
	at := l.offset - int64(len(l.carry))
	if len(l.carry) > 0 {
		p = append(l.carry, p...)
		l.carry = nil
	}
	if !l.started {
		const longest = 3
		if len(p) < longest && !l.ended(p) {
			l.carry, l.offset = p, at+int64(len(p))
			return
		}
		l.start(p)
	}
	l.offset = at + int64(len(p))
	l.quote = l.quote || bytes.IndexByte(p, '"') >= 0
	l.returns(p)
	if l.encoding != utf8Text {
		return
	}
	l.scan(p, at)
}

// returns looks for \r that no \n follows.
func (l *look) returns(p []byte) {
	if l.lone || len(p) == 0 {
		return
	}
	l.lone = l.cr && p[0] != '\n'
	l.cr = p[len(p)-1] == '\r'
	for rest := p; !l.lone; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 || i+1 == len(rest) {
			return
		}
		l.lone = rest[i+1] != '\n'
		rest = rest[i+1:]
	}
}

// ended reports whether p cannot be the beginning of a mark.
func (l *look) ended(p []byte) bool {
	for _, m := range marks() {
		if strings.HasPrefix(m.bytes, string(p)) {
			return false
		}
	}
	return true
}

func (l *look) start(p []byte) {
	l.started = true
	for _, m := range marks() {
		if bytes.HasPrefix(p, []byte(m.bytes)) {
			l.encoding, l.marked = m.of, len(m.bytes)
		}
	}
}

// scan looks for what UTF-8 text does not hold.
func (l *look) scan(p []byte, at int64) {
	if i := bytes.IndexByte(p, 0); i >= 0 && l.zero < 0 {
		l.zero = at + int64(i)
	}
	for _, c := range p {
		if c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a\x1b", rune(c)) {
			l.control = true
			break
		}
	}
	if l.invalid >= 0 {
		return
	}
	if tail := len(p) - incomplete(p); tail > 0 && utf8.Valid(p[:tail]) {
		l.carry = bytes.Clone(p[tail:])
		return
	}
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size <= 1 {
			if !utf8.FullRune(p[i:]) {
				l.carry = bytes.Clone(p[i:])
				return
			}
			l.invalid, l.badByte = at+int64(i), p[i]
			return
		}
		i += size
	}
}

// incomplete returns how many bytes at the end of p begin a character.
func incomplete(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if utf8.RuneStart(p[len(p)-n]) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// finish settles the encoding. An error says why the bytes are no text.
func (l *look) finish() error {
	if !l.started {
		carry := l.carry
		l.carry = nil
		l.start(carry)
		if l.encoding == utf8Text {
			l.scan(carry, l.offset-int64(len(carry)))
		}
	}
	if len(l.carry) > 0 && l.invalid < 0 {
		l.invalid, l.badByte = l.offset-int64(len(l.carry)), l.carry[0]
	}
	if l.encoding != utf8Text {
		return nil
	}
	if l.zero >= 0 {
		return fmt.Errorf("is binary, not text (a zero byte at offset %d)", l.zero)
	}
	if l.invalid >= 0 {
		if l.control {
			return fmt.Errorf("is binary, not text (byte 0x%02X at offset %d)", l.badByte, l.invalid)
		}
		l.encoding = windows1252
	}
	return nil
}

// note says what a person should know of the encoding, or is empty.
func (l *look) note() string {
	if l.encoding != windows1252 {
		return ""
	}
	return fmt.Sprintf("is not UTF-8 (byte 0x%02X at offset %d) and was read as Windows-1252; save it as UTF-8 if letters are wrong", l.badByte, l.invalid)
}

// Text returns the text that data is, with \n line ends and without a byte order
// mark, and a note on how it was read when that is in doubt. Text is UTF-8,
// UTF-16 with a byte order mark, or else Windows-1252.
func Text(data []byte) (text, note string, err error) {
	l := newLook()
	l.write(data)
	if err := l.finish(); err != nil {
		return "", "", err
	}
	data = data[l.marked:]
	switch {
	case l.encoding != utf8Text:
		var b strings.Builder
		if _, err := io.Copy(&b, newDecoder(bytes.NewReader(data), l.encoding)); err != nil {
			return "", "", err
		}
		text = b.String()
	default:
		text = string(data)
	}
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return text, l.note(), nil
}

// decoder turns an encoding into UTF-8.
type decoder struct {
	in       io.Reader
	encoding encoding
	raw      []byte // what was read
	rest     []byte // of raw, not decoded yet
	out      []byte // decoded, not handed out yet
	err      error
}

// newDecoder returns the text of in as UTF-8, without looking for a mark.
func newDecoder(in io.Reader, e encoding) io.Reader {
	if e == utf8Text {
		return in
	}
	const size = 32 << 10
	return &decoder{in: in, encoding: e, raw: make([]byte, size)}
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		n := copy(d.raw, d.rest)
		m, err := d.in.Read(d.raw[n:])
		d.err = err
		d.decode(d.raw[:n+m], errors.Is(err, io.EOF))
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// decode decodes what is whole of raw, and all of it at the end.
func (d *decoder) decode(raw []byte, end bool) {
	d.out = d.out[:0]
	if d.encoding == windows1252 {
		for _, c := range raw {
			d.out = utf8.AppendRune(d.out, fromWindows1252(c))
		}
		d.rest = nil
		return
	}
	unit := func(i int) uint16 {
		if d.encoding == utf16Little {
			return uint16(raw[i]) | uint16(raw[i+1])<<8
		}
		return uint16(raw[i])<<8 | uint16(raw[i+1])
	}
	i := 0
	for ; i+1 < len(raw); i += 2 {
		r := rune(unit(i))
		if utf16.IsSurrogate(r) {
			const pair = 4
			if i+pair > len(raw) {
				if !end {
					break
				}
				r = utf8.RuneError
			} else if both := utf16.DecodeRune(r, rune(unit(i+2))); both != utf8.RuneError {
				r = both
				i += 2
			} else {
				r = utf8.RuneError
			}
		}
		d.out = utf8.AppendRune(d.out, r)
	}
	d.rest = raw[i:]
	if end && len(d.rest) > 0 {
		d.out = utf8.AppendRune(d.out, utf8.RuneError)
		d.rest = nil
	}
}

// fromWindows1252 returns the character that a byte is.
func fromWindows1252(c byte) rune {
	const first, last = 0x80, 0x9F // where it differs from Latin-1
	if c < first || c > last {
		return rune(c)
	}
	return []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")[c-first]
}

// newlines turns \r, with \n after it or not, into \n.
type newlines struct {
	in io.Reader
	cr bool // the last byte was \r
}

// Read implements io.Reader.
func (n *newlines) Read(p []byte) (int, error) {
	m, err := n.in.Read(p)
	out := p[:0]
	for _, c := range p[:m] {
		if c != '\n' || !n.cr {
			if n.cr = c == '\r'; n.cr {
				c = '\n'
			}
			out = append(out, c)
			continue
		}
		n.cr = false
	}
	return len(out), err
}
