package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Difference is a request that is not the recorded one.
type Difference struct {
	Place Place
	// Path is where the first difference is, such as "messages[2].parts[0].text".
	Path string
	// Now and Recorded are what stands there, in part when it is long.
	Now, Recorded string
}

// Error implements error.
func (d *Difference) Error() string {
	return fmt.Sprintf("replay: %s is not the recorded one: %s is now %s, and was %s", d.Place, d.Path, d.Now, d.Recorded)
}

// Missing says that the cassette does not have an exchange.
type Missing struct {
	Place Place
	Dir   string
}

// Error implements error.
func (m *Missing) Error() string {
	return fmt.Sprintf("replay: the cassette in %s has no %s; record it again with --record", m.Dir, m.Place)
}

// nothing is what stands where a value is absent.
const nothing = "absent"

// firstDifference returns where a and b differ first, in the order of fields,
// and what stands there; an empty path when they are alike.
func firstDifference(fields []Field, a, b map[string]any) (path, inA, inB string) {
	for _, f := range fields {
		if path, inA, inB := differ(f.Name, a[f.Name], b[f.Name]); path != "" {
			return path, inA, inB
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) { // what only the record has
		if path, inA, inB := differ(name, a[name], b[name]); path != "" {
			return path, inA, inB
		}
	}
	return "", "", ""
}

func differ(path string, a, b any) (where, inA, inB string) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return differObjects(path, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return differLists(path, a, b)
		}
	case string:
		if b, ok := b.(string); ok {
			if a == b {
				return "", "", ""
			}
			inA, inB = around(a, b)
			return path, inA, inB
		}
	default:
		if a == b {
			return "", "", ""
		}
	}
	return path, show(a), show(b)
}

func differObjects(path string, a, b map[string]any) (where, inA, inB string) {
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		x, inNow := a[key]
		y, inRecord := b[key]
		at := path + "." + key
		switch {
		case !inNow:
			return at, nothing, show(y)
		case !inRecord:
			return at, show(x), nothing
		}
		if where, inA, inB = differ(at, x, y); where != "" {
			return where, inA, inB
		}
	}
	return "", "", ""
}

func differLists(path string, a, b []any) (where, inA, inB string) {
	for i := range min(len(a), len(b)) {
		if where, inA, inB = differ(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); where != "" {
			return where, inA, inB
		}
	}
	if len(a) == len(b) {
		return "", "", ""
	}
	return path, fmt.Sprintf("%d long", len(a)), fmt.Sprintf("%d long", len(b))
}

// How much of a value a message shows, in bytes: all of a short one, and else
// what stands around the difference.
const (
	shownBefore = 20
	shownAfter  = 40
)

// around returns two texts as they are shown: from a little before to a little
// after the place where they part.
func around(a, b string) (string, string) {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	excerpt := func(s string) string {
		from, to := max(0, same-shownBefore), min(len(s), same+shownAfter)
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		text := fmt.Sprintf("%q", s[from:to])
		if from > 0 {
			text = "…" + text
		}
		if to < len(s) {
			text += "…"
		}
		return text
	}
	return excerpt(a), excerpt(b)
}

// show returns a value as a message shows it.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return nothing
	case string:
		text, _ := around(v, "")
		return text
	case json.Number:
		return v.String()
	case []any:
		return fmt.Sprintf("a list, %d long", len(v))
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(v)
}
