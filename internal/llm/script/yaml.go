package script

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxFileBytes is the largest script file that is read.
const MaxFileBytes = 4 << 20

// maxDepth bounds how deep a script file nests; a rule needs six levels, and
// the arguments of a call may need some more.
const maxDepth = 100

// ParseYAML reads the rules of a script file: a YAML document that is a list of
// rules. Problems carry their place in the file.
func ParseYAML(data []byte) (Script, []Problem) {
	root, problem := parseDocument(data)
	if problem != nil {
		return Script{}, []Problem{*problem}
	}
	r := yamlReader{places: map[string]place{}}
	v := r.value(root, "", 0)
	if len(r.problems) > 0 {
		return Script{}, r.problems
	}
	rules, ok := v.([]any)
	if !ok {
		return Script{}, []Problem{{
			Line: 1, Column: 1, Text: "is " + describe(v) + ", want a list of rules", Hint: "such as - do: [{text: Hello}]",
		}}
	}
	s, problems := Parse(rules)
	for i, p := range problems {
		at := r.places[p.Path]
		problems[i].Line, problems[i].Column = at.line, at.column
	}
	return s, problems
}

// parseDocument returns the one document of a YAML file.
func parseDocument(data []byte) (root ast.Node, problem *Problem) {
	// The parser asserts; a file comes from outside and must not end the process.
	defer func() {
		if p := recover(); p != nil {
			root, problem = nil, &Problem{Text: fmt.Sprintf("not YAML: %v", p)}
		}
	}()
	if len(data) > MaxFileBytes {
		return nil, &Problem{Text: fmt.Sprintf("is larger than %d bytes", MaxFileBytes), Hint: "split the cases over several agents"}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		p := &Problem{Text: "not YAML: " + err.Error()}
		if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			p.Text = "not YAML: " + syntax.Message
			p.Line, p.Column = syntax.Token.Position.Line, syntax.Token.Position.Column
		}
		return nil, p
	}
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil && d.Body.Type() != ast.DirectiveType && d.Body.Type() != ast.CommentType {
			docs = append(docs, d.Body)
		}
	}
	switch len(docs) {
	case 0:
		return nil, &Problem{Text: "holds no rules", Hint: "add one, such as - do: [{text: Hello}]"}
	case 1:
		return docs[0], nil
	}
	at := docs[1].GetToken().Position
	return nil, &Problem{Line: at.Line, Column: at.Column, Text: "a second document begins here", Hint: "a script file is one list"}
}

type place struct{ line, column int }

// yamlReader turns a YAML tree into plain values and notes where each stood.
type yamlReader struct {
	places   map[string]place // by path as in Problem
	problems []Problem
}

func (r *yamlReader) problem(n ast.Node, path, hint, format string, args ...any) {
	at := positionOf(n)
	r.problems = append(r.problems, Problem{
		Path: path, Line: at.line, Column: at.column, Text: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func positionOf(n ast.Node) place {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, t.Position.Column}
	}
	return place{}
}

// value returns what n says as nil, bool, int64, uint64, float64, string,
// []any or map[string]any.
func (r *yamlReader) value(n ast.Node, path string, depth int) any {
	r.places[path] = positionOf(n)
	if depth > maxDepth {
		r.problem(n, path, "", "is nested more than %d levels deep", maxDepth)
		return nil
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.InfinityNode:
		return n.Value
	case *ast.NanNode:
		return n.GetValue()
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		if n.Value == nil {
			return ""
		}
		return n.Value.Value
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for i, item := range n.Values {
			list = append(list, r.value(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
		return list
	case *ast.MappingNode:
		m := make(map[string]any, len(n.Values))
		for _, kv := range n.Values {
			r.entry(m, kv, path, depth)
		}
		return m
	case *ast.MappingValueNode:
		m := map[string]any{}
		r.entry(m, n, path, depth)
		return m
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		r.problem(n, path, "write the value out", "anchors and aliases are not read in a script file")
		return nil
	case *ast.TagNode:
		r.problem(n, path, "remove the tag", "tags are not read in a script file")
		return nil
	}
	r.problem(n, path, "", "%s is not read in a script file", n.Type())
	return nil
}

func (r *yamlReader) entry(m map[string]any, kv *ast.MappingValueNode, path string, depth int) {
	var key string
	switch k := kv.Key.(type) {
	case *ast.StringNode:
		key = k.Value
	case *ast.MergeKeyNode:
		r.problem(k, path, "write the value out", "anchors and aliases are not read in a script file")
		return
	case *ast.MappingKeyNode:
		r.problem(k, path, "write key: value", "keys with ? are not read in a script file")
		return
	default:
		// A number or a word such as null: as a key it is its text.
		key = k.String()
	}
	at := path + "." + key
	if path == "" {
		at = key
	}
	m[key] = r.value(kv.Value, at, depth+1)
	r.places[at] = positionOf(kv.Key)
}
