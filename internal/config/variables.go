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
		if values := readDotenv(filepath.Join(dir, ".env"), rep); values != nil {
			env.layers = append(env.layers, values)
		}
	}
	return env
}

// readDotenv reads a .env file. A file that does not exist is nil.
func readDotenv(path string, rep *report) map[string]string {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil // a folder called .env is a Python environment, not settings
	}
	data, ok := readFile(&source{name: path}, path, MaxFileSize, rep)
	if !ok {
		return nil
	}
	text, ok := decodeText(&source{name: path}, data, rep)
	if !ok {
		return nil
	}
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		// The error quotes the file, which holds secrets, so it is not shown.
		rep.add(Problem{
			Pos: Pos{File: path}, Severity: SeverityError, Code: CodeSyntax,
			Text: "is not a .env file", Hint: "write one NAME=value a line, and close every quote",
		})
		return nil
	}
	return values
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
	text    string
	used    []string // variables whose values are in text
	missing []string // variables that are not set and have no default
}

// expand substitutes ${NAME} and ${NAME:-default} in text; $${ stands for ${.
// As in a shell, the default counts when the variable is empty, too. Any other
// use of $ is left as it is.
func (e *environment) expand(text string) expansion {
	var out expansion
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			break
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1])
			b.WriteString("${")
			text = text[i+2:]
			continue
		}
		name, fallback, hasFallback, rest, ok := cutReference(text[i+2:])
		if !ok {
			b.WriteString(text[:i+2])
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		value, set := e.lookup(name)
		switch {
		case set && (value != "" || !hasFallback):
			b.WriteString(value)
			out.used = append(out.used, name)
		case hasFallback:
			b.WriteString(fallback)
		default:
			b.WriteString(text[i : len(text)-len(rest)])
			out.missing = append(out.missing, name)
		}
		text = rest
	}
	out.text = b.String()
	return out
}

// cutReference reads NAME} or NAME:-default} at the start of s.
func cutReference(s string) (name, fallback string, hasFallback bool, rest string, ok bool) {
	i := 0
	for i < len(s) && (s[i] == '_' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 'a' && s[i] <= 'z' || i > 0 && s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i == 0 {
		return "", "", false, "", false
	}
	name, s = s[:i], s[i:]
	if strings.HasPrefix(s, "}") {
		return name, "", false, s[1:], true
	}
	if s, ok = strings.CutPrefix(s, ":-"); ok {
		if fallback, rest, ok = strings.Cut(s, "}"); ok {
			return name, fallback, true, rest, true
		}
	}
	return "", "", false, "", false
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
			n.text, n.filled, n.unset = got.text, true, got.missing
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
	names := make([]string, 0, len(n.unset))
	for _, name := range n.unset {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := fmt.Sprintf("variable %s is not set", names[0])
	if len(names) > 1 {
		text = fmt.Sprintf("variables %s are not set", strings.Join(names, ", "))
	}
	return Problem{
		Path: path, Pos: n.pos(), Severity: sev, Code: CodeVariable, Text: text,
		Hint: fmt.Sprintf("set it in the environment or in a .env file beside the agent file, or write ${%s:-default}", names[0]),
	}
}
