package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Pages are pages of a document, as ranges in the order of the file. In YAML
// they are a list of numbers and ranges such as "3-5".
type Pages []PageRange

// PageRange is the pages from First to Last, both included, counted from 1.
type PageRange struct{ First, Last int }

// MarshalJSON writes the range as a file does: a number, or such as "3-5".
func (r PageRange) MarshalJSON() ([]byte, error) {
	if r.First == r.Last {
		return strconv.AppendInt(nil, int64(r.First), 10), nil
	}
	return fmt.Appendf(nil, `"%d-%d"`, r.First, r.Last), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *PageRange) UnmarshalJSON(text []byte) (err error) {
	from, to, ok := strings.Cut(strings.Trim(string(text), `"`), "-")
	if !ok {
		to = from
	}
	*r, err = parsePages(from + "-" + to)
	return err
}

// MaxPages is how many pages one entry may name.
const MaxPages = 10_000

// List returns every page, in order.
func (p Pages) List() []int {
	var pages []int
	for _, r := range p {
		for page := r.First; page <= r.Last; page++ {
			pages = append(pages, page)
		}
	}
	return pages
}

// pagePattern is what a range looks like, for the JSON Schema.
const pagePattern = `^\s*[1-9][0-9]*\s*(-\s*[1-9][0-9]*\s*)?$`

// parsePages reads a range of pages.
func parsePages(text string) (PageRange, error) {
	from, to, _ := strings.Cut(text, "-")
	first, errFirst := strconv.Atoi(strings.TrimSpace(from))
	last, errLast := strconv.Atoi(strings.TrimSpace(to))
	switch {
	case errFirst != nil || errLast != nil || first < 1:
		return PageRange{}, fmt.Errorf("%q is not a range of pages, which are counted from 1", text)
	case last < first:
		return PageRange{}, fmt.Errorf("%q has its ends the wrong way round", text)
	case last-first >= MaxPages:
		return PageRange{}, fmt.Errorf("%q is more than %d pages", text, MaxPages)
	}
	return PageRange{first, last}, nil
}

// pages decodes pages.
func (d *decoder) pages(n *node, at keyPath, v reflect.Value) bool {
	if n.kind != kindList {
		return d.mismatch(n, at, "a list", false)
	}
	least := 1.0
	base := at.String()
	out := make(Pages, 0, len(n.items))
	for i, item := range n.items {
		at := keyPath{base: base, index: i}
		if item.isText() && strings.LastIndexByte(item.text, '-') > 0 { // a minus in front is part of a number
			r, err := parsePages(item.text)
			if err != nil {
				d.problem(item, at, CodeValue, err.Error(), `such as "3-5"`)
				continue
			}
			out = append(out, r)
			continue
		}
		var page int
		if d.value(item, at, reflect.ValueOf(&page).Elem(), rules{min: &least}) {
			out = append(out, PageRange{page, page})
		}
	}
	v.Set(reflect.ValueOf(out))
	return true
}
