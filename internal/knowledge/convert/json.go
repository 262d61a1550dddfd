package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds the nesting of a JSON document.
const maxDepth = 100

// kind is a kind of JSON value, in the words of error messages.
type kind string

const (
	kindObject kind = "object"
	kindArray  kind = "array"
	kindString kind = "string"
	kindNumber kind = "number"
	kindBool   kind = "boolean"
	kindNull   kind = "null"
)

// node is a JSON value that keeps the order of its keys and the digits of its
// numbers.
type node struct {
	kind  kind
	text  string   // of a string, number or boolean
	keys  []string // of an object's items
	items []node
}

func (n node) container() bool { return n.kind == kindObject || n.kind == kindArray }

// plain returns a plain value as Python's str writes it; a null is empty.
func (n node) plain() string {
	switch {
	case n.kind == kindBool && n.text == "true":
		return "True"
	case n.kind == kindBool:
		return "False"
	}
	return n.text
}

// value returns n as a field's value: plain values as plain does, lists and
// objects as JSON in one line, with a blank after commas and colons.
func (n node) value() string {
	if !n.container() {
		return n.plain()
	}
	var b strings.Builder
	n.encode(&b)
	return b.String()
}

// encode writes n as JSON.
func (n node) encode(b *strings.Builder) {
	switch n.kind {
	case kindNull:
		b.WriteString("null")
	case kindString:
		quote(b, n.text)
	case kindArray, kindObject:
		open, end := "[", "]"
		if n.kind == kindObject {
			open, end = "{", "}"
		}
		b.WriteString(open)
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			if n.kind == kindObject {
				quote(b, n.keys[i])
				b.WriteString(": ")
			}
			item.encode(b)
		}
		b.WriteString(end)
	default:
		b.WriteString(n.text)
	}
}

// quote writes s as a JSON string that a person can read: <, > and & stay.
func quote(b *strings.Builder, s string) {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	b.WriteString(strings.TrimSuffix(out.String(), "\n"))
}

// parseJSON returns the one JSON value that text holds.
func parseJSON(text string) (node, error) {
	n, at, err := parseValueAt(text)
	if err != nil {
		line, column := position(text, at)
		return node{}, fmt.Errorf("is not JSON (line %d, column %d): %w", line, column, err)
	}
	return n, nil
}

// parseValueAt returns the one JSON value that text holds, or what is wrong with
// it and the byte at which that was found.
func parseValueAt(text string) (node, int, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	n, err := parseValue(dec, 0)
	if err == nil {
		var more json.Token
		if more, err = dec.Token(); err == nil {
			err = moreError(more)
		} else if errors.Is(err, io.EOF) {
			return n, 0, nil
		}
	}
	offset := dec.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(offset, syntax.Offset) // which does not always count from the beginning
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errEndsEarly
		offset = int64(len(text))
	}
	return node{}, int(min(offset, int64(len(text)))), err
}

// errEndsEarly says that a document is cut off.
var errEndsEarly = errors.New("it ends too early")

// moreError says that there is something behind a document.
func moreError(more json.Token) error {
	return fmt.Errorf("there is more after the end of the value, beginning with %v", more)
}

// parseValue reads the next value.
func parseValue(dec *json.Decoder, depth int) (node, error) {
	token, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	if depth > maxDepth {
		return node{}, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return parseItems(dec, kindObject, depth)
		}
		return parseItems(dec, kindArray, depth)
	case string:
		return node{kind: kindString, text: token}, nil
	case json.Number:
		return node{kind: kindNumber, text: token.String()}, nil
	case bool:
		return node{kind: kindBool, text: fmt.Sprint(token)}, nil
	}
	return node{kind: kindNull}, nil
}

// parseItems reads the rest of an object or array.
func parseItems(dec *json.Decoder, k kind, depth int) (node, error) {
	n := node{kind: k}
	for dec.More() {
		if k == kindObject {
			key, err := dec.Token()
			if err != nil {
				return node{}, err
			}
			n.keys = append(n.keys, key.(string)) // the decoder allows nothing else here
		}
		item, err := parseValue(dec, depth+1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	_, err := dec.Token() // the closing bracket
	return n, err
}

// jsonLine is a line of a .jsonl.
type jsonLine struct {
	number int
	text   string
}

// jsonLines returns the lines of a .jsonl that are not blank.
func jsonLines(text string) []jsonLine {
	var lines []jsonLine
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) != "" {
			lines = append(lines, jsonLine{number, strings.TrimSuffix(line, "\n")})
		}
	}
	return lines
}

// parse returns the line's value.
func (l jsonLine) parse() (node, error) {
	n, at, err := parseValueAt(l.text)
	if err != nil {
		_, column := position(l.text, at)
		return node{}, sayf("Invalid JSON on line %d, column %d: %v; mend that line, or remove it", l.number, column, err)
	}
	return n, nil
}
