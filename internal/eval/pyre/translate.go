package pyre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dlclark/regexp2"
)

// translate turns an expression of Python's re into one of regexp2, whose
// syntax is .NET's. It translates what the two write differently: named groups
// and references to them, \Z, {,n}, \U, and flags at the front. The error names
// what has no counterpart.
func translate(text string) (string, regexp2.RegexOptions, error) {
	rest, options, err := cutFlags(text)
	if err != nil {
		return "", 0, err
	}
	var out strings.Builder
	t := translator{rest: rest, out: &out}
	if err := t.run(); err != nil {
		return "", 0, err
	}
	if options&regexp2.IgnorePatternWhitespace != 0 {
		out.WriteByte('\n') // ends a comment that would swallow what follows
	}
	return out.String(), options, nil
}

// cutFlags cuts flags such as (?ims) from the front.
func cutFlags(text string) (string, regexp2.RegexOptions, error) {
	var options regexp2.RegexOptions
	inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "(?"), ")")
	if !ok || !strings.HasPrefix(text, "(?") || inner == "" || strings.Trim(inner, "aiLmsux") != "" {
		return text, options, nil
	}
	for _, flag := range inner {
		switch flag {
		case 'i':
			options |= regexp2.IgnoreCase
		case 'm':
			options |= regexp2.Multiline
		case 's':
			options |= regexp2.Singleline
		case 'x':
			options |= regexp2.IgnorePatternWhitespace
		case 'u': // the default
		default:
			return "", 0, fmt.Errorf("the flag %c is not supported; write out the characters that may match", flag)
		}
	}
	return rest, options, nil
}

// translator walks an expression from left to right.
type translator struct {
	rest  string
	out   *strings.Builder
	class bool // inside [...]
}

func (t *translator) run() error {
	for t.rest != "" {
		switch {
		case t.rest[0] == '\\':
			if err := t.escape(); err != nil {
				return err
			}
		case t.class:
			t.class = t.rest[0] != ']'
			t.copy(1)
		case t.rest[0] == '[':
			t.openClass()
		case strings.HasPrefix(t.rest, "(?P<"):
			t.replace("(?P<", "(?<")
		case strings.HasPrefix(t.rest, "(?P="):
			name, after, ok := strings.Cut(t.rest[len("(?P="):], ")")
			if !ok {
				return errors.New("a reference (?P=name) is not closed")
			}
			t.out.WriteString(`\k<` + name + `>`)
			t.rest = after
		case strings.HasPrefix(t.rest, "{,"):
			t.replace("{,", "{0,")
		default:
			t.copy(1)
		}
	}
	return nil
}

// openClass copies the start of a class; a closing bracket that comes first is
// one of its members.
func (t *translator) openClass() {
	t.class = true
	t.copy(1)
	if strings.HasPrefix(t.rest, "^") {
		t.copy(1)
	}
	if strings.HasPrefix(t.rest, "]") {
		t.replace("]", `\]`)
	}
}

// escape copies or translates a backslash and what it escapes.
func (t *translator) escape() error {
	switch {
	case len(t.rest) < 2:
		return errors.New("it ends in a backslash")
	case t.rest[1] == 'Z' && !t.class:
		t.replace(`\Z`, `\z`)
	case t.rest[1] == 'U':
		if len(t.rest) < 10 {
			return errors.New(`\U needs eight hexadecimal digits`)
		}
		code, err := strconv.ParseUint(t.rest[2:10], 16, 32)
		if err != nil || code > 0x10ffff {
			return fmt.Errorf(`\U%s is not a character`, t.rest[2:10])
		}
		if code > 0xffff {
			t.out.WriteRune(rune(code)) // has no meaning of its own
		} else {
			fmt.Fprintf(t.out, `\u%04x`, code)
		}
		t.rest = t.rest[10:]
	default:
		t.copy(2)
	}
	return nil
}

// copy copies n bytes. What is copied byte by byte stays whole.
func (t *translator) copy(n int) {
	t.out.WriteString(t.rest[:n])
	t.rest = t.rest[n:]
}

func (t *translator) replace(from, to string) {
	t.out.WriteString(to)
	t.rest = t.rest[len(from):]
}
