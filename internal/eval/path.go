package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// responsePath leads to one value inside a JSON answer, such as
// items[0].price. It has keys of letters, digits, underscores and hyphens,
// joined by dots, each of which list indexes may follow.
type responsePath struct {
	text  string
	steps []step
}

// step is a key of an object or, when key is empty, an index of a list.
type step struct {
	key   string
	index int
}

func allDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// maxIndexDigits keeps an index within an int on every platform.
const maxIndexDigits = 9

func parseResponsePath(text string) (*responsePath, error) {
	p := &responsePath{text: text}
	for _, segment := range strings.Split(text, ".") {
		key, rest := segment, ""
		if i := strings.IndexByte(segment, '['); i >= 0 {
			key, rest = segment[:i], segment[i:]
		}
		if !isPathKey(key) {
			return nil, fmt.Errorf("%q is not a path such as items[0].price: %q is not a key", text, key)
		}
		p.steps = append(p.steps, step{key: key})
		for rest != "" {
			digits, after, closed := strings.Cut(rest[1:], "]")
			if !closed || digits == "" || len(digits) > maxIndexDigits || !allDigits(digits) || after != "" && after[0] != '[' {
				return nil, fmt.Errorf("%q is not a path such as items[0].price: %q is not an index", text, rest)
			}
			index, err := strconv.Atoi(digits)
			if err != nil {
				return nil, fmt.Errorf("%q: index %s: %w", text, digits, err)
			}
			p.steps = append(p.steps, step{index: index})
			rest = after
		}
	}
	return p, nil
}

func isPathKey(key string) bool {
	for i, r := range key {
		letter := r == '_' || unicode.IsLetter(r)
		if !letter && (i == 0 || r != '-' && !unicode.IsDigit(r)) {
			return false
		}
	}
	return key != ""
}

// find returns the value. The error says at which step the answer does not have
// it.
func (p *responsePath) find(in Input) (json.RawMessage, error) {
	value, err := in.value()
	if err != nil {
		return nil, fmt.Errorf("response_path %s: %w", p.text, err)
	}
	walked := ""
	for _, s := range p.steps {
		next, err := s.from(value)
		if err != nil {
			return nil, fmt.Errorf("response_path %s: %s %w", p.text, place(walked), err)
		}
		value = next
		walked = s.appendTo(walked)
	}
	return value, nil
}

// findText returns the text of the value, as Python prints it. The error says
// why there is none.
func (p *responsePath) findText(in Input) (string, error) {
	value, err := p.find(in)
	if err != nil {
		return "", err
	}
	if kind := kindOf(value); kind == "an object" || kind == "a list" {
		return "", fmt.Errorf("response_path %s: the answer has %s there, not one value", p.text, kind)
	}
	text, err := pystr.FromJSON(value)
	if err != nil {
		return "", fmt.Errorf("response_path %s: %w", p.text, err)
	}
	return text, nil
}

// place names what was walked to.
func place(walked string) string {
	if walked == "" {
		return "the answer"
	}
	return walked + " of the answer"
}

func (s step) appendTo(walked string) string {
	switch {
	case s.key == "":
		return fmt.Sprintf("%s[%d]", walked, s.index)
	case walked == "":
		return s.key
	}
	return walked + "." + s.key
}

// from takes the step from a value. The error completes a sentence whose
// subject is the value.
func (s step) from(value json.RawMessage) (json.RawMessage, error) {
	kind := kindOf(value)
	if s.key != "" {
		if kind != "an object" {
			return nil, fmt.Errorf("is %s and has no key %q", kind, s.key)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, fmt.Errorf("cannot be read: %w", err)
		}
		member, ok := members[s.key]
		if !ok {
			return nil, fmt.Errorf("has no key %q", s.key)
		}
		return member, nil
	}
	if kind != "a list" {
		return nil, fmt.Errorf("is %s and has no element %d", kind, s.index)
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(value, &elements); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if s.index >= len(elements) {
		return nil, fmt.Errorf("has %d elements and no element %d", len(elements), s.index)
	}
	return elements[s.index], nil
}

// kindOf names what a JSON value is, by its first byte.
func kindOf(value json.RawMessage) string {
	switch bytes.TrimSpace(value)[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}

// value returns the answer as a value: what the agent gave as one, else what its
// text holds.
func (in Input) value() (json.RawMessage, error) {
	if json.Valid(in.Structured) {
		return in.Structured, nil
	}
	if value := findJSON(in.Answer); value != nil {
		return value, nil
	}
	return nil, fmt.Errorf("the answer %s is not JSON", in.excerpt(in.Answer))
}

// findJSON returns the JSON value an answer is, or the first that stands in it
// as a fenced block, or nil.
func findJSON(answer string) json.RawMessage {
	if text := strings.TrimSpace(answer); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	for block := range fencedBlocks(answer) {
		if text := strings.TrimSpace(block); json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	return nil
}

// fencedBlocks yields what stands between lines of three or more backticks or
// tildes. A block that is never closed ends with the text.
func fencedBlocks(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var fence string
		var block strings.Builder
		for line := range strings.Lines(text) {
			mark := fenceOf(line)
			switch {
			case fence == "" && mark != "":
				fence = mark
				block.Reset()
			case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark:
				if !yield(block.String()) {
					return
				}
				fence = ""
			case fence != "":
				block.WriteString(line)
			}
		}
		if fence != "" {
			yield(block.String())
		}
	}
}

// fenceOf returns the run of backticks or tildes that a fence line begins with,
// or "".
func fenceOf(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
