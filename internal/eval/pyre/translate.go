package pyre

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// translate turns an expression of Python's re into one of regexp2, whose
// syntax is .NET's. It translates what the two write differently: named groups
// and references to them, \Z, {,n}, \U, possessive repeats, and flags. The error
// names what has no counterpart, and what .NET has and Python has not.
func translate(text string) (string, regexp2.RegexOptions, error) {
	rest, options, err := cutFlags(text)
	if err != nil {
		return "", 0, err
	}
	t := translator{rest: rest, verbose: options&regexp2.IgnorePatternWhitespace != 0}
	if err := t.run(); err != nil {
		return "", 0, err
	}
	if t.verbose {
		t.out = append(t.out, '\n') // ends a comment that would swallow what follows
	}
	return string(t.out), options, nil
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
			return "", 0, unsupportedFlag(flag)
		}
	}
	return rest, options, nil
}

func unsupportedFlag(flag rune) error {
	return fmt.Errorf("the flag %c is not supported; write out the characters that may match", flag)
}

// translator walks an expression from left to right.
type translator struct {
	rest    string
	out     []byte
	verbose bool  // blanks and comments do not count
	class   bool  // inside [...]
	atom    int   // where in out that begins which a repeat would repeat
	groups  []int // where in out the open groups begin
}

func (t *translator) run() error {
	for t.rest != "" {
		if t.class {
			if err := t.inClass(); err != nil {
				return err
			}
			continue
		}
		if n := repeatLen(t.rest); n > 0 {
			t.repeat(n)
			continue
		}
		if err := t.piece(); err != nil {
			return err
		}
	}
	return nil
}

// inClass copies a member of a class, or its end.
func (t *translator) inClass() error {
	if t.rest[0] == '\\' {
		return t.escape()
	}
	t.class = t.rest[0] != ']'
	t.copy(1)
	return nil
}

// piece copies or translates what stands outside of a class and is no repeat.
func (t *translator) piece() error {
	begin := len(t.out)
	switch c := t.rest[0]; {
	case c == '(':
		return t.openGroup()
	case c == ')':
		t.copy(1)
		if n := len(t.groups); n > 0 {
			begin, t.groups = t.groups[n-1], t.groups[:n-1]
		}
	case t.verbose && c == '#':
		comment, _, _ := strings.Cut(t.rest, "\n")
		t.copy(len(comment))
		return nil
	case t.verbose && strings.IndexByte(" \t\n\r\f\v", c) >= 0:
		t.copy(1)
		return nil
	case c == '\\':
		if err := t.escape(); err != nil {
			return err
		}
	case c == '[':
		t.openClass()
	default:
		_, size := utf8.DecodeRuneInString(t.rest)
		t.copy(size)
	}
	t.atom = begin
	return nil
}

// repeatLen returns the length of the repeat that an expression begins with, its
// ? or + not counted, or 0.
func repeatLen(s string) int {
	switch s[0] {
	case '*', '+', '?':
		return 1
	case '{':
		body, _, closed := strings.Cut(s[1:], "}")
		if closed && body != "" && strings.Trim(body, "0123456789,") == "" && strings.Count(body, ",") <= 1 {
			return len(body) + 2
		}
	}
	return 0
}

// repeat copies a repeat of n bytes. One that gives nothing back, such as a*+, is
// an atomic group: (?>a*).
func (t *translator) repeat(n int) {
	if strings.HasPrefix(t.rest, "{,") {
		t.replace("{,", "{0,")
		n -= len("{,")
	}
	t.copy(n)
	switch {
	case strings.HasPrefix(t.rest, "?"):
		t.copy(1)
	case strings.HasPrefix(t.rest, "+"):
		t.rest = t.rest[1:]
		t.out = append(slices.Insert(t.out, t.atom, []byte("(?>")...), ')')
	}
}

// openGroup copies or translates the start of a group.
func (t *translator) openGroup() error {
	begin := len(t.out)
	switch {
	case strings.HasPrefix(t.rest, "(?P<"):
		t.replace("(?P<", "(?<")
	case strings.HasPrefix(t.rest, "(?P="):
		name, after, ok := strings.Cut(t.rest[len("(?P="):], ")")
		if !ok {
			return errors.New("a reference (?P=name) is not closed")
		}
		t.out = append(t.out, `\k<`+name+`>`...)
		t.rest, t.atom = after, begin
		return nil
	case strings.HasPrefix(t.rest, "(?#"):
		comment, _, ok := strings.Cut(t.rest, ")")
		if !ok {
			return errors.New("a comment (?#…) is not closed")
		}
		t.rest = t.rest[len(comment)+1:]
		return nil
	case strings.HasPrefix(t.rest, "(?<") && !strings.HasPrefix(t.rest, "(?<=") && !strings.HasPrefix(t.rest, "(?<!"), strings.HasPrefix(t.rest, "(?'"):
		return errors.New("a group with a name is written (?P<name>…)")
	case strings.HasPrefix(t.rest, "(?"):
		if err := t.flags(); err != nil {
			return err
		}
	default:
		t.copy(1)
	}
	t.groups = append(t.groups, begin)
	return nil
}

// flags copies the start of a group that is no plain one, such as (?: or (?i-s:.
// The flag u is the default and is left out.
func (t *translator) flags() error {
	inner := t.rest[len("(?"):]
	end := strings.IndexFunc(inner, func(r rune) bool { return !strings.ContainsRune("aiLmsux-", r) })
	if end <= 0 || inner[end] != ':' && inner[end] != ')' {
		t.copy(len("(?"))
		return nil
	}
	if inner[end] == ')' {
		return fmt.Errorf("flags such as (?%s) stand at the very front", inner[:end])
	}
	if i := strings.IndexAny(inner[:end], "aL"); i >= 0 {
		return unsupportedFlag(rune(inner[i]))
	}
	t.out = append(t.out, "(?"+strings.ReplaceAll(inner[:end], "u", "")...)
	t.rest = inner[end:]
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
	if len(t.rest) < 2 {
		return errors.New("it ends in a backslash")
	}
	switch c := t.rest[1]; {
	case c == 'Z' && !t.class:
		t.replace(`\Z`, `\z`)
	case c == 'N':
		return errors.New(`\N{…} is not supported; write the character itself, or its code after \u`)
	case c == 'U':
		return t.longCode()
	case isLetter(c) && !t.knows(c):
		return fmt.Errorf(`\%c means nothing in Python's re`, c)
	default:
		_, size := utf8.DecodeRuneInString(t.rest[1:])
		t.copy(1 + size)
	}
	return nil
}

// knows reports whether Python's re has an escape of that letter here.
func (t *translator) knows(c byte) bool {
	return strings.IndexByte("abfnrtvxudDsSwW", c) >= 0 || !t.class && strings.IndexByte("AB", c) >= 0
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// longCode translates \U and its eight digits.
func (t *translator) longCode() error {
	if len(t.rest) < 10 {
		return errors.New(`\U needs eight hexadecimal digits`)
	}
	code, err := strconv.ParseUint(t.rest[2:10], 16, 32)
	if err != nil || code > unicode.MaxRune {
		return fmt.Errorf(`\U%s is not a character`, t.rest[2:10])
	}
	if code > 0xffff {
		t.out = utf8.AppendRune(t.out, rune(code)) // has no meaning of its own
	} else {
		t.out = fmt.Appendf(t.out, `\u%04x`, code)
	}
	t.rest = t.rest[10:]
	return nil
}

// copy copies n bytes.
func (t *translator) copy(n int) {
	t.out = append(t.out, t.rest[:n]...)
	t.rest = t.rest[n:]
}

func (t *translator) replace(from, to string) {
	t.out = append(t.out, to...)
	t.rest = t.rest[len(from):]
}
