package config

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// The YAML parser needs about a hundred bytes for each byte of its text. A
// document with thousands of test cases is therefore parsed in pieces: the
// entries of its one long list some at a time, and the rest of it without
// them. What that would not read as the whole document does is read whole.
const (
	// splitFrom is the size from which a document is parsed in pieces, in bytes.
	splitFrom = 256 << 10
	// pieceSize is the size of a piece, in bytes.
	pieceSize = 16 << 10
)

// longList is the longest block sequence at the top of a document: the value
// of a top-level key, or the document itself.
type longList struct {
	key        string // "" when the list is the document
	keyLine    int    // 0-based
	begin, end int    // its bytes in the text
	line       int    // 0-based line of begin
	indent     int    // of its entries
}

// lineOf returns the line at the start of text without its line end, how far
// it is indented, and the offset of the next line.
func lineOf(text string) (line string, indent, next int) {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		line, next = text[:i], i+1
	} else {
		line, next = text, len(text)
	}
	return line, len(line) - len(strings.TrimLeft(line, " ")), next
}

// isEntry reports whether a line without its indentation begins an entry.
func isEntry(s string) bool { return s == "-" || strings.HasPrefix(s, "- ") }

// isVoid reports whether a line without its indentation holds nothing.
func isVoid(s string) bool { return s == "" || s[0] == '#' }

// findLongList returns the longest list at the top of the document.
func findLongList(text string) (longList, bool) {
	var best, open longList
	key, keyLine := "", -1 // the top-level key that the line before begins
	inList := false
	finish := func(end int) {
		if open.end = end; inList && open.end-open.begin > best.end-best.begin {
			best = open
		}
		inList = false
	}
	for pos, n := 0, 0; pos < len(text); n++ {
		line, indent, size := lineOf(text[pos:])
		content := line[indent:]
		switch {
		case isVoid(content):
		case inList && (indent > open.indent || indent == open.indent && isEntry(content)):
		case !inList && isEntry(content) && (keyLine >= 0 || n == 0 || onlyVoid(text[:pos], 1)):
			inList = true
			open = longList{key: key, keyLine: keyLine, begin: pos, line: n, indent: indent}
		default:
			finish(pos)
			key, keyLine = "", -1
			if name, rest, ok := strings.Cut(line, ":"); ok && indent == 0 && isVoid(strings.TrimLeft(rest, " ")) {
				key, keyLine = name, n
			}
		}
		pos += size
	}
	finish(len(text))
	return best, best.end > best.begin
}

// onlyVoid reports whether text is comments and blank lines, with at most the
// given number of marks of a document's start.
func onlyVoid(text string, marks int) bool {
	for text != "" {
		line, indent, next := lineOf(text)
		if !isVoid(line[indent:]) {
			if marks--; line != "---" || marks < 0 {
				return false
			}
		}
		text = text[next:]
	}
	return true
}

// parseSplit parses a document in pieces of the given size. It reports false
// when the document must be read whole, having reported nothing.
func parseSplit(src *source, text string, size int, rep *report) (*node, bool) {
	list, ok := findLongList(text)
	if !ok || list.end-list.begin < 2*size {
		return nil, false
	}
	trial := &report{}
	c := newConverter(src, trial)
	out := &node{kind: kindList, src: src, line: int32(list.line + 1), col: int32(list.indent + 1)}

	// The lines of the list become blank ones, so that the lines after it keep
	// their numbers. Anchors are converted in the order of the document.
	blank := bytes.Repeat([]byte{'\n'}, strings.Count(text[list.begin:list.end], "\n"))
	rest := text[:list.begin] + string(blank) + text[list.end:]
	var root *node
	if list.key == "" {
		if !onlyVoid(text[:list.begin], 1) || !onlyVoid(text[list.end:], 0) {
			return nil, false
		}
		root = out
	} else {
		after := text[list.end:]
		if strings.Contains(after, "&") {
			return nil, false // it may be an anchor, which must not be known in the list before it
		}
		if !onlyVoid(after, 0) && !isToolName(after[:1]) {
			return nil, false // no plain key follows, and what does may belong to the last entry
		}
		if root = c.document(rest); root == nil || root.kind != kindMap {
			return nil, false
		}
		if root = root.fill(list, out); root == nil {
			return nil, false
		}
	}
	long := &pieces{
		src: src, text: strings.Clone(text[list.begin:list.end]), line: list.line, indent: list.indent, size: size,
		anchors: c.anchors, sizes: c.sizes,
	}
	if !long.measure(trial) || c.failed {
		return nil, false
	}
	if list.key == "" || list.key == casesKey {
		out.long = long
	} else {
		for _, item := range long.each(&report{}) {
			out.items = append(out.items, item)
		}
	}
	for _, p := range trial.problems {
		rep.add(p)
	}
	return root, true
}

// fill returns the mapping with the list as the value of its key, or nil when
// the key does not stand where the list's does.
func (n *node) fill(list longList, value *node) *node {
	for i, f := range n.fields {
		if f.key == list.key && int(f.line) == list.keyLine+1 && f.value.kind == kindNull && f.value.text == "" {
			n.fields[i].value = value
			return n
		}
	}
	return nil
}

// pieceEnd returns the length of the entries at the start of text that make a
// piece, and how many lines they are.
func pieceEnd(text string, indent, size int) (end, lines int) {
	for end < len(text) {
		line, n, next := lineOf(text[end:])
		if end >= size && n == indent && isEntry(line[n:]) {
			break
		}
		end += next
		lines++
	}
	return end, lines
}

// document parses a text and converts it, or returns nil.
func (c *converter) document(text string) *node {
	file, err := parseText(text)
	if err != nil || len(file.Docs) != 1 {
		return nil
	}
	var body ast.Node = file.Docs[0].Body
	if body == nil {
		return nil
	}
	n, _ := c.node(body, 0)
	if c.failed {
		return nil
	}
	return n
}
