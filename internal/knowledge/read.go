package knowledge

import (
	"context"
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
	text     string // of a document with structure
	note     string // what a person should know of the reading, or ""
	blank    int    // records without text in the searched fields
}

// read returns the passages of a file. Its errors leave the naming of the file
// to the caller.
func (s settings) read(ctx context.Context, conv *convert.Converter, f sourceFile, limits convert.Limits) (content, error) {
	if s.records != nil {
		return s.records.read(f, limits)
	}
	data, err := convert.ReadFile(f.path, limits)
	if err != nil {
		return content{}, err
	}
	c := content{hash: sha256.Sum256(data)}
	d, err := conv.Document(ctx, f.extension, data, convert.Options{Limits: limits})
	if err != nil {
		return content{}, err
	}
	if strings.TrimSpace(d.Text) == "" {
		return content{}, errors.New("has no text; give it some, or take it out of the source")
	}
	c.note = d.Note
	if s.structure != nil {
		c.text = d.Text
		s.sections(&c, f, d.Text, d.Pages)
		return c, nil
	}
	for i, p := range chunk.Split(d.Text, s.chunks) {
		if shown := shownText(p.Text); strings.TrimSpace(shown) != "" {
			passage := store.Passage{ID: fmt.Sprintf("%s#%d", f.name, i), Text: shown}
			if len(d.Pages) > 0 {
				passage.Place = &store.Place{Page: chunk.PageOf(d.Pages, p.Start), LastPage: chunk.PageOf(d.Pages, p.End-1)}
			}
			c.passages = append(c.passages, passage)
		}
	}
	return c, nil
}

// read makes a passage of each record of a file.
func (r *records) read(f sourceFile, limits convert.Limits) (content, error) {
	opts := r.options
	opts.Limits = limits
	file, err := convert.OpenRecords(f.path, f.extension, opts)
	if err != nil {
		return content{}, err
	}
	c := content{hash: file.Hash, note: file.Note}
	places := map[string]string{} // of records, by id
	var names fieldNames
	var wrong error // with the first record that has no id
	for record, err := range file.All() {
		if err != nil {
			return content{}, err
		}
		names.add(record)
		if wrong != nil {
			continue // only to know the fields that there are
		}
		id := record.Field(r.id)
		if id.Null || strings.TrimSpace(id.Value) == "" {
			wrong = fmt.Errorf("has no value in id_field '%s' of %s; give every record its own", r.id, record.Where)
			continue
		}
		if first, ok := places[id.Value]; ok {
			return content{}, fmt.Errorf("has the same %s '%s' in %s and %s; give every record its own", r.id, id.Value, first, record.Where)
		}
		places[id.Value] = record.Where
		text := r.text(record)
		if strings.TrimSpace(text) == "" {
			c.blank++
			continue
		}
		c.passages = append(c.passages, store.Passage{ID: strings.Clone(id.Value), Text: text, Meta: r.shown(record)})
	}
	if err := r.check(names.list); err != nil {
		return content{}, err
	}
	return c, wrong
}

// fieldNames is the names that any record has, in the order of their appearance.
type fieldNames struct {
	list []string
	seen map[string]bool
}

// add adds the fields of a record.
func (n *fieldNames) add(r convert.Record) {
	for _, f := range r.Fields {
		if !n.seen[f.Name] {
			if n.seen == nil {
				n.seen = map[string]bool{}
			}
			n.seen[f.Name] = true
			n.list = append(n.list, f.Name)
		}
	}
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
			fields = append(fields, store.Field{Name: name, Value: strings.Clone(record.Field(name).Value)})
		}
		return fields
	}
	for _, f := range record.Fields {
		if !f.Null && f.Name != r.id && !slices.Contains(r.search, f.Name) {
			fields = append(fields, store.Field{Name: f.Name, Value: strings.Clone(f.Value)})
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
