package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ToolPattern says which calls are meant by an entry of permissions or by a hook:
// those of the tools that a glob matches, in the syntax of [path.Match], and, where
// it says so, only those whose arguments have certain values.
type ToolPattern struct {
	Tool      string
	arguments []argumentPattern
}

// argumentPattern is what the value of an argument must look like.
type argumentPattern struct {
	path   string // such as "filter.city"
	value  *regexp.Regexp
	number string // the glob in plain form, where it is a number and so means one
}

// matches reports whether a value looks so.
func (a argumentPattern) matches(value any) bool {
	switch value := value.(type) {
	case string:
		return a.value.MatchString(value)
	case json.Number:
		plain := plainNumber(value)
		return a.value.MatchString(plain) || a.number == plain
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plainNumbers(value)); err != nil {
		return false
	}
	return a.value.MatchString(strings.TrimSuffix(b.String(), "\n"))
}

// ParseToolPattern reads a pattern: NAME, or NAME(ARGUMENT=GLOB, …). A comma that
// belongs to a glob stands behind a backslash.
func ParseToolPattern(text string) (ToolPattern, error) {
	tool, rest, withArguments := strings.Cut(text, "(")
	p := ToolPattern{Tool: strings.TrimSpace(tool)}
	if _, err := path.Match(p.Tool, ""); err != nil {
		return ToolPattern{}, errors.New("close the [ in it")
	}
	if !withArguments {
		return p, nil
	}
	inner, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !closed {
		return ToolPattern{}, errors.New("end it with )")
	}
	for _, pair := range splitUnescaped(inner) {
		argument, glob, ok := strings.Cut(pair, "=")
		if argument = strings.TrimSpace(argument); !ok || argument == "" {
			return ToolPattern{}, errors.New("write arguments as NAME(ARGUMENT=GLOB)")
		}
		if err := p.require(argument, strings.TrimSpace(glob)); err != nil {
			return ToolPattern{}, err
		}
	}
	return p, nil
}

// NewToolPattern returns the pattern of calls of the tools that a glob matches
// whose arguments match globs, by their names; an empty tool is every one.
func NewToolPattern(tool string, arguments map[string]string) (ToolPattern, error) {
	p := ToolPattern{Tool: tool}
	if tool == "" {
		p.Tool = "*"
	}
	if _, err := path.Match(p.Tool, ""); err != nil {
		return ToolPattern{}, errors.New("close the [ in it")
	}
	for _, name := range sortedKeys(arguments) {
		if err := p.require(name, arguments[name]); err != nil {
			return ToolPattern{}, err
		}
	}
	return p, nil
}

// require adds what the value of an argument must look like.
func (p *ToolPattern) require(argument, glob string) error {
	re, err := globText(glob)
	if err != nil {
		return fmt.Errorf("%s: %w", argument, err)
	}
	a := argumentPattern{path: argument, value: re}
	var number json.Number
	if json.Unmarshal([]byte(glob), &number) == nil && glob != "null" && glob[0] != '"' {
		a.number = plainNumber(number)
	}
	p.arguments = append(p.arguments, a)
	return nil
}

// splitUnescaped splits at the commas that stand behind no backslash, and takes
// the backslashes of the others away.
func splitUnescaped(s string) []string {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == ',':
			i++
			b.WriteByte(',')
		case s[i] == ',':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	return append(parts, b.String())
}

// globText returns the regular expression of a glob over a whole text, in which,
// unlike in the name of a file, a slash is a character like others: * is any
// text, ? any character, [a-c] one of several, and a backslash takes the meaning
// from what follows it.
func globText(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	runes := []rune(glob)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		case '[':
			end := i + 1 + slices.Index(runes[i+1:], ']')
			if end <= i+1 {
				return nil, fmt.Errorf("%q is not a pattern: close the [ in it, or write \\[", glob)
			}
			set := strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(string(runes[i+1 : end]))
			b.WriteString("[" + set + "]")
			i = end
		case '\\':
			if i++; i == len(runes) {
				return nil, fmt.Errorf("%q is not a pattern: it ends in a backslash", glob)
			}
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("%q is not a pattern", glob)
	}
	return re, nil
}

// MatchesTool reports whether a tool of one of the names is meant.
func (p ToolPattern) MatchesTool(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		ok, _ := path.Match(p.Tool, name)
		return ok
	})
}

// Arguments returns the paths of the arguments it depends on which calls are meant.
func (p ToolPattern) Arguments() []string {
	paths := make([]string, len(p.arguments))
	for i, a := range p.arguments {
		paths[i] = a.path
	}
	return paths
}

// Conditional reports whether it depends on the arguments which calls are meant.
func (p ToolPattern) Conditional() bool { return len(p.arguments) > 0 }

// MatchesArguments reports whether a call with those arguments is meant. A number
// is compared in plain digits, however it is written, and what else is no text in
// its JSON form; an argument that is not there matches nothing.
func (p ToolPattern) MatchesArguments(args json.RawMessage) bool {
	if len(p.arguments) == 0 {
		return true
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) != nil {
		return false
	}
	return !slices.ContainsFunc(p.arguments, func(a argumentPattern) bool {
		value, ok := argumentAt(object, a.path)
		return !ok || !a.matches(value)
	})
}

// argumentAt returns the value at a dotted path.
func argumentAt(object map[string]any, path string) (any, bool) {
	if value, ok := object[path]; ok {
		return value, true
	}
	first, rest, dotted := strings.Cut(path, ".")
	inner, isObject := object[first].(map[string]any)
	if !dotted || !isObject {
		return nil, false
	}
	return argumentAt(inner, rest)
}
