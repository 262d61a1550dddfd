package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Table is the records of a file.
type Table struct {
	// Fields are the names that any record has, in order of appearance.
	Fields  []string
	Records []Record
}

// Record is one record of a file.
type Record struct {
	// Where says which record it is, such as "record 3" or "line 7".
	Where string
	// Fields are in the order of the file. Names are unique. A row that ends
	// early lacks its last fields.
	Fields []Field
}

// Field is a named value of a record.
type Field struct {
	Name  string
	Value string
	// Null says that there is no value.
	Null bool
}

// Field returns the record's field of that name, a null one when there is none.
func (r Record) Field(name string) Field {
	for _, f := range r.Fields {
		if f.Name == name {
			return f
		}
	}
	return Field{Name: name, Null: true}
}

// RecordOptions says how records are read.
type RecordOptions struct {
	Options
	// Path is the dotted path of keys to the records inside a .json document
	// or a .jsonl line; lists on the way are walked. Empty means that the
	// document is the list of records, or the line the record.
	Path string
	// RecordPrefix is put before the names of a record's own fields.
	RecordPrefix string
	// MetaPrefix is put before the names of the fields of the objects around a
	// record that Path leads to. Where names are alike the nearest wins.
	MetaPrefix string
}

// Records returns the records of a file. The extension says what data is. A
// file without records is an error.
func Records(extension string, data []byte, opts RecordOptions) (Table, error) {
	if err := CheckRecords(extension, opts); err != nil {
		return Table{}, err
	}
	text, err := Text(data)
	if err != nil {
		return Table{}, err
	}
	var t Table
	switch extension {
	case ".csv":
		t, err = csvRecords(text, opts)
	case ".json":
		t.Records, err = jsonRecords(text, opts)
		t.Fields = fieldNames(t.Records)
	case ".jsonl":
		t.Records, err = jsonlRecords(text, opts)
		t.Fields = fieldNames(t.Records)
	}
	if err != nil {
		return Table{}, err
	}
	if len(t.Records) == 0 {
		return Table{}, ErrNoRecords
	}
	return t, nil
}

// CheckRecords says when files of that extension have no records, or not with
// these options.
func CheckRecords(extension string, opts RecordOptions) error {
	if !slices.Contains(RecordExtensions(), extension) {
		return sayf("Unsupported file type: '%s'. Supported types: ['%s']", extension, strings.Join(RecordExtensions(), "', '"))
	}
	if extension == ".csv" && opts.Path != "" {
		return errors.New("a .csv has no record_path; remove record_path")
	}
	return nil
}

// fieldNames returns the names that any of the records has.
func fieldNames(records []Record) []string {
	seen := map[string]bool{}
	var names []string
	for _, r := range records {
		for _, f := range r.Fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// csvRecords reads a .csv. A row with more cells than columns would lose them,
// and is an error unless they are blank.
func csvRecords(text string, opts RecordOptions) (Table, error) {
	t, err := parseCSV(text, opts.Delimiter)
	if err != nil {
		return Table{}, err
	}
	out := Table{Fields: make([]string, len(t.header)), Records: make([]Record, len(t.rows))}
	seen := map[string]bool{}
	for i := range t.header {
		name := t.column(i)
		if seen[name] {
			return Table{}, fmt.Errorf("has two columns named '%s'; rename one", name)
		}
		seen[name] = true
		out.Fields[i] = opts.RecordPrefix + name
	}
	for i, row := range t.rows {
		for _, extra := range row.cells[min(len(row.cells), len(out.Fields)):] {
			if strings.TrimSpace(extra) != "" {
				return Table{}, fmt.Errorf("has %d cells in line %d, but %d columns; put quotes around cells that contain the delimiter",
					len(row.cells), row.line, len(out.Fields))
			}
		}
		r := Record{Where: fmt.Sprintf("line %d", row.line)}
		for j, name := range out.Fields[:min(len(row.cells), len(out.Fields))] {
			r.Fields = append(r.Fields, Field{Name: name, Value: row.cells[j]})
		}
		out.Records[i] = r
	}
	return out, nil
}

// jsonRecords reads a .json: a list of records, or a document that has them at
// Path.
func jsonRecords(text string, opts RecordOptions) ([]Record, error) {
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	found := []found{{node: root}}
	if opts.Path != "" {
		if found, err = walk(root, opts.Path, opts.MetaPrefix); err != nil {
			return nil, err
		}
	} else if root.kind != kindArray {
		return nil, sayf("Expected JSON array, got %s; set record_path to the key that holds the records%s", root.kind, keyList(root))
	}
	var records []Record
	for _, f := range found {
		for _, item := range f.elements() {
			r, err := f.record(item, fmt.Sprintf("record %d", len(records)+1), opts)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
	}
	return records, nil
}

// jsonlRecords reads a .jsonl: a record a line, or a document a line that has
// records at Path.
func jsonlRecords(text string, opts RecordOptions) ([]Record, error) {
	var records []Record
	for _, line := range jsonLines(text) {
		root, err := line.parse()
		if err != nil {
			return nil, err
		}
		found := []found{{node: root}}
		if opts.Path != "" {
			if found, err = walk(root, opts.Path, opts.MetaPrefix); err != nil {
				return nil, fmt.Errorf("line %d %w", line.number, err)
			}
		}
		for _, f := range found {
			items := []node{f.node}
			if opts.Path != "" {
				items = f.elements()
			}
			for i, item := range items {
				where := fmt.Sprintf("line %d", line.number)
				if len(items) > 1 {
					where += fmt.Sprintf(", record %d", i+1)
				}
				r, err := f.record(item, where, opts)
				if err != nil {
					return nil, err
				}
				records = append(records, r)
			}
		}
	}
	return records, nil
}

// found is what stands at the end of a path, and the objects on the way to it,
// outermost first.
type found struct {
	node   node
	around []surrounding
}

// surrounding holds the fields of an object on the way to a record, without the
// one that led on. Every record below it shares them.
type surrounding []Field

// walk follows a dotted path from root. Objects in a list that lack a key on
// the way have no records; when none has it, that is an error. The fields of
// the objects on the way get metaPrefix.
func walk(root node, path, metaPrefix string) ([]found, error) {
	at := []found{{node: root}}
	walked := ""
	for _, key := range strings.Split(path, ".") {
		walked = join(walked, key)
		var next []found
		var lacking node
		for _, f := range at {
			for _, object := range f.elements() {
				i := slices.Index(object.keys, key)
				if i < 0 {
					lacking = object
					continue
				}
				around := append(f.around[:len(f.around):len(f.around)], siblings(object, i, metaPrefix))
				next = append(next, found{node: object.items[i], around: around})
			}
		}
		if len(next) == 0 {
			return nil, fmt.Errorf("has nothing at record_path '%s'%s", walked, keyList(lacking))
		}
		at = next
	}
	return at, nil
}

// siblings returns the fields of object but the one at index i.
func siblings(object node, i int, prefix string) surrounding {
	var fields surrounding
	for j, item := range object.items {
		if j != i {
			fields = append(fields, newField(prefix+object.keys[j], item))
		}
	}
	return fields
}

func newField(name string, value node) Field {
	return Field{Name: name, Value: value.value(), Null: value.kind == kindNull}
}

// elements returns the items of a list, or the node itself.
func (f found) elements() []node {
	if f.node.kind == kindArray {
		return f.node.items
	}
	return []node{f.node}
}

// record makes a record of item, with the fields of what surrounds it.
func (f found) record(item node, where string, opts RecordOptions) (Record, error) {
	if item.kind != kindObject {
		return Record{}, fmt.Errorf("%s is not an object with fields but: %s", where, item.kind)
	}
	r := Record{Where: where}
	index := map[string]int{} // of a name in r.Fields
	for i, key := range item.keys {
		field := newField(opts.RecordPrefix+key, item.items[i])
		if at, ok := index[field.Name]; ok {
			r.Fields[at] = field // as in Python, the last of equal keys counts
			continue
		}
		index[field.Name] = len(r.Fields)
		r.Fields = append(r.Fields, field)
	}
	for _, fields := range slices.Backward(f.around) {
		for _, field := range fields {
			if _, ok := index[field.Name]; !ok {
				index[field.Name] = len(r.Fields)
				r.Fields = append(r.Fields, field)
			}
		}
	}
	return r, nil
}

// keyList names the keys of an object for an error message.
func keyList(n node) string {
	if n.kind != kindObject {
		return ""
	}
	const most = 12
	keys := n.keys
	rest := ""
	if len(keys) > most {
		keys, rest = keys[:most], ", …"
	}
	return fmt.Sprintf(" (keys there: %s%s)", strings.Join(keys, ", "), rest)
}
