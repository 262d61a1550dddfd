package config

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// readCases reads a file of test cases by its extension: .csv and .jsonl (or
// .ndjson) hold a case a line, everything else is YAML. It returns nil after
// reporting why there is no tree.
//
// Variables are substituted in YAML alone: datasets are mostly exported, and a
// ${ in them is text.
func (l *loader) readCases(src *source) *node {
	var read func(*source, string) *node
	switch strings.ToLower(filepath.Ext(src.name)) {
	case ".csv":
		read = l.readCSV
	case ".jsonl", ".ndjson":
		read = l.readJSONL
	default:
		if isJSON(src.name) {
			if root := l.readLongJSON(src); root != nil {
				return root
			}
		}
		return l.readTree(src)
	}
	data, ok := readFile(src, src.name, MaxFileSize, &l.rep)
	if !ok {
		return nil
	}
	text, ok := decodeText(src, data, &l.rep)
	if !ok {
		return nil
	}
	return read(src, text)
}

// refuseAt reports an error at a place of a dataset and returns nil.
func (l *loader) refuseAt(src *source, line, col int, code, text, hint string) *node {
	l.rep.refuseAt(src, line, col, code, text, hint)
	return nil
}

// refuseAt reports an error at a place of a dataset.
func (r *report) refuseAt(src *source, line, col int, code, text, hint string) {
	r.add(Problem{Pos: Pos{File: src.name, Line: line, Column: col}, Severity: SeverityError, Code: code, Text: text, Hint: hint})
}

// readJSONL reads one JSON object a line; blank lines are passed over. The lines
// are kept as text and read one at a time.
func (l *loader) readJSONL(src *source, text string) *node {
	lines := &jsonLines{src: src, text: text}
	return l.measured(src, lines, &lines.count)
}

// measured reads long items once, reporting what is wrong with them, and counts
// them. It returns their list, or nil when something is wrong.
func (l *loader) measured(src *source, items longItems, count *int) *node {
	failed := false
	for i := range items.each(&l.rep) {
		failed = failed || i < 0
		*count++
	}
	if failed {
		return nil
	}
	return &node{kind: kindList, src: src, line: 1, col: 1, long: items}
}

// jsonLines are JSON values, one a line, that are kept as text.
type jsonLines struct {
	src   *source
	text  string
	count int
}

// length implements longItems.
func (j *jsonLines) length() int { return j.count }

// substitutes implements longItems.
func (*jsonLines) substitutes() bool { return false }

// each implements longItems. It goes on behind a line that cannot be read.
func (j *jsonLines) each(rep *report) iter.Seq2[int, *node] {
	return func(yield func(int, *node) bool) {
		number, n := 0, 0
		for line := range strings.Lines(j.text) {
			number++
			if strings.TrimSpace(line) == "" {
				continue
			}
			i := n
			item, err := parseJSON(j.src, line, number, 1)
			if err != nil {
				rep.refuseAt(j.src, number, 0, CodeSyntax, "is not a line of JSON: "+err.Error(), "each line is one test case, such as {\"input\": \"…\"}")
				i = -1
			}
			if !yield(i, item) {
				return
			}
			n++
		}
	}
}

// textPlace is a place in a text, and where that is in its file.
type textPlace struct{ offset, line, col int }

// advance returns the place of a byte of the text that is not before p.
func (p textPlace) advance(text string, offset int) textPlace {
	passed := text[p.offset:offset]
	if i := strings.LastIndexByte(passed, '\n'); i >= 0 {
		p.line += strings.Count(passed, "\n")
		p.col = 1
		passed = passed[i+1:]
	}
	return textPlace{offset: offset, line: p.line, col: p.col + utf8.RuneCountInString(passed)}
}

// skipBlank returns the offset, from at on, of what is neither blank nor a comma
// or colon.
func skipBlank(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n,:", text[at]) >= 0 {
		at++
	}
	return at
}

// parseJSON turns a JSON value that begins at a place of a file into a tree.
func parseJSON(src *source, text string, line, col int) (*node, error) {
	p := jsonParser{src: src, text: text, at: textPlace{line: line, col: col}, dec: json.NewDecoder(strings.NewReader(text))}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, p.explain(err)
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return n, nil
}

// jsonParser turns JSON tokens into nodes.
type jsonParser struct {
	src  *source
	text string
	at   textPlace // of the token that was looked at last
	dec  *json.Decoder
}

// explain rewords the errors of the decoder that speak of its own workings.
func (p *jsonParser) explain(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends before the value does")
	}
	return err
}

// next returns the place of the token that comes next.
func (p *jsonParser) next() (line, col int32) {
	p.at = p.at.advance(p.text, skipBlank(p.text, int(p.dec.InputOffset())))
	return int32(p.at.line), int32(p.at.col)
}

func (p *jsonParser) value(depth int) (*node, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("lists and mappings nest deeper than %d levels", MaxDepth)
	}
	n := &node{src: p.src}
	n.line, n.col = p.next()
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case nil:
		n.plain = true // kindNull
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(tok)
	case json.Number:
		n.kind, n.text = plainKind(tok.String()), tok.String()
	case string:
		n.kind, n.text = kindText, tok
	case json.Delim:
		if tok == '[' {
			n.kind = kindList
		} else {
			n.kind = kindMap
		}
		return n, p.members(n, depth)
	}
	return n, nil
}

// members reads what a list or a mapping holds, and its closing bracket.
func (p *jsonParser) members(n *node, depth int) error {
	for p.dec.More() {
		if n.kind == kindList {
			item, err := p.value(depth + 1)
			if err != nil {
				return err
			}
			n.items = append(n.items, item)
			continue
		}
		line, col := p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string) // the decoder allows no other key
		if n.get(key) != nil {
			return fmt.Errorf("the key %q stands there twice", key)
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{key: key, value: value, line: line, col: col})
	}
	_, err := p.dec.Token()
	return err
}

// varColumn is how a column begins that holds the value of a var.
const varColumn = "var_"

// readCSV reads one case a row. The first row names the keys of a case; a cell
// that is empty leaves its key out. Lists are separated by semicolons, and lists
// and mappings may be written as JSON. The rows are kept as text and read one at a
// time.
func (l *loader) readCSV(src *source, text string) *node {
	rows := &csvRows{src: src, text: text}
	r := rows.reader()
	header, err := r.Read()
	switch {
	case errors.Is(err, io.EOF):
		return &node{kind: kindList, src: src, line: 1, col: 1}
	case err != nil:
		l.rep.csvError(src, err)
		return nil
	}
	columns, ok := l.columns(src, r, header)
	if !ok {
		return nil
	}
	rows.columns = columns
	return l.measured(src, rows, &rows.count)
}

// csvRows are the rows of a CSV file behind the first, kept as text.
type csvRows struct {
	src     *source
	text    string
	columns []column
	count   int
}

func (c *csvRows) reader() *csv.Reader {
	r := csv.NewReader(strings.NewReader(c.text))
	r.ReuseRecord = true
	r.TrimLeadingSpace = true
	return r
}

// length implements longItems.
func (c *csvRows) length() int { return c.count }

// substitutes implements longItems.
func (*csvRows) substitutes() bool { return false }

// each implements longItems. It goes on behind a row with a cell that cannot be
// read, and ends where the text is no CSV.
func (c *csvRows) each(rep *report) iter.Seq2[int, *node] {
	return func(yield func(int, *node) bool) {
		r := c.reader()
		for n := -1; ; n++ { // the first row names the columns
			row, err := r.Read()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				rep.csvError(c.src, err)
				yield(-1, nil)
				return
			case n < 0:
				continue
			}
			i := n
			item, ok := rep.row(c.src, r, c.columns, row)
			if !ok {
				i = -1
			}
			if !yield(i, item) {
				return
			}
		}
	}
}

// csvError reports what the CSV reader could not read.
func (r *report) csvError(src *source, err error) {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		r.refuseAt(src, 0, 0, CodeSyntax, "is not CSV: "+err.Error(), "")
		return
	}
	hint := "a cell that holds a comma, a quote or a line end stands in double quotes, with its own quotes doubled"
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		hint = "every row has as many cells as the first; " + hint
	}
	r.refuseAt(src, parse.Line, parse.Column, CodeSyntax, "is not CSV: "+parse.Err.Error(), hint)
}

// column is a column of a CSV file.
type column struct {
	key   string // of the case, or the name of a var; "" is passed over
	isVar bool
	list  bool // the key holds a list
	split bool // which semicolons may separate
	deep  bool // which only JSON can say
}

// columns reads the names of the columns.
func (l *loader) columns(src *source, r *csv.Reader, header []string) ([]column, bool) {
	shape := l.shapes.of(reflect.TypeFor[TestCase]())
	ok := true
	columns := make([]column, len(header))
	seen := map[string]bool{}
	for i, name := range header {
		line, col := r.FieldPos(i)
		name = strings.TrimSpace(name)
		if seen[name] {
			l.refuseAt(src, line, col, CodeDuplicate, fmt.Sprintf("column %q stands there twice", name), "")
			ok = false
		}
		seen[name] = true
		if key, isVar := strings.CutPrefix(name, varColumn); isVar && key != "" {
			columns[i] = column{key: key, isVar: true}
			continue
		}
		if strings.HasPrefix(name, "x-") {
			continue
		}
		f := shape.field(name)
		if f == nil || name == "vars" {
			hint := didYouMean(name, shape.keys())
			if name == "vars" || hint == "" {
				hint = "columns are the keys of a test case; the value of a var {{x}} stands in a column var_x"
			}
			if strings.ContainsAny(name, ";\t") {
				hint = "columns are separated by commas"
			}
			l.refuseAt(src, line, col, CodeUnknownKey, fmt.Sprintf("unknown column %q", name), hint)
			ok = false
			continue
		}
		columns[i] = column{
			key:   name,
			list:  f.typ.Kind() == reflect.Slice,
			split: slices.Contains([]string{"expected_tools", "forbidden_tools", "tags"}, name),
			deep:  slices.Contains([]string{"turns", "evaluations", "files"}, name),
		}
	}
	return columns, ok
}

// row turns a row into a case.
func (r *report) row(src *source, cells *csv.Reader, columns []column, row []string) (*node, bool) {
	line, _ := cells.FieldPos(0)
	item := &node{kind: kindMap, src: src, line: int32(line), col: 1}
	var vars *node
	ok := true
	for i, cell := range row {
		c := columns[i]
		if c.key == "" || strings.TrimSpace(cell) == "" && !c.isVar {
			continue
		}
		line, col := cells.FieldPos(i)
		value, err := c.value(src, cell, line, col)
		if err != nil {
			r.refuseAt(src, line, col, CodeSyntax, fmt.Sprintf("column %s: %v", c.key, err), "")
			ok = false
			continue
		}
		f := field{key: c.key, value: value, line: int32(line), col: int32(col)}
		if !c.isVar {
			item.fields = append(item.fields, f)
			continue
		}
		if vars == nil {
			vars = &node{kind: kindMap, src: src, line: int32(line), col: int32(col)}
		}
		vars.fields = append(vars.fields, f)
	}
	if vars != nil {
		item.fields = append(item.fields, field{key: "vars", value: vars, line: vars.line, col: vars.col})
	}
	return item, ok
}

// value turns a cell into a value.
func (c column) value(src *source, cell string, line, col int) (*node, error) {
	text := func(s string) *node {
		return &node{kind: kindText, text: s, src: src, line: int32(line), col: int32(col)}
	}
	trimmed := strings.TrimSpace(cell)
	switch {
	case c.isVar:
		return &node{kind: scalarKind(trimmed), text: cell, src: src, line: int32(line), col: int32(col)}, nil
	case c.list && trimmed[0] == '[':
		n, err := parseJSON(src, trimmed, line, col)
		if err != nil {
			return nil, fmt.Errorf("the list is not JSON: %w", err)
		}
		return n, nil
	case c.deep:
		return nil, errors.New("write it as a JSON list, such as [{…}]")
	case c.list:
		list := &node{kind: kindList, src: src, line: int32(line), col: int32(col)}
		if !c.split {
			list.items = []*node{text(cell)}
			return list, nil
		}
		for entry := range strings.SplitSeq(cell, ";") {
			if entry = strings.TrimSpace(entry); entry != "" {
				list.items = append(list.items, text(entry))
			}
		}
		return list, nil
	}
	return text(cell), nil
}

// scalarKind returns what a cell is that stands for a value of any type.
func scalarKind(text string) kind {
	if k := plainKind(text); k != kindNull {
		return k
	}
	return kindText
}
