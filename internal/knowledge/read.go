package knowledge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/knowledge/chunk"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// content is what a source file holds.
type content struct {
	hash     [sha256.Size]byte
	passages []store.Passage
	blank    int // records without text in the searched fields
}

// read returns the passages of a file. Its errors leave the naming of the file
// to the caller.
func (s settings) read(f sourceFile, limits convert.Limits) (content, error) {
	data, err := convert.ReadFile(f.path, limits)
	if err != nil {
		return content{}, err
	}
	c := content{hash: sha256.Sum256(data)}
	if s.records != nil {
		err = s.records.read(&c, f, data)
	} else {
		err = s.documents(&c, f, data, limits)
	}
	return c, err
}

// documents cuts a file into passages.
func (s settings) documents(c *content, f sourceFile, data []byte, limits convert.Limits) error {
	text, err := convert.Document(convert.Extension(f.path), data, convert.Options{Limits: limits})
	if err != nil {
		return err
	}
	for i, p := range chunk.Split(text, s.chunks) {
		shown := strings.TrimRight(strings.TrimLeft(p.Text, "\n"), " \t\n")
		if strings.TrimSpace(shown) != "" {
			c.passages = append(c.passages, store.Passage{ID: fmt.Sprintf("%s#%d", f.name, i), Text: shown})
		}
	}
	return nil
}

// read makes a passage of each record of a file.
func (r *records) read(c *content, f sourceFile, data []byte) error {
	table, err := convert.Records(convert.Extension(f.path), data, r.options)
	if err != nil {
		return err
	}
	if err := r.check(table.Fields); err != nil {
		return err
	}
	places := make(map[string]string, len(table.Records)) // of records, by id
	for _, record := range table.Records {
		id := record.Field(r.id)
		if id.Null || strings.TrimSpace(id.Value) == "" {
			return fmt.Errorf("has no value in id_field '%s' of %s; give every record its own", r.id, record.Where)
		}
		if first, ok := places[id.Value]; ok {
			return fmt.Errorf("has the same %s '%s' in %s and %s; give every record its own", r.id, id.Value, first, record.Where)
		}
		places[id.Value] = record.Where
		text := r.text(record)
		if strings.TrimSpace(text) == "" {
			c.blank++
			continue
		}
		c.passages = append(c.passages, store.Passage{ID: id.Value, Text: text, Meta: r.shown(record)})
	}
	return nil
}

// text joins the searched fields of a record; nulls are left out.
func (r *records) text(record convert.Record) string {
	var values []string
	for _, name := range r.search {
		if f := record.Field(name); !f.Null {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, r.separator)
}

// shown returns the fields that are shown with a record: the configured ones,
// or all that have a value and are neither searched nor the id.
func (r *records) shown(record convert.Record) []store.Field {
	var fields []store.Field
	if r.show != nil {
		for _, name := range r.show {
			fields = append(fields, store.Field{Name: name, Value: record.Field(name).Value})
		}
		return fields
	}
	for _, f := range record.Fields {
		if !f.Null && f.Name != r.id && !slices.Contains(r.search, f.Name) {
			fields = append(fields, store.Field{Name: f.Name, Value: f.Value})
		}
	}
	return fields
}

// check compares the configured fields with those there are.
func (r *records) check(available []string) error {
	there := make(map[string]bool, len(available))
	for _, name := range available {
		there[name] = true
	}
	var missing []error
	for _, wanted := range []struct {
		key   string
		names []string
	}{{"id_field", []string{r.id}}, {"vector_field", r.search}, {"meta_fields", r.show}} {
		for _, name := range wanted.names {
			if !there[name] {
				missing = append(missing, fmt.Errorf("%s: Field '%s' not found in source. Available fields: ['%s']",
					wanted.key, name, strings.Join(available, "', '")))
			}
		}
	}
	return errors.Join(missing...)
}
