package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
				if twice, ok := repeated(object.keys); ok {
					return nil, fmt.Errorf("has the key '%s' twice in an object on the way to record_path '%s', which would hide one; rename one", twice, path)
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

// repeated returns a key that an object has twice, or false.
func repeated(keys []string) (string, bool) {
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if seen[key] {
			return key, true
		}
		seen[key] = true
	}
	return "", false
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
	seen := map[string]bool{} // names in r.Fields
	for i, key := range item.keys {
		if name := opts.RecordPrefix + key; !seen[name] {
			seen[name] = true
			r.Fields = append(r.Fields, newField(name, item.items[i]))
			continue
		}
		return Record{}, fmt.Errorf("has the key '%s' twice in %s, which would hide one; rename one", key, where)
	}
	for _, fields := range slices.Backward(f.around) {
		for _, field := range fields {
			if !seen[field.Name] {
				seen[field.Name] = true
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
