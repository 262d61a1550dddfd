package toolmatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// difference is a place where a value is not what was expected.
type difference struct {
	path string // below the argument, such as ".items[0].price"; empty for the argument itself
	text string // completes a sentence whose subject is the value
	// doubt says that nobody knows whether the value differs.
	doubt bool
}

// doubtful reports whether differences were found and each is but a doubt.
func doubtful(found []difference) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(d difference) bool { return !d.doubt })
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
func (q quoter) diff(want, got any) []difference {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return q.diffObjects(w, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return q.diffLists(w, g)
		}
	}
	if same(want, got) {
		return nil
	}
	return differ("is %s, want %s", q.value(got), q.value(want))
}

func (q quoter) diffObjects(want, got map[string]any) []difference {
	var found []difference
	for _, key := range slices.Sorted(maps.Keys(want)) {
		member, ok := got[key]
		if !ok {
			found = append(found, difference{path: "." + key, text: "is missing, want " + q.value(want[key])})
			continue
		}
		found = append(found, below("."+key, q.diff(want[key], member))...)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			found = append(found, difference{path: "." + key, text: fmt.Sprintf("is %s, and is not expected", q.value(got[key]))})
		}
	}
	return found
}

func (q quoter) diffLists(want, got []any) []difference {
	if len(want) != len(got) {
		return differ("is %s with %s, want %s with %d", q.value(got), items(len(got)), q.value(want), len(want))
	}
	var found []difference
	for i := range want {
		found = append(found, below(fmt.Sprintf("[%d]", i), q.diff(want[i], got[i]))...)
	}
	return found
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// quoteLen is how many runes of a value a reason quotes.
const quoteLen = 120

// quoter quotes values in reasons. It masks them before it cuts them: of a
// secret that is cut in two nobody can say any more that it is one.
type quoter struct{ redactor *secret.Redactor }

// json returns a JSON value on one line, cut to quoteLen runes.
func (q quoter) json(doc json.RawMessage) string {
	var buf bytes.Buffer
	masked := q.redactor.JSON(doc)
	text := string(masked)
	if json.Compact(&buf, masked) == nil {
		text = buf.String()
	}
	if runes := []rune(text); len(runes) > quoteLen {
		text = string(runes[:quoteLen-1]) + "…"
	}
	return text
}

// value quotes a value of the file, or one that is decoded JSON, as JSON.
func (q quoter) value(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v) // such as .nan, which JSON has not
	}
	return q.json(bytes.TrimSpace(buf.Bytes()))
}
