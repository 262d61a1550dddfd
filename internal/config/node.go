package config

import (
	"math"
	"strconv"
	"strings"
)

// Layer is where a value of the configuration comes from.
type Layer string

// The layers, in the order of precedence they have for the execution section.
const (
	LayerFlag        Layer = "flag"
	LayerAgent       Layer = "agent file"
	LayerProject     Layer = "project config"
	LayerUser        Layer = "user config"
	LayerEnvironment Layer = "environment"
	LayerDefault     Layer = "default"
)

// source is one text that configuration comes from: a file, or a flag or
// variable that stands for one.
type source struct {
	name  string // as messages show it
	dir   string // what relative paths in it are relative to
	home  string // what ~ stands for
	layer Layer
}

// kind is what a node is.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindFloat
	kindText
	kindList
	kindMap
)

// String says what a node of the kind is, for messages.
func (k kind) String() string {
	switch k {
	case kindNull:
		return "empty"
	case kindBool:
		return "a truth value"
	case kindInt, kindFloat:
		return "a number"
	case kindText:
		return "text"
	case kindList:
		return "a list"
	}
	return "a mapping"
}

// node is a value of a YAML tree. Nodes are shared by aliases and by merging
// and are never changed after their variables were substituted.
type node struct {
	kind   kind
	plain  bool      // a scalar without quotes
	text   string    // of a scalar, variables substituted; of a mapping that stands in for a name, that name
	items  []*node   // of a list, unless it is long
	long   longItems // of a list that is kept as text
	fields []field   // of a mapping, in file order
	secret bool      // must never be shown
	filled bool      // variables were substituted in the scalar

	refs *references // what the scalar says of variables and cannot have; nil: nothing

	src       *source
	line, col int32
}

// field is a key of a mapping and its value.
type field struct {
	key       string
	value     *node
	line, col int32 // of the key, in the value's source
}

// pos returns where the node stands.
func (n *node) pos() Pos {
	return Pos{File: n.src.name, Line: int(n.line), Column: int(n.col)}
}

// keyPos returns where the key stands.
func (f field) keyPos() Pos {
	return Pos{File: f.value.src.name, Line: int(f.line), Column: int(f.col)}
}

// get returns the value of a key of a mapping, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != kindMap {
		return nil
	}
	for _, f := range n.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// below returns the value that a dotted path leads to, or the last on the way.
func (n *node) below(path string) *node {
	for path != "" {
		var next *node
		rest := strings.TrimPrefix(path, ".")
		if index, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && rest[0] == '[' {
			if i, err := strconv.Atoi(index); err == nil && i >= 0 && n.kind == kindList && i < len(n.items) {
				next, path = n.items[i], after
			}
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			next, path = n.get(rest[:end]), rest[end:]
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// with returns a copy of the mapping in which key has the given value.
func (n *node) with(key string, value *node) *node {
	out := *n
	out.fields = make([]field, 0, len(n.fields)+1)
	found := false
	for _, f := range n.fields {
		if f.key == key {
			f = field{key: key, value: value, line: value.line, col: value.col}
			found = true
		}
		out.fields = append(out.fields, f)
	}
	if !found {
		out.fields = append(out.fields, field{key: key, value: value, line: value.line, col: value.col})
	}
	return &out
}

// without returns a copy of the mapping that lacks key.
func (n *node) without(key string) *node {
	out := *n
	out.fields = make([]field, 0, len(n.fields))
	for _, f := range n.fields {
		if f.key != key {
			out.fields = append(out.fields, f)
		}
	}
	return &out
}

// isText reports whether the node is text whose variables are all set.
func (n *node) isText() bool { return n != nil && n.kind == kindText && !n.unresolved() }

// unresolved reports whether a variable of the scalar is not set.
func (n *node) unresolved() bool { return n.refs != nil && len(n.refs.unset) > 0 }

// plainKind returns what a scalar without quotes is in the YAML 1.2 core
// schema (YAML 1.2.2, section 10.3.2).
func plainKind(text string) kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return kindNull
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return kindBool
	case ".nan", ".NaN", ".NAN":
		return kindFloat
	}
	switch c := text[0]; {
	case c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9':
	default:
		return kindText
	}
	if _, ok := parseInt(text); ok {
		return kindInt
	}
	if _, ok := parseFloat(text); ok {
		return kindFloat
	}
	return kindText
}

// parseInt reads an integer of the YAML 1.2 core schema. It reports false for
// other text and for integers beyond 64 bits.
func parseInt(text string) (int64, bool) {
	base, digits := 10, text
	switch {
	case strings.HasPrefix(text, "0x"):
		base, digits = 16, text[2:]
	case strings.HasPrefix(text, "0o"):
		base, digits = 8, text[2:]
	}
	if base != 10 && strings.ContainsAny(digits, "+-") {
		return 0, false
	}
	v, err := strconv.ParseInt(digits, base, 64)
	return v, err == nil
}

// parseFloat reads a number of the YAML 1.2 core schema.
func parseFloat(text string) (float64, bool) {
	switch strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-") {
	case ".inf", ".Inf", ".INF":
		return math.Inf(1 - 2*strings.Count(text[:1], "-")), true
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return 0, false // strconv also takes hexadecimal floats, underscores and words
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}
