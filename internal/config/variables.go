package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// environment is the variables that ${VAR} may name: the process environment
// first, then the .env files in their order.
type environment struct {
	layers []map[string]string
	// incomplete says that a .env file could not be read, which was reported: a
	// variable that is not set may stand in it.
	incomplete bool
}

// newEnvironment reads the process environment, given as KEY=VALUE entries,
// and the .env files of the folders, each folder once.
func newEnvironment(environ, folders []string, rep *report) *environment {
	process := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			process[name] = value
		}
	}
	env := &environment{layers: []map[string]string{process}}
	var done []string
	for _, dir := range folders {
		if dir == "" {
			continue
		}
		abs, err := filepath.Abs(dir)
		if err != nil || slices.Contains(done, abs) {
			continue
		}
		done = append(done, abs)
		values, ok := readDotenv(filepath.Join(dir, ".env"), rep)
		if values != nil {
			env.layers = append(env.layers, values)
		}
		env.incomplete = env.incomplete || !ok
	}
	return env
}

// readDotenv reads a .env file. A file that does not exist is nil. It reports
// false after reporting why there is none to be had from one that does.
func readDotenv(path string, rep *report) (map[string]string, bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, true
	case info.IsDir(): // a Python environment, more often than not
		rep.add(Problem{
			Pos: Pos{File: path}, Severity: SeverityWarning, Code: CodeNoEffect,
			Text: "is a folder, so no variables are read from it", Hint: "rename it, if a file of variables is meant to stand there",
		})
		return nil, true
	}
	data, ok := readFile(&source{name: path}, path, MaxFileSize, rep)
	if !ok {
		return nil, false
	}
	text, ok := decodeText(&source{name: path}, data, rep)
	if !ok {
		return nil, false
	}
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		// The error quotes the file, which holds secrets, so it is not shown.
		rep.add(Problem{
			Pos: Pos{File: path, Line: badDotenvLine(text)}, Severity: SeverityError, Code: CodeSyntax,
			Text: "is not a line of a .env file", Hint: "write one NAME=value a line, and close every quote",
		})
		return nil, false
	}
	return values, true
}

// longestValue is how many lines of a .env file are looked at for the end of
// one value.
const longestValue = 200

// badDotenvLine returns the first line, from 1, at which a .env file cannot be
// read on.
func badDotenvLine(text string) int {
	lines := strings.SplitAfter(text, "\n")
	for at := 0; at < len(lines); {
		n := 1 // lines of the assignment that begins here
		for ; n <= longestValue && at+n <= len(lines); n++ {
			if _, err := godotenv.Unmarshal(strings.Join(lines[at:at+n], "")); err == nil {
				break
			}
		}
		if n > longestValue || at+n > len(lines) {
			return at + 1
		}
		at += n
	}
	return 0
}

// lookup returns the value of a variable.
func (e *environment) lookup(name string) (string, bool) {
	for _, layer := range e.layers {
		if v, ok := layer[name]; ok {
			return v, true
		}
	}
	return "", false
}

// secrets returns the values of all variables whose names say that they are
// secret.
func (e *environment) secrets() []string {
	var out []string
	for _, layer := range e.layers {
		for name, value := range layer {
			if secretName(name) {
				out = append(out, value)
			}
		}
	}
	return out
}

// expansion is what substitution made of a text.
type expansion struct {
	text string
	used []string // variables whose values are in text
	references
}

// references is what a scalar says of variables and cannot have.
type references struct {
	unset []unsetVariable // variables without a value and without a default
	odd   []string        // what begins like a reference and is none
}

// unsetVariable is a variable without a value that the text needs.
type unsetVariable struct {
	name  string
	state string // "not set" or "empty"
	why   string // what ${NAME:?why} says, or ""
}

// expand substitutes the variables of a text. As in a shell:
//
//	${NAME}           its value
//	${NAME:-default}  its value, or default where it is not set or empty
//	${NAME:?message}  its value, and an error with the message where it is not
//	                  set or empty
//	$${               ${
//
// A default may hold references of its own. Whatever else begins with ${ is
// left as it is, and told.
func (e *environment) expand(text string) expansion {
	var out expansion
	out.text = e.expandInto(&out, text)
	return out
}

// expandInto returns the text expanded, and records in out what it met.
func (e *environment) expandInto(out *expansion, text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1])
			b.WriteString("${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		r, rest, ok := cutReference(text[i+2:])
		if !ok {
			out.odd = append(out.odd, oddReference(text[i:]))
			b.WriteString("${")
			text = text[i+2:]
			continue
		}
		value, set := e.lookup(r.name)
		switch {
		case set && (value != "" || r.form == plainReference):
			b.WriteString(value)
			out.used = append(out.used, r.name)
		case r.form == defaultReference:
			b.WriteString(e.expandInto(out, r.word))
		default:
			missing := unsetVariable{name: r.name, state: "not set", why: r.word}
			if set {
				missing.state = "empty"
			}
			out.unset = append(out.unset, missing)
			b.WriteString(text[i : len(text)-len(rest)])
		}
		text = rest
	}
}

// reference is a ${…}.
type reference struct {
	name string
	form referenceForm
	word string // the default, or the message
}

// referenceForm is what follows the name in a reference.
type referenceForm string

const (
	plainReference    referenceForm = ""
	defaultReference  referenceForm = ":-"
	requiredReference referenceForm = ":?"
)

// cutReference reads what stands after ${, to the brace that closes it.
func cutReference(s string) (r reference, rest string, ok bool) {
	i := 0
	for i < len(s) && (s[i] == '_' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 'a' && s[i] <= 'z' || i > 0 && s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i == 0 {
		return reference{}, "", false
	}
	r.name, s = s[:i], s[i:]
	if rest, ok := strings.CutPrefix(s, "}"); ok {
		return r, rest, true
	}
	for _, form := range []referenceForm{defaultReference, requiredReference} {
		word, ok := strings.CutPrefix(s, string(form))
		if !ok {
			continue
		}
		end := closingBrace(word)
		if end < 0 {
			break
		}
		r.form, r.word = form, word[:end]
		return r, word[end+1:], true
	}
	return reference{}, "", false
}

// closingBrace returns where the brace stands that closes a reference whose
// default or message s begins with, or -1. References in it have their own.
func closingBrace(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "$${"):
			i += len("$${") - 1
		case strings.HasPrefix(s[i:], "${"):
			depth++
			i++
		case s[i] == '}' && depth == 0:
			return i
		case s[i] == '}':
			depth--
		}
	}
	return -1
}

// oddReference returns the beginning of a text that starts with ${ as messages
// show it: to its brace, to the end of the line, or cut.
func oddReference(text string) string {
	const longest = 30
	line, _, _ := strings.Cut(text, "\n")
	if end := strings.IndexByte(line, '}'); end >= 0 {
		line = line[:end+1]
	}
	if runes := []rune(line); len(runes) > longest {
		line = string(runes[:longest]) + "…"
	}
	return line
}

// substitution substitutes the variables of a tree, in place, and finds its
// secrets.
type substitution struct {
	env     *environment
	seen    map[*node]bool
	secrets []string
}

// tree substitutes below n, which stands under the given key.
func (s *substitution) tree(n *node, key string) {
	if n == nil || s.seen[n] {
		return
	}
	switch n.kind {
	case kindMap:
		s.seen[n] = true
		for _, f := range n.fields {
			s.tree(f.value, f.key)
		}
	case kindList:
		s.seen[n] = true
		for _, item := range n.items {
			s.tree(item, key)
		}
		if isArguments(key) {
			s.arguments(n.items)
		}
	case kindText:
		if strings.Contains(n.text, "${") {
			s.seen[n] = true
			got := s.env.expand(n.text)
			n.text, n.filled = got.text, true
			if len(got.unset)+len(got.odd) > 0 {
				n.refs = &got.references
			}
			for _, name := range got.used {
				if secretName(name) {
					n.secret = true
					value, _ := s.env.lookup(name)
					s.secrets = append(s.secrets, value)
				}
			}
		}
		if n.unresolved() {
			return
		}
		if secretKey(key) {
			n.secret = true
			s.secrets = append(s.secrets, n.text)
		}
		s.secrets = append(s.secrets, credentials(n.text)...)
	case kindInt, kindFloat:
		if secretKey(key) {
			s.secrets = append(s.secrets, n.text)
		}
	}
}

// arguments finds the secrets of a command line.
func (s *substitution) arguments(items []*node) {
	next := false
	for _, item := range items {
		if !item.isText() {
			next = false
			continue
		}
		if next {
			item.secret = true
			s.secrets = append(s.secrets, item.text)
		}
		var value string
		value, next = argument(item.text)
		s.secrets = append(s.secrets, value)
	}
}

// unsetProblem reports a scalar whose variables are not set.
func unsetProblem(n *node, path string, sev Severity) Problem {
	var names, demands []string
	for _, v := range n.refs.unset {
		switch {
		case v.why != "" || v.state != "not set":
			demands = append(demands, strings.TrimSuffix(fmt.Sprintf("variable %s is %s: %s", v.name, v.state, v.why), ": "))
		case !slices.Contains(names, v.name):
			names = append(names, v.name)
		}
	}
	hint := "set it in the environment or in a .env file beside the agent file"
	switch len(names) {
	case 0:
	case 1:
		demands = slices.Insert(demands, 0, fmt.Sprintf("variable %s is not set", names[0]))
	default:
		demands = slices.Insert(demands, 0, fmt.Sprintf("variables %s are not set", strings.Join(names, ", ")))
	}
	if len(names) > 0 {
		hint += fmt.Sprintf(", or write ${%s:-default}", names[0])
	}
	return Problem{
		Path: path, Pos: n.pos(), Severity: sev, Code: CodeVariable, Text: strings.Join(demands, "; "), Hint: hint,
	}
}

// oddProblem reports what looks like a reference to a variable and is none.
func oddProblem(n *node, path string) Problem {
	return Problem{
		Path: path, Pos: n.pos(), Severity: SeverityWarning, Code: CodeVariable,
		Text: fmt.Sprintf("%s is left as it is: that is not how a variable is written", strings.Join(n.refs.odd, ", ")),
		Hint: "write ${NAME}, ${NAME:-default} or ${NAME:?message}; $${ stands for ${",
	}
}
