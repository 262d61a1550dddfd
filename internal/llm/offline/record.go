package offline

import (
	"encoding/json"
	"slices"
	"strings"
)

// pair is a field of a record.
type pair struct{ key, value string }

// jsonPairs returns the records of a text that is JSON, or a piece of JSON that
// was cut anywhere: the fields between two braces are a record. Lists of plain
// values are one value. It returns nil for any other text.
func jsonPairs(text string) [][]pair {
	if !strings.Contains(text, `":`) {
		return nil
	}
	var (
		records [][]pair
		record  []pair
		found   int
	)
	end := func() {
		if len(record) > 0 {
			records = append(records, record)
			record = nil
		}
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case '{', '}':
			end()
			i++
		case '"':
			key, n, ok := jsonString(text[i:])
			if !ok {
				i = len(text)
				break
			}
			i += n
			rest := strings.TrimLeft(text[i:], " \t\r\n")
			if !strings.HasPrefix(rest, ":") {
				break
			}
			i = len(text) - len(rest) + 1
			found++
			value, n := jsonValue(text[i:])
			i += n
			if value != "" {
				record = append(record, pair{key, value})
			}
		default:
			i++
		}
	}
	end()
	// Prose may quote a key; a text of records has little else.
	if found < 2 && !strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return nil
	}
	return records
}

// jsonString reads a JSON string that s begins with.
func jsonString(s string) (value string, n int, ok bool) {
	for n = 1; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case '"':
			n++
			if json.Unmarshal([]byte(s[:n]), &value) != nil {
				value = s[1 : n-1]
			}
			return value, n, true
		}
	}
	return "", len(s), false
}

// jsonValue reads a plain value, or a list of them, that follows a colon. For
// an object, and for what was cut off, it returns an empty string.
func jsonValue(s string) (value string, n int) {
	trimmed := strings.TrimLeft(s, " \t\r\n")
	skipped := len(s) - len(trimmed)
	if trimmed == "" {
		return "", len(s)
	}
	switch trimmed[0] {
	case '"':
		value, n, ok := jsonString(trimmed)
		if !ok { // cut off: what is there is still worth reading
			value = strings.TrimRight(trimmed[1:], "\\") + "…"
		}
		return value, skipped + n
	case '[':
		return jsonList(trimmed, skipped)
	case '{':
		return "", skipped
	}
	n = strings.IndexAny(trimmed, ",}]\r\n")
	if n < 0 {
		n = len(trimmed)
	}
	value = strings.TrimSpace(trimmed[:n])
	if value == "null" {
		value = ""
	}
	return value, skipped + n
}

// jsonList reads a list of plain values. A list of objects is left to the
// caller.
func jsonList(s string, skipped int) (value string, n int) {
	end := strings.IndexAny(s, "]{")
	if end < 0 || s[end] == '{' {
		return "", skipped + 1
	}
	var items []any
	if json.Unmarshal([]byte(s[:end+1]), &items) != nil {
		return "", skipped + 1
	}
	var texts []string
	for _, item := range items {
		switch item := item.(type) {
		case string:
			texts = append(texts, item)
		default:
			b, _ := json.Marshal(item) // what was decoded can be encoded
			texts = append(texts, string(b))
		}
	}
	return strings.Join(texts, ", "), skipped + end + 1
}

// records cuts records into units.
func (c *cutter) records(all [][]pair) {
	for _, r := range all {
		c.record(r, "")
	}
}

// record makes units of a record: each sentence of a field that is prose, with
// the rest of the record as context, and one of all other fields together.
func (c *cutter) record(record []pair, more string) {
	c.question = ""
	var names, prose, short []pair
	for _, p := range record {
		switch {
		case isName(p):
			names = append(names, p)
		case isProse(p.value):
			prose = append(prose, p)
		default:
			short = append(short, p)
		}
	}
	if len(prose) == 0 { // nothing to name
		short, names = record, nil
	}
	context := []string{more}
	for _, p := range slices.Concat(names, short) {
		if strings.HasSuffix(p.value, "?") {
			c.question = p.value
			continue
		}
		context = append(context, p.value)
	}
	for _, p := range prose {
		for _, s := range sentences(plain(p.value)) {
			c.add(shortened(finished(s)), append(slices.Clone(context), spaced(p.key))...)
		}
	}
	c.question = ""
	c.addBare(shortened(finished(joinPairs(short))))
}

// isName reports whether a field says what its record is about.
func isName(p pair) bool {
	if strings.HasSuffix(p.value, "?") {
		return true
	}
	switch strings.ToLower(p.key) {
	case "question", "q", "title", "heading", "subject", "topic", "name":
		return true
	}
	return false
}

// isProse reports whether a value is a text of its own, not a name or number.
func isProse(value string) bool {
	const least = 5 // words
	return len(strings.Fields(value)) >= least
}

// joinPairs writes fields as a person does: "Plan: Pro, price: 29".
func joinPairs(record []pair) string {
	var b strings.Builder
	for i, p := range record {
		if i > 0 {
			b.WriteString(", ")
		}
		key := spaced(p.key)
		if i == 0 {
			key = capitalised(key)
		}
		if key != "" {
			b.WriteString(key + ": ")
		}
		b.WriteString(plain(p.value))
	}
	return b.String()
}

// spaced returns a key as words: order_status and order-status are order status.
func spaced(key string) string {
	return plain(strings.NewReplacer("_", " ", "-", " ").Replace(key))
}
