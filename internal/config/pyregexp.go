package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// CheckPattern reports whether pattern is a regular expression in the syntax of
// Python's re module, which agent files use. A pattern that RE2 refuses may
// still be one: look-around, back-references, atomic groups, possessive
// repeats and conditions are accepted, and everything around them is checked.
func CheckPattern(pattern string) error {
	_, err := regexp.Compile(pattern)
	if err == nil {
		return nil
	}
	rewritten, rewriteErr := withoutBacktracking(pattern)
	if rewriteErr != nil {
		return rewriteErr
	}
	if rewritten != pattern {
		_, err = regexp.Compile(rewritten)
	}
	return rewordPattern(err, pattern)
}

// rewordPattern says what is wrong with a pattern, and where in it when that is
// not all of it.
func rewordPattern(err error, pattern string) error {
	found, ok := errors.AsType[*syntax.Error](err)
	switch {
	case !ok:
		return err
	case found.Expr == pattern || !strings.Contains(pattern, found.Expr): // the latter is of the rewritten one
		return errors.New(found.Code.String())
	}
	return fmt.Errorf("%s: %s", found.Code, found.Expr)
}

// withoutBacktracking rewrites what only a backtracking engine understands to
// something of the same shape that RE2 compiles.
func withoutBacktracking(p string) (string, error) {
	var b strings.Builder
	groups, reference := 0, 0
	quantified := false // the last thing written was a repeat
	for p != "" {
		wasQuantified := quantified
		quantified = false
		switch c := p[0]; {
		case c == '\\':
			text, ref, rest := rewriteEscape(p)
			b.WriteString(text)
			reference = max(reference, ref)
			p = rest
		case c == '[':
			class, rest := cutClass(p)
			b.WriteString(class)
			p = rest
		case c == '(':
			text, capture, rest, err := rewriteGroup(p)
			if err != nil {
				return "", err
			}
			if capture {
				groups++
			}
			b.WriteString(text)
			p = rest
		case c == '+' && wasQuantified: // a possessive repeat
			p = p[1:]
		case c == '*' || c == '+' || c == '?':
			b.WriteByte(c)
			p, quantified = p[1:], !(c == '?' && wasQuantified)
		case c == '{':
			text, rest, err := rewriteCount(p)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			quantified = len(p)-len(rest) > 1
			p = rest
		default:
			b.WriteByte(c)
			p = p[1:]
		}
	}
	if reference > groups {
		return "", fmt.Errorf("invalid group reference \\%d: there are %d groups", reference, groups)
	}
	return b.String(), nil
}

// rewriteEscape rewrites the escape at the start of p, which may be a
// reference to a group.
func rewriteEscape(p string) (text string, reference int, rest string) {
	if len(p) < 2 {
		return p, 0, ""
	}
	switch c := p[1]; {
	case c >= '1' && c <= '9':
		end := 2
		if end < len(p) && p[end] >= '0' && p[end] <= '9' {
			end++
		}
		reference, _ = strconv.Atoi(p[1:end])
		return "(?:)", reference, p[end:]
	case c == 'Z':
		return `\z`, 0, p[2:]
	case c == 'u' && len(p) >= 6:
		return `\x{` + p[2:6] + `}`, 0, p[6:]
	case c == 'U' && len(p) >= 10:
		return `\x{` + p[2:10] + `}`, 0, p[10:]
	}
	return p[:2], 0, p[2:]
}

// cutClass returns the character class at the start of p with its escapes
// rewritten, and the rest.
func cutClass(p string) (class, rest string) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if i < len(p) && p[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(p); first = false {
		switch {
		case p[i] == ']' && !first:
			b.WriteByte(']')
			return b.String(), p[i+1:]
		case strings.HasPrefix(p[i:], `\b`):
			b.WriteString(`\x08`)
			i += 2
		case p[i] == '\\':
			text, _, after := rewriteEscape(p[i:])
			b.WriteString(text)
			i = len(p) - len(after)
		default:
			b.WriteByte(p[i])
			i++
		}
	}
	return b.String(), ""
}

// rewriteGroup rewrites the opening of the group at the start of p.
func rewriteGroup(p string) (text string, capture bool, rest string, err error) {
	if !strings.HasPrefix(p, "(?") {
		return "(", true, p[1:], nil
	}
	for _, opening := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if rest, ok := strings.CutPrefix(p, opening); ok {
			return "(?:", false, rest, nil
		}
	}
	switch {
	case strings.HasPrefix(p, "(?P<"), strings.HasPrefix(p, "(?:"):
		return p[:3], p[2] == 'P', p[3:], nil
	case strings.HasPrefix(p, "(?P="), strings.HasPrefix(p, "(?#"), strings.HasPrefix(p, "(?("):
		_, rest, ok := strings.Cut(p, ")")
		if !ok {
			return "", false, "", fmt.Errorf("missing closing ) in %q", p)
		}
		if p[2] == '(' {
			return "(?:", false, rest, nil // a condition: its branches follow
		}
		return "(?:)", false, rest, nil
	}
	end := strings.IndexAny(p, ":)")
	if end < 0 {
		return "", false, "", fmt.Errorf("missing closing ) in %q", p)
	}
	flags := strings.Map(func(r rune) rune {
		if strings.ContainsRune("aLux", r) {
			return -1 // flags of Python that RE2 lacks
		}
		return r
	}, p[2:end])
	if flags == "" || flags == "-" {
		return "(?:" + strings.TrimPrefix(p[end:end+1], ":"), false, p[end+1:], nil
	}
	return "(?" + flags + p[end:end+1], false, p[end+1:], nil
}

// rewriteCount rewrites the repeat {m,n} at the start of p with small numbers,
// since RE2 bounds them. Braces that are no repeat are literal.
func rewriteCount(p string) (text, rest string, err error) {
	body, rest, ok := strings.Cut(p[1:], "}")
	low, high, ranged := strings.Cut(body, ",")
	if !ok || strings.Trim(low+high, "0123456789") != "" || low+high == "" {
		return `\{`, p[1:], nil
	}
	m, n := 0, 0
	if low != "" {
		if m, err = strconv.Atoi(low); err != nil {
			return "", "", fmt.Errorf("repeat count %s is too large", low)
		}
	}
	if high != "" {
		if n, err = strconv.Atoi(high); err != nil {
			return "", "", fmt.Errorf("repeat count %s is too large", high)
		}
		if n < m {
			return "", "", fmt.Errorf("repeat {%s} has its bounds the wrong way round", body)
		}
	}
	if !ranged {
		return "{1}", rest, nil
	}
	return "{1,2}", rest, nil
}
