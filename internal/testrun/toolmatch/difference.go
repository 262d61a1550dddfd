package toolmatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// difference is a place where a value is not what was expected.
type difference struct {
	path string // below the argument, such as ".items[0].price"; empty for the argument itself
	text string // completes a sentence whose subject is the value
}

// differ returns one difference of the value itself.
func differ(format string, args ...any) []difference {
	return []difference{{text: fmt.Sprintf(format, args...)}}
}

// below moves differences to a place below the one they were found at.
func below(path string, found []difference) []difference {
	for i := range found {
		found[i].path = path + found[i].path
	}
	return found
}

// maxDifferences is how many differences of one argument a reason tells.
const maxDifferences = 5

// tell says where an argument is not what was expected.
func tell(argument string, found []difference) string {
	var parts []string
	for i, d := range found {
		if i == maxDifferences {
			parts = append(parts, fmt.Sprintf("and %d more differences in %s", len(found)-i, argument))
			break
		}
		parts = append(parts, fmt.Sprintf("argument %s%s %s", argument, d.path, d.text))
	}
	return strings.Join(parts, "; ")
}

// decode returns a JSON value, its numbers with all their digits.
func decode(doc json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("cannot be read as JSON")
	}
	return v, nil
}

// diff returns where got, which is decoded JSON, is not the value want of the
// file.
func diff(want, got any) []difference {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return diffObjects(w, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return diffLists(w, g)
		}
	}
	if same(want, got) {
		return nil
	}
	return differ("is %s, want %s", showValue(got), showValue(want))
}

func diffObjects(want, got map[string]any) []difference {
	var found []difference
	for _, key := range slices.Sorted(maps.Keys(want)) {
		member, ok := got[key]
		if !ok {
			found = append(found, difference{"." + key, "is missing, want " + showValue(want[key])})
			continue
		}
		found = append(found, below("."+key, diff(want[key], member))...)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			found = append(found, difference{"." + key, fmt.Sprintf("is %s, and is not expected", showValue(got[key]))})
		}
	}
	return found
}

func diffLists(want, got []any) []difference {
	if len(want) != len(got) {
		return differ("is %s with %s, want %s with %d", showValue(got), items(len(got)), showValue(want), len(want))
	}
	var found []difference
	for i := range want {
		found = append(found, below(fmt.Sprintf("[%d]", i), diff(want[i], got[i]))...)
	}
	return found
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// showLen is how many runes of a value a reason shows.
const showLen = 120

// show returns a JSON value on one line, cut to showLen runes.
func show(doc []byte) string {
	var buf bytes.Buffer
	text := string(doc)
	if json.Compact(&buf, doc) == nil {
		text = buf.String()
	}
	if runes := []rune(text); len(runes) > showLen {
		text = string(runes[:showLen-1]) + "…"
	}
	return text
}

// showValue shows a value of the file, or one that is decoded JSON, as JSON.
func showValue(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v) // such as .nan, which JSON has not
	}
	return show(buf.Bytes())
}
