package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a YAML document. They are far above what a person writes, and keep
// a hostile file from costing more than a moment.
const (
	// MaxFileSize is the largest configuration file that is read, in bytes.
	MaxFileSize = 16 << 20
	// MaxDepth is how deep lists and mappings may nest.
	MaxDepth = 100
	// MaxAliased is how many values the aliases of a document may stand for
	// in all.
	MaxAliased = 500_000
)

// parseYAML reads a document into a tree. It returns nil when the text is not
// one YAML document, after reporting why; a document without content is a node
// of kindNull.
func parseYAML(src *source, data []byte, rep *report) *node {
	text, ok := decodeText(src, data, rep)
	if !ok {
		return nil
	}
	if len(text) >= splitFrom {
		if root, ok := parseSplit(src, text, pieceSize, rep); ok {
			return root
		}
	}
	file, err := parseText(text)
	if err != nil {
		rep.add(syntaxProblem(src, err))
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); directive || doc.Body == nil {
			continue
		}
		if body != nil {
			rep.add(Problem{
				Pos: position(src, doc.Body), Severity: SeverityError, Code: CodeSyntax,
				Text: "a second YAML document begins here, and only one is read",
				Hint: "remove the --- line, or put it in a file of its own",
			})
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		return &node{kind: kindNull, plain: true, src: src, line: 1, col: 1}
	}
	c := newConverter(src, rep)
	n, _ := c.node(body, 0)
	if c.failed {
		return nil
	}
	return n
}

// decodeText checks that data is text in UTF-8 and returns it with line ends
// made alike and without a byte order mark.
func decodeText(src *source, data []byte, rep *report) (string, bool) {
	refuse := func(offset int, text, hint string) (string, bool) {
		p := Problem{Pos: Pos{File: src.name}, Severity: SeverityError, Code: CodeSyntax, Text: text, Hint: hint}
		if offset >= 0 {
			before := data[:offset]
			p.Pos.Line = bytes.Count(before, []byte("\n")) + 1
			p.Pos.Column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		}
		rep.add(p)
		return "", false
	}
	if len(data) > MaxFileSize {
		return refuse(-1, fmt.Sprintf("is %d MiB large, and at most %d MiB are read", len(data)>>20, MaxFileSize>>20), "is this the right file?")
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return refuse(-1, "is UTF-16 text", "save it as UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return refuse(i, "holds a NUL byte, so it is not a text file", "is this the right file?")
	}
	if !utf8.Valid(data) {
		i := 0
		for {
			r, size := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && size <= 1 {
				break
			}
			i += size
		}
		return refuse(i, fmt.Sprintf("byte 0x%02x is not UTF-8", data[i]), "save the file as UTF-8")
	}
	if bytes.IndexByte(data, '\r') < 0 {
		return string(data), true
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), true
}

// parseText runs the YAML parser behind the guards it needs: nesting is
// bounded before it recurses, and a panic becomes an error.
func parseText(text string) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the YAML parser failed: %v", r)
		}
	}()
	tokens := lexer.Tokenize(text)
	if tk := tooDeep(tokens); tk != nil {
		return nil, &nestingError{tk}
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// tooDeep returns the token at which nesting within a line or a flow value
// passes MaxDepth, or nil. Nesting by indentation is bounded by the size of
// the file and checked when the tree is built.
func tooDeep(tokens token.Tokens) *token.Token {
	flow, line, entries := 0, 0, 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			if tk.Position.Line != line {
				line, entries = tk.Position.Line, 0
			}
			entries++
		}
		if flow > MaxDepth || entries > MaxDepth {
			return tk
		}
	}
	return nil
}

// nestingError says that a document nests too deep to be parsed.
type nestingError struct{ at *token.Token }

// Error implements error.
func (e *nestingError) Error() string { return e.GetMessage() }

// GetMessage returns the message without a position.
func (e *nestingError) GetMessage() string {
	return fmt.Sprintf("lists and mappings nest deeper than %d levels", MaxDepth)
}

// GetToken returns where it happened.
func (e *nestingError) GetToken() *token.Token { return e.at }

// syntaxProblem turns an error of the YAML parser into a problem.
func syntaxProblem(src *source, err error) Problem {
	p := Problem{Pos: Pos{File: src.name}, Severity: SeverityError, Code: CodeSyntax}
	located, ok := err.(interface {
		GetMessage() string
		GetToken() *token.Token
	})
	if !ok {
		p.Text = "is not valid YAML: " + firstLine(err.Error())
		return p
	}
	p.Text = "is not valid YAML: " + firstLine(located.GetMessage())
	if tk := located.GetToken(); tk != nil && tk.Position != nil {
		p.Pos.Line, p.Pos.Column = tk.Position.Line, tk.Position.Column
	}
	switch msg := located.GetMessage(); {
	case strings.Contains(msg, "tab character"), strings.Contains(msg, "'\t'"):
		p.Hint = "indent with spaces, not tabs"
	case strings.Contains(msg, "mapping value is not allowed"):
		p.Hint = `a value that contains ": " must be in quotes`
	case strings.Contains(msg, "cannot start any token"), strings.Contains(msg, "not valid YAML"):
		p.Hint = "put the value in quotes"
	case strings.Contains(msg, "quoted text"):
		p.Hint = "close the quotes"
	}
	return p
}

// firstLine returns s up to its first line end.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}

// position returns where an AST node stands; a block mapping stands at its
// first key.
func position(src *source, n ast.Node) Pos {
	p := Pos{File: src.name}
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			n = v.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = v.Key
	}
	if n != nil {
		if tk := n.GetToken(); tk != nil && tk.Position != nil {
			p.Line, p.Column = tk.Position.Line, tk.Position.Column
		}
	}
	return p
}

// converter turns an AST into a tree of nodes: aliases resolved, merge keys
// applied, duplicate keys reported.
type converter struct {
	src     *source
	rep     *report
	anchors map[string]*node
	sizes   map[*node]int   // values below a node that an anchor names
	open    map[string]bool // anchors whose value is being converted
	aliased int             // values that aliases stand for so far
	failed  bool            // a problem after which the tree is not complete
	line    int             // lines before the text that is being converted
}

func newConverter(src *source, rep *report) *converter {
	return &converter{src: src, rep: rep, anchors: map[string]*node{}, sizes: map[*node]int{}, open: map[string]bool{}}
}

// position returns where an AST node stands in the file.
func (c *converter) position(n ast.Node) Pos {
	p := position(c.src, n)
	if p.Line > 0 {
		p.Line += c.line
	}
	return p
}

// refuse reports a problem that leaves the tree incomplete.
func (c *converter) refuse(at ast.Node, code, text, hint string) {
	c.failed = true
	c.rep.add(Problem{Pos: c.position(at), Severity: SeverityError, Code: code, Text: text, Hint: hint})
}

// node converts n and returns the tree and how many values it holds.
func (c *converter) node(n ast.Node, depth int) (*node, int) {
	if depth > MaxDepth {
		if !c.failed {
			c.refuse(n, CodeSyntax, fmt.Sprintf("lists and mappings nest deeper than %d levels here", MaxDepth), "")
		}
		return c.scalar(n, "", kindNull, true), 1
	}
	switch v := n.(type) {
	case nil:
		return &node{kind: kindNull, plain: true, src: c.src, line: 1, col: 1}, 1
	case *ast.MappingNode:
		return c.mapping(n, v.Values, depth)
	case *ast.MappingValueNode:
		return c.mapping(n, []*ast.MappingValueNode{v}, depth)
	case *ast.SequenceNode:
		out := c.scalar(n, "", kindList, false)
		out.items = make([]*node, 0, len(v.Values))
		size := 1
		for _, item := range v.Values {
			if p := c.position(item); !v.IsFlowStyle && p.Line > 0 && p.Column <= int(out.col) && !isNull(item) {
				// The parser takes the key after an entry without a value for a
				// part of that entry.
				c.refuse(item, CodeSyntax, "the list entry before this has no value", "give it one, or remove it")
				return out, size
			}
			child, s := c.node(item, depth+1)
			out.items = append(out.items, child)
			size += s
		}
		return out, size
	case *ast.AnchorNode:
		return c.anchor(v, depth)
	case *ast.AliasNode:
		return c.alias(v)
	case *ast.TagNode:
		return c.tag(v, depth)
	case *ast.LiteralNode:
		return c.scalar(n, v.Value.Value, kindText, false), 1
	case *ast.StringNode:
		switch v.Token.Type {
		case token.SingleQuoteType, token.DoubleQuoteType:
			return c.scalar(n, v.Value, kindText, false), 1
		}
		return c.scalar(n, v.Value, plainKind(v.Value), true), 1
	case *ast.NullNode:
		return c.scalar(n, "", kindNull, true), 1
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode, *ast.MergeKeyNode:
		text := n.GetToken().Value
		return c.scalar(n, text, plainKind(text), true), 1
	}
	c.refuse(n, CodeSyntax, fmt.Sprintf("a YAML %s is not understood here", strings.ToLower(n.Type().YAMLName())), "write a plain value, list or mapping")
	return c.scalar(n, "", kindNull, true), 1
}

// isNull reports whether a value is absent or null.
func isNull(n ast.Node) bool {
	_, ok := n.(*ast.NullNode)
	return n == nil || ok
}

// scalar returns a node at the place of n.
func (c *converter) scalar(n ast.Node, text string, k kind, plain bool) *node {
	p := c.position(n)
	return &node{kind: k, plain: plain, text: text, src: c.src, line: int32(p.Line), col: int32(p.Column)}
}

// mapping converts the pairs of a mapping.
func (c *converter) mapping(n ast.Node, pairs []*ast.MappingValueNode, depth int) (*node, int) {
	out := c.scalar(n, "", kindMap, false)
	out.fields = make([]field, 0, len(pairs))
	index := make(map[string]int, len(pairs))
	var merges []*ast.MappingValueNode
	size := 1
	for _, pair := range pairs {
		if _, ok := pair.Key.(*ast.MergeKeyNode); ok {
			merges = append(merges, pair)
			continue
		}
		key, ok := c.key(pair.Key)
		value, s := c.node(pair.Value, depth+1)
		size += s
		if !ok {
			continue
		}
		at := c.position(pair.Key)
		if first, dup := index[key]; dup {
			c.rep.add(Problem{
				Pos: at, Severity: SeverityError, Code: CodeDuplicate,
				Text: fmt.Sprintf("key %q is given twice, first at %s", key, out.fields[first].keyPos()),
				Hint: "keep one of them",
			})
			continue
		}
		index[key] = len(out.fields)
		out.fields = append(out.fields, field{key: key, value: value, line: int32(at.Line), col: int32(at.Column)})
	}
	for _, pair := range merges {
		value, s := c.node(pair.Value, depth+1)
		size += s
		from := []*node{value}
		if value.kind == kindList {
			from = value.items
		}
		for _, m := range from {
			if m.kind != kindMap {
				if !c.failed {
					c.refuse(pair.Value, CodeType, fmt.Sprintf("<< merges mappings, and this is %s", m.kind), "name an anchor of a mapping")
				}
				continue
			}
			for _, f := range m.fields {
				if _, ok := index[f.key]; !ok {
					index[f.key] = len(out.fields)
					out.fields = append(out.fields, f)
				}
			}
		}
	}
	return out, size
}

// key returns the text of a mapping key.
func (c *converter) key(n ast.Node) (string, bool) {
	if k, ok := n.(*ast.MappingKeyNode); ok {
		n = k.Value
	}
	if n == nil {
		return "", false
	}
	value, _ := c.node(n, 0)
	if value.kind == kindList || value.kind == kindMap || value.text == "" {
		if !c.failed {
			c.refuse(n, CodeSyntax, "a key must be text", "")
		}
		return "", false
	}
	return value.text, true
}

// anchor converts a value that aliases may name.
func (c *converter) anchor(v *ast.AnchorNode, depth int) (*node, int) {
	name := v.Name.GetToken().Value
	c.open[name] = true
	value, size := c.node(v.Value, depth+1)
	delete(c.open, name)
	c.anchors[name] = value
	c.sizes[value] = size
	return value, size
}

// alias returns the value an alias names. The node is shared, never copied.
func (c *converter) alias(v *ast.AliasNode) (*node, int) {
	name := v.Value.GetToken().Value
	if c.open[name] {
		c.refuse(v, CodeSyntax, fmt.Sprintf("alias *%s stands inside the value it names", name), "an alias may only name a value that ends before it")
		return c.scalar(v, "", kindNull, true), 1
	}
	value, ok := c.anchors[name]
	if !ok {
		c.refuse(v, CodeReference, fmt.Sprintf("alias *%s names no anchor before it", name), "")
		return c.scalar(v, "", kindNull, true), 1
	}
	size := c.sizes[value]
	if c.aliased += size; c.aliased > MaxAliased {
		if c.aliased-size <= MaxAliased {
			c.refuse(v, CodeSyntax, fmt.Sprintf("the aliases up to *%s stand for more than %d values", name, MaxAliased), "write the values out, or in files of their own")
		}
		return c.scalar(v, "", kindNull, true), 1
	}
	return value, size
}

// tag converts a value with a type tag. The tags of the core schema are known.
func (c *converter) tag(v *ast.TagNode, depth int) (*node, int) {
	value, size := c.node(v.Value, depth+1)
	wrong := func() (*node, int) {
		if !c.failed {
			c.refuse(v, CodeType, fmt.Sprintf("the value is not what its tag %s says", v.Start.Value), "remove the tag")
		}
		return value, size
	}
	scalar := value.kind != kindList && value.kind != kindMap
	tagged := *value
	switch v.Start.Value {
	case "!!str", "!":
		if !scalar {
			return wrong()
		}
		tagged.kind = kindText
	case "!!int", "!!float", "!!bool", "!!null":
		want := map[string]kind{"!!int": kindInt, "!!float": kindFloat, "!!bool": kindBool, "!!null": kindNull}[v.Start.Value]
		got := plainKind(value.text)
		if !scalar || got != want && (want != kindFloat || got != kindInt) {
			return wrong()
		}
		tagged.kind = want
	case "!!seq":
		if value.kind != kindList {
			return wrong()
		}
	case "!!map":
		if value.kind != kindMap {
			return wrong()
		}
	default:
		if !c.failed {
			c.refuse(v, CodeUnsupported, fmt.Sprintf("tag %s is not known", v.Start.Value), "remove the tag")
		}
	}
	return &tagged, size
}
