package secret

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Stream masks a text that comes in pieces, wherever the pieces are cut: what
// Push and Rest return adds up to what [Redactor.String] makes of the whole. It
// keeps back what may be the beginning of a secret, which is as a rule the last
// word of the text so far. It belongs to one goroutine.
type Stream struct {
	redactor *Redactor
	// pending may be the beginning of a known value.
	pending string
	// words has been masked by value, and waits for the end of a credential that
	// is known by its shape.
	words []byte
	inKey bool // words holds a private key that has not ended
}

// Stream returns a Stream for one text.
func (r *Redactor) Stream() *Stream { return &Stream{redactor: r} }

// Push takes the next piece of the text and returns what can be shown now.
func (s *Stream) Push(piece string) string {
	return s.shapes(s.values(piece))
}

// Rest ends the text and returns what was kept back of it. The Stream is then
// ready for another text.
func (s *Stream) Rest() string {
	// The value that is pending will not be whole, but a shorter one in it may be.
	text := string(s.words) + s.redactor.maskValues(s.pending)
	s.pending, s.words, s.inKey = "", s.words[:0], false
	return s.redactor.maskShapes(text)
}

// Empty reports that nothing is kept back.
func (s *Stream) Empty() bool { return s.pending == "" && len(s.words) == 0 }

// values masks the known values, as the Redactor's replacer does: from left to
// right, and the longest of those that begin at the same place. The result ends
// where a value that is not yet whole may begin.
func (s *Stream) values(piece string) string {
	if s.redactor.Len() == 0 {
		return piece
	}
	text := s.pending + piece
	for i := 0; i < len(text); {
		whole, open := s.redactor.valueAt(text[i:])
		if open {
			s.pending = text[i:]
			return s.redactor.maskValues(text[:i])
		}
		i += max(whole, 1)
	}
	s.pending = ""
	return s.redactor.maskValues(text)
}

// valueAt returns the length of the known value that text begins with, or 0, and
// whether text as a whole is the beginning of a longer one.
func (r *Redactor) valueAt(text string) (whole int, open bool) {
	for _, v := range r.known { // the longest first
		switch {
		case v[0] != text[0]:
		case len(text) < len(v) && strings.HasPrefix(v, text):
			return 0, true
		case strings.HasPrefix(text, v):
			return len(v), false
		}
	}
	return 0, false
}

// shapes masks the credentials known by their shape in words and text. It keeps
// back what stands behind the last place that cannot be within one.
func (s *Stream) shapes(text string) string {
	seen := len(s.words)
	s.words = append(s.words, text...)
	if !hasBorder(s.words[max(0, seen-utf8.UTFMax+1):]) {
		return "" // and what was kept back before had no such place, either
	}
	// A key is long: it is looked at again when its last line is near.
	const lastLine = len("-----END ENCRYPTED PRIVATE KEY-----\r\n")
	if s.inKey && !bytes.Contains(s.words[max(0, seen-lastLine):], []byte("-----END ")) {
		return ""
	}
	all := string(s.words)
	spans, inKey := keySpans(all)
	s.inKey = inKey
	end := lastBorder(all, spans)
	s.words = append(s.words[:0], all[end:]...)
	return s.redactor.maskShapes(all[:end])
}

// No shape but that of a private key has white space within, save after the
// word "bearer", and none has ideographs, save the user-info of a URL.

// firstIdeograph is the first character of the scripts that put no blanks
// between words.
const firstIdeograph = 0x2E80

// hasBorder reports whether text has a character behind which a credential may
// not go on.
func hasBorder(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return isBlank(r) || isIdeograph(r) })
}

// isBlank reports whether r is what \s means in the shapes.
func isBlank(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\f', '\r':
		return true
	}
	return false
}

func isIdeograph(r rune) bool { return r >= firstIdeograph && r != utf8.RuneError }

// lastBorder returns the last offset in text at which no credential can be cut
// in two: spans are those of private keys.
func lastBorder(text string, spans [][]int) int {
	for end := len(text); end > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:end])
		switch {
		case within(end, spans):
		case isBlank(r) && !endsInBearer(text[:end]):
			return end
		case isIdeograph(r) && !strings.Contains(lastWord(text[:end]), "://"):
			return end
		}
		end -= size
	}
	return 0
}

// within reports whether an offset lies inside of a span.
func within(offset int, spans [][]int) bool {
	for _, s := range spans {
		if s[0] < offset && offset < s[1] {
			return true
		}
	}
	return false
}

func endsInBearer(text string) bool {
	const bearer = "bearer"
	text = strings.TrimRightFunc(text, isBlank)
	return len(text) >= len(bearer) && strings.EqualFold(text[len(text)-len(bearer):], bearer)
}

// lastWord returns what stands behind the last blank.
func lastWord(text string) string {
	return text[strings.LastIndexFunc(text, isBlank)+1:]
}

// wholeKey is a private key in PEM, and openKey the beginning of one.
var (
	wholeKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(privateKey) })
	openKey  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*(?:-{0,4}|PRIVATE KEY-----.*)\z`)
	})
)

// keySpans returns where the private keys of text stand. One that has not ended
// has a span that goes beyond the end of text; inKey says that its first line is
// there, so that it is one for certain.
func keySpans(text string) (spans [][]int, inKey bool) {
	if !strings.Contains(text, "-----BEGIN ") {
		return nil, false
	}
	spans = wholeKey().FindAllStringIndex(text, -1)
	rest := 0
	if len(spans) > 0 {
		rest = spans[len(spans)-1][1]
	}
	if at := openKey().FindStringIndex(text[rest:]); at != nil {
		inKey = strings.Contains(text[rest+at[0]:], "PRIVATE KEY-----")
		spans = append(spans, []int{rest + at[0], len(text) + 1})
	}
	return spans, inKey
}
