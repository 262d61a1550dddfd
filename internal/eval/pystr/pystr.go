package pystr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// FromJSON returns the text of one JSON value. Members of an object keep the
// order in which the document has them, and integers keep every digit. The
// error says that doc is not one JSON value.
func FromJSON(doc []byte) (string, error) {
	if !json.Valid(doc) { // which also bounds how deep it nests
		return "", errors.New("not one JSON value")
	}
	p := printer{dec: json.NewDecoder(bytes.NewReader(doc))}
	p.dec.UseNumber()
	first, err := p.dec.Token()
	if err != nil {
		return "", fmt.Errorf("read JSON value: %w", err)
	}
	if s, ok := first.(string); ok {
		return s, nil // str() quotes only what stands inside a container
	}
	if err := p.value(first); err != nil {
		return "", fmt.Errorf("read JSON value: %w", err)
	}
	return p.out.String(), nil
}

// IsSpace reports whether Python's str.split splits at r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// printer prints the values of a token stream.
type printer struct {
	dec *json.Decoder
	out strings.Builder
}

// value prints the value that begins with tok, as repr does.
func (p *printer) value(tok json.Token) error {
	switch t := tok.(type) {
	case nil:
		p.out.WriteString("None")
	case bool:
		if t {
			p.out.WriteString("True")
		} else {
			p.out.WriteString("False")
		}
	case json.Number:
		p.out.WriteString(Number(t))
	case string:
		p.out.WriteString(quote(t))
	case json.Delim:
		return p.container(t)
	}
	return nil
}

func (p *printer) container(open json.Delim) error {
	closing := "]"
	if open == '{' {
		closing = "}"
	}
	p.out.WriteString(open.String())
	for first := true; p.dec.More(); first = false {
		if !first {
			p.out.WriteString(", ")
		}
		tok, err := p.dec.Token()
		if err != nil {
			return err
		}
		if open == '{' {
			p.out.WriteString(quote(tok.(string)) + ": ") // the decoder allows no other key
			if tok, err = p.dec.Token(); err != nil {
				return err
			}
		}
		if err := p.value(tok); err != nil {
			return err
		}
	}
	if _, err := p.dec.Token(); err != nil { // the closing delimiter
		return err
	}
	p.out.WriteString(closing)
	return nil
}

// Number returns the text of a JSON number: an integer with all its digits, or
// a float as repr prints it.
func Number(n json.Number) string {
	if !strings.ContainsAny(n.String(), ".eE") {
		if i, ok := new(big.Int).SetString(n.String(), 10); ok { // -0 is 0
			return i.String()
		}
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil && !math.IsInf(f, 0) { // out of range is infinite in Python too
		return n.String()
	}
	return float(f)
}

// float prints as float.__repr__: the shortest digits that read back the same,
// with an exponent below 1e-4 and from 1e16 on.
func float(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote prints as str.__repr__: single quotes unless only double ones avoid
// escaping.
func quote(s string) string {
	q := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		q = '"'
	}
	var b strings.Builder
	b.WriteRune(q)
	for _, r := range s {
		switch {
		case r == q || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(q)
	return b.String()
}
